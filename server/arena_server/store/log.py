"""SQLite's log of what was committed (WAL): when it is on the disk, and when it is folded into the file.

Both wait for the disk, so both are for the writer's thread. It must not know: tables.
"""

from __future__ import annotations

import os
from pathlib import Path
from threading import Lock
from typing import Final

from sqlalchemy import Connection

from arena_server.store.probe import LAYOUT

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
