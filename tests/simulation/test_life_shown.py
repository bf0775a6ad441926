"""The end of a contest shows on no channel before its delay has passed: each channel, before and after.

A contest that has ended is read at both moments by every reader of the database that is not the organiser's.
`test_shown.py` has the same of every address of the site, in contests that are played.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from tests.server.programs import inside
from tests.server.records import game, opening
from tests.simulation.network import MS
from tests.simulation.public import site
from tests.simulation.wall import BEGIN_MS, Wall
from tests.slices import all_of, rows

from arena_protocol.record_codec import encode
from arena_server.core.life import ABORTED, FINISHED, STOPPED
from arena_server.store.contest_store import ContestStore
from arena_server.store.database import ContestHeader
from arena_server.web.archive import Archive
from arena_server.web.shown_results import NotFoundError

#: When the games were stored, and the contest ended, in ms.
STORED, ENDED = (1000, 3000), 3500
#: Delay and freeze, in ms: none, a delay, a freeze before the second game, both.
TERMS = ((60_000, 2000), (60_000, None), (0, 2000), (0, None))
#: Each address of the site that tells the life of a contest, and the bytes that say it is over.
PAGES = {
    "/api/v1/contests/1.json": b'"status":"finished"',
    "/api/v1/contests.json": b'"status":"finished"',
    "/api/v1/bots/a.json": b'"status":"finished"',
    "/api/v1/contests/1/feed.atom": b", finished: ",
    "/api/v1/contests/1/contest.ics": b"DTEND:20260101T000003Z",
    "/api/v1/contests/1/bots/0.ics": b"DTEND:20260101T000003Z",
    "/contest.html?id=1": b", finished: ",
}


@pytest.fixture
def wall() -> Iterator[Wall]:
    with Wall().in_place() as wall:
        yield wall


def begun(
    wall: Wall, path: Path, header: ContestHeader, stored: tuple[int, ...], ends: tuple[int, str] | None
) -> None:
    """Write a contest with a game at each of these moments, and its end."""
    with ContestStore(path) as store:
        store.find(header)
        with store.transaction():
            store.enter(header, header.config)
        for number, at in enumerate(stored, start=1):
            wall.set(at * MS)
            record = game(number)
            with store.transaction():
                store.add([], [(f"g{number}", record, encode(record))])
        if ends is not None:
            wall.set(ends[0] * MS)
            with store.transaction():
                store.end(ends[1])
        store.sync()


def contest(
    name: str, delay: int, frozen: int | None = None, names: tuple[str, ...] = ("a", "b"), **more: Any
) -> ContestHeader:
    header = opening(name, names=names, new=False)
    config = replace(
        header.config,
        spectator_delay_ms=delay,
        freeze_at_ms=None if frozen is None else BEGIN_MS + frozen,
        **more,
    )
    return replace(header, config=config, games=2)


def moments(delay: int) -> list[tuple[int, bool]]:
    """The moments at which a contest is read, and whether its end is seen there, live."""
    return [*([(ENDED + delay - 1, False)] if delay else []), (ENDED + delay, True)]


@pytest.mark.parametrize(("delay", "frozen"), rows(TERMS, 3))
def test_every_page_tells_the_end_when_its_delay_has_passed(
    delay: int, frozen: int | None, wall: Wall, tmp_path: Path
) -> None:
    path = tmp_path / f"{delay}-{frozen}.db"
    wall.set(0)
    begun(wall, path, contest("cup", delay, frozen), STORED, (ENDED, FINISHED))
    for at, over in moments(delay):
        wall.set(at * MS)
        found = site(path, ["g1", "g2"], ["a", "b"])
        told = {place: text in found[place] for place, text in PAGES.items()}
        assert told == dict.fromkeys(PAGES, over)
        document = json.loads(found["/api/v1/contests/1.json"].removeprefix(b"200 "))
        # The end lifts the freeze; before it the result behind that is not there.
        assert document["games_played"] == (2 if over or (frozen is None and at >= STORED[1] + delay) else 1)
        assert (document["head"] is not None, document["ended_at"] is not None) == (over, over)
        assert found["/api/v1/contests/1/chain-0.json"].startswith(b"200" if over else b"404")
        archive = Archive(path, wall.now, live=True)
        assert archive.running() == ({} if over else {"cup": 1})


@pytest.mark.parametrize(("delay", "frozen"), rows(TERMS, 3))
def test_what_commands_write(delay: int, frozen: int | None, wall: Wall, tmp_path: Path) -> None:
    """`publish` stands beside the page; what is written of a contest that is over is whole at once."""
    home = tmp_path / f"{delay}-{frozen}"
    home.mkdir()
    begun(wall, home / "arena.db", contest("cup", delay, frozen), STORED, (ENDED, FINISHED))
    for at, over in moments(delay):
        wall.set(at * MS)
        assert inside("publish", f"out-{at}", cwd=home).code == 0
        published = json.loads((home / f"out-{at}/standings.json").read_bytes())
        assert (published["status"] == FINISHED) == over
        assert ("finished" in (home / f"out-{at}/index.html").read_text()) == over
        assert inside("site", f"site-{at}", cwd=home).code == 0
        written = json.loads((home / f"site-{at}/api/v1/contests/1.json").read_bytes())
        assert (written["status"], written["games_played"]) == (FINISHED, 2)
        assert '"status": "finished"' in inside("standings", "--json", cwd=home).out, "the organiser's"


@all_of(("status", "live"), product((ABORTED, STOPPED), (False, True)))
def test_other_ends(status: str, live: bool, wall: Wall, tmp_path: Path) -> None:
    """A contest that is stopped may go on: what is written of it is cut, as its results are."""
    path = tmp_path / f"{status}-{live}.db"
    begun(wall, path, contest("cup", 60_000), STORED, (ENDED, status))
    for at, over in moments(60_000):
        wall.set(at * MS)
        seen = over or (status == ABORTED and not live)
        document = Archive(path, wall.now, live=live).contest(1)
        assert (document["status"] == status) == seen
        assert (document["ended_at"] is not None) == seen


@pytest.mark.parametrize("live", [False, True])
def test_paired_deals_and_names_are_shown_with_the_end(live: bool, wall: Wall, tmp_path: Path) -> None:
    path = tmp_path / "arena.db"
    begun(wall, path, contest("cup", 60_000, deals="paired"), STORED[:1], (ENDED, ABORTED))
    begun(wall, path, contest("hid", 60_000, anonymous=True), STORED[:1], (ENDED, ABORTED))
    for at, over in moments(60_000):
        wall.set(at * MS)
        archive = Archive(path, wall.now, live=live)
        is_seen = over or not live
        assert archive.contest(2)["games_played"] == is_seen
        if is_seen:
            assert archive.record(1, "g1")
        else:
            with pytest.raises(NotFoundError):
                archive.record(1, "g1")


def test_the_next_stage_of_a_season_tells_who_has_come_through(wall: Wall, tmp_path: Path) -> None:
    path = tmp_path / "arena.db"
    begun(wall, path, contest("first", 60_000), STORED, (ENDED, FINISHED))
    origin = {"from": [], "contests": {"first": [1, 0]}, "unknown": []}
    header = contest("final", 0, names=("a", "b"))
    begun(wall, path, replace(header, config=replace(header.config, origin=origin)), (), None)
    read = Archive(path, wall.now, live=True)
    wall.set((ENDED + 60_000 - 1) * MS)
    assert [each["name"] for each in read.contests()] == ["first"]
    assert read.latest("final") is None
    assert [each["name"] for each in read.bot_contests("a")["contests"]] == ["first"]
    with pytest.raises(NotFoundError, match=r"^no contest 2$"):
        read.contest(2)
    wall.set((ENDED + 60_000) * MS)
    assert [each["name"] for each in read.contests()] == ["final", "first"]
    assert (read.latest("final"), read.contest(2)["bots"]) == (2, ["a", "b"])
