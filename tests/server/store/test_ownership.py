"""One server a contest: its lock cannot be deleted, and what a second writer did is refused."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import text

from arena_protocol.record_codec import decode
from arena_server.errors import StoreError
from arena_server.store import ownership
from arena_server.store.database import Database
from arena_server.store.engines import open_engine
from arena_server.store.ownership import BeginLock, ContestLock, check_unlocked
from arena_server.store.reader import Results
from arena_server.store.schema import Base

from ..records import PATIENCE_S, Kept, game, keep, opening

PLAYED = "contest 1 is being played by another server; stop that one, or begin a new contest by --new"
TAKEN = "another server has taken contest 1 over; nothing more can be kept here"


def lock(path: Path, number: int) -> ContestLock:
    return ContestLock(path, None, number)


class TestContestLock:
    @pytest.mark.parametrize("remove", ["arena.db-locks", None])
    def test_a_second_one_is_refused_also_without_the_file_of_locks(
        self, path: Path, remove: str | None
    ) -> None:
        path.touch()
        first = lock(path, 1)
        if remove is not None:
            path.with_name(remove).unlink()
        for ask in (lambda: lock(path, 1), lambda: check_unlocked(path, None, 1)):
            with pytest.raises(StoreError) as refused:
                ask()
            assert str(refused.value) == f"{path}: {PLAYED}"
        other = lock(path, 2)
        other.release()
        first.release()
        check_unlocked(path, None, 1)
        lock(path, 1).release()

    def test_it_holds_while_other_connections_come_and_go(self, path: Path) -> None:
        """A lock of the process would end with any `close` of the file."""
        keep(path, 1)
        held = lock(path, 1)
        for _ in range(3):
            with Results(path) as results:
                assert results.sums.games_played(results.contest()) == 1
            path.read_bytes()
        with pytest.raises(StoreError):
            lock(path, 1)
        held.release()

    def test_a_database_without_the_file_of_locks_is_played_by_no_other(self, path: Path) -> None:
        check_unlocked(path, None, 1)

    @pytest.mark.real
    @pytest.mark.skipif(sys.platform != "linux", reason="the locks of an open file are those of Linux")
    def test_another_process_is_refused(self, path: Path) -> None:
        path.touch()
        program = (
            "import sys; from pathlib import Path; from arena_server.store.ownership import ContestLock; "
            "ContestLock(Path(sys.argv[1]), None, 1)"
        )
        first = lock(path, 1)
        path.with_name("arena.db-locks").unlink()
        child = [sys.executable, "-c", program, str(path)]
        outcome = subprocess.run(child, capture_output=True, text=True, check=False, timeout=PATIENCE_S)
        assert outcome.stderr.splitlines()[-1].endswith(PLAYED)
        first.release()
        assert subprocess.run(child, check=False, timeout=PATIENCE_S).returncode == 0


def test_one_server_at_a_time_begins_its_contests(database: Database) -> None:
    if isinstance(database, Path):
        database.touch()
    first = BeginLock(database)
    for _ in range(2):
        with pytest.raises(StoreError) as refused:
            BeginLock(database, wait_s=0)
        line = "another server has been beginning its contests for 0 s; stop it or try again"
        assert str(refused.value) == f"{database}: {line}"
    with pytest.raises(StoreError, match="another server has been beginning its contests for 0 s"):
        BeginLock(database, leaves=lambda: True)
    if not isinstance(database, Path):

        def lost() -> bool:
            end_connections(database, "pid NOT IN (SELECT pid FROM pg_locks WHERE locktype = 'advisory')")
            return False

        with ThreadPoolExecutor() as pool:
            ended = pool.submit(BeginLock, database, PATIENCE_S, lost).exception()
        assert "terminating connection due to administrator command" in str(ended)
        assert isinstance(ended, StoreError)
    with ThreadPoolExecutor() as pool:
        second = pool.submit(BeginLock, database, PATIENCE_S)
        first.release()
        second.result().release()
    first.release()
    last = BeginLock(database, wait_s=0)
    begun = Kept(database)
    assert begun.start() is None  # it does not wait for its own server's lock
    begun.close()
    assert begun.told.empty()
    if not isinstance(database, Path):
        end_locks(database)
        BeginLock(database, wait_s=0).release()
    last.release()


@pytest.mark.parametrize("take", [lambda path: lock(path, 1), BeginLock], ids=["contest", "begin"])
def test_a_file_of_locks_that_cannot_be_opened(path: Path, take: Callable[[Path], object]) -> None:
    place = path.with_name("arena.db-locks")
    place.mkdir()
    for _ in range(2):
        with pytest.raises(StoreError) as refused:
            take(path)
        assert str(refused.value) == f"{place}: cannot be opened: Is a directory"
    place.rmdir()
    path.touch()
    take(path).release()  # type: ignore[attr-defined]


def test_servers_that_start_at_once_create_the_tables_once(database: Database) -> None:
    """Each begins a contest of its own."""
    for _ in range(5):
        names = [f"friday{number}" for number in range(4)]
        servers = [Kept(database, opening(name, new=False)) for name in names]
        for server in servers:
            server.writer.start()
        for server in servers:
            assert server.found.get(timeout=PATIENCE_S) is None
            if not server.told.empty():
                raise AssertionError(server.told.get())
            server.close()
        empty(database)


def test_a_server_waits_while_another_begins_to_use_the_file(path: Path) -> None:
    """SQLite does not wait there, whatever its timeout is."""
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("CREATE TABLE t (n)")
    other.execute("BEGIN IMMEDIATE")
    end = threading.Timer(0.1, other.close)
    end.start()
    kept = Kept(path)
    kept.start()
    end.join()
    kept.close()
    assert kept.told.empty()


def test_a_file_that_stays_taken_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arena_server.store.engines.BUSY_TIMEOUT_S", 0.0)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("CREATE TABLE t (n)")
        other.execute("BEGIN IMMEDIATE")
        kept = Kept(path)
        kept.start()
        assert "is locked by another program" in str(kept.told.get(timeout=PATIENCE_S))
    kept.close()


def empty(database: Database) -> None:
    """Remove all tables."""
    if isinstance(database, Path):
        for file in database.parent.iterdir():
            file.unlink()
    else:
        engine = open_engine(database)
        Base.metadata.drop_all(engine)
        engine.dispose()


def test_of_servers_that_find_no_contest_of_a_name_one_begins_it(database: Database) -> None:
    servers = [Kept(database, opening(new=False)) for _ in range(3)]
    for server in servers:
        server.writer.start()
    for server in servers:
        assert server.found.get(timeout=PATIENCE_S) is None
    first, *others = servers
    first.writer.enter(first.opening.config)
    first.writer.store("g1", game(1))
    assert first.next() == ["g1"]
    for server in others:
        server.writer.enter(server.opening.config)
        assert str(server.next()) == f"{database}: {PLAYED}"
        server.close()
    first.close()
    with Results(database) as results:
        assert len(results.contests()) == 1


@pytest.fixture
def without_locks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Locks that another server does not see, as on a file system that has none."""
    monkeypatch.setattr(ownership.ContestLock, "__init__", lambda *_: None)
    monkeypatch.setattr(ownership.ContestLock, "release", lambda _: None)


@pytest.mark.usefixtures("without_locks")
@pytest.mark.parametrize("what", ["entries", "a result", "an end"])
def test_a_server_whose_contest_was_taken_over_writes_nothing_more(database: Database, what: str) -> None:
    first = Kept(database)
    first.start()
    first.append((1, "offer", ("a", "b"), 1, ()))
    first.wait_for(1)
    first.writer.store("g1", game(1))
    assert first.next() == ["g1"]
    second = Kept(database, opening(new=False))
    found = second.start()
    assert found is not None
    assert [game.number for game in found.past.results] == [1]
    second.append((2, "offer", ("a", "b"), 1, ()))
    second.wait_for(1)
    if what == "entries":
        first.append((3, "offer", ("a", "b"), 1, ()))
        first.append((4, "offer", ("a", "b"), 1, ()))
    elif what == "a result":
        first.writer.store("g3", game(3))
    else:
        first.writer.end("finished")
    assert str(first.next()) == f"{database}: {TAKEN}"
    first.close()
    second.writer.store("g2", game(2))
    assert second.next() == ["g2"]
    second.append((5, "offer", ("a", "b"), 1, ()))
    second.wait_for(2)
    second.close()
    third = Kept(database, opening(new=False))
    found = third.start()
    third.close()
    assert found is not None
    assert [game.number for game in found.past.results] == [1, 2]
    assert [entry for entry in found.past.entries if entry[0] > 2] == [(5, "offer", ("a", "b"), 1, ())]
    with Results(database) as results:
        records = [data for _, data in results.games.records(results.contest()) if data is not None]
        assert [decode(data).game_id for data in records] == ["g1", "g2"]


def end_connections(database: Database, which: str) -> None:
    """End the one other connection to this database of which `which` is true."""
    engine = open_engine(database)
    end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()"
    with engine.connect() as connection:
        assert connection.execute(text(f"{end} AND pid <> pg_backend_pid() AND {which}")).rowcount == 1
    engine.dispose()


def end_locks(database: Database) -> None:
    """End the one connection that has an advisory lock of this database."""
    engine = open_engine(database)
    with engine.connect() as connection:
        here = "(SELECT oid FROM pg_database WHERE datname = current_database())"
        mine = f"locktype = 'advisory' AND database = {here}"
        end = f"SELECT pg_terminate_backend(pid) FROM pg_locks WHERE {mine}"
        assert connection.execute(text(end)).rowcount == 1
        while connection.scalar(text(f"SELECT count(*) FROM pg_locks WHERE {mine}")):
            connection.rollback()
    engine.dispose()


def test_a_lock_on_postgresql_that_was_lost(database: Database) -> None:
    """The connection that holds the lock is ended; a second server plays on, and the first writes nothing."""
    if isinstance(database, Path):
        pytest.skip("for PostgreSQL")
    first = Kept(database)
    first.start()
    first.append((1, "offer", ("a", "b"), 1, ()))
    first.wait_for(1)
    end_locks(database)
    second = Kept(database, opening(new=False))
    assert second.start() is not None
    second.append((2, "offer", ("a", "b"), 1, ()))
    second.wait_for(1)
    first.append((3, "offer", ("a", "b"), 1, ()))
    assert str(first.next()) in (
        f"{database}: {TAKEN}",
        f"{database}: the database does not answer (terminating connection due to administrator command); "
        "is it running? Start it, then arena again",
    )
    first.close()
    second.close()
    third = Kept(database, opening(new=False))
    found = third.start()
    third.close()
    assert found is not None
    assert [entry[0] for entry in found.past.entries] == [1, 2]


def test_every_file_of_locks_is_for_its_owner_only(path: Path) -> None:
    path.touch(0o600)
    mask = os.umask(0)
    try:
        lock(path, 1).release()
    finally:
        os.umask(mask)
    assert path.with_name("arena.db-locks").stat().st_mode & 0o777 == 0o600
