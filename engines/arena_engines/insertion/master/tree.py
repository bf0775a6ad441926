"""Search a tree exactly to a fixed depth: what a position is worth to the mover, and little more work.

The contract is that of every alpha-beta search, fail-soft: the value is exact if alpha < value < beta,
an upper bound if <= alpha, a lower bound if >= beta. Values are sums of gains along the path from
this node on (eval.py's order in fewer bits, or any other weights: workspace.py), so they do not
depend on how the node was reached, and the transposition table holds for any path and any root.

What it does beyond the champion, in the order in which it pays:
1. The last two plies are not searched move by move (frontier.py).
2. Moves are ordered everywhere: the table's move, the last move that cut at this ply, then by gain
   less what the next mover can surely take, then by history. A node of the champion's tree is made in
   natural order.
3. All windows but the first are narrow (principal variation search).
4. Where three plies are left, the children behind the first are refuted together (children.reply_all).

It must not know: engines, clocks, text. The array is laid out in layout.py.
"""

from __future__ import annotations

from arena_engines.insertion.master.children import (
    LANES,
    OFFSETS,
    SET,
    Memory,
    drop_refuted,
    expand,
    look,
    reply_all,
    sort_keys,
    top_key,
)
from arena_engines.insertion.master.frontier import last, last_two, replied
from arena_engines.insertion.master.layout import (
    BORN,
    CELL,
    COLOUR,
    FELL,
    FLIP,
    FORCED,
    GAIN,
    HISTORY,
    INFINITY,
    KEY,
    KILLERS,
    LAST_CUT,
    LEVEL,
    LEVELS,
    NODES,
    NONE,
    P0,
    P1,
    P2,
    PLANS,
    RECORD,
    SALT,
    SIGHT,
    STOP,
    TABLE,
    TABLE_MASK,
)
from arena_engines.jit import outlined
from arena_protocol.games.insertion.rules import count, play

#: Like OFFSETS, for the pairs of the table.
ENTRIES = (1 << 32) - 1
EXACT, LOWER, UPPER = 1, 2, 3
#: Sums of depth**2 in the history are halved beyond this, so that sort keys stay small.
HISTORY_LIMIT = 2000


def mix(p0: int, p1: int, p2: int, plan: int, salt: int) -> int:
    """Hash a board at a ply into 64 bits (multiply and xor-shift; wraps around when compiled)."""
    h = (p0 | p1 << 25) * -7046029254386353131
    h ^= h >> 29 & 0x7FFFFFFFF
    h += (p2 | plan << 25 | salt << 44) * -4417276706812531889
    h ^= h >> 32 & 0xFFFFFFFF
    h *= -7723592293110705685
    return h ^ (h >> 29 & 0x7FFFFFFFF)


@outlined
def remember_cut(plan: int, after: int, lane: int, depth: int, mem: Memory) -> None:
    """Note that this move cut here, for the order of the moves at this ply."""
    plan &= OFFSETS
    lane &= 15
    after &= 15
    weight = mem[plan + HISTORY + lane] + depth * depth
    mem[plan + HISTORY + lane] = weight
    mem[plan + KILLERS + after] = lane + 1
    if weight > HISTORY_LIMIT:
        for i in range(LANES):
            mem[plan + HISTORY + i] >>= 1


def search(  # noqa: C901 - the inner loop of everything, kept in one piece
    p0: int,
    p1: int,
    p2: int,
    seen: int,
    after: int,
    plan: int,
    depth: int,
    alpha: int,
    beta: int,
    mem: Memory,
) -> int:
    """Return the value of `depth` >= 1 plies from a board that the mover sees as `seen`.

    `after`: the lane of the move before.
    """
    plan &= OFFSETS
    after &= 15
    flip = mem[plan + FLIP]
    if depth == 1:
        return last(p0, p1, p2, seen, plan, beta, mem)
    if depth == 2 and flip < 0:
        return last_two(p0, p1, p2, seen, mem[plan + LAST_CUT], plan, alpha, beta, mem)
    # 1. What the table knows: a bound that decides, or else a move to begin with.
    key = mix(p0, p1, p2, plan, mem[SALT])
    slot = TABLE + (key & mem[TABLE_MASK] & ENTRIES) * 4
    first = mem[plan + KILLERS + after]
    for entry in range(slot, slot + 4, 2):
        data = mem[entry + 1]
        if mem[entry] ^ data == key:
            first = data & 15
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
    # 2. The moves, best first; they are all made only if the first does not cut.
    base = LEVELS + (depth & 31) * LEVEL
    todo = (seen & SET) >> 1
    best = -INFINITY
    best_lane = 0
    floor = alpha
    stage = 0
    q0 = q1 = q2 = next_seen = gain = lane = 0
    while True:
        if stage == 0:
            stage = 1
            if seen >> first & 1 == 0:
                continue
            q0, q1, q2, removed, falls, _ = play(p0, p1, p2, first, mem[plan + COLOUR])
            mem[NODES] += 1
            gain = removed * mem[plan + CELL] + falls * mem[plan + FELL]
            next_seen = look(q0, q1, q2, mem[plan + RECORD + COLOUR], mem[plan + RECORD + FORCED])
            lane = first - 1
            todo &= ~(1 << lane)
        else:
            if stage == 1:
                stage = 2
                expand(p0, p1, p2, seen, base, plan, mem)
                mem[NODES] += count(todo)
                sort_keys(todo, base, plan, mem)
            top = top_key(base, mem)
            if top == NONE:
                break
            lane = top & 15
            i = base + lane
            mem[i + KEY] = NONE
            q0 = mem[i + P0]
            q1 = mem[i + P1]
            q2 = mem[i + P2]
            next_seen = mem[i + SIGHT]
            gain = mem[i + GAIN]
        # 3. The child, in a narrow window once there is a value to beat.
        below = plan + RECORD
        if flip > 0:
            low = floor - gain
            value = gain + search(q0, q1, q2, next_seen, lane, below, depth - 1, low, beta - gain, mem)
        else:
            low = gain - beta
            high = gain - floor
            if best != -INFINITY:
                low = high - 1
            pair = depth == 3 and mem[below + FLIP] < 0
            # A child that is not the first gets, with all others at once, the reply that cut last time.
            if pair and stage >= 2 and best != -INFINITY and mem[below + LAST_CUT] > 0:
                if stage == 3 and mem[below + FORCED] == 0:
                    reply_all(mem[below + LAST_CUT], base, below, mem)
                    mem[NODES] += count(todo)
                    best = max(best, drop_refuted(base, floor, mem))
                    stage = 4
                if stage == 2:
                    stage = 3
                if stage == 4:
                    value = gain - replied(base + lane, below, low, mem)
                    if value <= floor:
                        best = max(best, value)
                        continue
            while True:
                if pair:
                    value = gain - last_two(
                        q0,
                        q1,
                        q2,
                        next_seen,
                        mem[below + LAST_CUT] if stage < 4 else 0,
                        below,
                        low,
                        high,
                        mem,
                    )
                else:
                    value = gain - search(q0, q1, q2, next_seen, lane, below, depth - 1, low, high, mem)
                if low == gain - beta or not floor < value < beta:
                    break
                low = gain - beta
                high = gain - value + 1
        if value > best:
            best = value
            best_lane = lane
            floor = max(floor, value)
            if floor >= beta:
                remember_cut(plan, after, lane, depth, mem)
                break
    if mem[STOP]:
        return 0
    # 4. Keep it: in the first slot unless that one holds a deeper entry that may still be asked for.
    bound = EXACT
    if best <= alpha:
        bound = UPPER
    elif best >= beta:
        bound = LOWER
    old = mem[slot + 1]
    if (mem[slot] ^ old) != key and (old >> 8 & 63) > depth and (old >> 16 & 255) >= mem[BORN]:
        slot += 2
    data = best << 32 | ((plan - PLANS) // RECORD & 255) << 16 | depth << 8 | bound << 4 | (best_lane + 1)
    mem[slot] = key ^ data
    mem[slot + 1] = data
    return best
