"""The compiled twin of the program of 1970: its arrays, and its one kernel.

It must not know: specifications, openings, the client.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

from arena_engines.engine import EngineError
from arena_engines.jit import compiled
from arena_engines.xo.minimax import NODE_LIMIT, THRESHOLDS
from arena_engines.xo.scale import EMPTY, NOTHING
from arena_engines.xo.swift import board, search, tables

#: The board has rows for no more.
MOST_LEVELS = board.ROW + 1


@cache
def run() -> Callable[..., int]:
    """Compile the kernel, or load it from the disk. Raises EngineError without numba."""
    return compiled(search.run, search.SIGNATURE)


class Swift1970:
    """The program on boards of one size; `nodes` counts the positions looked at for the last reply.

    Thresholds are in halves, one a level, as in minimax.THRESHOLDS; from `node_limit` nodes on every new
    position is taken as dead. Raises ValueError for thresholds that no tree has, EngineError without numba.
    """

    def __init__(
        self, size: int, thresholds: Sequence[int] = THRESHOLDS, node_limit: int = NODE_LIMIT
    ) -> None:
        if not 0 < len(thresholds) <= MOST_LEVELS or min(thresholds) < NOTHING:
            raise ValueError(
                f"thresholds={thresholds}: expected 1 to {MOST_LEVELS} numbers from {NOTHING} on"
            )
        self._run = run()
        import numpy as np

        self._size = size
        self._world = tables.new_world(size, len(thresholds))
        self._marks = np.zeros(size * size, dtype="i1")
        frames = np.zeros((len(thresholds), search.FRAME), dtype="i8")
        frames[:, search.THRESHOLD] = thresholds
        self._control = np.zeros(search.CONTROLS, dtype="i8")
        self._control[search.LIMIT] = node_limit
        self._memory = (frames, tables.quarters(), tables.bits(), self._control)

    @property
    def limit(self) -> int:
        """From so many nodes on every new position is taken as dead."""
        return int(self._control[search.LIMIT])

    @limit.setter
    def limit(self, nodes: int) -> None:
        self._control[search.LIMIT] = nodes

    @property
    def nodes(self) -> int:
        """The positions looked at for the last reply; 0 if it needed no analysis."""
        return int(self._control[search.NODES])

    def reply(self, x: Sequence[int], o: Sequence[int], side: int) -> int:
        """The cell that `side` marks, X and O having marked these; the board must not be full."""
        tables.clear(self._world, self._size)
        self._marks[:] = EMPTY
        self._marks[list(x)] = 1
        self._marks[list(o)] = 2
        return int(self._run(self._world, self._memory, self._marks, side))


def swift_or_none(size: int, thresholds: Sequence[int], node_limit: int) -> Swift1970 | None:
    """The twin, or None where numba is not installed and the readable program must do."""
    try:
        return Swift1970(size, thresholds, node_limit)
    except EngineError:
        return None
