"""Contests of visitors whose server was killed."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from arena_server.errors import StoreError
from arena_server.store.abandoned import stop_abandoned
from arena_server.store.ownership import ContestLock
from arena_server.store.preflight import check_readable
from arena_server.store.reader import Results

from ..records import Kept, game, keep, opening


def leave_running(path: Path, name: str, *games: int) -> None:
    """Leave a contest as `kill -9` does: it has results, and no end."""
    kept = Kept(path, opening(name))
    kept.start()
    kept.append((9, "offer", ("a", "b"), 1, ()))
    kept.wait_for(1)
    for number in games:
        kept.writer.store(f"g{number}", game(number))
        assert kept.next() == [f"g{number}"]
    kept.close()


def statuses(path: Path) -> dict[str, str]:
    with Results(path) as results:
        return {contest.name: contest.status for contest in results.contests()}


def test_what_runs_is_stopped_and_still_sound(path: Path) -> None:
    keep(path, 1, contest=opening("over"))
    leave_running(path, "one", 1, 2)
    leave_running(path, "none")
    assert statuses(path) == {"over": "finished", "one": "running", "none": "running"}
    assert stop_abandoned(path) == 2
    assert statuses(path) == {"over": "finished", "one": "stopped", "none": "stopped"}
    with Results(path) as results:
        for contest in results.contests():  # read with its digest
            assert contest.ended_at is not None
            assert contest.head is not None
            results.sums.standings(contest)
    check_readable(path)
    assert stop_abandoned(path) == 0


def test_what_another_server_plays_goes_on(path: Path) -> None:
    leave_running(path, "mine")
    leave_running(path, "other")
    lock = ContestLock(path, None, 2)
    assert stop_abandoned(path) == 1
    assert statuses(path) == {"mine": "stopped", "other": "running"}
    lock.release()
    assert stop_abandoned(path) == 1


def test_a_file_that_is_not_there_or_of_an_earlier_layout(path: Path) -> None:
    assert stop_abandoned(path) == 0
    assert not path.exists()
    leave_running(path, "old")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 5")
    assert stop_abandoned(path) == 0


def test_a_damaged_file_is_refused(path: Path) -> None:
    leave_running(path, "old")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("ALTER TABLE games RENAME COLUMN chain TO link")
    with pytest.raises(StoreError, match="the database is damaged"):
        stop_abandoned(path)
