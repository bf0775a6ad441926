"""Where the files of tests are: in memory, where a sync costs nothing and waits for no disk."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

FOLDER = Path("/dev/shm")
#: A run has 0.2 GB of files, and each cluster of PostgreSQL as much.
ROOM = 1 << 30


@cache
def folder() -> Path | None:
    """The folder in memory, if it has room and programs may run there, as those do that tests write."""
    try:
        state = os.statvfs(FOLDER)
    except OSError:
        return None
    enough = state.f_bavail * state.f_frsize >= ROOM and not state.f_flag & os.ST_NOEXEC
    return FOLDER if enough and os.access(FOLDER, os.W_OK | os.X_OK) else None
