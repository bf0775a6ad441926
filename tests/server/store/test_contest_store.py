"""A contest in a database, interrupted and resumed: in SQLite and in PostgreSQL."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Lock

import pytest
from sqlalchemy import Connection, text

from arena_protocol.record import FaultRecord
from arena_protocol.record_codec import decode
from arena_server.core.journal import Entry, Live
from arena_server.errors import StoreError
from arena_server.stats.results import PastGame
from arena_server.store.contest_store import ContestStore
from arena_server.store.database import ContestHeader, Database
from arena_server.store.engines import open_engine
from arena_server.store.head import HeadFile
from arena_server.store.journal import SqliteAppender
from arena_server.store.reader import Results
from arena_server.store.unfinished import UnfinishedContest

from ..postgres import Cluster
from ..records import PATIENCE_S, Kept, game, opening, shown

KEY: Entry = (0, "key", "a", "ab" * 32)


def resumed(database: Database, contest: ContestHeader | None = None) -> UnfinishedContest | None:
    """What the next server finds."""
    kept = Kept(database, contest or opening(new=False))
    found = kept.start()
    kept.close()
    return found


def refused(database: Database, contest: ContestHeader) -> str:
    kept = Kept(database, contest)
    kept.start()
    error = kept.next()
    kept.close()
    assert isinstance(error, StoreError)
    return str(error)


@contextmanager
def connected(database: Database) -> Iterator[Connection]:
    """Another connection to the same database."""
    engine = open_engine(database)
    try:
        with engine.connect() as connection:
            yield connection
    finally:
        engine.dispose()


def game_entries(number: int) -> tuple[Entry, ...]:
    return ((number, "offer", ("a", "b"), 1, ()), *((number, "move", ply) for ply in range(8)))


def rows(database: Database) -> int:
    with connected(database) as connection:
        return int(connection.scalar(text("SELECT count(*) FROM journal")) or 0)


def test_what_was_announced_is_there_for_the_next_server(database: Database) -> None:
    kept = Kept(database)
    assert kept.start() is None
    kept.append((1, "offer", ("a", "b"), 1, ()))
    kept.append((1, "move", 1, "6", 3, 4), KEY)
    kept.wait_for(2)
    kept.append((2, "offer", ("a", "b"), 1, ()))
    kept.wait_for(3)
    fault = FaultRecord(2, 1, "illegal", b"MOVE 0\xff")
    kept.writer.store("g1", game(1, faults=(fault,)))
    assert kept.next() == ["g1"]
    kept.close()  # without a status, as after a crash
    found = resumed(database)
    assert found is not None
    assert (found.contest, found.seed) == (1, 2**127 + 1)
    assert found.past.results == (
        PastGame(1, ("a", "b"), 1, (30, 10), "complete", 1, (("b", "illegal"),), (3, 0)),
    )
    assert (2, "offer", ("a", "b"), 1, ()) in found.past.entries
    assert KEY in found.past.entries
    again = resumed(database)
    assert again is not None
    assert again.past.entries == (KEY, (2, "offer", ("a", "b"), 1, ()))  # a stored game needs no entries


def test_a_stopped_contest_goes_on_under_its_own_number(database: Database) -> None:
    kept = Kept(database)
    kept.start()
    kept.writer.store("g1", game(1))
    kept.close("stopped")
    kept = Kept(database, opening(new=False))
    assert kept.start() is not None
    kept.writer.store("g2", game(2))
    assert kept.next() == ["g2"]
    kept.close("finished")
    with Results(database) as results:
        (contest,) = results.contests()
        assert contest.status == "finished"
        assert results.sums.games_played(contest) == 2
        assert [decode(shown(data)).game_id for _, data in results.games.records(contest)] == ["g1", "g2"]
        assert [row.points for row in results.sums.standings(contest)] == [60, 20, 0]
    assert rows(database) == 0


def test_a_finished_contest_is_not_resumed_nor_one_of_another_name(database: Database) -> None:
    for contest, status in [(opening(), "finished"), (opening("other"), "stopped")]:
        kept = Kept(database, contest)
        kept.start()
        kept.close(status)
    assert resumed(database) is None


def test_a_new_contest_begins_on_request(database: Database) -> None:
    kept = Kept(database)
    kept.start()
    kept.close("stopped")
    assert resumed(database, opening(new=True)) is None
    found = resumed(database)
    assert found is not None
    assert found.contest == 2


def test_a_journal_stays_small(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arena_server.store.journal_rows.COMPACT_ENTRIES", 50)
    monkeypatch.setattr("arena_server.store.journal_rows.STEP_ENTRIES", 4)
    monkeypatch.setattr("arena_server.store.journal_rows.STEP_ROWS", 3)
    monkeypatch.setattr("arena_server.store.contest_store.CHECKPOINT_ROWS", 20)
    kept = Kept(database)
    kept.start()
    for number in range(1, 60):
        kept.append(*game_entries(number))
        kept.batches.get(timeout=PATIENCE_S)
        if number > 10:
            kept.writer.store(f"g{number - 10}", game(number - 10))
            kept.batches.get(timeout=PATIENCE_S)
    kept.close()
    assert rows(database) < 110
    found = resumed(database)
    assert found is not None
    unstored = [entry for entry in found.past.entries if entry[0] > 49]
    assert unstored == [entry for number in range(50, 60) for entry in game_entries(number)]


def test_a_journal_has_the_same_meaning_after_each_step_of_compaction(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server may be killed after any step."""
    monkeypatch.setattr("arena_server.store.journal_rows.STEP_ENTRIES", 4)
    monkeypatch.setattr("arena_server.store.journal_rows.STEP_ROWS", 1)
    contest = opening(new=False)
    steps = 0
    while True:
        with ContestStore(database) as store:
            store.find(contest)
            with store.transaction():
                store.enter(contest, contest.config)
                if steps == 0:
                    store.add([KEY, *game_entries(1), *game_entries(2)], [])
                    store.add([(1, "move", 9), *game_entries(3)], [])
            with store.transaction():
                rewriting = store._journal.compaction_steps()
                left = [next(rewriting, False) for _ in range(steps)]
        found = resumed(database)
        assert found is not None
        live = Live()
        live.add(found.past.entries)
        assert live.contest == [KEY]
        games = {number: list(game_entries(number)) for number in (1, 2, 3)}
        assert live.games == {**games, 1: [*games[1], (1, "move", 9)]}
        if left and not left[-1]:
            assert steps > 5
            return
        steps += 1


@pytest.mark.parametrize(
    ("other", "line"),
    [
        (opening(scoring="wins"), "was begun with scoring='points' where there is 'wins' now"),
        (opening(names=("a", "b")), "was begun with bots=['a', 'b', 'c'] where there is ['a', 'b'] now"),
    ],
)
def test_another_configuration_is_refused_in_one_line(
    database: Database, other: ContestHeader, line: str
) -> None:
    kept = Kept(database)
    kept.start()
    kept.close("stopped")
    told = refused(database, replace(other, new=False))
    assert told.startswith(f"{database}: contest 1 trial is unfinished, and {line}; go on with")
    assert "; go on with the same configuration, or begin a new contest by --new" in told
    # A line for who wanted one bot more.
    assert told.endswith("bots join by `arena admin add`, without a change of the file") == ("bots=" in line)


def test_a_drawn_seed_is_not_compared(database: Database) -> None:
    kept = Kept(database)
    kept.start()
    kept.close("stopped")
    other = replace(opening(new=False), config=replace(opening().config, seed=1))
    assert "was begun with seed=" in refused(database, other)
    found = resumed(database, replace(other, seeded=False))
    assert found is not None
    assert found.seed == 2**127 + 1


def test_a_damaged_journal_is_refused_and_not_changed(database: Database) -> None:
    kept = Kept(database)
    kept.start()
    kept.append((1, "offer", ("a", "b"), 1, ()))
    kept.close()
    with connected(database) as connection:
        connection.execute(text("UPDATE journal SET payload = :junk"), {"junk": b"junk" * 20})
        connection.commit()
    told = refused(database, opening(new=False))
    assert told == (
        f"{database}: the database is damaged (a row of the journal does not match its SHA-256 digest); "
        "restore it, or begin a new contest by --new"
    )
    assert rows(database) == 1


@pytest.mark.parametrize(
    ("statement", "what"),
    [
        ("DELETE FROM journal WHERE place = 2", "row 2 of the journal is missing"),
        ("UPDATE journal SET place = 9 WHERE place = 3", "row 3 of the journal is missing"),
        ("DELETE FROM games WHERE place = 1", "result 1 of contest 1 is missing"),
        ("UPDATE games SET plies = 7 WHERE place = 1", "game g8: its row does not match its SHA-256 digest"),
        ("UPDATE contests SET scoring = 'wins'", "contest 1: its row does not match its SHA-256 digest"),
        ("UPDATE bots SET name = 'x' WHERE name = 'c'", "the bots of contest 1 are not those of its config"),
    ],
)
def test_a_changed_or_missing_row_is_refused(database: Database, statement: str, what: str) -> None:
    kept = Kept(database)
    kept.start()
    for number in (1, 2, 3):
        kept.append((number, "offer", ("a", "b"), 1, ()))
        kept.wait_for(number)
    for number in (8, 9):
        kept.writer.store(f"g{number}", game(number))
    kept.close()
    if isinstance(database, Path):
        database.with_name("arena.db-head").unlink()
    with connected(database) as connection:
        assert connection.execute(text(statement)).rowcount == 1
        connection.commit()
    line = refused(database, opening(new=False))
    assert line.startswith(f"{database}: the database is damaged ({what}")
    assert line.endswith("; restore it, or begin a new contest by --new")


def test_a_contest_has_one_server_at_a_time(postgres: Cluster) -> None:
    """The lock on a file belongs to the process: see test_kill.py."""
    database = postgres.database()
    kept = Kept(database)
    kept.start()
    kept.append((1, "offer", ("a", "b"), 1, ()))
    kept.batches.get(timeout=PATIENCE_S)
    assert refused(database, opening(new=False)) == (
        f"{database}: contest 1 is being played by another server; stop that one, "
        "or begin a new contest by --new"
    )
    kept.close()
    assert resumed(database) is not None


def test_a_server_that_has_ended_keeps_no_lock(postgres: Cluster) -> None:
    """The end of a connection frees its locks only when the database server comes to it."""
    database = postgres.database()
    with connected(database) as other:
        count = text(
            "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND database = "
            "(SELECT oid FROM pg_database WHERE datname = current_database())"
        )
        for number in range(20):
            kept = Kept(database, opening(f"friday{number}"))
            kept.start()
            kept.close("stopped")
            assert other.scalar(count) == 0


def test_the_file_of_locks_is_beside_the_database(tmp_path: Path) -> None:
    resumed(tmp_path / "arena.db")
    assert (tmp_path / "arena.db-locks").read_bytes() == b""


def test_sqlite_keeps_its_journal_in_a_table_of_its_own(tmp_path: Path) -> None:
    resumed(tmp_path / "arena.db")
    with closing(sqlite3.connect(tmp_path / "arena.db")) as other:
        assert other.execute("SELECT count(*) FROM journal").fetchone() == (0,)


def test_a_transaction_that_fails_leaves_the_contest_to_its_server(tmp_path: Path) -> None:
    """What was appended next found a mark in no row, and named another server, not the full disk."""
    header = opening()
    with ContestStore(tmp_path / "arena.db") as store:
        store.find(header)
        with store.transaction():
            store.enter(header, header.config)
        assert store.appender is not None
        with pytest.raises(OSError, match="full"), store.transaction():
            raise OSError("full")
        assert store.appender.append([KEY])
        with store.transaction():
            store.add([KEY], [])


def test_readers_that_come_and_go_do_not_stop_a_server_that_begins(tmp_path: Path) -> None:
    """SQLite locks a file for a moment when it is opened or closed, and refuses who does not wait."""
    path = tmp_path / "arena.db"
    over = threading.Event()

    def read() -> None:
        while not over.is_set():
            with closing(sqlite3.connect(path, timeout=PATIENCE_S)) as reader:
                reader.execute("PRAGMA schema_version").fetchall()

    header = opening()
    with (
        ContestStore(path) as store,
        ThreadPoolExecutor(4) as readers,
        closing(HeadFile(path, 1, "x")) as head,
    ):
        store.find(header)
        with store.transaction():
            store.enter(header, header.config)
        assert store.appender is not None
        found = [readers.submit(read) for _ in range(4)]
        try:
            for _ in range(300):
                SqliteAppender(path, store.appender._claim, 0, Lock(), head).close()
        finally:
            over.set()
        for each in found:
            each.result()


def test_a_database_of_another_program_on_a_server_is_refused(postgres: Cluster) -> None:
    database = postgres.database()
    with connected(database) as connection:
        connection.execute(text("CREATE TABLE contests (id integer)"))
        connection.commit()
    assert refused(database, opening()) == (
        f"{database}: a database of another program; choose one of its own by --database"
    )
