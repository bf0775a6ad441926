"""What may be wrong with a database: one line each, and nothing acknowledged that is not kept."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from arena_server.errors import StoreError
from arena_server.store.preflight import LAYOUT, probe, probe_readable
from arena_server.store.reader import Results
from arena_server.store.writer import Writer

from .records import Kept, game, keep, opening


class TestFailures:
    def test_a_database_locked_by_another_program(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("arena_server.store.database.BUSY_TIMEOUT_S", 0.0)
        keep(path, 1)
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(StoreError) as caught:
                probe(path)
            assert str(caught.value) == (
                f"{path}: the database is locked by another program; stop it or choose another --database"
            )

    def test_a_lock_that_comes_later_is_told_and_nothing_is_acknowledged(
        self, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("arena_server.store.schema.BUSY_TIMEOUT_S", 0.0)
        kept = Kept(path)
        kept.start()
        kept.writer.put("g1", game(1))
        assert kept.next() == ["g1"]
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            kept.writer.put("g2", game(2))
            told = kept.next()
            assert isinstance(told, StoreError)
            assert "is locked by another program" in str(told)
        kept.writer.put("g3", game(3))
        kept.close("stopped")
        assert kept.told.empty()
        with Results(path) as results:
            assert results.games_played(results.contest()) == 1

    def test_entries_do_not_wait_for_another_program_and_come_again(self, path: Path) -> None:
        kept = Kept(path)
        kept.start()
        kept.journal([((1, "offer", 0),)])
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            assert not kept.writer.journal([((2, "offer", 0),)])
            other.execute("ROLLBACK")
        kept.journal([((2, "offer", 0),)])
        assert [kept.groups.get_nowait() for _ in range(2)] == [1, 2]
        kept.close()

    def test_a_lock_that_lasts_is_told_to_whoever_brings_entries(
        self, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        kept = Kept(path)
        kept.start()
        kept.journal([((1, "offer", 0),)])
        monkeypatch.setattr("arena_server.store.database.BUSY_TIMEOUT_S", 0.0)
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            kept.journal([((2, "offer", 0),)])
            assert str(kept.next()) == (
                f"{path}: the database is locked by another program; stop it or choose another --database"
            )
        kept.journal([((3, "offer", 0),)])
        kept.close()
        assert kept.groups.get_nowait() == 1
        assert isinstance(kept.groups.get_nowait(), StoreError)
        assert kept.groups.empty()

    def test_a_full_disk_is_told_and_nothing_is_acknowledged(self, path: Path) -> None:
        keep(path, 1)
        kept = Kept(path)
        kept.start()
        kept.writer.put("g1", game(1))
        assert kept.next() == ["g1"]
        _limit_pages(kept.writer)
        for number in range(2, 200):
            kept.writer.put(f"g{number}", game(number))
        told: list[str] = []
        while isinstance(word := kept.next(), list):
            told += word
        assert str(word) == f"{path}: the disk is full; nothing more can be kept"
        kept.close("stopped")
        with Results(path) as results:
            there = [game_id for game_id, _ in results.records(results.contest())]
            assert there == ["g1", *told]

    @pytest.mark.parametrize(
        "damage", [b"this is no database at all" * 100, b"SQLite format 3\0" + b"\xff" * 2000]
    )
    def test_a_damaged_file(self, path: Path, damage: bytes) -> None:
        path.write_bytes(damage)
        for question in (probe, probe_readable):
            with pytest.raises(StoreError, match=r"the database is damaged .*; restore it or choose another"):
                question(path)

    def test_a_page_damaged_within_is_told_by_whoever_reads_it(self, path: Path) -> None:
        keep(path, *range(1, 40))
        data = bytearray(path.read_bytes())
        data[4096 * 2 :] = os.urandom(len(data) - 4096 * 2)
        path.write_bytes(data)
        with pytest.raises(StoreError, match="the database is damaged"), Results(path) as results:
            results.standings(results.contest())

    def test_a_database_of_another_program(self, path: Path) -> None:
        with closing(sqlite3.connect(path)) as other:
            other.execute("CREATE TABLE things (id INTEGER)")
        for question in (probe, probe_readable):
            with pytest.raises(StoreError, match="a database of another program; choose a file of its own"):
                question(path)

    def test_results_of_another_layout(self, path: Path) -> None:
        keep(path, 1)
        with closing(sqlite3.connect(path)) as other:
            other.execute(f"PRAGMA user_version={LAYOUT + 1}")
        with pytest.raises(StoreError, match=f"results of layout {LAYOUT + 1}, and this version reads"):
            probe(path)

    def test_a_folder_that_does_not_exist(self, tmp_path: Path) -> None:
        with pytest.raises(StoreError, match=r"the folder .*nowhere does not exist$"):
            probe(tmp_path / "nowhere" / "arena.db")

    def test_a_path_that_is_a_folder(self, tmp_path: Path) -> None:
        with pytest.raises(
            StoreError, match=r"the database cannot be written .*; check the rights on the file"
        ):
            probe(tmp_path)

    def test_a_new_file_is_made_by_a_writer_only(self, path: Path) -> None:
        with pytest.raises(StoreError, match="no such database; has a contest been played here"):
            probe_readable(path)
        assert not path.exists()
        probe(path)
        with pytest.raises(StoreError, match="an empty database; has a contest been played here"):
            probe_readable(path)

    def test_an_error_without_a_better_word_is_told_as_it_is(self, path: Path) -> None:
        kept = Kept(path, opening(names=("a", "a")))
        kept.start()
        told = kept.next()
        assert isinstance(told, StoreError)
        assert str(told) == f"{path}: UNIQUE constraint failed: bots.contest_id, bots.name"
        kept.close("stopped")


def _limit_pages(writer: Writer) -> None:
    """Let the file grow by a few pages more: to SQLite that is a full disk."""
    from sqlalchemy import event
    from sqlalchemy.engine import Engine

    def limit(connection: object, *_: object) -> None:
        connection.exec_driver_sql("PRAGMA max_page_count=30")  # type: ignore[attr-defined]

    event.listen(Engine, "begin", limit)
    _LISTENERS.append(limit)


_LISTENERS: list[object] = []


@pytest.fixture(autouse=True)
def _forget_listeners() -> Iterator[None]:
    yield
    from sqlalchemy import event
    from sqlalchemy.engine import Engine

    while _LISTENERS:
        event.remove(Engine, "begin", _LISTENERS.pop())
