"""Plain minimax: every line of play to the depth, nothing cut. The seed's first engine.

It is slow and cannot be wrong in a subtle way, so it is what the faster engines are measured
against, move for move. Moves that do the same are made once (rules.distinct_moves).
"""

from __future__ import annotations

from typing import ClassVar

from arena_engines.engine import Parameter
from arena_engines.insertion.eval import FELL, INFINITY
from arena_engines.insertion.fixed_depth import FORCED, THEIRS, FixedDepth, Found, Task, depth_parameter
from arena_engines.insertion.strategy import FIXED_STRATEGY, Strategy
from arena_engines.insertion.zombies import ZOMBIE_MOVE
from arena_protocol.games.insertion.rules import MOVES, distinct_moves, play


def search(
    p0: int, p1: int, p2: int, pictures: int, roles: int, depth: int, my_cell: int, their_cell: int
) -> tuple[int, int, int]:
    """Return (value, best move, nodes) of `depth` >= 1 plies from here.

    `pictures` holds the colours to come, three bits a ply, `roles` two bits a ply; the lowest bits
    are of the ply to be played now. Of moves that are equally good the first in natural order counts.
    """
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
                rest, _, below = search(q0, q1, q2, pictures >> 3, roles >> 2, depth - 1, my_cell, their_cell)
                value += rest
                nodes += below
            if (value < best) if theirs else (value > best):
                best = value
                best_move = move
    return best, best_move, nodes


class Minimax(FixedDepth):
    """All lines of play to a fixed depth."""

    name: ClassVar[str] = "minimax"
    parameters: ClassVar[tuple[Parameter, ...]] = (depth_parameter(4), FIXED_STRATEGY)
    kernel = staticmethod(search)

    def run(self, task: Task, strategy: Strategy) -> Found:
        """Search the whole tree."""
        value, move, nodes = self.compiled_kernel(
            *task.planes, task.pictures, task.roles, task.depth, *strategy.cells
        )
        return Found(move, strategy.eval_of(value), nodes)
