"""The store: durable before it is told, one owner of the connection, one line for what is wrong."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from arena_protocol.record import FaultRecord, decode
from arena_server.errors import ConfigError, StoreError
from arena_server.store.probe import LAYOUT, probe, probe_readable
from arena_server.store.reader import Results
from arena_server.store.url import DEFAULT_URL, database_of
from arena_server.store.writer import Opening, Writer

from .records import Kept, game, opening

PATIENCE_S = 20.0


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "arena.db"


def keep(path: Path, *games: int, status: str = "finished", contest: Opening | None = None) -> None:
    """Play a contest of these games into a database."""
    kept = Kept(path, contest)
    kept.start()
    for number in games:
        kept.writer.put(f"g{number}", game(number))
    kept.close(status)


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
        from arena_server.store.engine import open_engine

        with open_engine(path, durable=True).connect() as connection:
            assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 1
            assert connection.exec_driver_sql("PRAGMA wal_autocheckpoint").scalar() == 0

    def test_the_log_begins_anew_while_entries_are_written(
        self, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("arena_server.store.book.CHECKPOINT_ROWS", 50)
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


class TestFailures:
    def test_a_database_locked_by_another_program(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("arena_server.store.probe.BUSY_TIMEOUT_S", 0.0)
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
        monkeypatch.setattr("arena_server.store.engine.BUSY_TIMEOUT_S", 0.0)
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
        monkeypatch.setattr("arena_server.store.probe.BUSY_TIMEOUT_S", 0.0)
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


def _head(log: Path) -> bytes:
    with log.open("rb") as file:
        return file.read(32)


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


class TestReader:
    def test_several_contests_live_in_one_database(self, path: Path) -> None:
        keep(path, 1, 2, contest=opening("spring"))
        keep(path, 1, contest=opening("autumn"))
        keep(path, contest=opening("spring"), status="stopped")
        with Results(path) as results:
            assert [(each.id, each.name) for each in results.contests()] == [
                (1, "spring"),
                (2, "autumn"),
                (3, "spring"),
            ]
            assert results.contest().id == 3
            assert results.contest("spring").id == 3
            assert results.contest("autumn").id == 2
            assert results.contest("1").id == 1
            assert results.games_played(results.contest("1")) == 2
            with pytest.raises(StoreError) as caught:
                results.contest("winter")
            assert str(caught.value) == (
                f"{path}: no contest 'winter' here; there are: 1 spring, 2 autumn, 3 spring"
            )

    def test_an_empty_database_has_no_contest(self, path: Path) -> None:
        probe(path)
        keep(path)
        with closing(sqlite3.connect(path)) as other:
            other.execute("PRAGMA foreign_keys=OFF")
            other.execute("DELETE FROM contests")
            other.commit()
        with Results(path) as results, pytest.raises(StoreError, match=r"no contest here; there are: none$"):
            results.contest()

    def test_standings_leave_void_games_out_and_count_faults(self, path: Path) -> None:
        kept = Kept(path)
        kept.start()
        kept.writer.put("g1", game(1, ("a", "b"), (30, 10), (FaultRecord(2, 1, "illegal", b""),)))
        kept.writer.put("g2", game(2, ("c", "a"), (20, 20)))
        kept.writer.put("g3", game(3, ("b", "c"), (900, 0), (FaultRecord(1, 1, "flood", b""),), end="void"))
        kept.close("finished")
        with Results(path) as results:
            rows = results.standings(results.contest())
        assert [(row.rank, row.name, row.points, row.games, dict(row.faults)) for row in rows] == [
            (1, "a", 50, 2, {}),
            (2, "c", 20, 1, {}),
            (3, "b", 10, 1, {"illegal": 1}),
        ]

    def test_standings_follow_the_scoring_of_the_contest(self, path: Path) -> None:
        kept = Kept(path, opening(scoring="wins"))
        kept.start()
        kept.writer.put("g1", game(1, ("a", "b"), (1, 0)))
        kept.writer.put("g2", game(2, ("b", "c"), (500, 600)))
        kept.writer.put("g3", game(3, ("a", "c"), (2, 1)))
        kept.close("finished")
        with Results(path) as results:
            assert [row.name for row in results.standings(results.contest())] == ["a", "c", "b"]

    def test_records_come_in_the_order_of_the_schedule(self, path: Path) -> None:
        keep(path, 10, 2, 1, 11)
        with Results(path) as results:
            contest = results.contest()
            records = list(results.records(contest))
            assert [game_id for game_id, _ in records] == ["g1", "g2", "g10", "g11"]
            assert decode(records[2][1]) == game(10)
            assert decode(results.record(contest, "g11")) == game(11)
            with pytest.raises(StoreError, match=r"no game 'g12' in contest 1 trial$"):
                results.record(contest, "g12")


class TestUrls:
    def test_the_default_is_a_file_here(self) -> None:
        assert database_of(DEFAULT_URL) == Path("arena.db")

    def test_four_slashes_are_an_absolute_path(self) -> None:
        assert database_of("sqlite:////var/lib/a%20b.db") == Path("/var/lib/a b.db")

    @pytest.mark.parametrize(
        "url",
        ["arena.db", "postgresql://x", "mysql://x/y", "sqlite:///", "sqlite:///:memory:", "sqlite:///a?b"],
    )
    def test_other_urls_are_refused(self, url: str) -> None:
        with pytest.raises(ConfigError) as caught:
            database_of(url)
        assert str(caught.value) == (
            f"--database: expected a URL such as sqlite:///arena.db or postgresql://host/name, got {url!r}"
        )
