"""The writer: durable before it is reported, in the order of the calls, one line for every failure."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from queue import Queue
from random import Random

import pytest

from arena_protocol.record import FaultRecord
from arena_protocol.record_codec import decode
from arena_server.core.facts import Order, Ruled
from arena_server.core.journal import CONTEST, Entry, entry_of
from arena_server.errors import StoreError
from arena_server.store.database import LAYOUT
from arena_server.store.journal import unpack
from arena_server.store.reader import Results
from arena_server.store.wal import WriteAheadLog
from arena_server.store.writer import GROUP_SHARE, Writer

from ..records import Kept, game, keep, opening, shown

PATIENCE_S = 150.0


class TestWriter:
    def test_a_result_is_on_disk_when_it_is_reported(self, path: Path) -> None:
        kept = Kept(path)
        kept.start()
        for number in range(1, 6):
            kept.writer.store(f"g{number}", game(number))
            assert kept.next() == [f"g{number}"]
            # Another connection sees it already: it was committed.
            with closing(sqlite3.connect(path)) as other:
                assert other.execute("SELECT count(*) FROM games").fetchone() == (number,)
        kept.close("finished")
        assert kept.threads == {"store"}

    def test_what_the_jury_has_decided_is_in_the_tables_when_it_is_reported(self, path: Path) -> None:
        """Not in the journal alone, which a reader of the database does not read."""
        kept = Kept(path)
        kept.start()
        kept.writer.store("g1", game(1, ("a", "b"), (30, 10)))
        assert kept.next() == ["g1"]
        for number, totals in ((1, (0, 30)), (2, (10, 10))):
            order = Order(number, "correct", "g1 x", "me", 0, "a reason")
            ruled = Ruled(number, 1, totals, "corrected", (0, 0), "complete", number)
            kept.append(entry_of(CONTEST, ruled), entry_of(CONTEST, order))
            kept.wait_for(number)
            with Results(path) as results:
                contest = results.contest()
                assert len(results.facts.decisions(contest)) == len(results.facts.rulings(contest)) == number
                points = {row.name: row.points for row in results.sums.standings(contest)}
                assert (points["a"], points["b"]) == totals
        kept.close("stopped")

    def test_what_is_queued_is_committed_together_and_reported_in_order(self, path: Path) -> None:
        kept = Kept(path)
        kept.writer.enter(kept.opening.config)
        for number in range(1, 601):
            kept.writer.store(f"g{number}", game(number))
        kept.writer.start()
        kept.close("finished")
        batches: list[list[str]] = []
        while not kept.told.empty():
            told = kept.next()
            assert isinstance(told, list)
            batches.append(told)
        assert [each for batch in batches for each in batch] == [f"g{n}" for n in range(1, 601)]
        assert len(batches) <= 4

    def test_a_patient_one_commits_nothing_on_the_callers_thread(self, path: Path) -> None:
        kept = Kept(path, patient=True)
        kept.start()
        for number in range(1, 11):
            assert not kept.writer.append([(number, "offer", 0)])
            kept.wait_for(number)
        kept.close("stopped")
        assert kept.threads == {"store"}

    def test_the_database_is_in_wal_mode_with_a_header_of_ours(self, path: Path) -> None:
        keep(path, 1)
        with closing(sqlite3.connect(path)) as other:
            assert other.execute("PRAGMA journal_mode").fetchone() == ("wal",)
            assert other.execute("PRAGMA application_id").fetchone() == (int.from_bytes(b"Aren"),)
            assert other.execute("PRAGMA user_version").fetchone() == (LAYOUT,)

    def test_neither_commits_nor_checkpoints_wait_by_themselves(self, path: Path) -> None:
        from arena_server.store.engines import open_engine

        engine = open_engine(path, writing=True)
        assert engine is open_engine(path, writing=True), "each would make the SQL of all its queries"
        with engine.connect() as connection:
            assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 1
            assert connection.exec_driver_sql("PRAGMA wal_autocheckpoint").scalar() == 0
        engine.dispose()

    def test_a_contest_that_is_over_is_found_without_a_wait_for_the_disk(
        self, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A server may show hundreds of them; those whose contests go on wait for the disk at their ends."""
        checkpoints: list[str] = []
        monkeypatch.setattr(WriteAheadLog, "_checkpoint", lambda wal, mode: checkpoints.append(mode))
        keep(path, 1)
        assert checkpoints.pop() == "TRUNCATE"
        checkpoints.clear()
        for expected in ("finished", None):
            kept = Kept(path, replace(opening(new=expected is None), keep=True))
            found = kept.find()
            assert (found and found.ended) == expected
            if expected is None:
                kept.writer.enter(kept.opening.config)
            kept.close()
            assert bool(checkpoints) is (expected is None)

    def test_the_wal_restarts_while_entries_are_written(
        self, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("arena_server.store.contest_store.CHECKPOINT_ROWS", 50)
        monkeypatch.setattr("arena_server.store.writer.MAINTENANCE_S", 0.01)
        kept = Kept(path)
        kept.start()
        log, entries = path.with_name("arena.db-wal"), 0
        began: set[bytes] = set()
        deadline = time.monotonic() + PATIENCE_S
        while len(began) < 3 and time.monotonic() < deadline:
            kept.append((1, "lag", entries, 0))
            entries += 1
            kept.wait_for(entries)
            began.add(_head(log))  # the salt in its header changes when it restarts
        assert len(began) == 3
        with closing(sqlite3.connect(path)) as other:
            assert other.execute("SELECT count(*) FROM journal").fetchone() == (entries,)
        kept.close()

    def test_the_wal_is_empty_at_the_end(self, path: Path) -> None:
        keep(path, 1, 2, 3)
        log = path.with_name("arena.db-wal")
        assert not log.exists() or log.stat().st_size == 0

    def test_the_end_is_told_when_it_can_be_read(self, path: Path) -> None:
        kept = Kept(path)
        kept.start()
        seen: Queue[str] = Queue()

        def done() -> None:
            with Results(path) as results:
                seen.put(results.contest().status)

        kept.writer.end("finished", done)
        assert seen.get(timeout=PATIENCE_S) == "finished"
        kept.close()

    def test_the_rows_say_what_the_contest_and_its_games_were(self, path: Path) -> None:
        kept = Kept(path)
        kept.start()
        fault = FaultRecord(2, 1, "illegal", b"MOVE 0\xff")
        kept.writer.store("g1", game(1, faults=(fault,)))
        kept.writer.store("g2", game(2, faults=(FaultRecord(0, 1, "void", b""),), end="void"))
        kept.close("stopped")
        with Results(path) as results:
            contest = results.contest()
            assert (contest.name, contest.game, contest.scoring, contest.status) == (
                "trial",
                "insertion",
                "points",
                "stopped",
            )
            assert contest.seed == str(2**127 + 1)
            assert contest.options == {"plies": "1"}
            assert contest.ended_at is not None
            assert contest.started_at <= contest.ended_at
        with closing(sqlite3.connect(path)) as other:
            rows = other.execute(
                "SELECT bots.name, seat, ply, kind, line FROM faults LEFT JOIN bots ON bot_id = bots.id"
            ).fetchall()
            assert rows == [("b", 2, 1, "illegal", b"MOVE 0\xff"), (None, 0, 1, "void", b"")]

    @pytest.mark.real
    def test_nothing_reported_is_lost_when_the_process_is_killed(self, path: Path) -> None:
        """The child prints each stored game and is killed after 20 of them."""
        program = (
            "import sys; from pathlib import Path; from tests.server.records import game, opening\n"
            "from arena_server.store.writer import Writer\n"
            "say = lambda _, ids: [print(i, flush=True) for i in ids]\n"
            "writer = Writer(Path(sys.argv[1]), opening(), found=print, committed=say, failed=print)\n"
            "writer.start()\n"
            "writer.enter(opening().config)\n"
            "for n in range(1, 20000): writer.store(f'g{n}', game(n))\n"
            "writer.close()\n"
        )
        root = Path(__file__).parents[3]
        child = subprocess.Popen(
            [sys.executable, "-c", program, str(path)],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join([*sys.path, str(root)])},
        )
        assert child.stdout is not None
        with child.stdout:
            assert child.stdout.readline() == "None\n"  # no unfinished contest
            told = [child.stdout.readline().strip() for _ in range(20)]
            child.kill()
            told += [line.strip() for line in child.stdout if line.endswith("\n")]
        child.wait()
        with Results(path) as results:
            contest = results.contest()
            there = dict(results.games.records(contest))
            assert set(told) <= set(there)
            assert all(decode(shown(data)).game_id == game_id for game_id, data in there.items())


def _head(log: Path) -> bytes:
    with log.open("rb") as file:
        return file.read(32)


class TestResultsWaitForEachOther:
    """Of 40 games that run ten may wait; GROUP_S is longer than the test, so nothing else ends the wait."""

    GAMES, GROUP = 40, 10

    @pytest.fixture
    def kept(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Kept]:
        monkeypatch.setattr("arena_server.store.writer.GROUP_S", 10 * PATIENCE_S)
        kept = Kept(path)
        kept.start()
        yield kept
        kept.close()

    def run_games(self, kept: Kept, games: int) -> None:
        """Offer games, and have the thread count them, as it does in each transaction."""
        for number in range(1, games + 1):
            kept.append((number, "offer", ("a", "b"), 1, ()))
        counted = threading.Event()
        kept.writer.end("stopped", counted.set)
        assert counted.wait(PATIENCE_S)

    def store(self, kept: Kept, numbers: range) -> None:
        """Store games one by one: the thread has taken each of them before the next comes."""
        deadline = time.monotonic() + PATIENCE_S
        for number in numbers:
            kept.writer.store(f"g{number}", game(number))
            while not kept.writer._jobs.empty():
                assert time.monotonic() < deadline

    def test_until_a_quarter_of_the_games_wait(self, kept: Kept) -> None:
        self.run_games(kept, self.GAMES)
        self.store(kept, range(1, self.GROUP + 1))
        assert kept.next() == [f"g{number}" for number in range(1, self.GROUP + 1)]
        # Of the 30 others seven may wait.
        self.store(kept, range(11, 18))
        assert kept.next() == [f"g{number}" for number in range(11, 18)]

    def test_with_few_games_none_waits(self, kept: Kept) -> None:
        self.run_games(kept, 2 * GROUP_SHARE - 1)
        kept.writer.store("g1", game(1))
        assert kept.next() == ["g1"]

    def test_for_a_moment_only(self, kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
        self.run_games(kept, self.GAMES)
        monkeypatch.setattr("arena_server.store.writer.GROUP_S", 0.001)
        kept.writer.store("g1", game(1))
        assert kept.next() == ["g1"]

    def test_entries_wait_for_no_result(self, kept: Kept, path: Path) -> None:
        self.run_games(kept, self.GAMES)
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")  # so the entry is left to the thread
            kept.writer.store("g1", game(1))
            kept.append((2, "ready", 1))
            other.execute("ROLLBACK")
        kept.wait_for(self.GAMES + 1)
        assert kept.next() == ["g1"]

    def test_the_end_waits_for_no_result(self, kept: Kept) -> None:
        self.run_games(kept, self.GAMES)
        kept.writer.store("g1", game(1))
        kept.close("stopped")
        assert kept.next() == ["g1"]


class TestFailures:
    def test_a_later_lock_is_reported_and_nothing_is_acknowledged(
        self, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("arena_server.store.contest_store.LOCK_WAIT_S", 0.0)
        kept = Kept(path)
        kept.start()
        kept.writer.store("g1", game(1))
        assert kept.next() == ["g1"]
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            kept.writer.store("g2", game(2))
            told = kept.next()
            assert isinstance(told, StoreError)
            assert "is locked by another program" in str(told)
        kept.writer.store("g3", game(3))
        kept.close("stopped")
        assert kept.told.empty()
        with Results(path) as results:
            assert results.sums.games_played(results.contest()) == 1

    def test_entries_are_queued_while_another_program_writes(self, path: Path) -> None:
        kept = Kept(path)
        kept.start()
        kept.append((1, "offer", ("a", "b"), 1, ()))
        kept.wait_for(1)
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            assert not kept.writer.append([(2, "offer", ("a", "b"), 1, ())])
            assert not kept.writer.append([(3, "offer", ("a", "b"), 1, ())])
            assert kept.batches.empty()
            other.execute("ROLLBACK")
        kept.wait_for(3)
        assert kept.writer.append([(4, "offer", ("a", "b"), 1, ())])
        kept.close()
        assert journal(path) == [(number, "offer", ("a", "b"), 1, ()) for number in (1, 2, 3, 4)]

    def test_a_lock_that_lasts_is_reported(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("arena_server.store.contest_store.LOCK_WAIT_S", 0.0)
        kept = Kept(path)
        kept.start()
        kept.append((1, "offer", ("a", "b"), 1, ()))
        kept.wait_for(1)
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            kept.append((2, "offer", ("a", "b"), 1, ()))
            assert str(kept.next()) == (
                f"{path}: the database is locked by another program; stop it or choose another --database"
            )
        kept.append((3, "offer", ("a", "b"), 1, ()))
        kept.close()
        assert isinstance(kept.batches.get_nowait(), StoreError)
        assert kept.batches.empty()
        assert journal(path) == [(1, "offer", ("a", "b"), 1, ())]

    def test_a_full_disk_is_reported_and_nothing_is_acknowledged(self, path: Path) -> None:
        keep(path, 1)
        kept = Kept(path)
        kept.start()
        kept.writer.store("g1", game(1))
        assert kept.next() == ["g1"]
        _limit_pages(kept.writer)
        for number in range(2, 200):
            kept.writer.store(f"g{number}", game(number))
        told: list[str] = []
        while isinstance(word := kept.next(), list):
            told += word
        assert str(word) == f"{path}: the disk is full; nothing more can be kept"
        kept.close("stopped")
        with Results(path) as results:
            there = [game_id for game_id, _ in results.games.records(results.contest())]
            assert there == ["g1", *told]

    def test_a_damaged_page_is_reported_by_its_reader(self, path: Path) -> None:
        keep(path, *range(1, 40))
        data = bytearray(path.read_bytes())
        data[4096 * 2 :] = Random(1).randbytes(len(data) - 4096 * 2)
        path.write_bytes(data)
        with pytest.raises(StoreError, match="the database is damaged"), Results(path) as results:
            results.sums.standings(results.contest())

    def test_an_unknown_error_is_reported_as_it_is(self, path: Path) -> None:
        kept = Kept(path, opening(names=("a", "a")))
        kept.start()
        told = kept.next()
        assert isinstance(told, StoreError)
        assert str(told) == f"{path}: UNIQUE constraint failed: bots.contest_id, bots.name"
        kept.close("stopped")


def journal(path: Path) -> list[Entry]:
    """All entries of an SQLite file, in their order."""
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT payload FROM journal ORDER BY id").fetchall()
    return [entry for (payload,) in rows for entry in unpack(payload)]


def _limit_pages(writer: Writer) -> None:
    """Let the file grow by a few pages only, which SQLite reports as a full disk."""
    from sqlalchemy import event
    from sqlalchemy.engine import Engine

    def limit(connection: object, *_: object) -> None:
        connection.exec_driver_sql("PRAGMA max_page_count=30")  # type: ignore[attr-defined]

    event.listen(Engine, "begin", limit)
    _LISTENERS.append(limit)


_LISTENERS: list[Callable[..., None]] = []


@pytest.fixture(autouse=True)
def _forget_listeners() -> Iterator[None]:
    yield
    from sqlalchemy import event
    from sqlalchemy.engine import Engine

    while _LISTENERS:
        event.remove(Engine, "begin", _LISTENERS.pop())
