"""The board of the modern player: every cell's shapes for both sides, changed by each mark and back.

`board` is one int32 array of ROWS x cells, so that a kernel takes it whole:

    row MARK        EMPTY, X or O
    row CODE + d    the neighbourhood of each empty cell in direction d
    row CELL + s    the four shapes of each empty cell for side s, as a number to the base 9; 0 where taken
    row SUMS        [s] and [2 + s]: what all cells are worth to side s if it is to move, and if not;
                    [COUNTS + 7s + r]: how many cells have rank r for it

`reach` (int16, cells x 32) lists, direction by direction, the eight neighbours of a cell from the fourth
before to the fourth after, -1 beyond the border. A world is (board, reach, lines, cells), the last two the
tables of patterns.py. The functions compile. They must not know: searches.
"""

from __future__ import annotations

from arena_engines.jit import outlined
from arena_engines.xo.modern.patterns import (
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
    Array,
)

#: (board, reach, lines, cells)
World = tuple[Array, Array, Array, Array]

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


def fill_reach(reach: Array, size: int) -> None:
    """Write the neighbours of every cell into `reach`; cells are numbered in scan order, a1, b1, ..."""
    for cell in range(size * size):
        for direction in range(DIRECTIONS):
            for place in range(NEIGHBOURS):
                offset = place - REACH + (place >= REACH)
                column = cell % size + ACROSS[direction] * offset
                row = cell // size + UP[direction] * offset
                inside = 0 <= column < size and 0 <= row < size
                reach[cell, NEIGHBOURS * direction + place] = size * row + column if inside else -1


def clear(world: World) -> None:
    """Make the board empty."""
    board, reach, _, _ = world
    board[:, :] = 0
    for cell in range(reach.shape[0]):
        for direction in range(DIRECTIONS):
            for place in range(NEIGHBOURS):
                if reach[cell, NEIGHBOURS * direction + place] < 0:
                    board[CODE + direction, cell] |= BORDER << 2 * place
        count_in(world, cell)


def count_in(world: World, cell: int) -> None:
    """Work out the shapes of an empty cell for both sides and add it to the sums."""
    board, _, lines, cells = world
    for side in range(2):
        packed = 0
        base = 1
        for direction in range(DIRECTIONS):
            packed += (lines[board[CODE + direction, cell]] >> SIDE_BITS * side & SHAPE_MASK) * base
            base *= SHAPES
        board[CELL + side, cell] = packed
        add(board, cells, packed, side, 1)


def count_out(world: World, cell: int) -> None:
    """Take a cell out of the sums of both sides."""
    board, _, _, cells = world
    for side in range(2):
        add(board, cells, int(board[CELL + side, cell]), side, -1)
        board[CELL + side, cell] = 0


def add(board: Array, cells: Array, packed: int, side: int, sign: int) -> None:
    """Add a cell of these shapes to the sums of a side, or take it out."""
    board[SUMS, side] += sign * cells[packed, MOVING]
    board[SUMS, 2 + side] += sign * cells[packed, WAITING]
    board[SUMS, COUNTS + RANKS * side + cells[packed, RANK]] += sign


@outlined
def make(world: World, cell: int, side: int) -> None:
    """Put a mark of `side` on an empty cell."""
    count_out(world, cell)
    world[0][MARK, cell] = 1 + side
    touch(world, cell, 1 + side)


@outlined
def unmake(world: World, cell: int, side: int) -> None:
    """Take the mark of `side` back; the last mark made goes first, for taken cells are left alone."""
    touch(world, cell, -1 - side)
    world[0][MARK, cell] = EMPTY
    count_in(world, cell)


def touch(world: World, cell: int, change: int) -> None:
    """Bring the empty cells around a changed one up to date; `change` is its new mark less the old one."""
    board, reach, lines, _ = world
    base = 1
    for direction in range(DIRECTIONS):
        for place in range(NEIGHBOURS):
            other = int(reach[cell, NEIGHBOURS * direction + place])
            if other >= 0 and board[MARK, other] == EMPTY:
                code = board[CODE + direction, other]
                before = lines[code]
                # Seen from that neighbour the changed cell stands at the mirrored place.
                code += change * (1 << 2 * (NEIGHBOURS - 1 - place))
                board[CODE + direction, other] = code
                after = lines[code]
                if after != before:
                    reshape(world, other, 0, ((after & SHAPE_MASK) - (before & SHAPE_MASK)) * base)
                    reshape(world, other, 1, ((after >> SIDE_BITS) - (before >> SIDE_BITS)) * base)
        base *= SHAPES


def reshape(world: World, cell: int, side: int, change: int) -> None:
    """Change the shapes of a cell for one side, and the sums with them."""
    if change != 0:
        board, _, _, cells = world
        packed = board[CELL + side, cell]
        add(board, cells, packed, side, -1)
        board[CELL + side, cell] = packed + change
        add(board, cells, packed + change, side, 1)


def rank_of(world: World, cell: int, side: int) -> int:
    """What a mark of `side` on this empty cell threatens."""
    return int(world[3][world[0][CELL + side, cell], RANK])


def how_many(world: World, side: int, rank: int) -> int:
    """How many empty cells have this rank for this side."""
    return int(world[0][SUMS, COUNTS + RANKS * side + rank])


@outlined
def cell_of_rank(world: World, side: int, rank: int) -> int:
    """The first empty cell of at least this rank for this side, -1 if there is none."""
    board, _, _, cells = world
    for cell in range(board.shape[1]):
        if board[MARK, cell] == EMPTY and cells[board[CELL + side, cell], RANK] >= rank:
            return cell
    return -1
