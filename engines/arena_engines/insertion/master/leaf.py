"""The last two plies of a search, valued from the move masks.

1. The last ply is not searched: without a scoring move its value is known from the masks, and with one a
lower
   bound is, which often cuts.
2. The last two plies are one node: bounded from the masks, refuted by the move that cut last time, or else
all
   children are made and bounded at once in vector code.

Values are fail-soft as in search.py.
"""

from __future__ import annotations

from arena_engines.insertion.master.layout import (
    CELL,
    COLOUR,
    FELL,
    FORCED,
    GAIN,
    INFINITY,
    KEY,
    LAST_CUT,
    LEAF_LEVEL,
    MASKS,
    NODES,
    NONE,
    OFFSETS,
    P0,
    P1,
    P2,
    RECORD,
    REPLY,
    Memory,
)
from arena_engines.insertion.master.move_masks import SET, legal_masks, lower_bound, scoring, upper_bound
from arena_engines.insertion.master.movegen import bound_keys, expand, top_key
from arena_engines.jit import outlined
from arena_protocol.games.insertion.rules import count, play


def last_ply(p0: int, p1: int, p2: int, masks: int, record: int, beta: int, mem: Memory) -> int:
    """Return the value of the last ply: exact below beta, a lower bound at or above beta."""
    record &= OFFSETS
    best = lower_bound(masks, mem[record + CELL], mem[record + FELL])
    if best >= beta or scoring(masks) == 0:
        return best
    return last_moves(p0, p1, p2, masks, record, best, beta, mem)


@outlined
def last_moves(p0: int, p1: int, p2: int, masks: int, record: int, best: int, beta: int, mem: Memory) -> int:
    """Return the value of the last ply, `best` or more, by making the scoring moves."""
    record &= OFFSETS
    todo = scoring(masks)
    move = 0
    while todo and best < beta:
        if todo & 1:
            _, _, _, removed, falls, _ = play(p0, p1, p2, move, mem[record + COLOUR])
            mem[NODES] += 1
            best = max(best, removed * mem[record + CELL] + falls * mem[record + FELL])
        todo >>= 1
        move += 1
    return best


@outlined
def last_two_plies(
    p0: int, p1: int, p2: int, masks: int, first: int, record: int, alpha: int, beta: int, mem: Memory
) -> int:
    """Return the value of the last two plies, the second being the other side's.

    `first`: a move to try alone before all are made; 0 for none.
    """
    record &= OFFSETS
    # 1. The upper bound: the reply gains at least 0, or the loss of one picture if its moves push one off.
    best = upper_bound(masks, mem[record + CELL], mem[record + FELL]) - min(mem[record + RECORD + FELL], 0)
    if best <= alpha:
        return best
    best = -INFINITY
    todo = (masks & SET) >> 1
    # 2. The move that cut last time, alone.
    if masks >> first & 1:
        q0, q1, q2, removed, falls, _ = play(p0, p1, p2, first, mem[record + COLOUR])
        mem[NODES] += 1
        gain = removed * mem[record + CELL] + falls * mem[record + FELL]
        next_masks = legal_masks(q0, q1, q2, mem[record + RECORD + COLOUR], mem[record + RECORD + FORCED])
        best = gain - last_ply(q0, q1, q2, next_masks, record + RECORD, gain - alpha, mem)
        if best >= beta:
            return best
        alpha = max(alpha, best)
        todo &= ~(1 << (first - 1))
    # 3. All others are made and bounded together. The level is read from memory: around a constant
    #    offset the compiler would unroll the vector loops.
    base = mem[LEAF_LEVEL] & OFFSETS
    expand(p0, p1, p2, masks, base, record, mem)
    mem[NODES] += count(todo)
    bound_keys(todo, base, record, mem)
    # 4. From the greatest bound down, until a value reaches the next bound.
    while True:
        top = top_key(base, mem)
        if top == NONE or top >> 4 <= best:
            return best
        i = base + (top & 15)
        gain = mem[i + GAIN]
        next_masks = mem[i + MASKS]
        value = top >> 4
        if value <= alpha:
            return value
        if scoring(next_masks):
            value = gain - last_ply(
                mem[i + P0], mem[i + P1], mem[i + P2], next_masks, record + RECORD, gain - alpha, mem
            )
        mem[i + KEY] = NONE
        best = max(best, value)
        alpha = max(alpha, value)
        if alpha >= beta:
            mem[record + LAST_CUT] = (top & 15) + 1
            return best


def reply_value(i: int, record: int, alpha: int, mem: Memory) -> int:
    """Return the value of the reply to all (movegen.reply_all) to its mover in lane i: exact above alpha."""
    i = (i & OFFSETS) + REPLY
    masks = mem[i + MASKS]
    value = mem[i + KEY]
    if scoring(masks) and value > alpha:
        gain = mem[i + GAIN]
        value = gain - last_ply(
            mem[i + P0], mem[i + P1], mem[i + P2], masks, record + RECORD, gain - alpha, mem
        )
    return value
