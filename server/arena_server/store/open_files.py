"""What the contests of this process share of an SQLite file that they have open.

A contest that waits is parked (`reopening.py`): it has its lock, and neither a thread nor a connection. The
last one of a database stays awake, and looks after its files for all.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

#: How often the WAL is checked for damage; a check takes 5 ms, and 0.2 s with a WAL of 40 MB.
CHECK_S = 20.0

_guard: Final = threading.Lock()
_open: Final[dict[Path, OpenFile]] = {}


class OpenFile:
    """A database that stores of this process have open.

    `kept` are descriptors of its files, for reading.
    """

    def __init__(self, path: Path) -> None:
        self._path: Final = path
        self.kept: Final[dict[Path, int]] = {}
        self._checked_at = time.monotonic()
        self._awake = 0
        self._parked: Final[set[Callable[[], None]]] = set()

    @classmethod
    def enter(cls, path: Path) -> OpenFile:
        """A store has a connection to it, until `leave` or `park`."""
        with _guard:
            found = _open.setdefault(path, cls(path))
            found._awake += 1
            return found

    def leave(self) -> None:
        """Call it when the connection is closed."""
        with _guard:
            self._awake -= 1
            if self._awake:
                return
            # SQLite's locks end with any `close` of the same file: none is closed while one is needed.
            for file in self.kept.values():
                os.close(file)
            self.kept.clear()
            if not self._parked:
                _open.pop(self._path, None)

    @property
    def is_alone(self) -> bool:
        """Whether no other store has a connection to it."""
        with _guard:
            return self._awake <= 1

    def is_check_due(self) -> bool:
        """Whether the WAL is to be checked now, by the store that asks."""
        with _guard:
            now = time.monotonic()
            due = now - self._checked_at >= CHECK_S
            if due:
                self._checked_at = now
            return due

    def park(self, wake: Callable[[], None]) -> bool:
        """Whether a store may give its connection up, as another one has one.

        `wake` then has it look at the database, until `unpark`.
        """
        with _guard:
            if self._awake <= 1:
                return False
            self._awake -= 1
            self._parked.add(wake)
            return True

    def unpark(self, wake: Callable[[], None]) -> None:
        with _guard:
            self._parked.discard(wake)


def look_again(path: Path) -> None:
    """Have all stores look at a database at once: one of them has failed."""
    with _guard:
        found = _open.get(path)
        parked = [] if found is None else list(found._parked)
        if found is not None:
            found._checked_at = -CHECK_S
    for wake in parked:
        wake()
