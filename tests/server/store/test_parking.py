"""Contests that wait: they share descriptors, and have neither a thread nor a connection until they write."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from random import Random

import pytest
from tests.slices import rows

from arena_server.errors import StoreError
from arena_server.store import writer
from arena_server.store.ownership import ContestLock

from ..records import Kept, game, opening

NAMES = tuple(f"c{number}" for number in range(6))


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """A contest without a game is parked at the first look."""
    monkeypatch.setattr(writer, "MAINTENANCE_S", 0.005)


def begun(path: Path) -> list[Kept]:
    """The contests of a server."""
    found = [Kept(path, opening(name)) for name in NAMES]
    for kept in found:
        kept.start()
    return found


def wait_until_parked(kept: Kept) -> None:
    kept.writer._thread.join(20)
    assert not kept.writer._thread.is_alive()


def offer(number: int) -> tuple[int, str, tuple[str, str], int, tuple[()]]:
    return (number, "offer", ("a", "b"), 1, ())


def descriptors(path: Path) -> int:
    """How many descriptors of this process are of a database, or of what lies beside it."""
    files = []
    for file in os.listdir("/proc/self/fd"):
        try:
            files.append(os.readlink(f"/proc/self/fd/{file}"))
        except FileNotFoundError:  # that of the list itself
            continue
    return sum(file.startswith(str(path)) for file in files)


@pytest.mark.usefixtures("soon")
def test_contests_that_wait_cost_no_thread_and_no_descriptor(tmp_path: Path) -> None:
    path = tmp_path / "arena.db"
    first = Kept(path, opening("first"))
    first.start()
    first.append(offer(1))  # it plays
    first.wait_for(1)
    alone = descriptors(path)
    others, seen = [], set()
    for name in NAMES:
        kept = Kept(path, opening(name))
        others.append(kept)
        kept.start()
        wait_until_parked(kept)
        seen.add(descriptors(path))
    # SQLite keeps those of closed connections for the next one while the process has a lock on the file.
    assert seen == {alone + 2}
    assert first.writer._thread.is_alive(), "one looks after the files for all"
    for number in range(1, 8):  # they are locked, too
        with pytest.raises(StoreError, match=f"contest {number} is being played by another server"):
            ContestLock(path, None, number)
    for kept in (*others, first):
        kept.close("finished")
    assert descriptors(path) == 0


@pytest.mark.usefixtures("soon")
@pytest.mark.parametrize("seed", rows(range(3), 3))
def test_what_is_written_does_not_depend_on_who_was_parked(tmp_path: Path, seed: int) -> None:
    """The rows of contests that are parked at random moments are those of contests that never are."""

    def play(path: Path, *, parks: bool) -> list[tuple[object, ...]]:
        random, moments, games = Random(seed), Random(seed), dict.fromkeys(NAMES, 0)
        watch = Kept(path, opening("watch"))
        watch.start()
        watch.append(offer(1))  # a game runs, so it stays awake
        contests = dict(zip(NAMES, begun(path), strict=True))
        playing: set[str] = set()
        for _ in range(30):
            name = random.choice(NAMES)
            kept = contests[name]
            if parks and name not in playing and moments.random() < 0.7:
                wait_until_parked(kept)
            kept.append((0, "run-state", "", random.choice(("paused", "open"))))
            if name not in playing:
                games[name] += 1
                kept.append(offer(games[name]))
            playing.discard(name)
            if random.random() < 0.8:
                kept.writer.store(f"g{games[name]}", game(games[name]))
                kept.next()
            else:
                playing.add(name)
        for kept in (*contests.values(), watch):
            kept.close("stopped")
        again = {name: Kept(path, opening(name, new=False)) for name in NAMES}
        found = [kept.find() for kept in again.values()]
        for kept in again.values():
            kept.close()
        with closing(sqlite3.connect(path)) as connection:
            heads = connection.execute("SELECT name, status, head FROM contests ORDER BY name").fetchall()
        return [*heads, *((each.past.results, each.past.entries) for each in found if each is not None)]

    assert play(tmp_path / "a.db", parks=True) == play(tmp_path / "b.db", parks=False)


@pytest.mark.usefixtures("soon")
def test_a_database_that_is_lost_stops_the_contests_that_are_parked_too(tmp_path: Path) -> None:
    path = tmp_path / "arena.db"
    contests = begun(path)
    parked = [kept for kept in contests if kept is not contests[0]]
    contests[0].append(offer(1))
    for kept in parked:
        wait_until_parked(kept)
    path.rename(tmp_path / "moved.db")
    for kept in contests:
        assert "was deleted or replaced while the server had it open" in str(kept.next())
        kept.close()


@pytest.mark.usefixtures("soon")
def test_the_last_connection_of_all_may_end_while_contests_are_parked(tmp_path: Path) -> None:
    """SQLite deletes its log then: that is no loss."""
    path = tmp_path / "arena.db"
    first, parked = Kept(path, opening("first")), Kept(path, opening("parked"))
    first.start()
    first.append(offer(1))
    parked.start()
    wait_until_parked(parked)
    first.close("stopped")
    assert not path.with_name("arena.db-wal").exists()
    parked.append(offer(1))
    parked.writer.store("g1", game(1))
    assert parked.next() == ["g1"]
    parked.close("finished")


@pytest.mark.usefixtures("soon")
def test_a_contest_that_is_over_has_a_thread_only_while_it_writes(tmp_path: Path) -> None:
    path = tmp_path / "arena.db"
    for status in ("finished", "aborted"):
        contest = opening(status, new=False)
        kept = Kept(path, contest)
        kept.start()
        kept.close(status)
        shown = Kept(path, type(contest)(contest.config, contest.options, contest.names, 6, keep=True))
        found = shown.find()
        assert found is not None
        assert found.ended == status
        for number in (1, 2):
            wait_until_parked(shown)
            shown.append((0, "archived", "", number))
            shown.wait_for(number)
        shown.close()
