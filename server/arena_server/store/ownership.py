"""Who may write into a contest: one server at a time. A second one is refused when it starts.

A server that has lost its lock unnoticed is stopped by its `fence`. One at a time begins its contests.
"""

from __future__ import annotations

import os
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from arena_server.errors import StoreError
from arena_server.store.database import Database, connect_postgres
from arena_server.store.head import FILE_MODE, beside

if TYPE_CHECKING:
    from sqlalchemy import Connection

#: Separates our advisory locks on PostgreSQL from those of other programs: "Aren".
LOCK_CLASS: Final = 0x4172656E
LOCK_SUFFIX: Final = "-locks"
#: The number of the lock of `BeginLock`: contests count from 1, and `ContestStore` has 0 on PostgreSQL.
BEGINNING: Final = 0x7FFFFFFF
#: How long a server may take to begin its contests before another one that waits for it gives up.
BEGIN_WAIT_S: Final = 30.0
BEGIN_STEP_S: Final = 0.05

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows has no such locks
    fcntl = None  # type: ignore[assignment]

#: Locks of an open file (Linux): unlike those of a process they outlive any `close` of the same file, such
#: as that of a reader's connection. So only they can be taken on the database file itself.
_FILE_LOCKS: Final = hasattr(fcntl, "F_OFD_SETLK") and sys.maxsize > 2**32
#: `struct flock` with 64 bits: type, whence, start, length, process.
_FLOCK: Final = struct.Struct("@hhqqi0q")
#: The byte of contest 0 in the database file: far behind all that SQLite reads or locks.
_FAR: Final = 1 << 62


#: The bytes of each file that this process has locked, and its descriptor, which all of them share. It is
#: closed with the last one: a `close` would end the locks that SQLite has for the other contests of this
#: process.
_locks: Final[dict[Path, set[int]]] = {}
_files: Final[dict[Path, int]] = {}
_guard: Final = threading.Lock()


class ContestLock:
    """The exclusive right to play contest `number`, until `release` or the end of the process.

    For an SQLite file it is a lock on a byte of the file itself, far behind its end, and on one of
    `arena.db-locks`, which is all that some systems have; on PostgreSQL it is an advisory lock of the
    connection; a file needs none. Raises StoreError if another server has it.
    """

    def __init__(self, database: Database, connection: Connection | None, number: int) -> None:
        self._held: list[tuple[Path, int]] = []
        if isinstance(database, Path):
            locked = all(_lock(path, byte, self._held) for path, byte in _places(database, number))
        else:
            from sqlalchemy import text

            assert connection is not None
            # The lock belongs to the connection and outlives the transaction.
            query = text("SELECT pg_try_advisory_lock(:class, :number)")
            locked = bool(connection.scalar(query, {"class": LOCK_CLASS, "number": number}))
        if not locked:
            self.release()
            raise is_played(database, number)

    def release(self) -> None:
        """Give the right up; call it after the connection of the contest has been closed."""
        _unlock(self._held)


class BeginLock:
    """The exclusive right to begin contests in a database that exists, until `release`.

    Waits for a server that has it: otherwise two servers of the same files, started at the same moment, would
    each begin some of the contests. Raises StoreError after `wait_s` seconds, or once this server `leaves`.
    """

    def __init__(
        self, database: Database, wait_s: float = BEGIN_WAIT_S, leaves: Callable[[], bool] = lambda: False
    ) -> None:
        self._database = database
        self._held: list[tuple[Path, int]] = []
        with ExitStack() as stack:  # an error of the connection is a StoreError, also while it waits
            if not isinstance(database, Path):
                self._connection = stack.enter_context(connect_postgres(database))
                # The lock belongs to the connection: no transaction stays open for it.
                self._connection.autocommit = True
            began = time.monotonic()
            while not self._is_mine():
                waited = time.monotonic() - began
                if waited >= wait_s or leaves():
                    raise StoreError(
                        f"{database}: another server has been beginning its contests for {waited:.0f} s; "
                        "stop it or try again"
                    )
                time.sleep(BEGIN_STEP_S)
            self._stack = stack.pop_all()

    def _is_mine(self) -> bool:
        if isinstance(self._database, Path):
            # Not in the database file: a host whose contests are all over has no other lock there, and the
            # `close` of the descriptor would end those of SQLite.
            path = beside(self._database, LOCK_SUFFIX)
            return fcntl is None or _lock(path, BEGINNING, self._held)
        query = "SELECT pg_try_advisory_lock(%s, %s)"
        return bool(self._connection.execute(query, (LOCK_CLASS, BEGINNING)).fetchone()[0])

    def release(self) -> None:
        """Let another server begin its contests; a second call does nothing."""
        _unlock(self._held)
        with suppress(StoreError):  # the connection was lost, and the lock with it
            self._stack.close()


def _lock(path: Path, byte: int, held: list[tuple[Path, int]]) -> bool:
    """Lock a byte of a file, and add it to `held`; False if another server or this process has it.

    Raises StoreError if the file cannot be opened.
    """
    with _guard:
        mine = _locks.setdefault(path, set())
        if byte in mine:
            return False
        if path not in _files:
            try:
                _files[path] = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, FILE_MODE)
            except OSError as error:
                del _locks[path]
                raise StoreError(f"{path}: cannot be opened: {error.strerror}") from None
        try:
            if _FILE_LOCKS:
                fcntl.fcntl(_files[path], fcntl.F_OFD_SETLK, _exclusive(byte))
            else:  # pragma: no cover - not on Linux
                fcntl.lockf(_files[path], fcntl.LOCK_EX | fcntl.LOCK_NB, 1, byte)
        except OSError:
            _close_unused(path)
            return False
        mine.add(byte)
        held.append((path, byte))
        return True


def _unlock(held: list[tuple[Path, int]]) -> None:
    with _guard:
        for path, byte in held:
            if _FILE_LOCKS:
                fcntl.fcntl(_files[path], fcntl.F_OFD_SETLK, _exclusive(byte, fcntl.F_UNLCK))
            else:  # pragma: no cover - not on Linux
                fcntl.lockf(_files[path], fcntl.LOCK_UN, 1, byte)
            _locks[path].discard(byte)
            _close_unused(path)
        held.clear()


def _close_unused(path: Path) -> None:
    if not _locks[path]:
        os.close(_files.pop(path))
        del _locks[path]


def check_unlocked(database: Database, driver: Any, number: int) -> None:
    """Raise StoreError if another server plays contest `number`.

    `driver` is a connection of PostgreSQL's driver. Call it for a file while this process has no
    connection to it: the `close` in here would end SQLite's own locks.
    """
    if isinstance(database, Path):
        locked = any(_is_locked(path, byte) for path, byte in _places(database, number))
    else:
        query = (
            "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND classid = %s AND objid = %s "
            "AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
        )
        locked = driver.execute(query, (LOCK_CLASS, number)).fetchone() != (0,)
    if locked:
        raise is_played(database, number)


def _places(database: Path, number: int) -> Iterator[tuple[Path, int]]:
    """The files and bytes of a contest's lock."""
    if fcntl is not None:
        yield beside(database, LOCK_SUFFIX), number
    if _FILE_LOCKS:
        yield database, _FAR + number


def _exclusive(byte: int, kind: int | None = None) -> bytes:
    return _FLOCK.pack(fcntl.F_WRLCK if kind is None else kind, os.SEEK_SET, byte, 1, 0)


def _is_locked(path: Path, byte: int) -> bool:
    """Whether someone else has locked this byte."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        if _FILE_LOCKS:
            found = fcntl.fcntl(file, fcntl.F_OFD_GETLK, _exclusive(byte))
            kind: int = _FLOCK.unpack(found[: _FLOCK.size])[0]
            return kind != fcntl.F_UNLCK
        fcntl.lockf(file, fcntl.LOCK_SH | fcntl.LOCK_NB, 1, byte)  # pragma: no cover - not on Linux
    except OSError:  # pragma: no cover - not on Linux
        return True
    finally:
        os.close(file)
    return False  # pragma: no cover - not on Linux


def is_played(database: Database, number: int) -> StoreError:
    """The error of a server that finds another one playing contest `number`."""
    return StoreError(
        f"{database}: contest {number} is being played by another server; stop that one, "
        "or begin a new contest by --new"
    )
