"""One search of `xo`: the arrays, VCF and VCT at the root, iterative deepening, limits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cache, partial
from time import perf_counter
from typing import Any, NamedTuple

from arena_engines.jit import compiled
from arena_engines.search_timer import SearchTimer
from arena_engines.xo.gomoku import board as boards
from arena_engines.xo.gomoku import kernel, memory, patterns
from arena_engines.xo.gomoku.alphabeta import MATE, UNPROVEN, WON
from arena_engines.xo.gomoku.threats import PLIES
from arena_engines.xo.gomoku.values import fill_values

#: Entries of the transposition table: 16 MiB.
TABLE = 1 << 20
#: Entries of the table of VCT results: 4 MiB.
ATTACKS = 1 << 18
#: Positions of VCF and of VCT at the root.
ROOT_FOURS = 100_000
ROOT_THREATS = 100_000
#: Positions of VCT inside the search: a quarter of these at the first ply, a quarter of that at the second.
ATTACK_NODES = 2000
#: The part of the time of a move that VCF and VCT at the root may use; with a limit of nodes, the positions
#: of VCT for each node (an alpha-beta node takes about ten times as long).
THREATS_SHARE = 0.25
THREATS_A_NODE = 10
#: Moves tried at the root; all of them after these were proven to lose.
ROOT_MOVES = 40
MAX_DEPTH = 60
#: Aspiration: from this depth on the window is the last value plus and minus this much.
ASPIRING = 4
ASPIRATION = 150


@cache
def run() -> Callable[..., int]:
    """Compile the kernel, or load it from the disk. Raises EngineError without numba."""
    return compiled(kernel.run, kernel.SIGNATURE)


class Limits(NamedTuple):
    """When a search ends: by the clock, or reproducibly by nodes and depth; None is no limit.

    A search is stopped after `seconds`; no deeper iteration is begun after `enough` seconds.
    """

    seconds: float | None = None
    enough: float | None = None
    nodes: int | None = None
    depth: int | None = None


class SearchResult(NamedTuple):
    """The move, its value (alphabeta.py), the depth that was finished (0: VCF or VCT), the nodes."""

    cell: int
    value: int
    depth: int
    nodes: int

    @property
    def decided(self) -> bool:
        """Whether the value is a proven win or loss."""
        return abs(self.value) > MATE


class Searcher:
    """A board of one size and the searches on it. What they store is kept until `reset`.

    Call `set_position` before every search. `board` are the arrays of board.py; `grid`, `neighbours`,
    `line_table`, `cell_table` and `ranks` are some of them.
    """

    def __init__(self, size: int) -> None:
        import numpy as np

        def zeros(kind: str, *shape: int) -> Any:
            return np.zeros(shape, dtype=kind)

        self.size = size
        #: Positions of VCT inside the search; 0 for many quick games.
        self.attack_nodes = ATTACK_NODES
        cells = size * size
        self._marks = zeros("u1", cells)
        self.grid = zeros("i4", boards.ROWS, cells)
        self.neighbours = zeros("i2", cells, boards.DIRECTIONS * patterns.NEIGHBOURS)
        self.line_table = zeros("u1", patterns.LINE_CODES)
        self.cell_table = zeros("i8", patterns.CELL_CODES, patterns.CELL_COLUMNS)
        self.ranks = zeros("u1", 2, cells + -cells % 8)
        #: The arrays of board.py, as its functions take them.
        self.board = (
            self.grid,
            self.neighbours,
            zeros("u1", cells, 2 * boards.DIRECTIONS),
            zeros("i8", boards.DIRECTIONS, 2 * size),
            self.line_table,
            self.cell_table,
            self.ranks,
            self.ranks.view("i8"),
            zeros("i8", 2, 2),
            zeros("i8", boards.UNDO * cells + 1),
        )
        self._memory = (
            zeros("i8", TABLE, 2),
            zeros("i8", ATTACKS, 2),
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
        fill_values(self.cell_table)
        self._run(kernel.SET_POSITION)

    def _run(self, task: int, side: int = 0, a: int = 0, low: int = -WON, high: int = WON) -> int:
        return run()(self.board, self._memory, self._marks, task, side, a, low, high)

    def set_position(self, x: Sequence[int], o: Sequence[int]) -> None:
        """Set the board to these marked cells of X and O."""
        self._clear_registers()
        self._marks[:] = patterns.EMPTY
        self._marks[list(x)] = patterns.X
        self._marks[list(o)] = patterns.O
        self._run(kernel.SET_POSITION)

    def _clear_registers(self) -> None:
        for register in (memory.STOP, memory.THREATS_STOP, memory.NODES):
            self._control[register] = 0

    def reset(self) -> None:
        """Clear the tables and the history: the next search is like the first."""
        for learned in (*self._memory[:2], self._history):
            learned[:] = 0

    def vcf(self, side: int, depth: int = memory.MAX_FOURS, nodes: int = ROOT_FOURS) -> SearchResult | None:
        """A win by continuous fours of `side`, to move; None if `nodes` positions do not find one."""
        self._control[memory.VCF_BUDGET] = nodes
        found = self._run(kernel.VCF, side, min(depth, memory.MAX_FOURS))
        used = nodes - int(self._control[memory.VCF_BUDGET])
        return SearchResult(found % PLIES, WON - found // PLIES, 0, used) if found else None

    def vct(
        self, side: int, depth: int = memory.MAX_THREATS, nodes: int = ROOT_THREATS
    ) -> SearchResult | None:
        """A win by the fewest continuous threats of `side`, to move; None if `nodes` positions find none."""
        control = self._control
        control[memory.VCT_BUDGET] = nodes
        for threats in range(1, min(depth, memory.MAX_THREATS) + 1):
            move = self._run(kernel.VCT, side, threats)
            used = nodes - int(control[memory.VCT_BUDGET])
            if move:
                return SearchResult(move - 1, WON - 2 * threats - 3, 0, used)
            if used > nodes or control[memory.STOP] or control[memory.THREATS_STOP]:
                break
        return None

    def search(self, side: int, limits: Limits) -> SearchResult:
        """VCF, VCT, then alpha-beta ever deeper, until a limit or a proof; `side` is to move."""
        self._clear_registers()
        # What was good at the last move is good still, but less than what this search will find.
        self._history //= 2
        self._control[memory.LIMIT] = limits.nodes or 1 << 60
        self._control[memory.ROOT_WIDTH] = ROOT_MOVES
        self._control[memory.ATTACK_NODES] = self.attack_nodes
        with self._alarm(limits.seconds, memory.STOP):
            return self._deepen(side, limits, perf_counter())

    def _alarm(self, seconds: float | None, register: int) -> AbstractContextManager[object]:
        """Set a register if the block takes longer than this time."""
        if seconds is None:
            return nullcontext()
        return SearchTimer(seconds, partial(self._control.__setitem__, register, 1))

    def _deepen(self, side: int, limits: Limits, began: float) -> SearchResult:
        self._control[memory.BEST] = self.candidates()[0]
        found = self._root_threats(side, limits)
        if found:
            return found
        best = SearchResult(int(self._control[memory.BEST]), 0, 0, 0)
        for depth in range(1, (limits.depth or MAX_DEPTH) + 1):
            value = self._aspire(side, depth, best.value)
            stopped = bool(self._control[memory.STOP])
            cell, nodes = int(self._control[memory.BEST]), int(self._control[memory.NODES])
            # A search that was stopped has seen some of the moves only: its value says nothing.
            best = SearchResult(cell, best.value if stopped else value, depth - stopped, nodes)
            late = limits.enough is not None and perf_counter() - began > limits.enough
            if stopped or late or best.decided:
                break
            if best.value == -UNPROVEN:
                self._control[memory.ROOT_WIDTH] = self.size * self.size
        return best

    def _root_threats(self, side: int, limits: Limits) -> SearchResult | None:
        """VCF and VCT at the root, with a part of the time or of the nodes."""
        if limits.seconds is None:
            nodes = ROOT_THREATS if limits.nodes is None else THREATS_A_NODE * limits.nodes
            return self.vcf(side) or self.vct(side, nodes=min(nodes, ROOT_THREATS))
        with self._alarm(THREATS_SHARE * limits.seconds, memory.THREATS_STOP):
            found = self.vcf(side) or self.vct(side)
        self._control[memory.THREATS_STOP] = 0  # alpha-beta searches for threats, too
        return found

    def _aspire(self, side: int, depth: int, expected: int) -> int:
        """The value at this depth, searched in a window around the last one first."""
        if depth >= ASPIRING:
            low, high = expected - ASPIRATION, expected + ASPIRATION
            value = self._run(kernel.SEARCH, side, depth, low, high)
            if low < value < high or self._control[memory.STOP]:
                return value
        return self._run(kernel.SEARCH, side, depth)

    def candidates(self) -> list[int]:
        """The empty cells, the highest ordering score of both sides together first."""
        codes = self.grid[boards.CELL : boards.CELL + 2]
        score = self.cell_table[codes, patterns.ORDER].sum(axis=0)
        empty = (self.grid[boards.MARK] == patterns.EMPTY).nonzero()[0]
        return [int(cell) for cell in empty[(-score[empty]).argsort(kind="stable")]]
