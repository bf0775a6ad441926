"""Bytes that end with their own SHA-256 digest. It must not know: what they mean, where they are kept.

Entries of the journal as bytes, and back: msgpack followed by its SHA-256 digest.

It must not know: what an entry means, where the bytes are kept.

The short way into an SQLite file: entries kept on the caller's thread, in some ten microseconds.

What SQLite has committed without waiting for the disk is in the system's hands, and outlives
the end of this process however it comes. So the loop may write entries by itself instead of
waiting for another thread. It never waits for anybody: while another connection writes, `write`
says so at once. It must not know: what the bytes mean, which thread it is used on.

SQLite's log of what was committed (WAL): when it is on the disk, and when it is folded into the file.

Both wait for the disk, so both are for the writer's thread. It must not know: tables.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterable
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Final

import msgpack

from arena_server.core.journal import Entry
from arena_server.store import database as parameters
from arena_server.store.database import LAYOUT, opened, seal

if TYPE_CHECKING:
    from sqlalchemy import Connection


def pack(entries: Iterable[Entry]) -> bytes:
    """The bytes of these entries; `unpack` reads them back."""
    return seal(msgpack.packb(list(entries)))


def unpack(data: bytes) -> list[Entry]:
    """Read entries. Raises ValueError for bytes that `pack` did not write."""
    payload = opened(data)
    try:
        entries = msgpack.unpackb(payload, use_list=False)
    except (ValueError, msgpack.UnpackException):
        raise ValueError("a row of the journal is not msgpack") from None
    if type(entries) is not tuple or not all(type(entry) is tuple and entry for entry in entries):
        raise ValueError("a row of the journal does not hold entries")
    return list(entries)


_INSERT: Final = "INSERT INTO journal (contest_id, payload) VALUES (?, ?)"
#: Of an extended code of SQLite's, what it is about.
_CODE: Final = 0xFF


class Pen:
    """A connection of its own that adds rows to the journal of one contest."""

    def __init__(self, path: Path, contest: int) -> None:
        self._contest: Final = contest
        #: When another connection was found writing, and has not been done since.
        self._busy_since: float | None = None
        self._connection = sqlite3.connect(path, timeout=0, isolation_level=None, check_same_thread=False)
        for pragma in ("synchronous=NORMAL", "wal_autocheckpoint=0"):
            self._connection.execute(f"PRAGMA {pragma}").close()

    def write(self, payload: bytes) -> bool:
        """Commit one row. Returns False if another connection is writing; nothing is kept then.

        Raises sqlite3.Error for what a little waiting would not mend: a full disk, or another
        connection that has been writing for BUSY_TIMEOUT_S.
        """
        try:
            self._connection.execute(_INSERT, (self._contest, payload))
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & _CODE != sqlite3.SQLITE_BUSY or self._busy_for_long():
                raise
            return False
        self._busy_since = None
        return True

    def _busy_for_long(self) -> bool:
        now = time.monotonic()
        if self._busy_since is None:
            self._busy_since = now
        return now - self._busy_since >= parameters.BUSY_TIMEOUT_S

    def close(self) -> None:
        """Write no more."""
        self._connection.close()


#: The name of the log, after that of the file.
SUFFIX: Final = "-wal"

_fdatasync = getattr(os, "fdatasync", os.fsync)


class Log:
    """The log of the file that `connection` is open on. Its methods raise OSError and SQLAlchemy's errors."""

    def __init__(self, path: Path, connection: Connection) -> None:
        self._path: Final = path.with_name(path.name + SUFFIX)
        self._connection = connection
        self._file: int | None = None

    def sync(self) -> None:
        """Wait until the disk has all that was committed; others may write meanwhile."""
        if self._file is None:
            self._file = os.open(self._path, os.O_RDWR | os.O_CLOEXEC)
        _fdatasync(self._file)

    def fold(self, writing: Lock) -> None:
        """Fold the log into the file, and have it begin anew; who writes holds `writing`.

        It can only begin anew when all of it is folded in, and whoever writes next has to wait
        for the disk. So the bulk is done while others write; they wait for the last bit alone.
        """
        self._checkpoint("PASSIVE")
        self._checkpoint("PASSIVE")
        with writing:
            self._checkpoint("PASSIVE")
            self._execute(f"PRAGMA user_version={LAYOUT}")

    def _checkpoint(self, mode: str) -> None:
        self._execute(f"PRAGMA wal_checkpoint({mode})")

    def _execute(self, pragma: str) -> None:
        self._connection.exec_driver_sql(pragma)
        self._connection.commit()

    def close(self, *, whole: bool) -> None:
        """Leave nothing in the log if the file is to be `whole` without it."""
        if self._file is not None:
            os.close(self._file)
            self._file = None
        if whole:
            self._checkpoint("TRUNCATE")
