"""The board of `xo`: the patterns of every empty cell for both sides, updated by each mark made or unmade.

A `Board` is the tuple (grid, neighbours, line_table, cell_table); the last two are those of patterns.py.

    grid         int32, ROWS x cells
        row MARK        EMPTY, X or O
        row CODE + d    the line code of each empty cell in direction d
        row CELL + s    the cell code of each empty cell for side s; 0 where taken
        row SUMS        [s], [2 + s]: the sum of the values of all cells for side s, if it is to move and if
        not;
                        [COUNTS + 7s + r]: the number of cells of rank r for side s
    neighbours   int16, cells x 32: direction by direction the eight neighbours of a cell, from the fourth
    before
                 to the fourth after; -1 beyond the border

The functions are compiled by numba.
"""

from __future__ import annotations

from arena_engines.jit import outlined
from arena_engines.xo.gomoku.patterns import (
    BORDER,
    EMPTY,
    MOVING,
    NEIGHBOURS,
    RANK,
    RANKS,
    REACH,
    SHAPE_MASK,
    SHAPES,
    SIDE_BITS,
    WAITING,
    WINS_NEXT,
    WINS_NOW,
    Array,
)

#: (grid, neighbours, line_table, cell_table)
Board = tuple[Array, Array, Array, Array]

DIRECTIONS = 4
#: The steps of a direction, in columns and in rows.
ACROSS = (1, 0, 1, 1)
UP = (0, 1, 1, -1)

MARK = 0
CODE = 1
CELL = CODE + DIRECTIONS
SUMS = CELL + 2
ROWS = SUMS + 1
#: Where the counts of ranks begin in row SUMS.
COUNTS = 4


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


def clear(board: Board) -> None:
    """Empty the board."""
    grid, neighbours, _, _ = board
    grid[:, :] = 0
    for cell in range(neighbours.shape[0]):
        for direction in range(DIRECTIONS):
            for place in range(NEIGHBOURS):
                if neighbours[cell, NEIGHBOURS * direction + place] < 0:
                    grid[CODE + direction, cell] |= BORDER << 2 * place
        add_cell(board, cell)


def add_cell(board: Board, cell: int) -> None:
    """Compute the cell codes of an empty cell and add it to the sums of both sides."""
    grid, _, line_table, cell_table = board
    for side in range(2):
        code = 0
        base = 1
        for direction in range(DIRECTIONS):
            code += (line_table[grid[CODE + direction, cell]] >> SIDE_BITS * side & SHAPE_MASK) * base
            base *= SHAPES
        grid[CELL + side, cell] = code
        add_to_sums(grid, cell_table, code, side, 1)


def remove_cell(board: Board, cell: int) -> None:
    """Take a cell out of the sums of both sides."""
    grid, _, _, cell_table = board
    for side in range(2):
        add_to_sums(grid, cell_table, int(grid[CELL + side, cell]), side, -1)
        grid[CELL + side, cell] = 0


def add_to_sums(grid: Array, cell_table: Array, code: int, side: int, sign: int) -> None:
    """Add a cell code to the sums of a side (sign 1), or take it out (sign -1)."""
    grid[SUMS, side] += sign * cell_table[code, MOVING]
    grid[SUMS, 2 + side] += sign * cell_table[code, WAITING]
    grid[SUMS, COUNTS + RANKS * side + cell_table[code, RANK]] += sign


@outlined
def make(board: Board, cell: int, side: int) -> None:
    """Put a mark of `side` on an empty cell."""
    remove_cell(board, cell)
    board[0][MARK, cell] = 1 + side
    update_neighbours(board, cell, 1 + side)


@outlined
def unmake(board: Board, cell: int, side: int) -> None:
    """Take back the mark that was made last: the codes of taken cells are not updated meanwhile."""
    update_neighbours(board, cell, -1 - side)
    board[0][MARK, cell] = EMPTY
    add_cell(board, cell)


def update_neighbours(board: Board, cell: int, change: int) -> None:
    """Update the codes of the empty cells around a cell; `change` is its new mark less the old one."""
    grid, neighbours, line_table, _ = board
    base = 1
    for direction in range(DIRECTIONS):
        for place in range(NEIGHBOURS):
            other = int(neighbours[cell, NEIGHBOURS * direction + place])
            if other >= 0 and grid[MARK, other] == EMPTY:
                code = grid[CODE + direction, other]
                before = line_table[code]
                # Seen from that neighbour the changed cell stands at the mirrored place.
                code += change * (1 << 2 * (NEIGHBOURS - 1 - place))
                grid[CODE + direction, other] = code
                after = line_table[code]
                if after != before:
                    change_code(board, other, 0, ((after & SHAPE_MASK) - (before & SHAPE_MASK)) * base)
                    change_code(board, other, 1, ((after >> SIDE_BITS) - (before >> SIDE_BITS)) * base)
        base *= SHAPES


def change_code(board: Board, cell: int, side: int, change: int) -> None:
    """Add `change` to the cell code of an empty cell for one side, and update the sums."""
    if change != 0:
        grid, _, _, cell_table = board
        code = grid[CELL + side, cell]
        add_to_sums(grid, cell_table, code, side, -1)
        grid[CELL + side, cell] = code + change
        add_to_sums(grid, cell_table, code + change, side, 1)


def rank_of(board: Board, cell: int, side: int) -> int:
    """The rank of an empty cell for a side."""
    return int(board[3][board[0][CELL + side, cell], RANK])


def count_of_rank(board: Board, side: int, rank: int) -> int:
    """How many empty cells have this rank for this side."""
    return int(board[0][SUMS, COUNTS + RANKS * side + rank])


@outlined
def cell_of_rank(board: Board, side: int, rank: int) -> int:
    """The first empty cell of at least this rank for this side, -1 if there is none."""
    grid, _, _, cell_table = board
    for cell in range(grid.shape[1]):
        if grid[MARK, cell] == EMPTY and cell_table[grid[CELL + side, cell], RANK] >= rank:
            return cell
    return -1


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
