"""Eval5 of 16 March 2006: three tiers at last, classic alpha-beta, and a fault "still not found".

The author saw that with and without cut-offs it did not play the same moves: it cut more than is allowed.
Three days later he had the reason, a position's worth depends on the moves that led to it. The classic
bounds are passed down here as they are, although the child's value counts only from the child on and the
gain of the move between is missing in the comparison. champion.py has the cure. The comparison for a
cut-off is the strict one, as he had it in Eval4XX until the same day: that comes nearest to the "six
times faster" which he measured.
"""

from __future__ import annotations

from typing import ClassVar

from arena_engines.engine import Parameter
from arena_engines.insertion.eval import FELL, INFINITY
from arena_engines.insertion.fixed_depth import FORCED, THEIRS, FixedDepth, Found, Task, depth_parameter
from arena_engines.insertion.strategy import FIXED_STRATEGY, Strategy
from arena_engines.insertion.zombies import ZOMBIE, ZOMBIE_MOVE
from arena_protocol.games.insertion.rules import MOVES, distinct_moves, play


def eval_5(
    p0: int,
    p1: int,
    p2: int,
    pictures: int,
    roles: int,
    depth: int,
    alpha: int,
    beta: int,
    my_cell: int,
    their_cell: int,
) -> tuple[int, int, int]:
    """Return (value, best move, nodes), with bounds that leave out the path: often wrong."""
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
                rest, _, below = eval_5(
                    q0, q1, q2, pictures >> 3, roles >> 2, depth - 1, alpha, beta, my_cell, their_cell
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
                if alpha > beta:
                    break
    return best, best_move, nodes


class ThreeTier(FixedDepth):
    """Alpha-beta over the three-tier EVAL that forgets the path."""

    name: ClassVar[str] = "threetier"
    parameters: ClassVar[tuple[Parameter, ...]] = (depth_parameter(5), FIXED_STRATEGY, ZOMBIE)
    kernel = staticmethod(eval_5)

    def run(self, task: Task, strategy: Strategy) -> Found:
        """Search with the classic bounds."""
        window = (-INFINITY, INFINITY)
        value, move, nodes = self.compiled_kernel(
            *task.planes, task.pictures, task.roles, task.depth, *window, *strategy.cells
        )
        return Found(move, strategy.eval_of(value), nodes)
