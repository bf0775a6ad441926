"""The board of the compiled program of 1970: estimates.py in one array, changed by each mark and back.

`board` is int32, ROWS x (cells + 1). The one cell more is the border, to which the lines lead that end:

    row MARK          EMPTY, or 1 + side; BORDER for the last cell
    row PATTERN + d   the ten neighbours in direction d as X sees them, and LINES rows below as O does
    row PACKED + s    the four line values for side s, the digits of a number to the base VALUES
    row VALUE + s     the value for side s in halves, 0 where taken
    row HIGHER        the higher one of both values
    row COUNT + s     how many cells have each value for side s; COUNT + 2: how many have it as the higher one
    row PAIRS + x     how many cells have the value x for X and each value for O

`reach` (int16, cells x RAYS x REACH x 2) leads from a cell along two rays a direction, the nearest first:
the other cell, and one's weight in its pattern. `tables` (int8) holds the line value of every pattern, from
FOLDS on the value of every four line values, from QUARTERS on table 1. Only empty cells are kept up to
date, so marks are taken back in the reverse order. The functions compile. They must not know: searches.
"""

from __future__ import annotations

from typing import Any

from arena_engines.xo.estimates import DIRECTIONS, REACH
from arena_engines.xo.scale import EMPTY, FOE, MOST, OWN, WINS

#: A numpy array; its type stands in the signature that the kernel is compiled with.
Array = Any
#: (board, reach, tables): few, for numba counts the references to each wherever a world is taken apart.
World = tuple[Array, Array, Array]

LINES = len(DIRECTIONS)
RAYS = 2 * LINES
#: Values are 0..MOST.
VALUES = MOST + 1
#: The mark of the border is that of both sides.
BORDER = 3

MARK = 0
PATTERN = 1
PACKED = PATTERN + 2 * LINES
VALUE = PACKED + 2
HIGHER = VALUE + 2
COUNT = HIGHER + 1
PAIRS = COUNT + 3
ROWS = PAIRS + VALUES

#: Where the parts of `tables` begin.
FOLDS = 3 ** (2 * REACH)
QUARTERS = FOLDS + VALUES**LINES


def make(world: World, cell: int, side: int) -> None:
    """Put a mark of `side` on an empty cell."""
    board, _, _ = world
    set_values(board, cell, 0, 0)
    board[MARK, cell] = 1 + side
    touch(world, cell, side, 1)


def unmake(world: World, cell: int, side: int) -> None:
    """Take back the last mark, that of `side` on `cell`."""
    board, _, tables = world
    touch(world, cell, side, -1)
    board[MARK, cell] = EMPTY
    refold(board, tables, cell)


def touch(world: World, cell: int, side: int, sign: int) -> None:
    """Bring the empty cells on the lines through `cell` up to date, where a mark came or went."""
    board, reach, tables = world
    for_x, for_o = (FOE, OWN) if side else (OWN, FOE)
    base = 1
    for ray in range(RAYS):
        seen = 0
        for place in range(REACH):
            other = reach[cell, ray, place, 0]
            seen |= board[MARK, other]
            if seen == BORDER:
                break  # behind a mark of each side nobody's line leads back to here
            if board[MARK, other] == EMPTY:
                weight = sign * int(reach[cell, ray, place, 1])
                row = PATTERN + (ray >> 1)
                grown_x = grow(board, tables, row, other, weight * for_x)
                grown_o = grow(board, tables, row + LINES, other, weight * for_o)
                if grown_x != 0 or grown_o != 0:
                    board[PACKED, other] += grown_x * base
                    board[PACKED + 1, other] += grown_o * base
                    refold(board, tables, other)
        if ray & 1:
            base *= VALUES


def grow(board: Array, tables: Array, row: int, cell: int, change: int) -> int:
    """Change a pattern, and return by how much its line value grows."""
    before = board[row, cell]
    board[row, cell] = before + change
    return int(tables[before + change]) - int(tables[before])


def refold(board: Array, tables: Array, cell: int) -> None:
    """Give an empty cell the values that follow from its line values."""
    x = int(tables[FOLDS + board[PACKED, cell]])
    o = int(tables[FOLDS + board[PACKED + 1, cell]])
    if x != board[VALUE, cell] or o != board[VALUE + 1, cell]:
        set_values(board, cell, x, o)


def set_values(board: Array, cell: int, x: int, o: int) -> None:
    """Set the values of a cell; it is counted while they are not 0."""
    count(board, int(board[VALUE, cell]), int(board[VALUE + 1, cell]), -1)
    board[VALUE, cell] = x
    board[VALUE + 1, cell] = o
    board[HIGHER, cell] = max(x, o)
    count(board, x, o, 1)


def count(board: Array, x: int, o: int, sign: int) -> None:
    """Count a cell with these values in, or out; of values 0 the counts mean nothing."""
    board[COUNT, x] += sign
    board[COUNT + 1, o] += sign
    board[COUNT + 2, max(x, o)] += sign
    board[PAIRS + x, o] += sign


def fives(world: World, side: int) -> int:
    """On how many cells `side` would make five."""
    board, _, _ = world
    total = 0
    for value in range(WINS, VALUES):
        total += board[COUNT + side, value]
    return int(total)


def highest(world: World, side: int) -> int:
    """The highest value for `side`; 0 on a full board."""
    board, _, _ = world
    value = MOST
    while value > 0 and board[COUNT + side, value] == 0:
        value -= 1
    return value


def recommended(world: World, side: int) -> int:
    """The general procedure: VALUES * x + o, the values for X and for O of the cell that `side` should take.

    On a full board 0.
    """
    own, foe = highest(world, side), highest(world, 1 - side)
    leader = side if own >= foe else 1 - side
    best = max(own, foe)
    other = MOST
    while other > 0 and with_values(world, leader, best, other) == 0:
        other -= 1
    return VALUES * other + best if leader else VALUES * best + other


def with_values(world: World, side: int, own: int, foe: int) -> int:
    """How many empty cells have these values for `side` and for the other one."""
    board, _, _ = world
    return int(board[PAIRS + foe, own] if side else board[PAIRS + own, foe])


def cell_of_values(world: World, x: int, o: int) -> int:
    """The first cell in scan order with these values; there is one."""
    board, _, _ = world
    cell = 0
    while board[VALUE, cell] != x or board[VALUE + 1, cell] != o:
        cell += 1
    return cell


def winning_cell(world: World, side: int) -> int:
    """The first cell in scan order on which `side` makes five; there is one."""
    board, _, _ = world
    cell = 0
    while board[VALUE + side, cell] < WINS:
        cell += 1
    return cell
