"""The last plies of a search: what is left to do where only one or two moves are to come.

1. The last ply is not searched but seen (sight.py): without a removing move its value is known, and
   with one a lower bound is, which often cuts.
2. The last two plies are one node: bounded by what is seen, refuted by the move that cut last time, or else
   all children are seen at once, in vector code, and bounded.

Values are exact within the window and bounds outside, as tree.py has it. It must not know: the table.
"""

from __future__ import annotations

from arena_engines.insertion.master.children import (
    OFFSETS,
    SET,
    Memory,
    at_least,
    at_most,
    bound_keys,
    expand,
    look,
    loud,
    top_key,
)
from arena_engines.insertion.master.layout import (
    CELL,
    COLOUR,
    FELL,
    FORCED,
    GAIN,
    INFINITY,
    KEY,
    LAST_CUT,
    LOWEST,
    NODES,
    NONE,
    P0,
    P1,
    P2,
    RECORD,
    REPLY,
    SIGHT,
)
from arena_engines.jit import outlined
from arena_protocol.games.insertion.rules import count, play


def last(p0: int, p1: int, p2: int, seen: int, plan: int, beta: int, mem: Memory) -> int:
    """Return the value of the last ply: exact below beta, a lower bound from beta on."""
    plan &= OFFSETS
    best = at_least(seen, mem[plan + CELL], mem[plan + FELL])
    if best >= beta or loud(seen) == 0:
        return best
    return last_moves(p0, p1, p2, seen, plan, best, beta, mem)


@outlined
def last_moves(p0: int, p1: int, p2: int, seen: int, plan: int, best: int, beta: int, mem: Memory) -> int:
    """Return the value of the last ply, `best` or more, by making the moves that remove something."""
    plan &= OFFSETS
    todo = loud(seen)
    move = 0
    while todo and best < beta:
        if todo & 1:
            _, _, _, removed, falls, _ = play(p0, p1, p2, move, mem[plan + COLOUR])
            mem[NODES] += 1
            best = max(best, removed * mem[plan + CELL] + falls * mem[plan + FELL])
        todo >>= 1
        move += 1
    return best


@outlined
def last_two(
    p0: int, p1: int, p2: int, seen: int, first: int, plan: int, alpha: int, beta: int, mem: Memory
) -> int:
    """Return the value of the last two plies, the second being the other side's.

    `first`: a move to try alone before all are made, or 0.
    """
    plan &= OFFSETS
    # 1. What is seen may be too little, since the other side can keep what it has.
    best = at_most(seen, mem[plan + CELL], mem[plan + FELL]) - min(mem[plan + RECORD + FELL], 0)
    if best <= alpha:
        return best
    best = -INFINITY
    todo = (seen & SET) >> 1
    # 2. The move that cut last time, alone.
    if seen >> first & 1:
        q0, q1, q2, removed, falls, _ = play(p0, p1, p2, first, mem[plan + COLOUR])
        mem[NODES] += 1
        gain = removed * mem[plan + CELL] + falls * mem[plan + FELL]
        next_seen = look(q0, q1, q2, mem[plan + RECORD + COLOUR], mem[plan + RECORD + FORCED])
        best = gain - last(q0, q1, q2, next_seen, plan + RECORD, gain - alpha, mem)
        if best >= beta:
            return best
        alpha = max(alpha, best)
        todo &= ~(1 << (first - 1))
    # 3. All others: made, seen and bounded together. The level is read from memory because the
    #    compiler would unroll the vector loops around a constant.
    base = mem[LOWEST] & OFFSETS
    expand(p0, p1, p2, seen, base, plan, mem)
    mem[NODES] += count(todo)
    bound_keys(todo, base, plan, mem)
    # 4. From the greatest bound down, until a value reaches the next bound.
    while True:
        top = top_key(base, mem)
        if top == NONE or top >> 4 <= best:
            return best
        i = base + (top & 15)
        gain = mem[i + GAIN]
        next_seen = mem[i + SIGHT]
        value = top >> 4
        if value <= alpha:
            return value
        if loud(next_seen):
            value = gain - last(
                mem[i + P0], mem[i + P1], mem[i + P2], next_seen, plan + RECORD, gain - alpha, mem
            )
        mem[i + KEY] = NONE
        best = max(best, value)
        alpha = max(alpha, value)
        if alpha >= beta:
            mem[plan + LAST_CUT] = (top & 15) + 1
            return best


def replied(i: int, plan: int, alpha: int, mem: Memory) -> int:
    """Return what the reply to all is worth to its mover in lane i: exactly above alpha, else a bound."""
    i = (i & OFFSETS) + REPLY
    seen = mem[i + SIGHT]
    value = mem[i + KEY]
    if loud(seen) and value > alpha:
        gain = mem[i + GAIN]
        value = gain - last(mem[i + P0], mem[i + P1], mem[i + P2], seen, plan + RECORD, gain - alpha, mem)
    return value
