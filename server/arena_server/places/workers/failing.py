"""Which worker is to blame for games that it gives back one after the other, and others play.

That a bot ends its workers is found by `blame.py`: so a worker is accused only if no bot that has not been
played yet was in all of its lost games.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

#: How many lost games in a row are too many.
MOST_FAILURES: Final = 5


class FailingWorkers:
    """The games that each worker has lost since it played one."""

    def __init__(self) -> None:
        self._lost: dict[str, list[frozenset[str]]] = {}
        self._named: set[str] = set()
        #: The bots of which a game was played, and the workers that played it.
        self._played: set[str] = set()
        self._workers: set[str] = set()

    def played(self, worker: str, names: Collection[str]) -> None:
        """A worker has played a game."""
        self._played.update(names)
        self._workers.add(worker)
        self._lost.pop(worker, None)

    def is_first(self, worker: str) -> bool:
        """Whether nothing was said of a lost game of this worker yet; from now on it was."""
        first = worker not in self._named
        self._named.add(worker)
        return first

    def others_play(self, worker: str) -> bool:
        """Whether a worker other than this one has played a game."""
        return bool(self._workers - {worker})

    def lost(self, worker: str, names: Collection[str]) -> bool:
        """A worker has lost a game: True if it is to be excluded."""
        lost = self._lost.setdefault(worker, [])
        lost.append(frozenset(names))
        del lost[:-MOST_FAILURES]
        in_common = frozenset.intersection(*lost) - self._played
        return len(lost) == MOST_FAILURES and not in_common and self.others_play(worker)
