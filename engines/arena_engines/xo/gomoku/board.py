"""The board of `xo`: what a mark on every empty cell makes for both sides, kept up to date with every mark.

A `Board` is the tuple of these arrays; the two tables are those of patterns.py.

    grid         int32, ROWS x cells
        row MARK        EMPTY, X or O
        row CELL + s    the cell code of each empty cell for side s; 0 where taken
    neighbours   int16, cells x 32: direction by direction the eight neighbours of a cell, from the fourth
                 before to the fourth after; -1 beyond the border
    places       uint8, cells x 8: for each direction the line of a cell, then for each its place there
    lines        int64, DIRECTIONS x lines: the marks of every line, two bits a cell (drawn below)
    line_table, cell_table
    ranks        uint8, 2 x cells: the rank of each empty cell for both sides; 0 where taken and behind the
                 last cell
    words        int64: the memory of `ranks`, eight cells a word
    totals       int64, 2 x 2: for each side the sums of VALUES and of COUNTED over the empty cells
    undo         int64: a stack of what `unmake` restores; undo[0] is its height

A line has four cells of BORDER before its first and behind its last cell, so that the 18 bits from `place` on
are the cell at that place with four neighbours on either side, and its line code is these bits without its
own:

    bits   place + 17 ... place + 10     + 9, + 8     place + 7 ... place
           four cells after              the cell     four cells before, the farthest lowest

The functions are compiled by numba.
"""

from __future__ import annotations

from arena_engines.jit import outlined
from arena_engines.xo.gomoku.patterns import (
    BORDER,
    COUNTED,
    EMPTY,
    NEIGHBOURS,
    RANK,
    REACH,
    SHAPE_MASK,
    SHAPES,
    SIDE_BITS,
    VALUES,
    WINS_NEXT,
    WINS_NOW,
    Array,
)

#: (grid, neighbours, places, lines, line_table, cell_table, ranks, words, totals, undo)
Board = tuple[Array, Array, Array, Array, Array, Array, Array, Array, Array, Array]

DIRECTIONS = 4
#: The steps of a direction, in columns and in rows.
ACROSS = (1, 0, 1, 1)
UP = (0, 1, 1, -1)

MARK = 0
CELL = 1
ROWS = CELL + 2
#: Where a cell's own two bits stand above its place in a line.
OWN = 2 * REACH
#: Entries of `undo` for a mark: four totals, the cell, at most 32 neighbours, the height before.
UNDO = 38
#: The lowest and the highest bit of each byte of a word.
LOWEST_BITS = 0x0101010101010101
HIGHEST_BITS = -0x7F7F7F7F7F7F7F80


def fill_neighbours(neighbours: Array, size: int) -> None:
    """Fill `neighbours` for a board of size x size; cells are numbered in scan order, a1, b1, ..."""
    for cell in range(size * size):
        for direction in range(DIRECTIONS):
            for place in range(NEIGHBOURS):
                offset = place - REACH + (place >= REACH)
                column = cell % size + ACROSS[direction] * offset
                row = cell // size + UP[direction] * offset
                inside = 0 <= column < size and 0 <= row < size
                neighbours[cell, NEIGHBOURS * direction + place] = size * row + column if inside else -1


def fill_places(places: Array, size: int) -> None:
    """Fill `places` for a board of size x size."""
    for cell in range(size * size):
        column = cell % size
        row = cell // size
        places[cell, 0] = row
        places[cell, 1] = column
        places[cell, 2] = row - column + size - 1
        places[cell, 3] = row + column
        for direction in range(DIRECTIONS):
            places[cell, DIRECTIONS + direction] = 2 * (row if direction == 1 else column)


def clear(board: Board) -> None:
    grid, _, places, lines, _, _, ranks, _, totals, undo = board
    grid[:, :] = 0
    ranks[:, :] = 0
    totals[:, :] = 0
    undo[0] = 1
    lines[:, :] = -1  # BORDER everywhere
    for cell in range(grid.shape[1]):
        for direction in range(DIRECTIONS):
            own = BORDER << places[cell, DIRECTIONS + direction] + OWN
            lines[direction, places[cell, direction]] ^= own
    for cell in range(grid.shape[1]):
        add_cell(board, cell)


def line_code(word: int, place: int) -> int:
    """The line code of the cell at this place of a line."""
    window = word >> place
    return window & 0xFF | window >> 2 & 0xFF00


def add_cell(board: Board, cell: int) -> None:
    """Compute the cell codes of an empty cell and add it to the totals of both sides."""
    grid, _, places, lines, line_table, cell_table, ranks, _, totals, _ = board
    for side in range(2):
        code = 0
        base = 1
        for direction in range(DIRECTIONS):
            word = lines[direction, places[cell, direction]]
            shapes = line_table[line_code(word, places[cell, DIRECTIONS + direction])]
            code += (shapes >> SIDE_BITS * side & SHAPE_MASK) * base
            base *= SHAPES
        grid[CELL + side, cell] = code
        ranks[side, cell] = cell_table[code, RANK]
        totals[side, 0] += cell_table[code, VALUES]
        totals[side, 1] += cell_table[code, COUNTED]


@outlined
def make(board: Board, cell: int, side: int) -> None:
    """Put a mark of `side` on an empty cell."""
    grid, neighbours, places, lines, line_table, cell_table, ranks, _, totals, undo = board
    bottom = undo[0]
    values_x, counts_x, values_o, counts_o = totals[0, 0], totals[0, 1], totals[1, 0], totals[1, 1]
    undo[bottom] = values_x
    undo[bottom + 1] = counts_x
    undo[bottom + 2] = values_o
    undo[bottom + 3] = counts_o
    x, o = grid[CELL, cell], grid[CELL + 1, cell]
    undo[bottom + 4] = packed(cell, x, o)
    top = bottom + 5
    values_x -= cell_table[x, VALUES]
    counts_x -= cell_table[x, COUNTED]
    values_o -= cell_table[o, VALUES]
    counts_o -= cell_table[o, COUNTED]
    grid[CELL, cell] = grid[CELL + 1, cell] = 0
    ranks[0, cell] = ranks[1, cell] = 0
    grid[MARK, cell] = 1 + side
    base = 1
    for direction in range(DIRECTIONS):
        place = int(places[cell, DIRECTIONS + direction])
        before = lines[direction, places[cell, direction]]
        after = before + (1 + side << place + OWN)
        lines[direction, places[cell, direction]] = after
        for neighbour in range(NEIGHBOURS):
            there = place + 2 * (neighbour - REACH + (neighbour >= REACH))
            # One test leaves out marked cells, which have no codes, and what is beyond the border.
            if before >> there + OWN & BORDER == EMPTY:
                old = line_table[line_code(before, there)]
                new = line_table[line_code(after, there)]
                if new != old:
                    other = neighbours[cell, NEIGHBOURS * direction + neighbour]
                    x, o = grid[CELL, other], grid[CELL + 1, other]
                    undo[top] = packed(other, x, o)
                    top += 1
                    new_x = x + ((new & SHAPE_MASK) - (old & SHAPE_MASK)) * base
                    new_o = o + ((new >> SIDE_BITS) - (old >> SIDE_BITS)) * base
                    values_x += cell_table[new_x, VALUES] - cell_table[x, VALUES]
                    counts_x += cell_table[new_x, COUNTED] - cell_table[x, COUNTED]
                    values_o += cell_table[new_o, VALUES] - cell_table[o, VALUES]
                    counts_o += cell_table[new_o, COUNTED] - cell_table[o, COUNTED]
                    set_codes(board, other, new_x, new_o)
        base *= SHAPES
    totals[0, 0], totals[0, 1], totals[1, 0], totals[1, 1] = values_x, counts_x, values_o, counts_o
    undo[top] = bottom
    undo[0] = top + 1


def set_codes(board: Board, cell: int, x: int, o: int) -> None:
    """Set the cell codes of an empty cell, and the ranks that follow from them."""
    grid, _, _, _, _, cell_table, ranks, _, _, _ = board
    grid[CELL, cell] = x
    grid[CELL + 1, cell] = o
    ranks[0, cell] = cell_table[x, RANK]
    ranks[1, cell] = cell_table[o, RANK]


def packed(cell: int, x: int, o: int) -> int:
    """An entry of `undo`: a cell and its cell codes."""
    return int(cell) | int(x) << 8 | int(o) << 24


@outlined
def unmake(board: Board, cell: int, side: int) -> None:
    """Take back the mark that was made last."""
    grid, _, places, lines, _, _, _, _, totals, undo = board
    top = undo[0] - 1
    bottom = undo[top]
    undo[0] = bottom
    totals[0, 0], totals[0, 1] = undo[bottom], undo[bottom + 1]
    totals[1, 0], totals[1, 1] = undo[bottom + 2], undo[bottom + 3]
    for entry in range(bottom + 4, top):
        kept = undo[entry]
        set_codes(board, kept & 0xFF, kept >> 8 & 0xFFFF, kept >> 24)
    grid[MARK, cell] = EMPTY
    for direction in range(DIRECTIONS):
        place = int(places[cell, DIRECTIONS + direction])
        lines[direction, places[cell, direction]] -= 1 + side << place + OWN


def rank_of(board: Board, cell: int, side: int) -> int:
    """The rank of an empty cell for a side; 0 for a taken one."""
    return int(board[6][side, cell])


def count_of_rank(board: Board, side: int, rank: int) -> int:
    """How many empty cells have this rank for this side."""
    return int(board[8][side, 1] >> 8 * rank & 0xFF)


def moving_value(board: Board, side: int) -> int:
    """The sum of the values of all cells for a side that is to move."""
    return int(board[8][side, 0] + (1 << 31) >> 32)


def waiting_value(board: Board, side: int) -> int:
    """The sum of the values of all cells for a side that waits."""
    return int(board[8][side, 0] - (moving_value(board, side) << 32))


def cell_of_rank(board: Board, side: int, rank: int) -> int:
    """The first empty cell of at least this rank for this side, -1 if there is none."""
    return next_of_rank(board, side, rank, 0)


@outlined
def next_of_rank(board: Board, side: int, rank: int, start: int) -> int:
    """The first empty cell from `start` on of at least this rank (not QUIET) for this side, else -1."""
    words = board[7]
    shut = -1 << 8 * (start & 7)  # the bytes before `start` in its word
    for word in range(start >> 3, words.shape[1]):
        # A rank is below 128, so this sum has the highest bit of a byte where the rank is high enough.
        found = words[side, word] + (128 - rank) * LOWEST_BITS & HIGHEST_BITS & shut
        if found:
            return 8 * word + lowest_byte(found)
        shut = -1
    return -1


@outlined
def next_of_either(board: Board, rank: int, start: int) -> int:
    """The first empty cell from `start` on of at least this rank (not QUIET) for either side, else -1."""
    words = board[7]
    shut = -1 << 8 * (start & 7)
    more = (128 - rank) * LOWEST_BITS
    for word in range(start >> 3, words.shape[1]):
        found = (words[0, word] + more | words[1, word] + more) & HIGHEST_BITS & shut
        if found:
            return 8 * word + lowest_byte(found)
        shut = -1
    return -1


def lowest_byte(word: int) -> int:
    """The number of the lowest byte that is not 0; there must be one."""
    byte = 0
    while not word & 0xFF:
        word >>= 8
        byte += 1
    return byte


def open_four(board: Board, side: int) -> int:
    """The cell on which a mark of `side`, to move, wins in three plies by two threats of five, or -1.

    The other side must be left without a five, or it would answer with that.
    """
    fives = count_of_rank(board, 1 - side, WINS_NOW)
    if count_of_rank(board, side, WINS_NEXT) == 0 or fives > 1:
        return -1
    if fives == 0:
        return cell_of_rank(board, side, WINS_NEXT)
    # The move that stops the one threatened five may be an open four itself.
    cell = cell_of_rank(board, 1 - side, WINS_NOW)
    return cell if rank_of(board, cell, side) == WINS_NEXT else -1
