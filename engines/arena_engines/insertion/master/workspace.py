"""The array that a search works in, filled and read from the Python side.

A view of the game tells for every ply what it is worth to whom: one view to guard oneself, one to plan,
one for each kind of opponent. The kernels find their way by offsets (layout.py); nobody else needs to.
It must not know: what to search for when, clocks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

from arena_engines.engine import Eval
from arena_engines.insertion.master import kernel, layout, root
from arena_engines.jit import compiled
from arena_protocol.games.insertion.rules import POINTS_A_CELL
from arena_protocol.games.insertion.text import Planes

#: A cell of one's own points in the packed exact EVAL: mine * 2**14 - deleted * 2**7 - theirs, in cells.
#: 20 plies remove at most 25 + 20 cells, so each tier keeps within its 7 bits and the whole in 32.
MINE = 1 << 14
DELETED = 1 << 7
TIER = (1 << 7) - 1

#: A cell of one's own points in the weights of play, which need not keep tiers apart.
CELL = 1 << 10

#: Every first move.
ALL_LANES = (1 << 15) - 1


class Weights(NamedTuple):
    """What one cell adds to a seat's value: removed by itself, by another seat; or pushed off the board."""

    mine: int
    theirs: int
    fell: int


#: The exact EVAL of the seed, cooperative and spoiling, as eval.py and strategy.py order them.
OWN = Weights(MINE - DELETED, -DELETED - 1, -DELETED)
SPOILING = Weights(MINE - DELETED, -MINE - DELETED - 1, -DELETED)
#: Points alone, and the lead alone: what a program counts whose author thought no further.
POINTS = Weights(1, 0, 0)
LEAD = Weights(1, -1, 0)

#: The views of the plans.
GUARD, PLAN, OWN_MIND, SPOILING_MIND, POINTS_MIND, LEAD_MIND = range(layout.VIEWS)


class Workspace:
    """One search's memory and the compiled kernel; not to be shared by two threads at once."""

    def __init__(self, table_bits: int = 18) -> None:
        """`table_bits`: log2 of the pairs of entries of the transposition table, 32 bytes each."""
        import numpy as np  # here, so that naming the engine needs no numpy

        self._mem = np.zeros(layout.TABLE + (4 << table_bits), dtype=np.int64)
        self._table_mask = (1 << table_bits) - 1
        self._mem[layout.LOWEST] = layout.LEVELS + 2 * layout.LEVEL
        self._mem[layout.WIDE] = layout.INFINITY
        self._mem[layout.ROWS] = 8
        self._mem[layout.SPARE_LANE] = 15
        self.only(ALL_LANES, ALL_LANES)
        self._run: Callable[..., Any] = compiled(kernel.run, kernel.SIGNATURE)

    def fresh(self, view: int, plies: int, table_bits: int) -> None:
        """Make what was kept void, as `forget` does, for a short search in one view that needs a small table.

        A table that stays in the nearest cache is worth more than its entries' number.
        """
        self._new_salt()
        self._mem[layout.TABLE_MASK] = self._table_mask & ((1 << table_bits) - 1)
        at = self.record(view, 0)
        plans = self._mem[at : at + plies * layout.RECORD].reshape(plies, layout.RECORD)
        plans[:, layout.KEPT :] = 0

    def forget(self) -> None:
        """Make everything kept so far void: another game, another sequence, other roles."""
        self._new_salt()
        self._mem[layout.TABLE_MASK] = self._table_mask
        plans = self._mem[layout.PLANS : layout.LEVELS].reshape(-1, layout.RECORD)
        plans[:, layout.KEPT :] = 0

    def _new_salt(self) -> None:
        # A salt comes round again after 4,095 games; then nothing of the first may be left.
        self._mem[layout.SALT] = (self._mem[layout.SALT] + 1) & 0xFFF
        if not self._mem[layout.SALT]:
            self._mem[layout.TABLE :] = 0

    def write(
        self,
        view: int,
        ply: int,
        pictures: str,
        sides: Sequence[int],
        weights: Weights,
        forced: Sequence[int] = (),
    ) -> None:
        """Write the records of a view from `ply` on.

        `sides` holds, from `ply` on and one more, 1 for plies of the seat whose value the view counts and
        0 for those of others; `forced` in the same way 1 for zombies' plies (none if left out).
        """
        rows = _rows(tuple(sides), weights, tuple(forced))
        at = self.record(view, ply)
        end = at + len(rows) * layout.RECORD
        plans = self._mem[at:end].reshape(-1, layout.RECORD)
        plans[:, : layout.KEPT] = rows
        # A ply more is looked at, though never played; it has the last picture.
        plans[:, layout.COLOUR] = [*map(int, pictures), int(pictures[-1])]

    def only(self, root: int, beam: int) -> None:
        """Let deepenings and beams begin with these lanes (move - 1) alone, as sets of bits."""
        self._mem[layout.ONLY_ROOT] = root
        self._mem[layout.ONLY_BEAM] = beam

    def record(self, view: int, ply: int) -> int:
        """Return the offset of a ply's record."""
        return layout.PLANS + view * layout.VIEW + ply * layout.RECORD

    def decide(self, planes: Planes, view: int, ply: int, depths: range, want: int = root.ANY) -> int:
        """Search to each depth in turn until stopped; return the best move, 1..15.

        `want` as in root.py: any of the best, or the first of them in natural order.
        """
        self._mem[layout.BORN] = ply
        plan = self.record(view, ply)
        low, high, step = depths[0], depths[-1], depths.step
        return int(self._run(kernel.DECIDE, *planes, plan, low, high, step, want, 0, self._mem))

    def beam(
        self,
        planes: Planes,
        mind: int,
        ply: int,
        *,
        width: int,
        plies: int,
        reply_depth: int,
        leaf: int,
        reply_order: int = root.FIRST,
    ) -> int:
        """Plan against a mind's replies over the plies that are known; return the first move, or 0."""
        self._mem[layout.BORN] = ply
        self._mem[layout.ORDER] = reply_order
        plan = self.record(mind, ply)
        mine = self.record(PLAN, ply) - plan
        task = (kernel.BEAM, *planes, plan, mine, width, plies, reply_depth, leaf)
        return int(self._run(*task, self._mem))

    def stop(self) -> None:
        """Make a running search return soon; safe from any thread."""
        self._mem[layout.STOP] = 1

    def clear(self) -> None:
        """Allow searches again, and count nodes from zero."""
        self._mem[layout.STOP] = 0
        self._mem[layout.NODES] = 0

    @property
    def nodes(self) -> int:
        """Moves made since `clear`."""
        return int(self._mem[layout.NODES])

    @property
    def reached(self) -> int:
        """The depth that the last deepening completed."""
        return int(self._mem[layout.REACHED])

    @property
    def value(self) -> int:
        """The value of the last search's best move."""
        return int(self._mem[layout.VALUE])

    @property
    def values(self) -> list[int]:
        """What the last beam's best plan came to, by its first move (0..15); -INFINITY for moves not made."""
        return [int(value) for value in self._mem[layout.FIRSTS : layout.FIRSTS + 16]]


@lru_cache(maxsize=64)
def _rows(sides: tuple[int, ...], weights: Weights, forced: tuple[int, ...]) -> Any:
    """Return what stands in the records of plies with these sides, but for the pictures."""
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


def shortcut(depth: int) -> range:
    """Return the depths by which an exact search of this depth is reached soonest: two less, then itself."""
    return range(depth - 2 if depth > 3 else depth, depth + 1, 2)
