"""The corrected four-tier form, Eval4XX of 12 to 16 March 2006, with none, a quarter or half of the cut-offs.

The first minimax of the author's that was right: the reply is the one that is worst for me by all four
tiers. It kept the two EVALs and the double loop of the entry, and got two lines of pruning: once the worst
reply found so far is no better than what another move of mine already guarantees, the other replies cannot
matter. No alpha and beta are passed down, so only cut-offs at the opponent's nodes, and of those only
against the moves of the same loop, are found.

`cut=quarter`: the comparison was `<` where `<=` was meant, so equals were searched to the end.
`cut=half`: as mended on 16 March, "four times faster than without". All three play the same moves.
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

NONE, QUARTER, HALF = range(3)
CUT = Parameter("cut", "half", words=("none", "quarter", "half"))


def eval_4xx(
    p0: int, p1: int, p2: int, pictures: int, roles: int, depth: int, cut: int
) -> tuple[int, int, int, int]:
    """Return (MyEVAL, OpponentEVAL, move, nodes). OpponentEVAL's second tier is turned round (`fewer`).

    So of two OpponentEVALs the smaller is always the better for me, and the reply takes the greatest.
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
                first = mine
                mine = INFINITY
                theirs = -INFINITY
                replies = 1 << ZOMBIE_MOVE if roles >> 2 & FORCED else distinct_moves(q0, q1, q2)
                for reply in range(1, MOVES + 1):
                    if replies >> reply & 1:
                        r0, r1, r2, removed, fell, _ = play(q0, q1, q2, reply, pictures >> 3 & 7)
                        nodes += 1
                        one = first
                        other = fewer(gain(removed, fell))
                        if depth > 2:
                            more, their_more, _, below = eval_4xx(
                                r0, r1, r2, pictures >> 6, roles >> 4, depth - 2, cut
                            )
                            one += more
                            other += their_more
                            nodes += below
                        if one < mine or (one == mine and other > theirs):
                            mine = one
                            theirs = other
                            if cut and _no_better(mine, theirs, best_mine, best_theirs, cut):
                                break
            if mine > best_mine or (mine == best_mine and theirs < best_theirs):
                best_mine = mine
                best_theirs = theirs
                best_move = move
    return best_mine, best_theirs, best_move, nodes


def _no_better(mine: int, theirs: int, best_mine: int, best_theirs: int, cut: int) -> int:
    """Return whether a reply this bad settles the move: worse than the best, or with HALF as good."""
    if mine != best_mine:
        return mine < best_mine
    return theirs >= best_theirs if cut == HALF else theirs > best_theirs


class FourTier(FixedDepth):
    """The corrected form; it knows two seats only and takes every second ply for its own."""

    name: ClassVar[str] = "fourtier"
    parameters: ClassVar[tuple[Parameter, ...]] = (depth_parameter(5), ZOMBIE, CUT)
    kernel = staticmethod(eval_4xx)

    def run(self, task: Task, strategy: Strategy) -> Found:
        """Search all pairs of moves but those that cannot matter."""
        cut = CUT.words.index(str(self.values["cut"]))
        mine, theirs, move, nodes = self.compiled_kernel(
            *task.planes, task.pictures, task.roles, task.depth, cut
        )
        return Found(move, eval_of(mine, fewer(theirs)), nodes)
