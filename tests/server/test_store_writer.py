"""The writer: durable before it is told, one owner of the connection, a log that stays small."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from arena_protocol.record import FaultRecord, decode
from arena_server.store.preflight import LAYOUT
from arena_server.store.reader import Results

from .records import Kept, game, keep

PATIENCE_S = 20.0


class TestWriter:
    def test_a_result_is_on_disk_when_it_is_told(self, path: Path) -> None:
        kept = Kept(path)
        kept.start()
        for number in range(1, 6):
            kept.writer.put(f"g{number}", game(number))
            assert kept.next() == [f"g{number}"]
            # Another connection sees it already: it was committed.
            with closing(sqlite3.connect(path)) as other:
                assert other.execute("SELECT count(*) FROM games").fetchone() == (number,)
        kept.close("finished")
        assert kept.threads == {"store"}

    def test_what_waits_is_committed_together_and_told_in_order(self, path: Path) -> None:
        kept = Kept(path)
        kept.writer.enter(kept.opening.plan)
        for number in range(1, 601):
            kept.writer.put(f"g{number}", game(number))
        kept.writer.start()
        kept.close("finished")
        batches: list[list[str]] = []
        while not kept.told.empty():
            told = kept.next()
            assert isinstance(told, list)
            batches.append(told)
        assert [each for batch in batches for each in batch] == [f"g{n}" for n in range(1, 601)]
        assert len(batches) <= 4

    def test_the_database_is_in_wal_mode_with_a_header_of_ours(self, path: Path) -> None:
        keep(path, 1)
        with closing(sqlite3.connect(path)) as other:
            assert other.execute("PRAGMA journal_mode").fetchone() == ("wal",)
            assert other.execute("PRAGMA application_id").fetchone() == (int.from_bytes(b"Aren"),)
            assert other.execute("PRAGMA user_version").fetchone() == (LAYOUT,)

    def test_neither_commits_nor_checkpoints_wait_by_themselves(self, path: Path) -> None:
        from arena_server.store.schema import open_engine

        with open_engine(path, durable=True).connect() as connection:
            assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 1
            assert connection.exec_driver_sql("PRAGMA wal_autocheckpoint").scalar() == 0

    def test_the_log_begins_anew_while_entries_are_written(
        self, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("arena_server.store.contest_store.CHECKPOINT_ROWS", 50)
        monkeypatch.setattr("arena_server.store.writer.LOOK_ROWS", 50)
        kept = Kept(path)
        kept.start()
        log, entries, began = path.with_name("arena.db-wal"), 0, set()
        deadline = time.monotonic() + PATIENCE_S
        while len(began) < 3 and time.monotonic() < deadline:
            kept.journal([((1, "lag", entries, 0),)])
            entries += 1
            began.add(_head(log))  # its header has a salt that changes when it begins anew
        assert len(began) == 3
        with closing(sqlite3.connect(path)) as other:
            assert other.execute("SELECT count(*) FROM journal").fetchone() == (entries,)
        kept.close()

    def test_the_log_is_folded_into_the_database_at_the_end(self, path: Path) -> None:
        keep(path, 1, 2, 3)
        log = path.with_name("arena.db-wal")
        assert not log.exists() or log.stat().st_size == 0

    def test_the_rows_say_what_the_contest_and_its_games_were(self, path: Path) -> None:
        kept = Kept(path)
        kept.start()
        fault = FaultRecord(2, 1, "illegal", b"MOVE 0\xff")
        kept.writer.put("g1", game(1, faults=(fault,)))
        kept.writer.put("g2", game(2, faults=(FaultRecord(0, 1, "void", b""),), end="void"))
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

    def test_nothing_told_is_lost_when_the_process_is_killed(self, path: Path) -> None:
        """The child reports each stored game and is killed after 20; all 20 must be there."""
        program = (
            "import sys; from pathlib import Path; from tests.server.records import game, opening\n"
            "from arena_server.store.writer import Writer\n"
            "say = lambda _, ids: [print(i, flush=True) for i in ids]\n"
            "writer = Writer(Path(sys.argv[1]), opening(), found=print, committed=say, failed=print)\n"
            "writer.start()\n"
            "writer.enter(opening().plan)\n"
            "for n in range(1, 20000): writer.put(f'g{n}', game(n))\n"
            "writer.close()\n"
        )
        root = Path(__file__).parents[2]
        child = subprocess.Popen(
            [sys.executable, "-c", program, str(path)],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join([*sys.path, str(root)])},
        )
        assert child.stdout is not None
        with child.stdout:
            assert child.stdout.readline() == "None\n"  # nothing to take up
            told = [child.stdout.readline().strip() for _ in range(20)]
            child.kill()
            told += [line.strip() for line in child.stdout if line.endswith("\n")]
        child.wait()
        with Results(path) as results:
            contest = results.contest()
            there = dict(results.records(contest))
            assert set(told) <= set(there)
            assert all(decode(data).game_id == game_id for game_id, data in there.items())


def _head(log: Path) -> bytes:
    with log.open("rb") as file:
        return file.read(32)
