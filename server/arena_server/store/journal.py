"""Journal entries as bytes, appending them to an SQLite file, and SQLite's write-ahead log (WAL).

What SQLite commits with `synchronous=NORMAL` is in the WAL and with the operating system: it
survives the end of this process, but a power cut only after `WriteAheadLog.sync`.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Sequence
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Final

import msgpack

from arena_server.core.journal import Entry
from arena_server.store.chain import add_checksum, verify_checksum
from arena_server.store.database import CONNECT_TIMEOUT_S, LAYOUT, Postgres
from arena_server.store.head import WAL_SUFFIX, HeadFile, beside, fdatasync

if TYPE_CHECKING:
    from sqlalchemy import Connection


def pack(entries: Iterable[Entry]) -> bytes:
    """The payload of one journal row: a msgpack array of arrays, then its SHA-256 digest."""
    return add_checksum(msgpack.packb(list(entries)))


def unpack(data: bytes) -> list[Entry]:
    """The entries of `pack`. Raises ValueError for any other bytes."""
    payload = verify_checksum(data)
    try:
        entries = msgpack.unpackb(payload, use_list=False)
    except (ValueError, msgpack.UnpackException):
        raise ValueError("a row of the journal is not msgpack") from None
    if type(entries) is not tuple or not all(type(entry) is tuple and entry for entry in entries):
        raise ValueError("a row of the journal does not hold entries")
    return list(entries)


_INSERT: Final = "INSERT INTO journal (contest_id, place, payload) VALUES ({0}, {0}, {0})"
_INSERT_SQLITE, _INSERT_POSTGRES = _INSERT.format("?"), _INSERT.format("%s")
#: How long `append` waits for the writer's thread to end a transaction.
APPEND_WAIT_S = 0.002
#: The primary error code within SQLite's extended ones.
_PRIMARY_CODE: Final = 0xFF


class JournalAppender:
    """Appends rows to one contest's journal on a connection of its own, each of them a commit.

    `lock` is held by every transaction of the writer. `place` is the number of the newest row, and
    `recent` holds the entries of the rows appended since the writer's thread last took them.
    """

    def __init__(self, contest: int, place: int, lock: Lock, head: HeadFile | None = None) -> None:
        self._contest: Final = contest
        self._lock = lock
        self._head = head
        self.place = place
        self.recent: list[Sequence[Entry]] = []
        self._is_open = True

    def append(self, entries: Sequence[Entry]) -> bool:
        """Commit entries as one row. Returns False, with nothing written, if a transaction is in the way.

        Raises the driver's error for any other reason, such as a full disk.
        """
        if not self._lock.acquire(timeout=APPEND_WAIT_S):
            return False
        try:
            if not self._is_open:
                return False
            data = msgpack.packb(entries)
            data += sha256(data).digest()  # as `pack`
            if not self._insert((self._contest, self.place + 1, data)):
                return False
            self.place += 1
            if self._head is not None:
                self._head.write_journal(self.place)
            self.recent.append(entries)
        finally:
            self._lock.release()
        return True

    def _insert(self, row: tuple[int, int, bytes]) -> bool:
        """Commit a row. Returns False, with nothing written, if that would wait for another connection."""
        raise NotImplementedError

    def close(self) -> None:
        """Append nothing more; the caller holds the lock."""
        self._is_open = False


class SqliteAppender(JournalAppender):
    """Appends to a file in 10 to 25 us, on any thread; the disk is not awaited. Raises sqlite3.Error."""

    def __init__(self, path: Path, contest: int, place: int, lock: Lock, head: HeadFile) -> None:
        super().__init__(contest, place, lock, head)
        self._connection = sqlite3.connect(path, timeout=0, isolation_level=None, check_same_thread=False)
        for pragma in ("synchronous=NORMAL", "wal_autocheckpoint=0"):
            self._connection.execute(f"PRAGMA {pragma}").close()

    def _insert(self, row: tuple[int, int, bytes]) -> bool:
        try:
            self._connection.execute(_INSERT_SQLITE, row)
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & _PRIMARY_CODE != sqlite3.SQLITE_BUSY:
                raise
            return False
        return True

    def close(self) -> None:
        super().close()
        self._connection.close()


class PostgresAppender(JournalAppender):
    """Appends in one round trip, and waits for it. Raises psycopg.Error."""

    def __init__(self, database: Postgres, contest: int, place: int, lock: Lock) -> None:
        import psycopg

        super().__init__(contest, place, lock)
        self._connection = psycopg.connect(
            database.url, autocommit=True, connect_timeout=CONNECT_TIMEOUT_S, prepare_threshold=1
        )
        setting = "off" if database.async_journal else "on"
        self._connection.execute(f"SET synchronous_commit = {setting}")

    def _insert(self, row: tuple[int, int, bytes]) -> bool:
        self._connection.execute(_INSERT_POSTGRES, row)
        return True

    def close(self) -> None:
        super().close()
        self._connection.close()


class WriteAheadLog:
    """The WAL of the SQLite file that `connection` is open on. Raises OSError and SQLAlchemy's errors."""

    def __init__(self, path: Path, connection: Connection) -> None:
        self._path: Final = beside(path, WAL_SUFFIX)
        self._connection = connection
        self._file: int | None = None

    def sync(self) -> None:
        """Wait until everything committed is on the disk; other connections may write meanwhile."""
        if self._file is None:
            self._file = os.open(self._path, os.O_RDWR | os.O_CLOEXEC)
        fdatasync(self._file)

    def checkpoint(self, writing: Lock) -> None:
        """Copy the WAL into the database file and restart it; `writing` is held by every other writer.

        The WAL restarts only when all of it is copied, and the next writer then waits for the disk.
        So most of it is copied while others write; they wait for the rest alone.
        """
        self._checkpoint("PASSIVE")
        self._checkpoint("PASSIVE")
        with writing:
            self._checkpoint("PASSIVE")
            # A write by this connection restarts the WAL here and not in an append.
            self._execute(f"PRAGMA user_version={LAYOUT}")

    def close(self, *, truncate: bool) -> None:
        """Close the file; with `truncate` the database file is complete without a WAL afterwards."""
        if self._file is not None:
            os.close(self._file)
            self._file = None
        if truncate:
            self._checkpoint("TRUNCATE")

    def _checkpoint(self, mode: str) -> None:
        self._execute(f"PRAGMA wal_checkpoint({mode})")

    def _execute(self, pragma: str) -> None:
        self._connection.exec_driver_sql(pragma)
        self._connection.commit()
