"""The contest entry of 2006, which won the first place: Eval3XX of Insert.h, faults included.

Two EVALs, four tiers, and a double loop: the author held that in cooperative play the best for me is not
the worst for the other, so one call runs over all pairs of my move and the reply before it recurses by
two plies. Nothing is cut; duplicate rim moves are skipped.

The source is lost; the commentary tells of two faults, and both are here, each with its switch:

`fourth=wrong` (as sent): the fourth tier prefers more cells deleted by the opponent, because `a > b`
with exchanged arguments stood for `a < b`. In the author's 3,000 moves it never mattered.

`recursion=old` (as sent): Eval3XX recursed not into itself but into EvalX, an older form, "and it truly
contains errors". Calling itself (`recursion=own`) it scored markedly less: its own fault was finer and did
more harm. What the faults were he does not say; of some dozen readings tried, this one agrees with all
that he tells, in direction if not in size. In Eval3XX the opponent takes what is best for its own EVAL
(the view that the game is "not zero-sum"), and one sign is wrong: of equal replies, and most are, it takes
the one that leaves me most, so that deep lines count on its help. EvalX mixes the replies: my least EVAL
and the opponent's greatest, even if from different ones ("minimum of the maximum of the opponent's
points"); that is an error too, but a cautious one. benchmarks/seed_claims.md has the points.
"""

from __future__ import annotations

from typing import ClassVar

from arena_engines.engine import Parameter
from arena_engines.insertion.eval import INFINITY
from arena_engines.insertion.fixed_depth import FORCED, FixedDepth, Found, Task, depth_parameter
from arena_engines.insertion.strategy import Strategy
from arena_engines.insertion.twoevals import eval_of, fewer, gain
from arena_engines.insertion.zombies import ZOMBIE, ZOMBIE_MOVE
from arena_protocol.games.insertion.rules import MOVES, distinct_moves, play

RECURSION = Parameter("recursion", "old", words=("old", "own"))
FOURTH = Parameter("fourth", "wrong", words=("wrong", "right"))


#: Whose reply rule a call follows.
EVAL_X, EVAL_3XX = range(2)


def eval_pairs(
    p0: int, p1: int, p2: int, pictures: int, roles: int, depth: int, rule: int, deeper: int, right: int
) -> tuple[int, int, int, int]:
    """Return (MyEVAL, OpponentEVAL, move, nodes) by all pairs of my move and the reply.

    `rule` is the reply's here and `deeper` in the recursion; `right` mends the fourth tier.
    """
    best_mine = -INFINITY
    best_theirs = INFINITY
    best_move = 0
    nodes = 0
    moves = distinct_moves(p0, p1, p2)
    for move in range(1, MOVES + 1):
        if moves >> move & 1:
            q0, q1, q2, removed, fell, _ = play(p0, p1, p2, move, pictures & 7)
            nodes += 1
            mine = gain(removed, fell)
            theirs = 0
            if depth > 1:
                reply_mine = INFINITY
                reply_theirs = -INFINITY
                replies = 1 << ZOMBIE_MOVE if roles >> 2 & FORCED else distinct_moves(q0, q1, q2)
                for reply in range(1, MOVES + 1):
                    if replies >> reply & 1:
                        r0, r1, r2, removed, fell, _ = play(q0, q1, q2, reply, pictures >> 3 & 7)
                        nodes += 1
                        one = 0
                        other = gain(removed, fell)
                        if depth > 2:
                            more, their_more, _, below = eval_pairs(
                                r0, r1, r2, pictures >> 6, roles >> 4, depth - 2, deeper, deeper, right
                            )
                            one += more
                            other += their_more
                            nodes += below
                        if rule == EVAL_X:
                            reply_mine = min(reply_mine, one)
                            reply_theirs = max(reply_theirs, other)
                        elif other > reply_theirs or (other == reply_theirs and one > reply_mine):
                            reply_mine = one
                            reply_theirs = other
                mine += reply_mine
                theirs = reply_theirs
            if mine > best_mine or (mine == best_mine and _smaller(theirs, best_theirs, right)):
                best_mine = mine
                best_theirs = theirs
                best_move = move
    return best_mine, best_theirs, best_move, nodes


def _smaller(one: int, other: int, right: int) -> int:
    """Return whether one OpponentEVAL is smaller, by the right or by the wrong fourth tier."""
    return (fewer(one) < fewer(other)) if right else (one < other)


class Entry2006(FixedDepth):
    """The entry as it was sent; it knows two seats only and takes every second ply for its own."""

    name: ClassVar[str] = "entry2006"
    parameters: ClassVar[tuple[Parameter, ...]] = (depth_parameter(5), ZOMBIE, RECURSION, FOURTH)
    kernel = staticmethod(eval_pairs)

    def run(self, task: Task, strategy: Strategy) -> Found:
        """Search all pairs of moves."""
        deeper = EVAL_3XX if self.values["recursion"] == "own" else EVAL_X
        right = int(self.values["fourth"] == "right")
        mine, theirs, move, nodes = self.compiled_kernel(
            *task.planes, task.pictures, task.roles, task.depth, EVAL_3XX, deeper, right
        )
        return Found(move, eval_of(mine, theirs), nodes)
