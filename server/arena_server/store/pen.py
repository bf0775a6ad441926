"""The short way into an SQLite file: entries kept on the caller's thread, in some ten microseconds.

What SQLite has committed without waiting for the disk is in the system's hands, and outlives
the end of this process however it comes. So the loop may write entries by itself instead of
waiting for another thread. It never waits for anybody: while another connection writes, `write`
says so at once. It must not know: what the bytes mean, which thread it is used on.
"""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path
from typing import Final

from arena_server.store import probe

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
        return now - self._busy_since >= probe.BUSY_TIMEOUT_S

    def close(self) -> None:
        """Write no more."""
        self._connection.close()
