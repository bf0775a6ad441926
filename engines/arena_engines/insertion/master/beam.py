"""Beam search against predicted replies.

Insertion is not a zero-sum game: a long plan of own moves against the replies that this opponent will make
gains far more than guarding against the worst reply. With one reply per move the tree is that of a single
player, and a beam walks it: all own moves of the best `width` states, the opponent's reply to each, equal
boards merged, the best `width` kept, until the known pictures end. A state is worth the gains of its path
and, at the end of the plan, the value of a small exact search.

A prediction that holds with probability c = CONFIDENCE counts c, and the value of the worst reply 1 - c; what
follows the n-th reply counts c**n, since other replies lead to other boards.

A set of equally good replies counts at the mean of its members, of which DRAW selects the one that the plan
continues with; planner.sampled averages over draws. The first moves are not merged then, so that each has a
value in every draw.

A state is four words:  p0 | p1 << 25,  p2 | first move << 25,  value of the path,  value with the search

Replies and searches are kept in the transposition table under keys of their own, so that a wider beam and the
next move's repeat little.
"""

from __future__ import annotations

from arena_engines.insertion.master.layout import (
    BEAM_CHILDREN,
    BEAM_HASH,
    BEAM_HASH_SIZE,
    BEAM_LANES,
    BEAM_LEVEL,
    BEAM_STATES,
    BEST,
    CELL,
    CHILD_COUNT,
    COLOUR,
    CONFIDENCE,
    DRAW,
    FELL,
    FIRST_VALUES,
    FORCED,
    GAIN,
    GENERATION,
    INFINITY,
    LEVEL,
    LEVELS,
    NONE,
    OPEN,
    P0,
    P1,
    P2,
    RECORD,
    REPLY_ORDER,
    ROOT_LEVEL,
    SPARE_LANE,
    STATE,
    STATE_COUNT,
    STOP,
    TABLE,
    TABLE_MASK,
    TIES,
    VALUE,
)
from arena_engines.insertion.master.movegen import Memory, expand, legal_masks
from arena_engines.insertion.master.search import ALL, deepen, different_boards, hash_board, search
from arena_engines.jit import outlined
from arena_protocol.games.insertion.rules import MOVES, count, play

HALF = (1 << 25) - 1
#: Buckets of the selection of the best states.
BUCKETS = 512
#: Kinds of stored values, as bits of the generation in their keys.
REPLY_KEY = 1 << 16
LEAF_KEY = 1 << 17
RISK_KEY = 1 << 18
#: CONFIDENCE of a reply that is predicted for certain.
CERTAIN = 1 << 10
#: Plies of the search that values a reply other than the predicted one.
RISK = 2


def table_get(key: int, mem: Memory) -> int:
    """Return the value stored under a key, or NONE."""
    slot = TABLE + (key & mem[TABLE_MASK]) * 4
    for entry in range(slot, slot + 4, 2):
        if mem[entry] ^ mem[entry + 1] == key:
            return mem[entry + 1] >> 32
    return NONE


def table_put(key: int, value: int, mem: Memory) -> None:
    """Store a 32-bit value in the second entry of its slot, where a search puts its shallower entries."""
    slot = TABLE + (key & mem[TABLE_MASK]) * 4 + 2
    data = value << 32
    mem[slot] = key ^ data
    mem[slot + 1] = data


def find_board(word0: int, word1: int, base: int, mem: Memory) -> int:
    """Return the hash slot of a board: it holds 0, or 1 + the offset of the child with this board."""
    h = (word0 * -7046029254386353131) ^ (word1 * -4417276706812531889)
    slot = (h ^ (h >> 31)) & (BEAM_HASH_SIZE - 1)
    while True:
        at = mem[BEAM_HASH + slot]
        if at == 0:
            return slot
        child = base + at - 1
        if mem[child] == word0 and mem[child + 1] & HALF == word1:
            return slot
        slot = (slot + 1) & (BEAM_HASH_SIZE - 1)


@outlined
def add_child(word0: int, p2: int, first: int, path: int, keep: int, mem: Memory) -> None:
    """Add a board reached with value `path` to the children; of two paths to one board the better stays.

    `keep` = 1: both stay.
    """
    slot = find_board(word0, p2, BEAM_CHILDREN, mem)
    at = mem[BEAM_HASH + slot] - 1
    if at < 0 or keep:
        at = mem[CHILD_COUNT] * STATE
        mem[BEAM_HASH + slot] = at + 1
        mem[CHILD_COUNT] += 1
    elif mem[BEAM_CHILDREN + at + 2] >= path:
        return
    mem[BEAM_CHILDREN + at] = word0
    mem[BEAM_CHILDREN + at + 1] = p2 | first << 25
    mem[BEAM_CHILDREN + at + 2] = path


@outlined
def select(count: int, width: int, mem: Memory) -> int:
    """Copy the best `width` children (by buckets of value) into the states; return their number."""
    if count <= width:
        for i in range(count * STATE):
            mem[BEAM_STATES + i] = mem[BEAM_CHILDREN + i]
        return count
    low = INFINITY
    high = -INFINITY
    for i in range(count):
        value = mem[BEAM_CHILDREN + i * STATE + 3]
        low = min(low, value)
        high = max(high, value)
    span = (high - low) // BUCKETS + 1
    for i in range(BUCKETS + 1):
        mem[BEAM_HASH + i] = 0
    for i in range(count):
        mem[BEAM_HASH + (high - mem[BEAM_CHILDREN + i * STATE + 3]) // span] += 1
    limit = 0
    total = mem[BEAM_HASH]
    while total < width:
        limit += 1
        total += mem[BEAM_HASH + limit]
    # The last bucket is taken only as far as there is room.
    room = width - (total - mem[BEAM_HASH + limit])
    states = 0
    for i in range(count):
        child = BEAM_CHILDREN + i * STATE
        bucket = (high - mem[child + 3]) // span
        if bucket > limit or (bucket == limit and room == 0):
            continue
        if bucket == limit:
            room -= 1
        for word in range(STATE):
            mem[BEAM_STATES + states * STATE + word] = mem[child + word]
        states += 1
    return states


@outlined
def worst_reply(p0: int, p1: int, p2: int, record: int, depth: int, generation: int, mem: Memory) -> int:
    """Return the value of the worst reply for me to its mover, by a search of `depth` plies."""
    key = hash_board(p0, p1, p2, record, generation | RISK_KEY | depth << 12)
    value = table_get(key, mem)
    if value == NONE:
        masks = legal_masks(p0, p1, p2, mem[record + COLOUR], mem[record + FORCED])
        value = search(p0, p1, p2, masks, mem[SPARE_LANE], record, depth, -mem[OPEN], mem[OPEN], mem)
        if not mem[STOP]:
            table_put(key, value, mem)
    return value


@outlined
def mean_cost(p0: int, p1: int, p2: int, moves: int, record: int, mem: Memory) -> int:
    """Return the mean loss to me of a set of replies; `record` is that of their ply in my view."""
    cost = 0
    for move in range(1, MOVES + 1):
        if moves >> move & 1:
            _, _, _, removed, falls, _ = play(p0, p1, p2, move, mem[record + COLOUR])
            cost += removed * mem[record + CELL] + falls * mem[record + FELL]
    return cost // count(moves)


def member(moves: int, number: int) -> int:
    """Return the member of a set of moves with this number, modulo its size."""
    number %= count(moves)
    for _ in range(number):
        moves &= moves - 1
    return count((moves & -moves) - 1)


@outlined
def beam(  # noqa: C901 - compiled together with all below it, so kept in one piece
    p0: int,
    p1: int,
    p2: int,
    record: int,
    mine: int,
    width: int,
    plies: int,
    reply_depth: int,
    leaf: int,
    mem: Memory,
) -> int:
    """Return the first move of the best plan of this width over `plies` known plies; 0 if STOP is set.

    `record` is that of the ply to move in the view of the opponent's model; `mine` is the distance from
    there to the own view. The opponent replies as after a search of `reply_depth` plies, or if that is 0 by
    chance, fixed by board and generation. A plan ends where less than `leaf` plies are left for the search
    that values it. FIRST_VALUES gets the best value by first move; a move whose plans were dropped keeps
    its last.
    """
    mem[BEAM_STATES] = p0 | p1 << 25
    mem[BEAM_STATES + 1] = p2
    mem[BEAM_STATES + 2] = 0
    mem[STATE_COUNT] = 1
    for i in range(16):
        mem[FIRST_VALUES + i] = -INFINITY
    base = LEVELS + BEAM_LEVEL * LEVEL
    generation = mem[GENERATION]
    gone = 0
    confidence = mem[CONFIDENCE]
    ties = mem[REPLY_ORDER] == ALL
    weight = CERTAIN
    while gone < plies and (gone == 0 or gone + 1 + leaf <= plies):
        if mem[STOP]:
            return 0
        theirs = record + (gone + 1) * RECORD
        own = theirs + mine - RECORD
        answered = plies - gone > 1
        depth = min(reply_depth, plies - gone - 1)
        # 1. Every move of every state, and the reply to it.
        for i in range(BEAM_HASH_SIZE):
            mem[BEAM_HASH + i] = 0
        mem[CHILD_COUNT] = 0
        for state in range(BEAM_STATES, BEAM_STATES + mem[STATE_COUNT] * STATE, STATE):
            p0 = mem[state] & HALF
            p1 = mem[state] >> 25
            p2 = mem[state + 1] & HALF
            masks = legal_masks(p0, p1, p2, mem[own + COLOUR], mem[own + FORCED])
            expand(p0, p1, p2, masks, base, own, mem)
            if gone == 0:
                masks &= mem[BEAM_LANES] << 1
            for lane in range(15):
                if masks >> (lane + 1) & 1 == 0:
                    continue
                q0 = mem[base + P0 + lane]
                q1 = mem[base + P1 + lane]
                q2 = mem[base + P2 + lane]
                path = mem[state + 2] + (weight * mem[base + GAIN + lane] >> 10)
                first = mem[state + 1] >> 25
                if gone == 0:
                    first = lane + 1
                if answered:
                    move = 6
                    kind = REPLY_KEY | depth << 12 | mem[REPLY_ORDER] << 18
                    key = hash_board(q0, q1, q2, theirs, generation | kind)
                    if depth == 0:
                        move = 1 + (key >> 20 & HALF) % MOVES
                    elif not mem[theirs + FORCED]:
                        move = table_get(key, mem)
                        if move == NONE:
                            low = max(depth - 2, min(depth, 3))
                            step = max(1, depth - low)
                            move = deepen(q0, q1, q2, theirs, low, depth, step, mem[REPLY_ORDER], mem)
                            if mem[STOP]:
                                return 0
                            if ties:
                                move = different_boards(mem[TIES], LEVELS + ROOT_LEVEL * LEVEL, mem)
                            table_put(key, move, mem)
                    mean = NONE
                    if ties and depth > 0 and not mem[theirs + FORCED]:
                        mean = mean_cost(q0, q1, q2, move, own + RECORD, mem)
                        move = member(move, (key ^ mem[DRAW] * -7046029254386353131) >> 20 & HALF)
                    if confidence < CERTAIN:
                        worst = worst_reply(
                            q0, q1, q2, own + RECORD, min(RISK, plies - gone - 1), generation, mem
                        )
                        if mem[STOP]:
                            return 0
                        path -= (weight * (CERTAIN - confidence) >> 10) * worst >> 10
                    q0, q1, q2, removed, falls, _ = play(q0, q1, q2, move, mem[theirs + COLOUR])
                    cost = removed * mem[own + RECORD + CELL] + falls * mem[own + RECORD + FELL]
                    if mean != NONE:
                        cost = mean
                    path -= (weight * confidence >> 10) * cost >> 10
                add_child(q0 | q1 << 25, q2, first, path, 1 if ties and gone == 0 else 0, mem)
        if answered:
            weight = weight * confidence >> 10
        gone += 2 if answered else 1
        # 2. The value of every child: its path and the exact search from there.
        children = mem[CHILD_COUNT]
        own = record + mine + gone * RECORD
        depth = min(leaf, plies - gone)
        best = -INFINITY
        for child in range(BEAM_CHILDREN, BEAM_CHILDREN + children * STATE, STATE):
            mem[FIRST_VALUES + (mem[child + 1] >> 25)] = -INFINITY
        for child in range(BEAM_CHILDREN, BEAM_CHILDREN + children * STATE, STATE):
            p0 = mem[child] & HALF
            p1 = mem[child] >> 25
            p2 = mem[child + 1] & HALF
            value = 0
            if depth > 0:
                key = hash_board(p0, p1, p2, own, generation | LEAF_KEY | depth << 12)
                value = table_get(key, mem)
                if value == NONE:
                    masks = legal_masks(p0, p1, p2, mem[own + COLOUR], mem[own + FORCED])
                    value = search(p0, p1, p2, masks, mem[SPARE_LANE], own, depth, -mem[OPEN], mem[OPEN], mem)
                    if mem[STOP]:
                        return 0
                    table_put(key, value, mem)
            value = (weight * value >> 10) + mem[child + 2]
            mem[child + 3] = value
            first = mem[child + 1] >> 25
            mem[FIRST_VALUES + first] = max(value, mem[FIRST_VALUES + first])
            if value > best:
                best = value
                mem[BEST] = first
        mem[VALUE] = best
        mem[STATE_COUNT] = select(children, width, mem)
    return mem[BEST]
