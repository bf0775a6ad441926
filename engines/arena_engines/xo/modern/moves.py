"""The moves that a search tries, the best first: forced ones only, else those of the most interest.

The functions compile. They must not know: the search, the table.
"""

from __future__ import annotations

from arena_engines.xo.modern.board import CELL, MARK, World, cell_of_rank, how_many
from arena_engines.xo.modern.patterns import EMPTY, INTEREST, RANK, SINGLE_FOUR, WINS_NEXT, WINS_NOW, Array

#: Moves tried at most, where nothing is forced; at the root twice as many.
WIDTH = 20
#: So many at the horizon, and so many more a ply above it.
NARROWEST = 5
WIDER = 3
#: A cell counts so much by what it is to the mover, and so much by what it is to the other side.
MINE, THEIRS = 4, 3
#: What a best move adds to its history at depth 1, and the most that a history can be.
PRAISE = 4
MOST_PRAISE = 400
#: More than any interest: the move of the table comes first.
FIRST = 1 << 24


def list_moves(
    world: World, moves: Array, history: Array, side: int, ply: int, depth: int, known: int
) -> int:
    """Write the moves to try into row `ply`, the best first; return how many.

    Against a threat of five only its cell; against one of an open four the cells of its fives and the
    own fours; else those of the highest interest to both sides together, more of them the deeper the search.
    """
    board, _, _, cells = world
    other = 1 - side
    if how_many(world, other, WINS_NOW):
        moves[ply, 0] = cell_of_rank(world, other, WINS_NOW)
        return 1
    defending = how_many(world, other, WINS_NEXT) > 0
    limit = board.shape[1] if defending else width(ply, depth)
    count = 0
    for cell in range(board.shape[1]):
        if board[MARK, cell] != EMPTY:
            continue
        mine = board[CELL + side, cell]
        theirs = board[CELL + other, cell]
        if defending and cells[mine, RANK] < SINGLE_FOUR and cells[theirs, RANK] < SINGLE_FOUR:
            continue
        value = MINE * cells[mine, INTEREST] + THEIRS * cells[theirs, INTEREST] + history[side, cell]
        if cell == known:
            value += FIRST
        count = insert_move(moves, ply, count, limit, cell, value)
    return count


def praise(history: Array, side: int, cell: int, depth: int) -> None:
    """Let a move that was best count for more at other places; the more it is praised, the less that adds."""
    gain = min(PRAISE * depth * depth, MOST_PRAISE // 2)
    history[side, cell] += gain - history[side, cell] * gain // MOST_PRAISE


def width(ply: int, depth: int) -> int:
    """How many moves are tried where nothing is forced."""
    return 2 * WIDTH if ply == 0 else min(WIDTH, NARROWEST + WIDER * max(depth, 0))


def insert_move(moves: Array, ply: int, count: int, limit: int, cell: int, value: int) -> int:
    """Put a move where its value belongs among the first `count`; of more than `limit` the last goes."""
    values = moves.shape[0] - 1 - ply  # the row that keeps the values of the moves of row `ply`
    place = count
    if count == limit:
        place = count - 1
        if value <= moves[values, place]:
            return count
    while place > 0 and moves[values, place - 1] < value:
        moves[ply, place] = moves[ply, place - 1]
        moves[values, place] = moves[values, place - 1]
        place -= 1
    moves[ply, place] = cell
    moves[values, place] = value
    return count + (count < limit)
