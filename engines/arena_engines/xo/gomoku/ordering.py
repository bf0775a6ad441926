"""The moves of a node of alpha-beta: which are tried, and the best first.

The functions are compiled by numba; the arrays are described in board.py and memory.py.
"""

from __future__ import annotations

from arena_engines.xo.gomoku.board import CELL, MARK, Board, cell_of_rank, count_of_rank, rank_of
from arena_engines.xo.gomoku.patterns import EMPTY, ORDER, SINGLE_FOUR, WINS_NEXT, WINS_NOW, Array

#: Moves tried at most where nothing is forced, except at the root.
WIDTH = 20
#: Moves tried at the horizon, and how many more for each ply above it.
NARROWEST = 5
WIDER = 3
#: Weights of a cell's ordering scores for the mover and for the other side.
MINE, THEIRS = 4, 3
#: History: the gain of a best move at depth 1, and the highest entry. An open three scores 168: with 400 most
#: cells that were ever best stood above it, which won 44 % of 800 games against 150.
HISTORY_GAIN = 1
MAX_HISTORY = 150
#: Above any ordering score: the move of the transposition table comes first.
FIRST = 1 << 24


def list_moves(
    board: Board, moves: Array, history: Array, side: int, ply: int, limit: int, known: int
) -> tuple[int, bool]:
    """Write the moves to try into row `ply`, the best first; return how many, and whether some were left out.

    Against a threat of five only its cell; against a threatened open four the cells of its fives and the own
    fours; else the `limit` best by ordering score and history. `known` is the move of the transposition
    table, or -1.
    """
    grid, _, _, _, _, cell_table, _, _, _, _ = board
    other = 1 - side
    if count_of_rank(board, other, WINS_NOW):
        moves[ply, 0] = cell_of_rank(board, other, WINS_NOW)
        return 1, False
    defending = count_of_rank(board, other, WINS_NEXT) > 0
    if defending:
        limit = grid.shape[1]
    count = 0
    empty = 0
    for cell in range(grid.shape[1]):
        if grid[MARK, cell] != EMPTY:
            continue
        empty += 1
        mine = grid[CELL + side, cell]
        theirs = grid[CELL + other, cell]
        if defending and max(rank_of(board, cell, side), rank_of(board, cell, other)) < SINGLE_FOUR:
            continue
        score = MINE * cell_table[mine, ORDER] + THEIRS * cell_table[theirs, ORDER] + history[side, cell]
        if cell == known:
            score += FIRST
        count = insert_move(moves, ply, count, limit, cell, score)
    return count, empty > limit


def width(depth: int) -> int:
    """How many moves are tried where nothing is forced, except at the root."""
    return min(WIDTH, NARROWEST + WIDER * max(depth, 0))


def insert_move(moves: Array, ply: int, count: int, limit: int, cell: int, score: int) -> int:
    """Insert a move into the sorted row `ply`, dropping the last beyond `limit`; return the new count."""
    scores = moves.shape[0] - 1 - ply
    place = count
    if count == limit:
        place = count - 1
        if score <= moves[scores, place]:
            return count
    while place > 0 and moves[scores, place - 1] < score:
        moves[ply, place] = moves[ply, place - 1]
        moves[scores, place] = moves[scores, place - 1]
        place -= 1
    moves[ply, place] = cell
    moves[scores, place] = score
    return count + (count < limit)


def update_history(history: Array, side: int, cell: int, depth: int) -> None:
    """Raise the history of a best move; the nearer it is to MAX_HISTORY, the less."""
    gain = min(HISTORY_GAIN * depth * depth, MAX_HISTORY // 2)
    history[side, cell] += gain - history[side, cell] * gain // MAX_HISTORY
