"""What a mark on an empty cell would make: on a line, by its eight neighbours; on a cell, by its four lines.

A neighbourhood has two bits a cell, EMPTY, X, O or BORDER, from the fourth cell before to the fourth after;
no five through the cell reaches further:

    place    7     6     5     4          3     2     1     0
    bits   15 14 13 12 11 10  9  8       7 6   5 4   3 2   1 0
             after the cell                 before the cell, the farthest in the lowest bits

Its shape for a side is the most that a mark of that side makes there. The rank, the interest and the worth
of a cell follow from its four shapes. The functions compile: integers and arrays only. They must not know:
boards, searches.
"""

from __future__ import annotations

from typing import Any

#: A numpy array; its type stands in the signature that a kernel is compiled with.
Array = Any

#: What a cell can be to its neighbours; the mark of a side is 1 + side.
EMPTY, X, O, BORDER = range(4)  # noqa: E741 - the marks of the game
REACH = 4
NEIGHBOURS = 8
LINE_CODES = 4**NEIGHBOURS

#: Shapes of a line, each one move nearer to five than the one two below it.
NOTHING, ONE, TWO, OPEN_TWO, THREE, OPEN_THREE, FOUR, OPEN_FOUR, FIVE = range(9)
SHAPES = 9
CELL_CODES = SHAPES**4
#: An entry of the table of lines: the shape for X, and that for O so many bits higher.
SIDE_BITS = 4
SHAPE_MASK = 15

#: The shape from which one more mark makes at best this one: a four before a five, and so on.
SHAPE_BEFORE = (NOTHING, NOTHING, ONE, ONE, TWO, OPEN_TWO, THREE, OPEN_THREE, FOUR)

#: Ranks of a cell, out of its four lines: what a mark there threatens.
QUIET, THREATENS_FOUR, TWO_THREES, SINGLE_FOUR, FOUR_AND_THREE, WINS_NEXT, WINS_NOW = range(7)
RANKS = 7

#: What a line and a rank add to a cell's interest, by which moves are put in order.
LINE_INTEREST = (0, 1, 3, 10, 14, 42, 46, 110, 400)
RANK_INTEREST = (0, 0, 60, 0, 120, 200, 1000)
#: What they add to the value of a position for the side to move, and for the other one.
LINE_MOVING = (0, 5, 15, 50, 70, 210, 230, 550, 2000)
RANK_MOVING = (0, 0, 300, 0, 600, 1000, 5000)
LINE_WAITING = (0, 4, 12, 40, 56, 168, 184, 440, 1600)
RANK_WAITING = (0, 0, 240, 0, 480, 800, 4000)

#: Columns of the table of cells.
RANK, INTEREST, MOVING, WAITING = range(4)
CELL_COLUMNS = 4


def fill_lines(table: Array) -> None:
    """Write the shapes of every neighbourhood into `table` (uint8, LINE_CODES long).

    A code with one more mark is larger, so from the top down all that a next mark can make is known.
    """
    for code in range(LINE_CODES - 1, -1, -1):
        table[code] = line_shape(table, code, 0) | line_shape(table, code, 1) << SIDE_BITS


def line_shape(table: Array, code: int, side: int) -> int:
    """The shape of one neighbourhood for a side, when those with one more mark are in the table."""
    if run_length(code, side) >= 5:
        return FIVE
    fives = 0
    best = NOTHING
    for place in range(NEIGHBOURS):
        if code >> 2 * place & BORDER == EMPTY:
            after = table[code + (1 + side << 2 * place)] >> SIDE_BITS * side & SHAPE_MASK
            fives += after == FIVE
            best = max(best, after)
    if fives >= 2:
        return OPEN_FOUR
    return SHAPE_BEFORE[best]


def run_length(code: int, side: int) -> int:
    """How many marks of the side stand next to each other, the one to be made among them."""
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


def fill_cells(table: Array) -> None:
    """Write the columns of every four shapes a + 9b + 81c + 729d into `table` (int32, CELL_CODES x 4)."""
    for code in range(CELL_CODES):
        rank = cell_rank(code)
        table[code, RANK] = rank
        table[code, INTEREST] = RANK_INTEREST[rank]
        table[code, MOVING] = RANK_MOVING[rank]
        table[code, WAITING] = RANK_WAITING[rank]
        rest = code
        for _ in range(4):
            table[code, INTEREST] += LINE_INTEREST[rest % SHAPES]
            table[code, MOVING] += LINE_MOVING[rest % SHAPES]
            table[code, WAITING] += LINE_WAITING[rest % SHAPES]
            rest //= SHAPES


def cell_rank(code: int) -> int:
    """The rank of a cell with these four shapes."""
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
