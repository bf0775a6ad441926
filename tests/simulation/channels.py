"""What the readers of the database tell of a contest, at any moment of it, in one process.

The oracle is the core itself: a contest that goes on from the same disk. Readers are those of the page, the
list of games, the bracket, the records, a backup, `standings --json`, and /metrics; `publish`, `site` and
`report` copy them. What is for others than the organiser (page, feed, calendar, documents of a site, export)
is held to the results on the disk, cut by the rule of `shown.py`.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from tests import in_memory
from tests.simulation.disk import RECORD
from tests.simulation.network import MS, US
from tests.simulation.publication import header_of, write
from tests.simulation.shown import Cut
from tests.simulation.wall import Wall
from tests.simulation.world import Part, World

from arena_cli import export
from arena_cli.results import standings_json
from arena_cli.site import documents
from arena_protocol.record_codec import decode
from arena_server.core.contest import Contest
from arena_server.core.formats.rounds import Rounds
from arena_server.core.formats.rounds_json import rounds_json
from arena_server.core.life import FINAL, OVER, RUNNING
from arena_server.stats.durations import Durations
from arena_server.stats.standings import row_json
from arena_server.store.backup import back_up
from arena_server.store.contest_store import ContestStore
from arena_server.store.reader import Results
from arena_server.web.archive import Archive
from arena_server.web.following import ENTRIES, atom_text, calendar_text, news_of
from arena_server.web.metrics import ContestSnapshot, Snapshot, exposition
from arena_server.web.shown_results import NotFoundError


def restored(world: World, part: Part, status: str) -> Contest:
    """The contest as a server that is started now would have it."""
    past = world.server.disk.past(part.plan.config.name)
    return part.make(world.queue.now, past, status if status in FINAL else None)


def check_channels(world: World, part: Part, status: str) -> None:
    """Compare all readers of the database, as the server leaves it at this moment, with the core."""
    contest = restored(world, part, status)
    with TemporaryDirectory(dir=in_memory.folder()) as folder:
        path, wall = Path(folder) / "arena.db", Wall()
        with wall.in_place():
            write(world, path, status, wall.set, part=part)
            wall.set(world.queue.now)
            texts = [json.dumps(said) for said in _compare(path, part, status, contest)]
            # While it runs both follow the same rule.
            for live in (True,) if status == RUNNING else (True, False):
                texts += _check_cut(world, path, part, status, wall, live=live)
            _check_backup(world, path, part, contest)
        _check_metrics(part, contest)
    secrets = [*part.tokens.values(), *(each.token_sha256 or "" for each in part.entrants.values())]
    for text in texts:
        assert not any(secret and secret in text for secret in secrets), "a token is shown"


def _compare(path: Path, part: Part, status: str, contest_of: Contest) -> list[Any]:
    told = contest_of.status.progress()
    rows = [row_json(row) for row in told.standings]
    over = status in OVER
    with Results(path) as results:
        contest = results.contest("1")
        organiser = standings_json(results, contest)
    numbers = organiser["contest"]["games"]
    assert organiser["standings"] == rows, "standings"
    assert (numbers["played"], numbers["total"]) == (told.done, told.total), ("standings", numbers, told)
    assert organiser["contest"]["status"] == status
    assert (organiser["contest"]["secret"] is not None) == (status in FINAL)
    # The rows have times of the wall: no delay hides them a century later.
    archive = Archive(path, lambda: datetime(2126, 1, 1), live=True)
    page = archive.contest(1)
    said = [organiser | {"contest": None}, page]
    assert page["status"] == status
    if part.plan.config.anonymous and not over:
        assert (page["games_played"], archive.games(1, 0)) == (0, b"[]"), "an anonymous contest is shown"
        return said
    assert (page["games_played"], page["games"], page["games_void"]) == (told.done, told.total, told.void)
    assert page["standings"] == rows, "page"
    games = json.loads(archive.games(1, 0))
    assert len(games) == told.done + told.void
    (listed,) = archive.contests()
    assert (listed["status"], listed["games"]) == (status, told.total)
    for name in (game[0] for game in games[-1:]):
        try:
            record = decode(archive.record(1, name))
        except NotFoundError:  # the other seats of its deal are still to be played
            assert part.plan.config.deals == "paired"
            assert status not in FINAL
        else:
            assert (record.game_id, record.contest) == (name, part.plan.config.name)
    _check_rounds(archive, contest_of)
    return [*said, listed]


def _check_rounds(archive: Archive, contest: Contest) -> None:
    """The page has the rounds and the bracket of the core."""
    form = contest._games.fixtures._format
    if not isinstance(form, Rounds):
        with pytest.raises(NotFoundError):
            archive.rounds(1)
        return
    shown = json.loads(archive.rounds(1))
    known = json.loads(json.dumps(rounds_json(form.rounds(), form.terms.seeds, form.ranked_by)))
    assert {key: shown[key] for key in known} == known


def _check_cut(world: World, path: Path, part: Part, status: str, wall: Wall, *, live: bool) -> list[str]:
    """Others than the organiser are shown the results on the disk that may be seen, and the life as late."""
    config, now = part.plan.config, world.queue.now // MS * MS
    cut, over = Cut(config, None), status in OVER
    ended_at = world.server.ended_at.get(config.name, 0) // US * US  # as the database has it
    is_seen = status == RUNNING or cut.may(ended_at, now, over=over, live=live)
    may = partial(cut.may_result, now=now, over=over and is_seen, live=live)
    stored = [each for each in world.server.disk.durable(config.name) if each.kind == RECORD]
    results = {decode(each.data).game_id for each in stored if may(each.at)}
    archive = Archive(path, wall.now, live=live)
    page = archive.contest(1)
    assert page["status"] == (status if is_seen else RUNNING)
    assert (page["ended_at"] is not None) == (is_seen and status != RUNNING)
    assert {row[0] for row in json.loads(archive.games(1, 0))} == results
    news = news_of(archive, 1)
    base = "https://example.org"
    feed = atom_text(news, base)
    listed = set(re.findall(r"<title>(g[0-9]+):", feed))
    assert listed <= results
    assert len(listed) == min(len(results), ENTRIES) or "is over</title>" in feed, "rounds take entries, too"
    texts = [feed, calendar_text(news, base, wall.now())]
    if not live:
        texts += [data.decode() for _, data in documents(archive, 1)]
        with Results(path) as opened:
            last, unseen = export._seen(opened, opened.contest("1"))
        hidden = len(stored) - len(results)
        assert unseen == hidden
        assert last == len(results) or (last is None and not hidden)
    word = f", {status}: "
    assert is_seen or not any(word in text for text in texts)
    return texts


def _check_backup(world: World, path: Path, part: Part, contest: Contest) -> None:
    """A server that goes on from a copy knows what one knows that goes on from the disk."""
    copy = path.with_name("copy.db")
    back_up(path, copy)
    with ContestStore(copy) as store:
        header = replace(header_of(part), keep=True)  # it may be over
        found = store.find(header)
        assert found is not None
        again = part.make(world.queue.now, found.past, found.ended)
        if found.ended is None:
            with store.transaction():
                store.enter(header, header.config)
    assert again.status.progress() == contest.status.progress()
    assert again.status.overview().orders == contest.status.overview().orders


def _check_metrics(part: Part, contest: Contest) -> None:
    """A scrape has the numbers of the core."""
    told = contest.status.progress()
    snapshot = ContestSnapshot({"name": "end"}, part.checker.metrics.counts(), Durations(), told)
    text = exposition(Snapshot([snapshot], connections=0, cap=0))[0].decode()
    for state, number in (("done", told.done), ("void", told.void), ("running", told.running)):
        assert f'arena_games{{state="{state}"}} {float(number)}' in text, (state, number)
