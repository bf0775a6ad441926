"""Copies of a database that is being written."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from itertools import count
from pathlib import Path

import pytest

from arena_server.errors import StoreError
from arena_server.store.backup import back_up
from arena_server.store.head import read_head
from arena_server.store.preflight import check_readable
from arena_server.store.reader import Results

from ..records import Kept, game, keep, opening
from .test_writer import journal


def copied(path: Path) -> Path:
    return path.with_name("copy.db")


def test_a_copy_has_every_result_that_was_announced_before(path: Path) -> None:
    """The server's file has a WAL then, and running games."""
    kept = Kept(path)
    kept.start()
    for number in range(1, 4):
        kept.append((number, "offer", ("a", "b"), number, ()))
        kept.writer.store(f"g{number}", game(number))
        assert kept.next() == [f"g{number}"]
    kept.append((4, "offer", ("a", "b"), 4, ()))
    kept.wait_for(4)
    assert back_up(path, copied(path)) == (1, 3, [])
    kept.writer.store("g4", game(4))
    assert kept.next() == ["g4"]
    kept.close()
    with Results(copied(path)) as results:
        assert results.sums.games_played(results.contest()) == 3
    assert (4, "offer", ("a", "b"), 4, ()) in journal(copied(path))
    (announced,) = read_head(copied(path))
    assert announced.results == 3
    assert {each.stat().st_mode & 0o777 for each in path.parent.glob("copy.db*")} == {0o600}
    assert sorted(each.name for each in path.parent.glob("copy.db*")) == ["copy.db", "copy.db-head"]


def test_a_server_goes_on_from_the_copy(path: Path) -> None:
    keep(path, 1, 2, status="stopped")
    back_up(path, copied(path))
    kept = Kept(copied(path), opening(new=False))
    found = kept.start()
    assert found is not None
    kept.writer.store("g3", game(3))
    assert kept.next() == ["g3"]
    kept.close()
    with Results(copied(path)) as results:
        assert results.sums.games_played(results.contest()) == 3


def test_copies_made_while_results_come_are_whole(path: Path) -> None:
    kept = Kept(path)
    kept.start()
    counts: list[int] = []

    def copy() -> None:
        for number in range(5):
            to = path.with_name(f"copy{number}.db")
            counts.append(back_up(path, to)[1])
            check_readable(to)

    def store(number: int) -> None:
        kept.writer.store(f"g{number}", game(number))
        assert kept.next() == [f"g{number}"]

    # The writer may commit the contest and its first result at once, before the head file has a line of it.
    # No server ends a game before its contest is stored.
    store(1)
    thread = threading.Thread(target=copy)
    thread.start()
    for number in count(2):
        if not thread.is_alive():
            break
        store(number)
    kept.close()
    assert len(counts) == 5
    assert counts == sorted(counts)
    for number, games in enumerate(counts):
        announced = read_head(path.with_name(f"copy{number}.db"))
        assert sum(each.results for each in announced) == games


@pytest.mark.parametrize("name", ["copy.db", "copy.db-head"])
def test_a_file_is_never_replaced(path: Path, name: str) -> None:
    keep(path, 1)
    taken = path.with_name(name)
    taken.write_text("mine")
    with pytest.raises(StoreError, match=rf"{name}: exists already; give the copy another name"):
        back_up(path, copied(path))
    assert taken.read_text() == "mine"


def test_what_a_killed_copy_left_is_no_obstacle(path: Path) -> None:
    keep(path, 1)
    path.with_name("copy.db.part").write_text("half")
    assert back_up(path, copied(path)) == (1, 1, [])
    assert not path.with_name("copy.db.part").exists()


def test_a_folder_that_is_not_there(path: Path) -> None:
    keep(path, 1)
    with pytest.raises(StoreError, match="cannot be written: No such file or directory"):
        back_up(path, path.parent / "none" / "copy.db")


def test_a_database_with_losses_is_not_copied(path: Path) -> None:
    keep(path, 1, 2, status="stopped")
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DELETE FROM games WHERE place = 2")
    with pytest.raises(StoreError, match=r"1 announced result of contest 1"):
        back_up(path, copied(path))
    assert not copied(path).exists()


def test_a_damaged_database_is_not_copied(path: Path) -> None:
    """A page that no check of announced results reads."""
    keep(path, 1)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        (page,) = connection.execute(
            "SELECT rootpage FROM sqlite_schema WHERE type = 'index' AND name = 'ix_contests_name'"
        ).fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    with open(path, "r+b") as file:
        file.seek((page - 1) * size)
        file.write(bytes(size))
    with pytest.raises(StoreError, match=r"damaged|malformed"):
        back_up(path, copied(path))
    assert [each.name for each in path.parent.glob("copy.db*")] == []
