"""One search of the modern player: the arrays, iterative deepening, the clock.

It must not know: texts of positions, specifications, the client.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from time import perf_counter
from typing import Any, NamedTuple

from arena_engines.compiled import compiled
from arena_engines.xo.modern import board as boards
from arena_engines.xo.modern import kernel, memory, patterns
from arena_engines.xo.modern.fours import PLIES
from arena_engines.xo.modern.values import MATE, WON

#: Entries of the table of positions: 16 MiB.
TABLE = 1 << 20
#: What is known of attacks: 4 MiB.
KNOWN = 1 << 18
#: Positions of the searches for fours and for threats before the first move is searched.
ROOT_FOURS = 100_000
ROOT_THREATS = 100_000
#: A move is known from quick searches before wins by threats are looked for, in this part of the time.
THREATS_FIRST = 3
THREATS_SHARE = 0.25
MAX_DEPTH = 60
#: From this depth on the value is expected so near to the last one.
ASPIRING = 4
ASPIRATION = 150


@cache
def run() -> Callable[..., int]:
    """Compile everything, or load it from the disk. Raises EngineError without numba."""
    return compiled(kernel.run, kernel.SIGNATURE)


class Limits(NamedTuple):
    """When a search ends, by the clock or, the same every time, by nodes and depth.

    A search is stopped after `seconds`; no deeper one is begun after `enough` seconds.
    """

    seconds: float | None = None
    enough: float | None = None
    nodes: int | None = None
    depth: int | None = None


class Thought(NamedTuple):
    """What a search came to: the move, its value, the depth that was finished, the nodes."""

    cell: int
    value: int
    depth: int
    nodes: int

    @property
    def decided(self) -> bool:
        """Whether the search has seen the end of the game."""
        return abs(self.value) > MATE


class Thinker:
    """A board of one size on which marks are put and moves are searched for; it keeps what it has learned.

    `board`, `reach`, `lines` and `cells` are the arrays of its world (board.py).
    """

    def __init__(self, size: int) -> None:
        import numpy as np

        def zeros(kind: str, *shape: int) -> Any:
            return np.zeros(shape, dtype=kind)

        self.size = size
        cells = size * size
        self._marks = zeros("u1", cells)
        self.board = zeros("i4", boards.ROWS, cells)
        self.reach = zeros("i2", cells, boards.DIRECTIONS * patterns.NEIGHBOURS)
        self.lines = zeros("u1", patterns.LINE_CODES)
        self.cells = zeros("i4", patterns.CELL_CODES, patterns.CELL_COLUMNS)
        self._world = (self.board, self.reach, self.lines, self.cells)
        self._memory = (
            zeros("i8", TABLE, 2),
            zeros("i8", KNOWN, 2),
            np.random.default_rng(size).integers(2**62, size=(2, cells), dtype=np.int64),
            zeros("i8", memory.MAX_PLY + 2, memory.FRAME),
            zeros("i4", 2 * (memory.MAX_PLY + 2), cells),
            zeros("i4", memory.MAX_FOURS + 2, memory.PATH),
            zeros("i4", 2 * memory.LEVELS, cells),
            zeros("i8", memory.LEVELS, 2),
            zeros("i4", 2, cells),
            zeros("i8", memory.CONTROLS),
        )
        self._history, self._control = self._memory[-2:]
        self._run(kernel.BUILD, a=size)
        self._run(kernel.SET_UP)

    def _run(self, task: int, side: int = 0, a: int = 0, low: int = -WON, high: int = WON) -> int:
        return run()(self._world, self._memory, self._marks, task, side, a, low, high)

    def set_up(self, x: Sequence[int], o: Sequence[int]) -> None:
        """Make the board that of a position, given as the cells of both sides."""
        self._begin()
        self._marks[:] = patterns.EMPTY
        self._marks[list(x)] = patterns.X
        self._marks[list(o)] = patterns.O
        self._run(kernel.SET_UP)

    def _begin(self) -> None:
        """Nobody has stopped anything yet, and no node is counted."""
        for register in (memory.STOP, memory.ENOUGH, memory.NODES):
            self._control[register] = 0

    def forget(self) -> None:
        """Unlearn everything, so that the next search is as the first."""
        for learned in (*self._memory[:2], self._history):
            learned[:] = 0

    def win_by_fours(
        self, side: int, depth: int = memory.MAX_FOURS, nodes: int = ROOT_FOURS
    ) -> Thought | None:
        """The win by fours of `side`, to move, or None if none is found in so many positions."""
        self._control[memory.FOURS_LEFT] = nodes
        found = self._run(kernel.FOURS, side, min(depth, memory.MAX_FOURS))
        used = nodes - int(self._control[memory.FOURS_LEFT])
        return Thought(found % PLIES, WON - found // PLIES, 0, used) if found else None

    def win_by_threats(
        self, side: int, depth: int = memory.MAX_THREATS, nodes: int = ROOT_THREATS
    ) -> Thought | None:
        """The shortest win by threats of `side`, to move, or None if none is found in so many positions."""
        control = self._control
        control[memory.THREATS_LEFT] = nodes
        for threats in range(1, min(depth, memory.MAX_THREATS) + 1):
            move = self._run(kernel.THREATS, side, threats)
            used = nodes - int(control[memory.THREATS_LEFT])
            if move:
                return Thought(move - 1, WON - 2 * threats - 1, 0, used)
            if used > nodes or control[memory.STOP] or control[memory.ENOUGH]:
                break
        return None

    def think(self, side: int, limits: Limits) -> Thought:
        """Search ever deeper until a limit is reached or the game is decided."""
        self._begin()
        self._history //= 2
        self._control[memory.LIMIT] = limits.nodes or 1 << 60
        with self._alarm(limits.seconds, memory.STOP):
            return self._think(side, limits, perf_counter())

    @contextmanager
    def _alarm(self, seconds: float | None, register: int) -> Iterator[None]:
        """Set this register when the time is over."""
        if seconds is None:
            yield
            return
        timer = threading.Timer(seconds, self._control.__setitem__, (register, 1))
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _think(self, side: int, limits: Limits, began: float) -> Thought:
        self._control[memory.BEST] = self.lively()[0]
        found = self.win_by_fours(side)
        if found:
            return found
        best = Thought(int(self._control[memory.BEST]), 0, 0, 0)
        for depth in range(1, (limits.depth or MAX_DEPTH) + 1):
            if depth == THREATS_FIRST:
                found = self._threaten(side, limits)
                if found:
                    return found
            value = self._aspire(side, depth, best.value)
            stopped = bool(self._control[memory.STOP])
            cell, nodes = int(self._control[memory.BEST]), int(self._control[memory.NODES])
            best = Thought(cell, best.value if stopped else value, depth - stopped, nodes)
            late = limits.enough is not None and perf_counter() - began > limits.enough
            if stopped or late or best.decided:
                break
        return best

    def _threaten(self, side: int, limits: Limits) -> Thought | None:
        """The win by threats from here, looked for in a part of the time or of the nodes."""
        if limits.seconds is None:
            return self.win_by_threats(side, nodes=min(limits.nodes or ROOT_THREATS, ROOT_THREATS))
        with self._alarm(THREATS_SHARE * limits.seconds, memory.ENOUGH):
            return self.win_by_threats(side)

    def _aspire(self, side: int, depth: int, expected: int) -> int:
        """The value at this depth, looked for near the last one first."""
        if depth >= ASPIRING:
            low, high = expected - ASPIRATION, expected + ASPIRATION
            value = self._run(kernel.SEARCH, side, depth, low, high)
            if low < value < high or self._control[memory.STOP]:
                return value
        return self._run(kernel.SEARCH, side, depth)

    def lively(self) -> list[int]:
        """The empty cells, those of the highest interest to both sides first."""
        shapes = self.board[boards.CELL : boards.CELL + 2]
        interest = self.cells[shapes, patterns.INTEREST].sum(axis=0)
        empty = (self.board[boards.MARK] == patterns.EMPTY).nonzero()[0]
        return [int(cell) for cell in empty[(-interest[empty]).argsort(kind="stable")]]
