"""Journal entries as bytes, and appending them to a database."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Final

import msgpack

from arena_server.core.journal import Entry
from arena_server.store.chain import add_checksum, verify_checksum
from arena_server.store.database import BUSY_TIMEOUT_S, Postgres, dial
from arena_server.store.fence import Claim
from arena_server.store.head import HeadFile


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


#: Each inserts nothing if another server has made a claim. That of PostgreSQL leaves a mark (`Fence`), and
#: has the row until the commit, so that another server reads no journal that is about to grow.
_INSERT_SQLITE: Final = (
    "INSERT INTO journal (contest_id, place, payload) SELECT contest_id, ?, ? FROM writers "
    "WHERE contest_id = ? AND writer = ?"
)
_INSERT_POSTGRES: Final = (
    "WITH mine AS "
    "(UPDATE writers SET writer = %s WHERE contest_id = %s AND writer = %s RETURNING contest_id) "
    "INSERT INTO journal (contest_id, place, payload) SELECT contest_id, %s, %s FROM mine"
)
#: How long `append` waits for the writer's thread to end a transaction.
APPEND_WAIT_S = 0.002
#: The primary error code within SQLite's extended ones.
_PRIMARY_CODE: Final = 0xFF


class JournalAppender:
    """Appends rows to one contest's journal on a connection of its own, each of them a commit.

    `claim` is that of this server, and `lock` is held by every transaction of the writer. `place` is the
    number of the newest row, and `recent` holds the entries of the rows appended since the writer's
    thread last took them.
    """

    def __init__(self, claim: Claim, place: int, lock: Lock, head: HeadFile | None = None) -> None:
        self._claim: Final = claim
        self._lock = lock
        self._head = head
        self.place = place
        self.recent: list[Sequence[Entry]] = []
        self._is_open = True

    def append(self, entries: Sequence[Entry]) -> bool:
        """Commit entries as one row. Returns False, with nothing written, if a transaction is in the way.

        Raises StoreError if another server has taken the contest over, and the driver's error for any
        other reason, such as a full disk.
        """
        if not self._lock.acquire(timeout=APPEND_WAIT_S):
            return False
        try:
            if not self._is_open:
                return False
            data = msgpack.packb(entries)
            data += sha256(data).digest()  # as `pack`
            if not self._insert(self.place + 1, data):
                return False
            self.place += 1
            if self._head is not None:
                self._head.write_journal(self.place)
            self.recent.append(entries)
        finally:
            self._lock.release()
        return True

    def _insert(self, place: int, data: bytes) -> bool:
        """Commit a row. Returns False, with nothing written, if that would wait for another connection."""
        raise NotImplementedError

    def close(self) -> None:
        """Append nothing more; the caller holds the lock."""
        self._is_open = False


class SqliteAppender(JournalAppender):
    """Appends to a file in 10 to 25 us, on any thread; the disk is not awaited. Raises sqlite3.Error."""

    def __init__(self, path: Path, claim: Claim, place: int, lock: Lock, head: HeadFile) -> None:
        super().__init__(claim, place, lock, head)
        # The first access waits: SQLite locks the file for a moment whenever a reader closes it.
        self._connection = sqlite3.connect(
            path, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False
        )
        for pragma in ("synchronous=NORMAL", "wal_autocheckpoint=0", "busy_timeout=0"):
            self._connection.execute(f"PRAGMA {pragma}").close()

    def _insert(self, place: int, data: bytes) -> bool:
        values = place, data, self._claim.contest, self._claim.fence.mark
        try:
            inserted = self._connection.execute(_INSERT_SQLITE, values).rowcount
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & _PRIMARY_CODE != sqlite3.SQLITE_BUSY:
                raise
            return False
        if not inserted:
            raise self._claim.lost()
        return True

    def close(self) -> None:
        super().close()
        self._connection.close()


class PostgresAppender(JournalAppender):
    """Appends in one round trip, and waits for it. Raises psycopg.Error."""

    def __init__(self, database: Postgres, claim: Claim, place: int, lock: Lock) -> None:
        super().__init__(claim, place, lock)
        self._connection = dial(database, autocommit=True, prepare_threshold=1)
        setting = "off" if database.async_journal else "on"
        self._connection.execute(f"SET synchronous_commit = {setting}")

    def _insert(self, place: int, data: bytes) -> bool:
        before, mine = self._claim.fence.advance()
        values = mine, self._claim.contest, before, place, data
        if not self._connection.execute(_INSERT_POSTGRES, values).rowcount:
            raise self._claim.lost()
        return True

    def close(self) -> None:
        super().close()
        self._connection.close()
