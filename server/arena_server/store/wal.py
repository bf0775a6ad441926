"""SQLite's write-ahead log (WAL): syncing, restarting and checking it.

What SQLite commits with `synchronous=NORMAL` is in the WAL and with the operating system: it
survives the end of this process, but a power cut only after `sync`.

    WAL     32 bytes, of them salt at 16; then frames of 24 bytes and a page, each with a checksum over
            all before it
    index   (`arena.db-shm`, twice, in the order of bytes of the machine) 16: number of frames up to the
            last commit, 32: the salt of the WAL; 14: the size of a page

A running SQLite trusts its index and reads frames without their checksums. Only the next process looks
at them, and drops all from the first wrong one on.
"""

from __future__ import annotations

import os
import sqlite3
import struct
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import TYPE_CHECKING, Final, NamedTuple

from arena_server.errors import StoreError
from arena_server.store.database import LAYOUT
from arena_server.store.head import WAL_SUFFIX, beside, fdatasync

if TYPE_CHECKING:
    from sqlalchemy import Connection

SHM_SUFFIX: Final = "-shm"
#: The beginning of the index, which is there twice: a reader between two writes finds a difference.
_INDEX: Final = struct.Struct("=14xHI12x8s8x")
_WAL_HEADER, _FRAME_HEADER = 32, 24
_CHUNK: Final = 1 << 20
#: How often an index that is just being written is read again.
_TRIES: Final = 3


class _WalIndex(NamedTuple):
    """The size of a page, the frames of the WAL up to the last commit, and the salt of the WAL."""

    page: int
    frames: int
    salt: bytes


class WriteAheadLog:
    """The WAL of the SQLite file that `connection` is open on. Raises OSError and SQLAlchemy's errors.

    Call `close` before `connection` is closed. `kept` are files that outlive it: see `open_files.py`.
    """

    def __init__(self, path: Path, connection: Connection, kept: dict[Path, int]) -> None:
        self._database: Final = path
        self._path: Final = beside(path, WAL_SUFFIX)
        self._connection = connection
        self._file: int | None = None
        #: The database and the index, for reading. SQLite's locks on both belong to the process and end with
        #: any `close` of the same file: another program that reads would then take itself for the
        #: last one, and delete the WAL of this server.
        self._kept: Final = kept

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

    def _read(self, path: Path, size: int) -> bytes:
        """The first `size` bytes of the database or of its index."""
        if path not in self._kept:
            self._kept[path] = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        return os.pread(self._kept[path], size, 0)

    def _checkpoint(self, mode: str) -> None:
        self._execute(f"PRAGMA wal_checkpoint({mode})")

    def _execute(self, pragma: str) -> None:
        self._connection.exec_driver_sql(pragma)
        self._connection.commit()

    def check(self) -> None:
        """Raise StoreError if another process would not find all that was committed before this call.

        Others may write meanwhile. Without room for a copy of the WAL, of 50 MB at most, nothing is checked.
        """
        index = self._read_index()
        if index is None or not index.frames:
            return
        with suppress(OSError, sqlite3.OperationalError), _folder(self._database) as folder:
            first = self._read(self._database, index.page)
            whole = _whole_frames(first, self._path, index, folder)
            later = self._read_index()
            # Another salt: the WAL has restarted, so the copy may be of both.
            if whole < index.frames and later is not None and later.salt == index.salt:
                raise StoreError(
                    f"{self._database}: {self._path.name} was damaged while the server had it open, in frame "
                    f"{whole + 1} of {index.frames}; nothing more can be kept. arena verify names the loss"
                )

    def _read_index(self) -> _WalIndex | None:
        """None while the index is being written."""
        for _ in range(_TRIES):
            data = self._read(beside(self._database, SHM_SUFFIX), 2 * _INDEX.size)
            if (index := _parse_index(data)) is not None:
                return index
        return None


def _parse_index(data: bytes) -> _WalIndex | None:
    """The index at the beginning of its file, None if its two copies differ."""
    first, second = data[: _INDEX.size], data[_INDEX.size : 2 * _INDEX.size]
    if first != second or len(first) < _INDEX.size:
        return None
    page, frames, salt = _INDEX.unpack(first)
    return _WalIndex(
        page if page > 1 else 65536, frames, salt
    )  # 1 stands for a size that 16 bits do not hold


def _whole_frames(first: bytes, wal: Path, index: _WalIndex, folder: Path) -> int:
    """How many frames SQLite finds in a copy of the WAL in `folder`, as a process does that opens it.

    `first` is the first page of the database.
    """
    copy = folder / "copy.db"
    copy.write_bytes(first)
    _copy(wal, beside(copy, WAL_SUFFIX), _WAL_HEADER + index.frames * (_FRAME_HEADER + index.page))
    with closing(sqlite3.connect(copy, isolation_level=None)) as connection:
        try:
            connection.execute("PRAGMA user_version").fetchone()  # all of the WAL is read before
        except sqlite3.OperationalError:
            raise  # no room
        except sqlite3.DatabaseError:
            return 0  # without any frame the first page alone is no database
        found = _parse_index(beside(copy, SHM_SUFFIX).read_bytes())
    return 0 if found is None else found.frames


def _copy(path: Path, to: Path, size: int) -> None:
    """Copy the first `size` bytes."""
    with path.open("rb") as source, to.open("wb") as target:
        while size and (data := source.read(min(size, _CHUNK))):
            target.write(data)
            size -= len(data)


@contextmanager
def _folder(database: Path) -> Iterator[Path]:
    """A folder beside the database, for its owner only, for as long as it is used."""
    with TemporaryDirectory(prefix=f"{database.name}-check-", dir=database.parent) as folder:
        yield Path(folder)
