"""Exact search to a fixed depth, and iterative deepening at the root.

The contract of `search` is that of fail-soft alpha-beta: the value is exact if alpha < value < beta, an upper
bound if <= alpha, a lower bound if >= beta. Values are sums of gains from the node on, in any weights
(workspace.py), so they do not depend on the path to the node, and the transposition table holds for any path
and any root, across the moves of a game.

Beyond the champion's search, in the order of what each saves:

1. The last two plies are one node (leaf.py).
2. Move ordering: the table's move, the last move that cut after the same previous move, then gain less what
   the next mover can take for certain, then history.
3. Principal variation search: all windows but the first are narrow.
4. Where three plies are left, the reply that cut last time is tried against all children at once
   (movegen.reply_all).

A table entry is two words, `key ^ data` and `data`, two entries to a slot:

    data:  value << 32 | ply & 255 << 16 | depth << 8 | bound << 4 | best move (1..15)
"""

from __future__ import annotations

from arena_engines.insertion.master.layout import (
    BEST,
    CELL,
    COLOUR,
    FELL,
    FLIP,
    FORCED,
    GAIN,
    GENERATION,
    HISTORY,
    INFINITY,
    KEY,
    KILLERS,
    LANES,
    LAST_CUT,
    LEVEL,
    LEVELS,
    MASKS,
    NODES,
    NONE,
    OFFSETS,
    OPEN,
    P0,
    P1,
    P2,
    RECORD,
    RECORDS,
    ROOT_LANES,
    ROOT_LEVEL,
    ROOT_PLY,
    STOP,
    TABLE,
    TABLE_MASK,
    TIES,
    VALUE,
    Memory,
)
from arena_engines.insertion.master.leaf import last_ply, last_two_plies, reply_value
from arena_engines.insertion.master.move_masks import SET, legal_masks
from arena_engines.insertion.master.movegen import drop_refuted, expand, reply_all, sort_keys, top_key
from arena_engines.jit import outlined
from arena_protocol.games.insertion.rules import count, play

#: Which of equal moves `deepen` returns: any, the first or the last in natural order; ALL: any, and the whole
#: set in the register TIES.
ANY, FIRST, LAST, ALL = 0, 1, 2, 3

#: Like OFFSETS, for the slots of the table.
ENTRIES = (1 << 32) - 1
EXACT, LOWER, UPPER = 1, 2, 3
#: Sums of depth**2 in the history are halved beyond this, so that sort keys stay small.
HISTORY_LIMIT = 2000


def hash_board(p0: int, p1: int, p2: int, record: int, generation: int) -> int:
    """Hash a board at a ply into 64 bits (multiply and xor-shift; wraps around when compiled)."""
    h = (p0 | p1 << 25) * -7046029254386353131
    h ^= h >> 29 & 0x7FFFFFFFF
    h += (p2 | record << 25 | generation << 44) * -4417276706812531889
    h ^= h >> 32 & 0xFFFFFFFF
    h *= -7723592293110705685
    return h ^ (h >> 29 & 0x7FFFFFFFF)


@outlined
def update_history(record: int, previous: int, lane: int, depth: int, mem: Memory) -> None:
    """Record that this move cut here, for the move ordering at this ply."""
    record &= OFFSETS
    lane &= 15
    previous &= 15
    weight = mem[record + HISTORY + lane] + depth * depth
    mem[record + HISTORY + lane] = weight
    mem[record + KILLERS + previous] = lane + 1
    if weight > HISTORY_LIMIT:
        for i in range(LANES):
            mem[record + HISTORY + i] >>= 1


def search(  # noqa: C901 - the inner loop of everything, kept in one piece
    p0: int,
    p1: int,
    p2: int,
    masks: int,
    previous: int,
    record: int,
    depth: int,
    alpha: int,
    beta: int,
    mem: Memory,
) -> int:
    """Return the value of `depth` >= 1 plies.

    `masks`: the legal masks of the board; `previous`: the lane of the previous move; `record`: offset of the
    ply's record. A stopped search returns 0.
    """
    record &= OFFSETS
    previous &= 15
    flip = mem[record + FLIP]
    if depth == 1:
        return last_ply(p0, p1, p2, masks, record, beta, mem)
    if depth == 2 and flip < 0:
        return last_two_plies(p0, p1, p2, masks, mem[record + LAST_CUT], record, alpha, beta, mem)
    # 1. The table: a bound that decides, or else a first move.
    key = hash_board(p0, p1, p2, record, mem[GENERATION])
    slot = TABLE + (key & mem[TABLE_MASK] & ENTRIES) * 4
    first = mem[record + KILLERS + previous]
    for entry in range(slot, slot + 4, 2):
        data = mem[entry + 1]
        if mem[entry] ^ data == key:
            first = data & 15
            # A value sums the gains of its plies: one of a deeper search has more of them, and is no bound.
            if (data >> 8 & 63) == depth:
                value = data >> 32
                bound = data >> 4 & 3
                if (
                    bound == EXACT
                    or (bound == LOWER and value >= beta)
                    or (bound == UPPER and value <= alpha)
                ):
                    return value
            break
    if mem[STOP]:
        return 0
    # 2. The moves, best first; all are made only if the first does not cut.
    base = LEVELS + (depth & 31) * LEVEL
    todo = (masks & SET) >> 1
    best = -INFINITY
    best_lane = 0
    floor = alpha
    stage = 0
    q0 = q1 = q2 = next_masks = gain = lane = 0
    while True:
        if stage == 0:
            stage = 1
            if masks >> first & 1 == 0:
                continue
            q0, q1, q2, removed, falls, _ = play(p0, p1, p2, first, mem[record + COLOUR])
            mem[NODES] += 1
            gain = removed * mem[record + CELL] + falls * mem[record + FELL]
            next_masks = legal_masks(q0, q1, q2, mem[record + RECORD + COLOUR], mem[record + RECORD + FORCED])
            lane = first - 1
            todo &= ~(1 << lane)
        else:
            if stage == 1:
                stage = 2
                expand(p0, p1, p2, masks, base, record, mem)
                mem[NODES] += count(todo)
                sort_keys(todo, base, record, mem)
            top = top_key(base, mem)
            if top == NONE:
                break
            lane = top & 15
            i = base + lane
            mem[i + KEY] = NONE
            q0 = mem[i + P0]
            q1 = mem[i + P1]
            q2 = mem[i + P2]
            next_masks = mem[i + MASKS]
            gain = mem[i + GAIN]
        # 3. The child, in a narrow window once there is a best value.
        below = record + RECORD
        if flip > 0:
            low = floor - gain
            value = gain + search(q0, q1, q2, next_masks, lane, below, depth - 1, low, beta - gain, mem)
        else:
            low = gain - beta
            high = gain - floor
            if best != -INFINITY:
                low = high - 1
            pair = depth == 3 and mem[below + FLIP] < 0
            # After the first child, the reply that cut last time is tried against all others at once.
            if pair and stage >= 2 and best != -INFINITY and mem[below + LAST_CUT] > 0:
                if stage == 3 and mem[below + FORCED] == 0:
                    reply_all(mem[below + LAST_CUT], base, below, mem)
                    mem[NODES] += count(todo)
                    best = max(best, drop_refuted(base, floor, mem))
                    stage = 4
                if stage == 2:
                    stage = 3
                if stage == 4:
                    value = gain - reply_value(base + lane, below, low, mem)
                    if value <= floor:
                        best = max(best, value)
                        continue
            while True:
                if pair:
                    value = gain - last_two_plies(
                        q0,
                        q1,
                        q2,
                        next_masks,
                        mem[below + LAST_CUT] if stage < 4 else 0,
                        below,
                        low,
                        high,
                        mem,
                    )
                else:
                    value = gain - search(q0, q1, q2, next_masks, lane, below, depth - 1, low, high, mem)
                if low == gain - beta or not floor < value < beta:
                    break
                # It beats the best in the null window, which gives a bound alone: again, for the value.
                low = gain - beta
                high = gain - value + 1
        if value > best:
            best = value
            best_lane = lane
            floor = max(floor, value)
            if floor >= beta:
                update_history(record, previous, lane, depth, mem)
                break
    # A child that was stopped has returned 0, which is no value to be stored.
    if mem[STOP]:
        return 0
    # 4. Store: in the first entry, unless that holds a deeper one which may still be probed.
    bound = EXACT
    if best <= alpha:
        bound = UPPER
    elif best >= beta:
        bound = LOWER
    old = mem[slot + 1]
    if (mem[slot] ^ old) != key and (old >> 8 & 63) > depth and (old >> 16 & 255) >= mem[ROOT_PLY]:
        slot += 2
    data = best << 32 | ((record - RECORDS) // RECORD & 255) << 16 | depth << 8 | bound << 4 | (best_lane + 1)
    mem[slot] = key ^ data
    mem[slot + 1] = data
    return best


def root_value(lane: int, record: int, reach: int, best: int, equal: int, base: int, mem: Memory) -> int:
    """Return the value of a root move `reach` plies deep: exact if it is at least `best` + 1 - `equal`.

    A `best` of -OPEN is none yet.
    """
    flip = mem[record + FLIP]
    window = mem[OPEN]
    gain = mem[base + GAIN + lane]
    if reach == 1:
        return gain
    narrow = best != -window
    alpha = best - equal if narrow else best
    beta = alpha + 1 if narrow else window
    while True:
        value = gain + flip * search(
            mem[base + P0 + lane],
            mem[base + P1 + lane],
            mem[base + P2 + lane],
            mem[base + MASKS + lane],
            lane,
            record + RECORD,
            reach - 1,
            alpha - gain if flip > 0 else gain - beta,
            beta - gain if flip > 0 else gain - alpha,
            mem,
        )
        if not narrow or value <= alpha:
            return value
        narrow = False
        alpha = value - 1
        beta = window


def search_root(record: int, reach: int, tie_break: int, base: int, mem: Memory) -> int:
    """Search all root moves `reach` plies deep, in the order of their keys; return those of the best value.

    BEST follows the best move so far, VALUE has its value at the end, and its key becomes the greatest.
    A stopped search returns 0.
    """
    ties = 0
    best = -mem[OPEN]
    best_lane = LANES
    below = mem[OPEN] << 20
    while True:
        below = key_below(below, base, mem)
        if below == NONE:
            break
        lane = below & 15
        # A lane on the preferred side of the best must reach its value, the others must exceed it.
        preferred = lane < best_lane if tie_break == FIRST else lane > best_lane and tie_break == LAST
        equal = 1 if preferred or tie_break == ALL else 0
        value = root_value(lane, record, reach, best, equal, base, mem)
        if mem[STOP]:
            return 0
        if value > best - equal:
            ties = ties | 2 << lane if value == best else 2 << lane
            best = value
            best_lane = lane
            mem[BEST] = lane + 1
    mem[VALUE] = best
    mem[base + KEY + best_lane] = ((top_key(base, mem) >> 4) + 1) << 4 | best_lane
    return ties


@outlined
def deepen(
    p0: int, p1: int, p2: int, record: int, low: int, depth: int, step: int, tie_break: int, mem: Memory
) -> int:
    """Search to `low`, `low + step` ... `depth` until stopped; return the best move, 1..15.

    `tie_break`: ANY, FIRST or LAST of the moves of the best value. A stopped search returns the best move so
    far, never worse than that of the depth before.
    """
    base = LEVELS + ROOT_LEVEL * LEVEL
    masks = legal_masks(p0, p1, p2, mem[record + COLOUR], mem[record + FORCED])
    lanes = (masks & SET) >> 1
    # A restriction that leaves no legal move is none.
    if lanes & mem[ROOT_LANES]:
        lanes &= mem[ROOT_LANES]
    # 1. All children, in the order of their sort keys.
    expand(p0, p1, p2, masks, base, record, mem)
    sort_keys(lanes, base, record, mem)
    mem[NODES] += count(lanes)
    mem[BEST] = (top_key(base, mem) & 15) + 1
    # 2. Each depth in the order of the last one; ALL is wanted at the last alone.
    mem[TIES] = 0
    ties = 0
    for reach in range(low, depth + 1, step):
        if not mem[STOP]:
            ties = search_root(
                record, reach, ANY if tie_break == ALL and reach < depth else tie_break, base, mem
            )
    if not mem[STOP]:
        mem[TIES] = ties
    return mem[BEST]


@outlined
def different_boards(moves: int, base: int, mem: Memory) -> int:
    """Return the moves of a set that lead to different boards of a level; of equal boards the lowest move."""
    kept = 0
    for lane in range(LANES):
        if moves >> (lane + 1) & 1 == 0:
            continue
        new = 1
        for other in range(lane):
            if (
                kept >> (other + 1) & 1
                and mem[base + P0 + other] == mem[base + P0 + lane]
                and mem[base + P1 + other] == mem[base + P1 + lane]
                and mem[base + P2 + other] == mem[base + P2 + lane]
            ):
                new = 0
        kept |= new << (lane + 1)
    return kept


@outlined
def key_below(below: int, base: int, mem: Memory) -> int:
    """Return the greatest key of a level that is less than `below`; NONE without one."""
    base &= OFFSETS
    top = NONE
    for i in range(LANES):
        key = mem[base + KEY + i]
        if key < below:
            top = max(top, key)
    return top
