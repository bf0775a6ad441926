"""Plan many own moves ahead against replies that are predicted, not feared.

Insertion is no zero-sum game: who knows the opponent's reply to every board gains far more by a long
plan than by guarding against the worst. With one reply a move the tree is that of a single player,
and a beam walks it: all own moves of the best `width` states, the opponent's reply to each, equal boards
merged, the best `width` kept, `turns` times. A state is worth the gains of its path, and at the end of
the plan what a small exact search sees from there.

Replies and searches are kept in the transposition table under keys of their own, so that a wider
beam, and the next move's, repeat little. It must not know: whose reply it is (a view of the plans says
how that seat values things), clocks.
"""

from __future__ import annotations

from arena_engines.insertion.master.children import Memory, expand, look
from arena_engines.insertion.master.layout import (
    BEAM_LEVEL,
    BEST,
    BRED,
    CELL,
    CHILDREN,
    COLOUR,
    FELL,
    FIELD,
    FINDER,
    FINDER_SIZE,
    FIRSTS,
    FORCED,
    GAIN,
    INFINITY,
    LEVEL,
    LEVELS,
    NONE,
    ONLY_BEAM,
    ORDER,
    P0,
    P1,
    P2,
    PLANNED,
    RECORD,
    REPLIES,
    SALT,
    SPARE_LANE,
    STATE,
    STATES,
    STOP,
    TABLE,
    TABLE_MASK,
    VALUE,
    WIDE,
)
from arena_engines.insertion.master.root import decide
from arena_engines.insertion.master.tree import mix, search
from arena_engines.jit import outlined
from arena_protocol.games.insertion.rules import MOVES, play

HALF = (1 << 25) - 1
#: Buckets of the selection of the best states.
BUCKETS = 512
#: Kinds of kept answers, told apart by the salt.
REPLY = 1 << 16
WORTH = 1 << 17


def recall(key: int, mem: Memory) -> int:
    """Return what is kept under a key, or NONE."""
    slot = TABLE + (key & mem[TABLE_MASK]) * 4
    for entry in range(slot, slot + 4, 2):
        if mem[entry] ^ mem[entry + 1] == key:
            return mem[entry + 1] >> 32
    return NONE


def keep(key: int, value: int, mem: Memory) -> None:
    """Keep a value of 32 bits in the second slot of its key, where a search puts its lesser entries."""
    slot = TABLE + (key & mem[TABLE_MASK]) * 4 + 2
    data = value << 32
    mem[slot] = key ^ data
    mem[slot + 1] = data


def find(word0: int, word1: int, base: int, mem: Memory) -> int:
    """Return the finder's slot of a board: it holds 0, or 1 + the offset of the child that has this board."""
    h = (word0 * -7046029254386353131) ^ (word1 * -4417276706812531889)
    slot = (h ^ (h >> 31)) & (FINDER_SIZE - 1)
    while True:
        at = mem[FINDER + slot]
        if at == 0:
            return slot
        child = base + at - 1
        if mem[child] == word0 and mem[child + 1] & HALF == word1:
            return slot
        slot = (slot + 1) & (FINDER_SIZE - 1)


@outlined
def add_child(word0: int, p2: int, first: int, path: int, mem: Memory) -> None:
    """Add a board reached by a path to the children, or keep the better of two paths to it."""
    slot = find(word0, p2, CHILDREN, mem)
    at = mem[FINDER + slot] - 1
    if at < 0:
        at = mem[BRED] * STATE
        mem[FINDER + slot] = at + 1
        mem[BRED] += 1
    elif mem[CHILDREN + at + 2] >= path:
        return
    mem[CHILDREN + at] = word0
    mem[CHILDREN + at + 1] = p2 | first << 25
    mem[CHILDREN + at + 2] = path


@outlined
def select(count: int, width: int, mem: Memory) -> int:  # noqa: C901 - loops over one array
    """Copy the best `width` children (by buckets of value) into the field; return how many."""
    if count <= width:
        for i in range(count * STATE):
            mem[FIELD + i] = mem[CHILDREN + i]
        return count
    low = INFINITY
    high = -INFINITY
    for i in range(count):
        value = mem[CHILDREN + i * STATE + 3]
        low = min(low, value)
        high = max(high, value)
    span = (high - low) // BUCKETS + 1
    for i in range(BUCKETS + 1):
        mem[FINDER + i] = 0
    for i in range(count):
        mem[FINDER + (high - mem[CHILDREN + i * STATE + 3]) // span] += 1
    limit = 0
    total = mem[FINDER]
    while total < width:
        limit += 1
        total += mem[FINDER + limit]
    # Of the last bucket only as many as there is room for.
    room = width - (total - mem[FINDER + limit])
    states = 0
    for i in range(count):
        child = CHILDREN + i * STATE
        bucket = (high - mem[child + 3]) // span
        if bucket > limit or (bucket == limit and room == 0):
            continue
        if bucket == limit:
            room -= 1
        for word in range(STATE):
            mem[FIELD + states * STATE + word] = mem[child + word]
        states += 1
    return states


@outlined
def beam(  # noqa: C901 - compiled together with all below it, so kept in one piece
    p0: int,
    p1: int,
    p2: int,
    plan: int,
    mine: int,
    width: int,
    plies: int,
    reply_depth: int,
    leaf: int,
    mem: Memory,
) -> int:
    """Return the first move of the best plan found with this width, over `plies` plies that are known.

    `plan` is the record of the ply to move, in the view of the opponent's model; `mine` is the way from
    there to the own view. The opponent replies as it would after a search of `reply_depth` plies, or, if
    that is 0, by chance: by another one with another salt. A plan
    ends where less than `leaf` plies are left for the search that values it. FIRSTS tells the best of all
    plans by their first move; a move whose plans were dropped keeps what it had. STOP set: 0.
    """
    mem[FIELD] = p0 | p1 << 25
    mem[FIELD + 1] = p2
    mem[FIELD + 2] = 0
    mem[STATES] = 1
    for i in range(16):
        mem[FIRSTS + i] = -INFINITY
    base = LEVELS + BEAM_LEVEL * LEVEL
    salt = mem[SALT]
    gone = 0
    while gone < plies and (gone == 0 or gone + 1 + leaf <= plies):
        if mem[STOP]:
            return 0
        theirs = plan + (gone + 1) * RECORD
        own = theirs + mine - RECORD
        answered = plies - gone > 1
        depth = min(reply_depth, plies - gone - 1)
        # 1. Every move of every state, and the reply to it.
        for i in range(FINDER_SIZE):
            mem[FINDER + i] = 0
        mem[BRED] = 0
        for state in range(FIELD, FIELD + mem[STATES] * STATE, STATE):
            p0 = mem[state] & HALF
            p1 = mem[state] >> 25
            p2 = mem[state + 1] & HALF
            seen = look(p0, p1, p2, mem[own + COLOUR], mem[own + FORCED])
            expand(p0, p1, p2, seen, base, own, mem)
            if gone == 0:
                seen &= mem[ONLY_BEAM] << 1
            for lane in range(15):
                if seen >> (lane + 1) & 1 == 0:
                    continue
                q0 = mem[base + P0 + lane]
                q1 = mem[base + P1 + lane]
                q2 = mem[base + P2 + lane]
                path = mem[state + 2] + mem[base + GAIN + lane]
                first = mem[state + 1] >> 25
                if gone == 0:
                    first = lane + 1
                if answered:
                    move = 6
                    key = mix(q0, q1, q2, theirs, salt | REPLY | depth << 12 | mem[ORDER] << 18)
                    if depth == 0:
                        move = 1 + (key >> 20 & HALF) % MOVES
                    elif not mem[theirs + FORCED]:
                        move = recall(key, mem)
                        if move == NONE:
                            low = max(depth - 2, min(depth, 3))
                            step = max(1, depth - low)
                            move = decide(q0, q1, q2, theirs, low, depth, step, mem[ORDER], mem)
                            if mem[STOP]:
                                return 0
                            mem[REPLIES] += 1
                            keep(key, move, mem)
                    q0, q1, q2, removed, falls, _ = play(q0, q1, q2, move, mem[theirs + COLOUR])
                    path -= removed * mem[own + RECORD + CELL] + falls * mem[own + RECORD + FELL]
                add_child(q0 | q1 << 25, q2, first, path, mem)
        gone += 2 if answered else 1
        # 2. What every child is worth: its path and what is seen from there.
        bred = mem[BRED]
        own = plan + mine + gone * RECORD
        depth = min(leaf, plies - gone)
        best = -INFINITY
        for child in range(CHILDREN, CHILDREN + bred * STATE, STATE):
            mem[FIRSTS + (mem[child + 1] >> 25)] = -INFINITY
        for child in range(CHILDREN, CHILDREN + bred * STATE, STATE):
            p0 = mem[child] & HALF
            p1 = mem[child] >> 25
            p2 = mem[child + 1] & HALF
            value = 0
            if depth > 0:
                key = mix(p0, p1, p2, own, salt | WORTH | depth << 12)
                value = recall(key, mem)
                if value == NONE:
                    seen = look(p0, p1, p2, mem[own + COLOUR], mem[own + FORCED])
                    value = search(p0, p1, p2, seen, mem[SPARE_LANE], own, depth, -mem[WIDE], mem[WIDE], mem)
                    if mem[STOP]:
                        return 0
                    keep(key, value, mem)
            value += mem[child + 2]
            mem[child + 3] = value
            first = mem[child + 1] >> 25
            mem[FIRSTS + first] = max(value, mem[FIRSTS + first])
            if value > best:
                best = value
                mem[BEST] = first
        mem[VALUE] = best
        mem[PLANNED] += bred
        mem[STATES] = select(bred, width, mem)
    return mem[BEST]
