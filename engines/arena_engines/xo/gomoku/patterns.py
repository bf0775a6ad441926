"""Pattern tables: what a mark on an empty cell makes, on a line and on the four lines of the cell.

A line code has two bits a neighbour, EMPTY, X, O or BORDER, from the fourth cell before to the fourth after.
No five through the cell reaches further.

    place    7     6     5     4          3     2     1     0
    bits   15 14 13 12 11 10  9  8       7 6   5 4   3 2   1 0
             after the cell                 before the cell, the farthest in the lowest bits

The shape of a line code for a side is the most that a mark of that side makes on that line. A cell code packs
the four shapes of a cell; its rank (what the mark threatens), its ordering score and its value follow from
it.

The functions are compiled by numba: integers and arrays only.
"""

from __future__ import annotations

from typing import Any

#: A numpy array. Its dtype and number of dimensions stand in kernel.SIGNATURE.
Array = Any

#: What a neighbour can be. The mark of a side is 1 + side.
EMPTY, X, O, BORDER = range(4)  # noqa: E741 - the marks of the game
REACH = 4
NEIGHBOURS = 8
LINE_CODES = 4**NEIGHBOURS

#: Shapes of a line; each is one move nearer to five than the one two below it.
NOTHING, ONE, TWO, OPEN_TWO, THREE, OPEN_THREE, FOUR, OPEN_FOUR, FIVE = range(9)
SHAPES = 9
CELL_CODES = SHAPES**4
#: An entry of the line table: the shape for X in the low bits, that for O this many bits higher.
SIDE_BITS = 4
SHAPE_MASK = 15

#: The shape from which one more mark makes at best the shape of this index: a four before a five, ...
SHAPE_BEFORE = (NOTHING, NOTHING, ONE, ONE, TWO, OPEN_TWO, THREE, OPEN_THREE, FOUR)

#: Ranks of a cell: what a mark there threatens.
QUIET, THREATENS_FOUR, TWO_THREES, SINGLE_FOUR, FOUR_AND_THREE, WINS_NEXT, WINS_NOW = range(7)
RANKS = 7

#: What a line and a rank add to the ordering score of a cell.
LINE_ORDER = (0, 1, 3, 10, 14, 42, 46, 110, 400)
RANK_ORDER = (0, 0, 60, 0, 120, 200, 1000)

#: Columns of the cell table. VALUES is the value for the side to move << 32 plus that for the side that waits
#: (values.py), COUNTED is 1 in the byte of the rank: both are added up over the cells of a board.
RANK, ORDER, VALUES, COUNTED = range(4)
CELL_COLUMNS = 4


def fill_lines(line_table: Array) -> None:
    """Fill `line_table` (uint8, LINE_CODES): the shapes of every line code for both sides.

    A code with one more mark is larger. From the largest code down, all shapes after a next mark are known.
    """
    for code in range(LINE_CODES - 1, -1, -1):
        line_table[code] = line_shape(line_table, code, 0) | line_shape(line_table, code, 1) << SIDE_BITS


def line_shape(line_table: Array, code: int, side: int) -> int:
    """The shape of a line code for a side; the codes with one more mark must be in the table."""
    if run_length(code, side) >= 5:
        return FIVE
    fives = 0
    best = NOTHING
    for place in range(NEIGHBOURS):
        if code >> 2 * place & BORDER == EMPTY:
            after = line_table[code + (1 + side << 2 * place)] >> SIDE_BITS * side & SHAPE_MASK
            fives += after == FIVE
            best = max(best, after)
    if fives >= 2:
        return OPEN_FOUR
    return SHAPE_BEFORE[best]


def run_length(code: int, side: int) -> int:
    """The length of the run of marks of `side` through the middle cell, which counts as marked."""
    run = 1
    place = REACH - 1
    while place >= 0 and code >> 2 * place & BORDER == 1 + side:
        run += 1
        place -= 1
    place = REACH
    while place < NEIGHBOURS and code >> 2 * place & BORDER == 1 + side:
        run += 1
        place += 1
    return run


def fill_cells(cell_table: Array) -> None:
    """Fill `cell_table` (int64, CELL_CODES x CELL_COLUMNS) except VALUES; codes are a + 9b + 81c + 729d."""
    for code in range(CELL_CODES):
        rank = cell_rank(code)
        cell_table[code, RANK] = rank
        cell_table[code, COUNTED] = 1 << 8 * rank
        cell_table[code, ORDER] = RANK_ORDER[rank]
        rest = code
        for _ in range(4):
            cell_table[code, ORDER] += LINE_ORDER[rest % SHAPES]
            rest //= SHAPES


def cell_rank(code: int) -> int:
    highest = fours = open_threes = 0
    for _ in range(4):
        highest = max(highest, code % SHAPES)
        fours += code % SHAPES == FOUR
        open_threes += code % SHAPES == OPEN_THREE
        code //= SHAPES
    if highest == FIVE:
        return WINS_NOW
    if highest == OPEN_FOUR or fours >= 2:
        return WINS_NEXT
    if fours == 1:
        return FOUR_AND_THREE if open_threes else SINGLE_FOUR
    if open_threes >= 2:
        return TWO_THREES
    return THREATENS_FOUR if open_threes else QUIET
