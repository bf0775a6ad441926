"""Perft: every move of the tree is made and nothing else is done.

The speed of bare moves, to which the nodes per second of a search are compared, and a count to check the
rules by.
"""

from __future__ import annotations

from arena_protocol.games.insertion.rules import MOVES, distinct_moves, play


def perft(p0: int, p1: int, p2: int, pictures: int, depth: int) -> tuple[int, int]:
    """Return the moves made to `depth` >= 1, and the sum of the cells that they removed.

    `pictures`: colours, 3 bits a ply, the first lowest. The sum keeps the compiler from leaving out the work
    of the last ply.
    """
    moves = distinct_moves(p0, p1, p2)
    nodes = 0
    cells = 0
    for move in range(1, MOVES + 1):
        if moves >> move & 1:
            q0, q1, q2, removed, _, _ = play(p0, p1, p2, move, pictures & 7)
            nodes += 1
            cells += removed
            if depth > 1:
                below, more = perft(q0, q1, q2, pictures >> 3, depth - 1)
                nodes += below
                cells += more
    return nodes, cells
