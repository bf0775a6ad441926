"""Search beyond the visible pictures: expected values over the wildcards (seed 001, section 4).

The seed limits the depth to the visible pictures and names the other way, which it did not take: expected
values in the zone of unknown pictures. Here a ply whose picture is unknown is a chance node: the mean over
all colours, each equally likely, of the best move with that colour.
"""

from __future__ import annotations

from arena_engines.insertion.evaluation import FELL, FORCED, INFINITY, THEIRS, ZOMBIE_MOVE
from arena_protocol.games.insertion.rules import MOVES, distinct_moves, play


def expected(
    p0: int,
    p1: int,
    p2: int,
    pictures: int,
    roles: int,
    known: int,
    depth: int,
    colours: int,
    alpha: int,
    beta: int,
    my_cell: int,
    their_cell: int,
) -> tuple[int, int, int]:
    """Return (value, best move, nodes) of `depth` >= 1 plies, of which the first `known` have a picture.

    Arguments as in champion.search; the value is a mean of packed values, rounded down, so its tiers are
    not separate. Over known pictures the window is shifted and cuts; below a chance node it is open, and the
    value of a chance node is exact. A chance node returns move 0.
    """
    if known == 0:
        # No constants as arguments: see jit.compiled.
        one, low, high = known + 1, known - INFINITY, known + INFINITY
        total = 0
        nodes = 0
        for colour in range(1, colours + 1):
            value, _, below = expected(
                p0, p1, p2, colour, roles, one, depth, colours, low, high, my_cell, their_cell
            )
            total += value
            nodes += below
        return total // colours, 0, nodes
    theirs = roles & THEIRS
    moves = 1 << ZOMBIE_MOVE if roles & FORCED else distinct_moves(p0, p1, p2)
    cell = their_cell if theirs else my_cell
    best = INFINITY if theirs else -INFINITY
    best_move = 0
    nodes = 0
    for move in range(1, MOVES + 1):
        if moves >> move & 1:
            q0, q1, q2, removed, fell, _ = play(p0, p1, p2, move, pictures & 7)
            value = removed * cell + fell * FELL
            nodes += 1
            if depth > 1:
                rest, _, below = expected(
                    q0,
                    q1,
                    q2,
                    pictures >> 3,
                    roles >> 2,
                    known - 1,
                    depth - 1,
                    colours,
                    alpha - value,
                    beta - value,
                    my_cell,
                    their_cell,
                )
                value += rest
                nodes += below
            if (value < best) if theirs else (value > best):
                best = value
                best_move = move
                if theirs:
                    beta = min(beta, value)
                else:
                    alpha = max(alpha, value)
                if alpha >= beta:
                    break
    return best, best_move, nodes
