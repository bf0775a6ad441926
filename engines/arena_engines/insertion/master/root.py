"""Find the move: deepening at the root, the first of equal moves, and what an opponent would reply.

The children of a root stand in a level of their own and are searched best first; whenever a deeper
search is stopped, the best move so far stands in the registers, never worse than the depth before.
It must not know: clocks, text, models of opponents (a view of the plans is one).
"""

from __future__ import annotations

from arena_engines.insertion.master.children import (
    LANES,
    OFFSETS,
    SET,
    Memory,
    expand,
    look,
    sort_keys,
    top_key,
)
from arena_engines.insertion.master.layout import (
    BEST,
    COLOUR,
    FLIP,
    FORCED,
    GAIN,
    KEY,
    LEVEL,
    LEVELS,
    NODES,
    NONE,
    ONLY_ROOT,
    P0,
    P1,
    P2,
    REACHED,
    RECORD,
    ROOT_LEVEL,
    SIGHT,
    STOP,
    VALUE,
    WIDE,
)
from arena_engines.insertion.master.tree import search
from arena_engines.jit import outlined
from arena_protocol.games.insertion.rules import count

#: What is wanted of a decision.
ANY, FIRST, LAST = 0, 1, 2


@outlined
def decide(
    p0: int, p1: int, p2: int, plan: int, low: int, depth: int, step: int, want: int, mem: Memory
) -> int:
    """Search to `low`, `low + step` ... `depth` until stopped; return the best move.

    Want FIRST or LAST, and it is, of all moves of the best value, that one in natural order.
    """
    flip = mem[plan + FLIP]
    wide = mem[WIDE]
    base = LEVELS + ROOT_LEVEL * LEVEL
    seen = look(p0, p1, p2, mem[plan + COLOUR], mem[plan + FORCED])
    lanes = (seen & SET) >> 1
    if lanes & mem[ONLY_ROOT]:
        lanes &= mem[ONLY_ROOT]
    # 1. All children, in the order of what is seen of them.
    expand(p0, p1, p2, seen, base, plan, mem)
    sort_keys(lanes, base, plan, mem)
    mem[NODES] += count(lanes)
    mem[BEST] = (top_key(base, mem) & 15) + 1
    mem[REACHED] = 0
    # 2. Each depth in the order of the last one's keys; the best lane's key becomes the greatest.
    reach = low
    while reach <= depth and not mem[STOP]:
        best = -wide
        best_lane = LANES
        below = wide << 20
        while True:
            below = key_below(below, base, mem)
            if below == NONE:
                break
            lane = below & 15
            gain = mem[base + GAIN + lane]
            value = gain
            # A lane on the wanted side of the best is asked whether it is worth as much, others whether more.
            equal = 1 if (want == FIRST and lane < best_lane) or (want == LAST and lane > best_lane) else 0
            if reach > 1:
                narrow = best != -wide
                alpha = best - equal if narrow else best
                beta = alpha + 1 if narrow else wide
                while True:
                    value = gain + flip * search(
                        mem[base + P0 + lane],
                        mem[base + P1 + lane],
                        mem[base + P2 + lane],
                        mem[base + SIGHT + lane],
                        lane,
                        plan + RECORD,
                        reach - 1,
                        alpha - gain if flip > 0 else gain - beta,
                        beta - gain if flip > 0 else gain - alpha,
                        mem,
                    )
                    if not narrow or value <= alpha:
                        break
                    narrow = False
                    alpha = value - 1
                    beta = wide
            if mem[STOP]:
                return mem[BEST]
            if value > best - equal:
                best = value
                best_lane = lane
                mem[BEST] = lane + 1
        mem[VALUE] = best
        mem[REACHED] = reach
        mem[base + KEY + best_lane] = ((top_key(base, mem) >> 4) + 1) << 4 | best_lane
        reach += step
    return mem[BEST]


@outlined
def key_below(below: int, base: int, mem: Memory) -> int:
    """Return the greatest key of a level that is less than another."""
    base &= OFFSETS
    top = NONE
    for i in range(LANES):
        key = mem[base + KEY + i]
        if key < below:
            top = max(top, key)
    return top
