"""EVAL in one number: the seed's three tiers packed so that plain `<` is their order.

A line of play is worth, first, the points of my moves (more is better), then the cells deleted
by anybody's moves (fewer), then the points of the others' moves (fewer). All three are sums over the
moves of the line, so the packed values add up too, and a search needs one integer and no path:

    bit 63    62                 40 39                20 19                 0
       sign   |   my points: +m   |   deleted: -d      |   their points: -t |

    value = m * 2**40 - d * 2**20 - t

Bounds: one ply removes at most 25 cells (250 points) and pushes at most one more off the board, 26
deleted. While d and t stay below 2**20 and m below 2**22 the order is the lexicographic one and
|value| < INFINITY = 2**62, so that a window of +-INFINITY shifted by any path stays in 64 bits. A line of
4,194 plies keeps these bounds; a search looks 20 plies ahead.

The kernels compile from these functions: integers only. It must not know: boards, moves, depth.
"""

from __future__ import annotations

from arena_engines.engine import Eval
from arena_protocol.games.insertion.rules import POINTS_A_CELL

MINE = 1 << 40
DELETED = 1 << 20
FIELD = (1 << 20) - 1

#: Beyond every value, with room to shift a window by a path.
INFINITY = 1 << 62

#: What one cell removed by my move adds: 10 points to me, one more deleted cell.
MY_CELL = POINTS_A_CELL * MINE - DELETED
#: What one cell removed by another's move adds.
THEIR_CELL = -POINTS_A_CELL - DELETED
#: What a picture pushed off the board adds, whoever pushed it.
FELL = -DELETED

#: Pictures and roles of so many plies fit one integer each.
MAX_DEPTH = 20


def pack(mine: int, deleted: int, theirs: int) -> int:
    """Return the packed value; `deleted` and `theirs` are 0..2**20 - 1, `mine` below 2**22."""
    return mine * MINE - deleted * DELETED - theirs


def unpack(value: int) -> Eval:
    """Return the three tiers of a packed value."""
    lost = -value
    return Eval(mine=-(lost >> 40), deleted=lost >> 20 & FIELD, theirs=lost & FIELD)


def move_gain(removed: int, fell: int, mine: bool) -> int:
    """Return what one move adds to the value: `removed` cells by the mover, `fell` (0 or 1) off the board."""
    return removed * (MY_CELL if mine else THEIR_CELL) + fell * FELL
