"""What waits for the disk, and a disk or a server of PostgreSQL that fails."""

from __future__ import annotations

import errno
import os
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import text

from arena_server.errors import StoreError
from arena_server.store.contest_store import ContestStore
from arena_server.store.database import Postgres
from arena_server.store.journal import PostgresAppender, SqliteAppender

from ..postgres import Cluster, cluster
from ..records import PATIENCE_S, Kept, game, opening
from .test_contest_store import KEY, connected, resumed


def test_entries_do_not_wait_for_the_disk_and_results_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk answers late: entries are reported at once, a result is not."""
    asked, answer = threading.Event(), threading.Event()

    def slow_disk(log: int) -> None:
        assert os.readlink(f"/proc/self/fd/{log}") == str(tmp_path / "arena.db-wal")
        asked.set()
        assert answer.wait(PATIENCE_S)

    kept = Kept(tmp_path / "arena.db")
    kept.start()
    kept.append((1, "offer", ("a", "b"), 1, ()))
    kept.wait_for(1)
    monkeypatch.setattr("arena_server.store.wal.fdatasync", slow_disk)
    kept.writer.store("g1", game(1))
    assert asked.wait(PATIENCE_S)
    kept.append((2, "offer", ("a", "b"), 1, ()))  # while the result waits
    assert kept.batches.get_nowait() == 2
    assert kept.told.empty()
    answer.set()
    assert kept.next() == ["g1"]
    kept.close()


def test_a_disk_that_fails_to_sync_is_a_clear_stop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(log: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    kept = Kept(tmp_path / "arena.db")
    kept.start()
    kept.append((1, "offer", ("a", "b"), 1, ()))
    kept.wait_for(1)
    monkeypatch.setattr("arena_server.store.wal.fdatasync", failing)
    kept.writer.store("g1", game(1))
    assert str(kept.next()) == f"{tmp_path}/arena.db: the disk is full; nothing more can be kept"
    kept.append((2, "offer", ("a", "b"), 1, ()))  # accepted, and never reported
    kept.close()
    assert isinstance(kept.batches.get_nowait(), StoreError)
    assert kept.batches.empty()


def test_a_full_disk_in_the_middle_of_a_game_is_a_clear_stop(tmp_path: Path) -> None:
    path = tmp_path / "arena.db"
    kept = Kept(path)
    kept.start()
    kept.append((1, "offer", ("a", "b"), 1, ()))
    kept.wait_for(last := 1)
    _no_more_pages(kept)
    for _ in range(200):
        kept.append((1, "fault", 1, "malformed", b"x" * 9000, 0))
    while isinstance(word := kept.batches.get(timeout=PATIENCE_S), int):
        last = word
    assert str(word) == f"{path}: the disk is full; nothing more can be kept"
    kept.close()
    found = resumed(path)
    assert found is not None
    assert len(found.past.entries) == last


def _no_more_pages(kept: Kept) -> None:
    appender = kept.writer._direct
    assert isinstance(appender, SqliteAppender)
    appender._connection.execute("PRAGMA max_page_count=60")


@pytest.fixture
def careless(postgres: Cluster) -> Postgres:
    """A database whose commits do not wait for the disk, unless a session asks for it."""
    database = postgres.database()
    with connected(database) as connection:
        name = connection.scalar(text("SELECT current_database()"))
        connection.execute(text(f"ALTER DATABASE {name} SET synchronous_commit = off"))
        connection.commit()
    with connected(database) as connection:
        assert connection.scalar(text("SHOW synchronous_commit")) == "off"
    return database


@pytest.mark.parametrize("async_journal", [False, True])
def test_results_wait_for_the_disk_and_so_do_entries_by_default(
    careless: Postgres, async_journal: bool
) -> None:
    database = replace(careless, async_journal=async_journal)
    header = opening()
    with ContestStore(database) as store:
        store.find(header)
        with store.transaction():
            store.enter(header, header.config)
        assert isinstance(store.appender, PostgresAppender)
        for _ in range(2):
            with store.transaction():
                assert store._connection.scalar(text("SHOW synchronous_commit")) == "on"
            assert store.appender.append([KEY])
            setting = store.appender._connection.execute("SHOW synchronous_commit").fetchone()
            assert setting == ("off" if async_journal else "on",)


@pytest.mark.real
def test_a_crash_of_postgresql_takes_back_nothing_that_was_announced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Entries alone come last: a result would bring those before it to the disk as well."""
    monkeypatch.setattr("arena_server.store.reconnect.PATIENCE_S", 1.0)
    with cluster() as own:
        database = own.database()
        kept = Kept(database)
        kept.start()
        kept.writer.store("g1", game(1))
        assert kept.next() == ["g1"]
        announced = 0
        while announced < 300:
            for _ in range(10):  # a few are on their way all the time
                kept.append((2 + kept.appended, "offer", ("a", "b"), 1, ()))
            said = kept.batches.get(timeout=PATIENCE_S)
            assert isinstance(said, int)
            announced = said
        own.kill()
        kept.append((1, "offer", ("a", "b"), 1, ()))
        while not isinstance(word := kept.batches.get(timeout=PATIENCE_S), StoreError):
            announced = word
        assert "the database does not answer" in str(word)
        kept.close()
        own.start()
        found = resumed(database)
    assert found is not None
    assert len(found.past.results) == 1
    assert len(found.past.entries) >= announced
