"""Evaluation of a line of play: tiers packed in one int64, so that `<` compares them in order.

The three tiers of the champion (`EVAL` in seed 001), each a sum over the moves of the line:

    1. the points of my moves              more is better
    2. the cells deleted by any move       fewer is better
    3. the points of the others' moves     fewer is better

    bit 63    62                 40 39                20 19                 0
       sign   |   my points: +m   |   deleted: -d      |   their points: -t |

    value = m * 2**40 - d * 2**20 - t

Packed values add up like the tiers, so a search needs one integer per node and no path. One ply removes at
most 25 cells (250 points) and pushes one more off the board. While d, t < 2**20 and m < 2**22, which a line
of 4,194 plies keeps, the order is lexicographic and |value| < INFINITY, so a window of +-INFINITY shifted
by any path fits in 64 bits. A search looks at most MAX_DEPTH plies ahead.

A `Strategy` is what one removed cell adds: cooperative play maximises the own points, spoiling play the lead.

The entry of 2006 keeps two values instead, one of each side's own moves, with two tiers each:

    side_value = points * 2**20 - deleted        more points, then fewer deleted cells

Functions without `Eval` in their signature are compiled into the kernels: integers only.
"""

from __future__ import annotations

from typing import NamedTuple

from arena_engines.engine import Eval, Parameter
from arena_protocol.games.insertion.rules import POINTS_A_CELL

MINE = 1 << 40
DELETED = 1 << 20
FIELD = (1 << 20) - 1

#: Greater than every value, with room to shift a window by a path.
INFINITY = 1 << 62

#: One cell removed by my move: 10 points to me, one deleted cell.
MY_CELL = POINTS_A_CELL * MINE - DELETED
#: One cell removed by another's move.
THEIR_CELL = -POINTS_A_CELL - DELETED
#: A picture pushed off the board by any move.
FELL = -DELETED

#: Pictures (3 bits a ply) and roles (2 bits a ply) of this many plies fit one int64 each.
MAX_DEPTH = 20

#: The two bits of a ply's role: another seat moves; and it is a zombie, whose only move is 6.
THEIRS = 0b01
FORCED = 0b10
ZOMBIE_MOVE = 6


def unpack(value: int) -> Eval:
    """Return the three tiers of a packed value."""
    lost = -value
    return Eval(mine=-(lost >> 40), deleted=lost >> 20 & FIELD, theirs=lost & FIELD)


def move_gain(removed: int, fell: int, mine: bool) -> int:
    """Return the value of one move: `removed` cells by the mover, `fell` (0 or 1) off the board."""
    return removed * (MY_CELL if mine else THEIR_CELL) + fell * FELL


class Strategy(NamedTuple):
    """What one removed cell adds to the value, by whose move removes it."""

    name: str
    my_cell: int
    their_cell: int

    @property
    def cells(self) -> tuple[int, int]:
        """The two weights, as the kernels take them."""
        return self.my_cell, self.their_cell

    def eval_of(self, value: int) -> Eval:
        """Return the three tiers of a packed value of this strategy."""
        first, deleted, theirs = unpack(value)
        return Eval(first + theirs if self is SPOILING else first, deleted, theirs)


#: More of my points, then fewer deleted cells, then fewer points of the others.
COOPERATIVE = Strategy("cooperative", MY_CELL, THEIR_CELL)
#: A greater lead, then fewer deleted cells, then fewer points of the others.
SPOILING = Strategy("spoiling", MY_CELL, THEIR_CELL - POINTS_A_CELL * MINE)
#: The opposite of what the opponents play (champion.py).
ADAPTIVE = "adaptive"
FIXED = {each.name: each for each in (COOPERATIVE, SPOILING)}

FIXED_STRATEGY = Parameter("strategy", COOPERATIVE.name, words=tuple(FIXED))
STRATEGY = Parameter("strategy", COOPERATIVE.name, words=(*FIXED, ADAPTIVE))

POINT = 1 << 20


def side_gain(removed: int, fell: int) -> int:
    """Return the side value of one move: `removed` cells for points, `fell` (0 or 1) off the board."""
    return removed * (POINTS_A_CELL * POINT - 1) - fell


def flip_deleted(value: int) -> int:
    """Negate the second tier: of two such values the smaller has fewer points, then fewer deleted cells.

    A plain `<` on side values prefers, at equal points, more deleted cells: the entry's error in the fourth
    tier.
    """
    points = (value + FIELD) & ~FIELD
    return points + (points - value)


def eval_of_sides(mine: int, theirs: int) -> Eval:
    """Return the three tiers of my side value and the opponent's."""
    my_points, their_points = ((value + FIELD) >> 20 for value in (mine, theirs))
    deleted = my_points * POINT - mine + their_points * POINT - theirs
    return Eval(my_points, deleted, their_points)
