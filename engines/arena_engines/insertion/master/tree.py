"""Search a tree exactly to a fixed depth: what a position is worth to the mover, and little more work.

The contract is that of every alpha-beta search, fail-soft: the value is exact if alpha < value < beta,
an upper bound if <= alpha, a lower bound if >= beta. Values are sums of gains along the path from
this node on (eval.py's order in fewer bits, or any other weights: workspace.py), so they do not
depend on how the node was reached, and the transposition table holds for any path and any root.

What it does beyond the champion, in the order in which it pays:
1. The last ply is not searched but seen (sight.py): without a removing move its value is known, and
   with one a lower bound is, which often cuts.
2. The last two plies are one node: all children are seen at once, in vector code, and bounded.
3. Moves are ordered everywhere: the table's move, the last move that cut at this ply, then by gain
   less what the next mover can surely take, then by history. A node of the champion's tree is made in
   natural order.
4. All windows but the first are narrow (principal variation search).

It must not know: engines, clocks, text. The array is laid out in layout.py.
"""

from __future__ import annotations

from arena_engines.compiled import outlined
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
    LEVEL,
    LEVELS,
    LOWEST,
    NODES,
    NONE,
    P0,
    P1,
    P2,
    PLANS,
    RECORD,
    ROWS,
    SALT,
    SIGHT,
    STOP,
    TABLE,
    TABLE_MASK,
)
from arena_engines.insertion.master.sight import sight
from arena_protocol.games.insertion.rules import count, drop, play, push_left, push_right, settle

#: The array; to the type checker a list, since it is only indexed by numbers.
Memory = list[int]
LANES = 16
SET = 0xFFFF
#: Offsets of levels are below this. The mask shows the compiler that no index is negative, which Python
#: would count from the end: without it no loop becomes vector code.
OFFSETS = 0xFFFFF
EXACT, LOWER, UPPER = 1, 2, 3
#: Sums of depth**2 in the history are halved beyond this, so that sort keys stay small.
HISTORY_LIMIT = 2000
#: A run has three cells at least.
RUN = 3


def mix(p0: int, p1: int, p2: int, plan: int, salt: int) -> int:
    """Hash a board at a ply into 64 bits (multiply and xor-shift; wraps around when compiled)."""
    h = (p0 | p1 << 25) * -7046029254386353131
    h ^= h >> 29 & 0x7FFFFFFFF
    h += (p2 | plan << 25 | salt << 44) * -4417276706812531889
    h ^= h >> 32 & 0xFFFFFFFF
    h *= -7723592293110705685
    return h ^ (h >> 29 & 0x7FFFFFFFF)


def allowed(seen: int, forced: int) -> int:
    """Leave of a sight only what a zombie can play: 6, under the lowest number of its like."""
    only = ((seen & 0x7E) + 2) >> 1
    keep = only * (1 | 1 << 16 | 1 << 32) | ~((1 << 48) - 1)
    return seen & (keep if forced else -1)


@outlined
def look(p0: int, p1: int, p2: int, colour: int, forced: int) -> int:
    """Return the sight of one board for a mover with this picture."""
    return allowed(sight(p0, p1, p2, colour), forced)


def at_least(seen: int, cell: int, fell: int) -> int:
    """Return what the best move is worth at least; exact if no move can remove anything."""
    falling = seen >> 48
    sure = seen >> 16 & SET
    quiet = seen & ~(sure | seen >> 32) & SET
    best = -INFINITY
    if quiet & falling:
        best = fell
    if quiet & ~falling:
        best = max(best, 0)
    if sure & falling:
        best = max(best, RUN * cell + fell)
    if sure & ~falling:
        best = max(best, RUN * cell)
    return best


def loud(seen: int) -> int:
    """Return the set of moves that remove a run, or may."""
    return (seen >> 16 | seen >> 32) & SET


def last(p0: int, p1: int, p2: int, seen: int, plan: int, beta: int, mem: Memory) -> int:
    """Return the value of the last ply: exact below beta, a lower bound from beta on."""
    best = at_least(seen, mem[plan + CELL], mem[plan + FELL])
    if best >= beta or loud(seen) == 0:
        return best
    return last_moves(p0, p1, p2, seen, plan, best, beta, mem)


@outlined
def last_moves(p0: int, p1: int, p2: int, seen: int, plan: int, best: int, beta: int, mem: Memory) -> int:
    """Return the value of the last ply, `best` or more, by making the moves that remove something."""
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
def expand(p0: int, p1: int, p2: int, seen: int, base: int, plan: int, mem: Memory) -> None:
    """Make all fifteen moves into the level at `base`: planes, gains, and what the next mover sees.

    Lanes of moves that are no distinct moves hold copies; lane 15 holds what it held.
    """
    base &= OFFSETS
    make_moves(p0, p1, p2, mem[plan + COLOUR], base, mem)
    remove_runs(seen, base, plan, mem)
    colour = mem[plan + RECORD + COLOUR]
    forced = mem[plan + RECORD + FORCED]
    for i in range(LANES):
        planes = mem[base + P0 + i], mem[base + P1 + i], mem[base + P2 + i]
        mem[base + SIGHT + i] = allowed(sight(planes[0], planes[1], planes[2], colour), forced)


def make_moves(p0: int, p1: int, p2: int, colour: int, base: int, mem: Memory) -> None:
    """Insert a picture by all fifteen moves, five at a time.

    The loops run to 8, a number that the compiler does not know, so that they become vector code instead
    of five copies; what the surplus leaves in the lanes is overwritten by the next loop or never used.
    """
    base &= OFFSETS
    for y in range(mem[ROWS]):
        i = base + y
        mem[i + P0], mem[i + P1], mem[i + P2], _ = push_left(p0, p1, p2, y, colour)
    for x in range(mem[ROWS]):
        i = base + 5 + x
        mem[i + P0], mem[i + P1], mem[i + P2], _ = drop(p0, p1, p2, x, colour)
    for y in range(mem[ROWS]):
        i = base + 10 + y
        mem[i + P0], mem[i + P1], mem[i + P2], _ = push_right(p0, p1, p2, 4 - y & 7, colour)


def remove_runs(seen: int, base: int, plan: int, mem: Memory) -> None:
    """Set the gains of all lanes; the lanes whose moves are loud are settled first."""
    base &= OFFSETS
    falling = seen >> 49
    fell = mem[plan + FELL]
    for i in range(LANES):
        mem[base + GAIN + i] = (falling >> i & 1) * fell
    todo = loud(seen) >> 1
    i = base
    while todo:
        if todo & 1:
            mem[i + P0], mem[i + P1], mem[i + P2], removed, _ = settle(mem[i + P0], mem[i + P1], mem[i + P2])
            mem[i + GAIN] += removed * mem[plan + CELL]
        todo >>= 1
        i += 1


@outlined
def sort_keys(todo: int, base: int, plan: int, mem: Memory) -> None:
    """Write the keys of the lanes in `todo`: gain, less what is surely lost at once, then history."""
    base &= OFFSETS
    cell = mem[plan + RECORD + CELL]
    fell = mem[plan + RECORD + FELL]
    flip = mem[plan + FLIP]
    for i in range(LANES):
        rest = at_least(mem[base + SIGHT + i], cell, fell)
        rest = rest if flip > 0 else -rest
        key = (mem[base + GAIN + i] + rest) << 16 | mem[plan + HISTORY + i] << 4 | i
        mem[base + KEY + i] = key if todo >> i & 1 else NONE


@outlined
def bound_keys(todo: int, base: int, plan: int, mem: Memory) -> None:
    """Write, as keys, the most that the lanes in `todo` can be worth with one more ply of the other side."""
    base &= OFFSETS
    cell = mem[plan + RECORD + CELL]
    fell = mem[plan + RECORD + FELL]
    for i in range(LANES):
        key = (mem[base + GAIN + i] - at_least(mem[base + SIGHT + i], cell, fell)) << 4 | i
        mem[base + KEY + i] = key if todo >> i & 1 else NONE


@outlined
def top_key(base: int, mem: Memory) -> int:
    """Return the greatest key of a level."""
    base &= OFFSETS
    top = NONE
    for i in range(LANES):
        top = max(top, mem[base + KEY + i])
    return top


@outlined
def remember_cut(plan: int, after: int, lane: int, depth: int, mem: Memory) -> None:
    """Note that this move cut here, for the order of the moves at this ply."""
    weight = mem[plan + HISTORY + lane] + depth * depth
    mem[plan + HISTORY + lane] = weight
    mem[plan + KILLERS + after] = lane + 1
    if weight > HISTORY_LIMIT:
        for i in range(LANES):
            mem[plan + HISTORY + i] >>= 1


@outlined
def last_two(
    p0: int, p1: int, p2: int, seen: int, after: int, plan: int, alpha: int, beta: int, mem: Memory
) -> int:
    """Return the value of the last two plies, the second being the other side's.

    `after`: the lane of the move before, to which the first reply tried is the one that cut last time.
    """
    todo = (seen & SET) >> 1
    best = -INFINITY
    # 1. The move that cut last time, alone.
    first = mem[plan + KILLERS + after]
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
    # 2. All others: made, seen and bounded together. The level is read from memory because the
    #    compiler would unroll the vector loops around a constant.
    base = mem[LOWEST]
    expand(p0, p1, p2, seen, base, plan, mem)
    mem[NODES] += count(todo)
    bound_keys(todo, base, plan, mem)
    # 3. From the greatest bound down, until a value reaches the next bound.
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
            remember_cut(plan, after, top & 15, 2, mem)
            return best


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
    flip = mem[plan + FLIP]
    if depth == 1:
        return last(p0, p1, p2, seen, plan, beta, mem)
    if depth == 2 and flip < 0:
        return last_two(p0, p1, p2, seen, after, plan, alpha, beta, mem)
    # 1. What the table knows: a bound that decides, or else a move to begin with.
    key = mix(p0, p1, p2, plan, mem[SALT])
    slot = TABLE + (key & mem[TABLE_MASK]) * 4
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
            while True:
                if pair:
                    value = gain - last_two(q0, q1, q2, next_seen, lane, below, low, high, mem)
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
