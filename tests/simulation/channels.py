"""What the readers of the database tell of a contest, at any moment of it, in one process.

The oracle is the core itself: a contest that goes on from the same disk. Readers are those of the page, the
list of games, the bracket, the records, and `standings --json`; `publish`, `site` and `report` copy them.
"""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from tests.simulation.publication import write
from tests.simulation.world import Part, World

from arena_cli.results import standings_json
from arena_protocol.record_codec import decode
from arena_server.core.contest import Contest
from arena_server.core.formats.rounds import Rounds
from arena_server.core.formats.rounds_json import rounds_json
from arena_server.core.life import FINAL, OVER
from arena_server.stats.standings import row_json
from arena_server.store.reader import Results
from arena_server.web.archive import Archive
from arena_server.web.shown_results import NotFoundError


def restored(world: World, part: Part, status: str) -> Contest:
    """The contest as a server that is started now would have it."""
    past = world.server.disk.past(part.plan.config.name)
    return part.make(world.queue.now, past, status if status in FINAL else None)


def check_channels(world: World, part: Part, status: str) -> None:
    """Compare all readers of the database, as the server leaves it at this moment, with the core."""
    contest = restored(world, part, status)
    with TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as folder:
        path = Path(folder) / "arena.db"
        write(world, path, status, part=part)
        texts = [json.dumps(said) for said in _compare(path, part, status, contest)]
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
