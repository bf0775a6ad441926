"""The two EVALs of the contest entry: one for my moves and one for the opponent's, two tiers each.

    struct EVAL { int Points, DeletedCells; };     more points, then fewer deleted cells

As in the seed a line of play has a MyEVAL and an OpponentEVAL, so four tiers in all. Each is packed in
one integer so that `>` is its order, and each is additive over the moves of its side:

    value = points * 2**20 - deleted

The kernels compile from these functions: integers only. It must not know: boards, moves, depth.
"""

from __future__ import annotations

from arena_engines.engine import Eval
from arena_engines.insertion.eval import FIELD
from arena_protocol.games.insertion.rules import POINTS_A_CELL

POINT = 1 << 20


def gain(removed: int, fell: int) -> int:
    """Return the EVAL of one move: `removed` cells for points, and `fell` (0 or 1) off the board."""
    return removed * (POINTS_A_CELL * POINT - 1) - fell


def fewer(value: int) -> int:
    """Turn the second tier round: of two such values the smaller has fewer points, then fewer deleted.

    A plain `<` on the EVALs themselves prefers, at equal points, more deleted cells: that was the
    entry's slip in the fourth tier.
    """
    points = (value + FIELD) & ~FIELD
    return points + (points - value)


def eval_of(mine: int, theirs: int) -> Eval:
    """Return the usual three tiers of a MyEVAL and an OpponentEVAL."""
    my_points, their_points = ((value + FIELD) >> 20 for value in (mine, theirs))
    deleted = my_points * POINT - mine + their_points * POINT - theirs
    return Eval(my_points, deleted, their_points)
