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
    Memory,
)
from arena_engines.insertion.master.move_masks import legal_masks
from arena_engines.insertion.master.movegen import expand
from arena_engines.insertion.master.search import ALL, deepen, different_boards, hash_board, search
from arena_engines.jit import outlined
from arena_protocol.games.insertion.rules import MOVES, count, play

HALF = (1 << 25) - 1
#: Buckets of the selection of the best states.
BUCKETS = 512
#: Kinds of stored values, as bits of the generation in their keys.
REPLY_KEY = 1 << 16
VALUE_KEY = 1 << 17
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


def planes_of(state: int, mem: Memory) -> tuple[int, int, int]:
    """Return the board of a state."""
    return mem[state] & HALF, mem[state] >> 25, mem[state + 1] & HALF


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
def exact_value(p0: int, p1: int, p2: int, record: int, depth: int, mem: Memory) -> int:
    """Return the value of an exact search of `depth` plies; not stored if STOP is set."""
    key = hash_board(p0, p1, p2, record, mem[GENERATION] | VALUE_KEY | depth << 12)
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
def reply(q0: int, q1: int, q2: int, record: int, depth: int, key: int, mem: Memory) -> int:
    """Return the predicted reply after a search of `depth` plies, with REPLY_ORDER ALL the set of replies.

    `record` is that of the reply's ply in the view of the opponent's model; 0 if STOP is set.
    """
    if depth == 0:
        return 1 + (key >> 20 & HALF) % MOVES
    if mem[record + FORCED]:
        return 6
    move = table_get(key, mem)
    if move == NONE:
        low = max(depth - 2, min(depth, 3))
        step = max(1, depth - low)
        move = deepen(q0, q1, q2, record, low, depth, step, mem[REPLY_ORDER], mem)
        if mem[STOP]:
            return 0
        if mem[REPLY_ORDER] == ALL:
            move = different_boards(mem[TIES], LEVELS + ROOT_LEVEL * LEVEL, mem)
        table_put(key, move, mem)
    return move


@outlined
def add_answered(
    child: int,
    first: int,
    path: int,
    keep: int,
    theirs: int,
    own: int,
    left: int,
    depth: int,
    weight: int,
    mem: Memory,
) -> None:
    """Add the board behind the reply to a lane of the beam's level; nothing if STOP is set.

    `theirs` and `own` are the records of the reply's ply in both views, `left` the plies from there on,
    `depth` those of the opponent's search, `weight` that of the path before; `keep` as in add_child.
    """
    q0 = mem[child + P0]
    q1 = mem[child + P1]
    q2 = mem[child + P2]
    confidence = mem[CONFIDENCE]
    ties = mem[REPLY_ORDER] == ALL
    kind = REPLY_KEY | depth << 12 | mem[REPLY_ORDER] << 18
    key = hash_board(q0, q1, q2, theirs, mem[GENERATION] | kind)
    move = reply(q0, q1, q2, theirs, depth, key, mem)
    mean = NONE
    if ties and depth > 0 and not mem[theirs + FORCED] and move:
        mean = mean_cost(q0, q1, q2, move, own, mem)
        move = member(move, (key ^ mem[DRAW] * -7046029254386353131) >> 20 & HALF)
    if confidence < CERTAIN and move:
        worst = exact_value(q0, q1, q2, own, min(RISK, left), mem)
        path -= (weight * (CERTAIN - confidence) >> 10) * worst >> 10
    if mem[STOP]:
        return
    q0, q1, q2, removed, falls, _ = play(q0, q1, q2, move, mem[theirs + COLOUR])
    cost = removed * mem[own + CELL] + falls * mem[own + FELL]
    if mean != NONE:
        cost = mean
    path -= (weight * confidence >> 10) * cost >> 10
    add_child(q0 | q1 << 25, q2, first, path, keep, mem)


@outlined
def add_children(state: int, record: int, mine: int, left: int, depth: int, weight: int, mem: Memory) -> None:
    """Add the boards behind every move of a state and the reply to it; not all if STOP is set.

    `record` is that of the state's ply in the view of the opponent's model, `mine` the distance from there to
    the own view, `left` the known plies from there on (1: no reply), `depth` those of the opponent's search.
    """
    own = record + mine
    base = LEVELS + BEAM_LEVEL * LEVEL
    p0, p1, p2 = planes_of(state, mem)
    first = mem[state + 1] >> 25
    masks = legal_masks(p0, p1, p2, mem[own + COLOUR], mem[own + FORCED])
    expand(p0, p1, p2, masks, base, own, mem)
    keep = 0
    if first == 0:
        masks &= mem[BEAM_LANES] << 1
        keep = 1 if mem[REPLY_ORDER] == ALL else 0
    for lane in range(15):
        if masks >> (lane + 1) & 1 == 0:
            continue
        child = base + lane
        path = mem[state + 2] + (weight * mem[child + GAIN] >> 10)
        move = first if first else lane + 1
        if left == 1:
            add_child(mem[child + P0] | mem[child + P1] << 25, mem[child + P2], move, path, keep, mem)
            continue
        theirs = record + RECORD
        add_answered(child, move, path, keep, theirs, own + RECORD, left - 1, depth, weight, mem)
        if mem[STOP]:
            return


@outlined
def value_children(record: int, depth: int, weight: int, mem: Memory) -> None:
    """Value every child by its path and an exact search, for FIRST_VALUES, BEST and VALUE; void with STOP.

    `record` is that of the children's ply in the own view, `depth` the search's plies, `weight` its weight.
    """
    end = BEAM_CHILDREN + mem[CHILD_COUNT] * STATE
    mem[VALUE] = -INFINITY
    for child in range(BEAM_CHILDREN, end, STATE):
        mem[FIRST_VALUES + (mem[child + 1] >> 25)] = -INFINITY
    for child in range(BEAM_CHILDREN, end, STATE):
        value = mem[child + 2]
        if depth > 0:
            p0, p1, p2 = planes_of(child, mem)
            value += weight * exact_value(p0, p1, p2, record, depth, mem) >> 10
            if mem[STOP]:
                return
        mem[child + 3] = value
        first = mem[child + 1] >> 25
        mem[FIRST_VALUES + first] = max(value, mem[FIRST_VALUES + first])
        if value > mem[VALUE]:
            mem[VALUE] = value
            mem[BEST] = first


@outlined
def beam(
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
    gone = 0
    weight = CERTAIN
    while gone < plies and (gone == 0 or gone + 1 + leaf <= plies):
        left = plies - gone
        for i in range(BEAM_HASH_SIZE):
            mem[BEAM_HASH + i] = 0
        mem[CHILD_COUNT] = 0
        at = record + gone * RECORD
        depth = min(reply_depth, left - 1)
        for state in range(BEAM_STATES, BEAM_STATES + mem[STATE_COUNT] * STATE, STATE):
            add_children(state, at, mine, left, depth, weight, mem)
            if mem[STOP]:
                return 0
        gone += min(2, left)
        if left > 1:
            weight = weight * mem[CONFIDENCE] >> 10
        value_children(record + mine + gone * RECORD, min(leaf, plies - gone), weight, mem)
        if mem[STOP]:
            return 0
        mem[STATE_COUNT] = select(mem[CHILD_COUNT], width, mem)
    return mem[BEST]
