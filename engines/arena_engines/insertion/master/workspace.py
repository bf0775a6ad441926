"""The memory of one search and its compiled entry.

A view is the game as one side values it: for every ply the picture, the values of a removed cell and of a
lost picture to the mover, and whether the ply is a zombie's. There is one view to search the worst case in,
one to plan in, and one for each kind of opponent model; for a model whose weights are fitted (fitting.py) one
for every point of a grid. The kernels address them by offset (layout.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

from arena_engines.engine import Eval
from arena_engines.insertion.master import layout
from arena_engines.insertion.master.beam import CERTAIN, beam
from arena_engines.insertion.master.layout import Memory
from arena_engines.insertion.master.search import ANY, FIRST, deepen
from arena_engines.jit import compiled
from arena_protocol.games.insertion.board import Planes
from arena_protocol.games.insertion.rules import POINTS_A_CELL

#: The exact tiers in 32 bits: mine * 2**14 - deleted * 2**7 - theirs, in cells. 20 plies remove or push off
#: at most 25 + 20 cells, so each tier keeps within 7 bits.
MINE = 1 << 14
DELETED = 1 << 7
TIER = (1 << 7) - 1

#: One own cell in the weights of play, which keep no tiers apart.
CELL = 1 << 10

#: Every first move.
ALL_LANES = (1 << 15) - 1


class Weights(NamedTuple):
    """What one cell adds to a seat's value: removed by itself, by another seat; or pushed off the board."""

    mine: int
    theirs: int
    fell: int


#: The exact tiers, cooperative and spoiling, in the order of evaluation.py.
OWN = Weights(MINE - DELETED, -DELETED - 1, -DELETED)
SPOILING = Weights(MINE - DELETED, -MINE - DELETED - 1, -DELETED)
#: Points alone, and the lead alone: the evaluation of a simple program.
POINTS = Weights(1, 0, 0)
LEAD = Weights(1, -1, 0)
#: Points less half of the others'.
HALF = Weights(2, -1, 0)

#: The views.
WORST_CASE, PLAN, OWN_MODEL, SPOILING_MODEL, POINTS_MODEL, LEAD_MODEL, HALF_MODEL, WARY_MODEL = range(8)

#: The grid: what another's cell counts, and a picture pushed off the board, in cells lost to the view's side.
#: The least weight of a lost picture decides between equal points, with all cells removed: a full board.
THEIRS_WEIGHTS = (0.0, 0.15, 0.3, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0)
FELL_WEIGHTS = (0.0, 1 / 64, 0.5, 1.0)
FULL_BOARD = 1
#: The first view of the grid; that of weights i and j is i * len(FELL_WEIGHTS) + j views further.
GRID = 8


def grid_weights(view: int) -> Weights:
    """Return the weights of a view of the grid."""
    theirs, fell = divmod(view - GRID, len(FELL_WEIGHTS))
    lost = round(CELL * FELL_WEIGHTS[fell])
    removed = lost if fell == FULL_BOARD else 0
    return Weights(CELL - removed, -round(CELL * THEIRS_WEIGHTS[theirs]) - removed, -lost)


#: The tasks of `run`.
DEEPEN, BEAM = 0, 1
SIGNATURE = "int64(int64, int64, int64, int64, int64, int64, int64, int64, int64, int64, int64[::1])"


def run(
    task: int, p0: int, p1: int, p2: int, record: int, a: int, b: int, c: int, d: int, e: int, mem: Memory
) -> int:
    """Run one task on a board and return its move; other results are in the registers.

    One compiled entry, so that the tree search is compiled once. DEEPEN: from depth a to b by steps of c,
    tie-break d. BEAM: the own view a words away, width b, plies c, depth of replies d, of leaf searches e.
    """
    if task == DEEPEN:
        return deepen(p0, p1, p2, record, a, b, c, d, mem)
    return beam(p0, p1, p2, record, a, b, c, d, e, mem)


class Workspace:
    """One search's memory and the compiled kernel; used by one thread at a time."""

    def __init__(self, table_bits: int = 18) -> None:
        """`table_bits`: log2 of the slots of the transposition table, 32 bytes each."""
        import numpy as np  # here, so that naming the engine needs no numpy

        self._mem = np.zeros(layout.TABLE + (4 << table_bits), dtype=np.int64)
        self._table_mask = (1 << table_bits) - 1
        self._written: set[int] = set()
        self._mem[layout.LEAF_LEVEL] = layout.LEVELS + 2 * layout.LEVEL
        self._mem[layout.OPEN] = layout.INFINITY
        self._mem[layout.VECTOR] = 8
        self._mem[layout.SPARE_LANE] = 15
        self.restrict(ALL_LANES, ALL_LANES)
        self._run: Callable[..., Any] = compiled(run, SIGNATURE)

    def new_analysis(self, view: int, plies: int, table_bits: int) -> None:
        """Begin a short search in one view, with an empty table of 2**table_bits slots.

        A table that fits the nearest cache is faster than a larger one. The workspace is not for games.
        """
        self._mem[layout.TABLE_MASK] = mask = self._table_mask & ((1 << table_bits) - 1)
        self._mem[layout.TABLE : layout.TABLE + 4 * (mask + 1)] = 0
        at = self.record(view, 0)
        records = self._mem[at : at + plies * layout.RECORD].reshape(plies, layout.RECORD)
        records[:, layout.STATIC :] = 0

    def new_game(self) -> None:
        """Forget everything: what follows depends on the game alone, node counts included."""
        self._mem[layout.TABLE :] = 0
        self._mem[layout.GENERATION] = 0
        self._mem[layout.DRAW] = 0
        self.void()
        self._written.clear()

    def void(self) -> None:
        """Void all stored results: another sequence or other roles."""
        # The number has 12 bits: it recurs, and the table must not hold the entries of the first time.
        self._mem[layout.GENERATION] = (self._mem[layout.GENERATION] + 1) & 0xFFF
        if not self._mem[layout.GENERATION]:
            self._mem[layout.TABLE :] = 0
        self._mem[layout.TABLE_MASK] = self._table_mask
        for view in self._written:
            at = self.record(view, 0)
            self._mem[at : at + layout.VIEW].reshape(-1, layout.RECORD)[:, layout.STATIC :] = 0

    def write(
        self,
        view: int,
        ply: int,
        pictures: str,
        sides: Sequence[int],
        weights: Weights,
        forced: Sequence[int] = (),
    ) -> None:
        """Write the records of a view from `ply` on, one for each picture.

        `sides` holds, one item more than `pictures`, 1 for plies of the seat whose value the view counts
        and 0 for those of others; `forced` likewise 1 for zombies' plies (empty: none).
        """
        self._written.add(view)
        rows = _rows(tuple(sides), weights, tuple(forced))
        at = self.record(view, ply)
        end = at + len(rows) * layout.RECORD
        records = self._mem[at:end].reshape(-1, layout.RECORD)
        records[:, : layout.STATIC] = rows
        # Move masks are computed one ply beyond the last; that ply is never played and gets the last picture.
        records[:, layout.COLOUR] = [*map(int, pictures), int(pictures[-1])]

    def restrict(self, root: int, beam: int) -> None:
        """Limit the first moves of deepenings and of beams to these sets of lanes (bit n: move n + 1)."""
        self._mem[layout.ROOT_LANES] = root
        self._mem[layout.BEAM_LANES] = beam

    def record(self, view: int, ply: int) -> int:
        """Return the offset of a ply's record."""
        return layout.RECORDS + view * layout.VIEW + ply * layout.RECORD

    def deepen(self, planes: Planes, view: int, ply: int, depths: range, tie_break: int = ANY) -> int:
        """Search to each depth in turn until stopped; return the best move, 1..15.

        `tie_break` is ANY, FIRST or LAST of search.py.
        """
        self._mem[layout.ROOT_PLY] = ply
        record = self.record(view, ply)
        low, high, step = depths[0], depths[-1], depths.step
        return int(self._run(DEEPEN, *planes, record, low, high, step, tie_break, 0, self._mem))

    def beam(
        self,
        planes: Planes,
        model: int,
        ply: int,
        *,
        width: int,
        plies: int,
        reply_depth: int,
        leaf: int,
        reply_order: int = FIRST,
        confidence: int = CERTAIN,
    ) -> int:
        """Plan against a model's replies (`model`: its view); return the first move, 0 if stopped.

        `confidence`: the weight of the predicted replies, 1..CERTAIN; the worst replies have the rest.
        """
        self._mem[layout.ROOT_PLY] = ply
        self._mem[layout.REPLY_ORDER] = reply_order
        self._mem[layout.CONFIDENCE] = confidence
        record = self.record(model, ply)
        mine = self.record(PLAN, ply) - record
        task = (BEAM, *planes, record, mine, width, plies, reply_depth, leaf)
        return int(self._run(*task, self._mem))

    def draw_replies(self, number: int) -> None:
        """Let beams continue with other members of the sets of equal replies; `number`: 32 bits."""
        self._mem[layout.DRAW] = number

    def stop(self) -> None:
        """Make a running search return soon; safe from any thread."""
        self._mem[layout.STOP] = 1

    def start(self) -> None:
        """Allow searches again, and count nodes from zero."""
        self._mem[layout.STOP] = 0
        self._mem[layout.NODES] = 0

    @property
    def stopped(self) -> bool:
        """Whether `stop` was called since `start`: the last search may not have been finished."""
        return bool(self._mem[layout.STOP])

    @property
    def nodes(self) -> int:
        """Moves made since `start`."""
        return int(self._mem[layout.NODES])

    @property
    def value(self) -> int:
        """The value of the last search's best move."""
        return int(self._mem[layout.VALUE])

    @property
    def ties(self) -> int:
        """The moves of the best value of the last search with search.ALL, as bits 1..15; 0 if stopped."""
        return int(self._mem[layout.TIES])

    @property
    def first_values(self) -> list[int]:
        """The value of the last beam's best plan by first move (0..15); -INFINITY for moves not made."""
        return [int(value) for value in self._mem[layout.FIRST_VALUES : layout.FIRST_VALUES + 16]]


@lru_cache(maxsize=256)
def _rows(sides: tuple[int, ...], weights: Weights, forced: tuple[int, ...]) -> Any:
    """Return the STATIC words of the records of plies with these sides, the pictures 0."""
    import numpy as np

    mine = (weights.mine, weights.fell)
    theirs = (-weights.theirs, -weights.fell)
    flips = [1 if after == side else -1 for side, after in pairwise(sides)]
    return np.array(
        [
            (0, *(mine if side else theirs), zombie, flip)
            for side, zombie, flip in zip(sides, forced or [0] * len(sides), [*flips, -1], strict=True)
        ]
    )


def unpack(value: int) -> Eval:
    """Return the three tiers of an exact value in the weights OWN."""
    lost = -value
    theirs, deleted, mine = lost & TIER, lost >> 7 & TIER, -(lost >> 14)
    return Eval(POINTS_A_CELL * mine, deleted, POINTS_A_CELL * theirs)


def depths_to(depth: int) -> range:
    """Return the depths by which an exact search of this depth is reached fastest: two less, then itself."""
    return range(depth - 2 if depth > 3 else depth, depth + 1, 2)
