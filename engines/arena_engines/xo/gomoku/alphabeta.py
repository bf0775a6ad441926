"""Principal variation search with a transposition table; VCF and VCT at its nodes.

Values are those of the side to move. Beyond MATE they are proofs: a win in WON - value plies at most; a win
one ply nearer is worth one more. All other values are within -UNPROVEN..UNPROVEN. A loss is proven only if
every legal move loses, so a node whose move list was cut by its width has at least the value -UNPROVEN; lists
against a threat of five or of an open four are complete (threats.list_answers). A node:

    1. `terminal`     ranks decide: five now, two fives against us, an open four
    2. `probe_table`  the transposition table
    3. `quiescence`   VCF, near the root VCT; at the horizon the static value; `futile` shortly above it
    4. `list_moves` (ordering.py)  the moves, best first
    5. `make_next`, `update`  a null window for all moves but the first, late ones at reduced depth first

The search keeps its own stack of frames, one a ply: numba cannot cache recursive functions on disk. It stops
when control[STOP] is set or control[LIMIT] nodes are reached; its value is then meaningless, control[BEST] is
not. The functions are compiled by numba; the arrays are described in board.py and memory.py.

An entry of the transposition table is two int64, the hash and

    value + OFFSET << 24 | depth << 10 | bound << 8 | move

with the value of a win counted from the position itself.
"""

from __future__ import annotations

from arena_engines.jit import outlined
from arena_engines.xo.gomoku.board import (
    Board,
    cell_of_rank,
    count_of_rank,
    make,
    moving_value,
    open_four,
    unmake,
    waiting_value,
)
from arena_engines.xo.gomoku.memory import (
    AGAIN,
    ATTACK_NODES,
    BEST,
    BEST_VALUE,
    CHOSEN,
    COUNT,
    CUT,
    DEPTH,
    FIRST_LOW,
    HASH,
    HIGH,
    KEY,
    LEFT,
    LIMIT,
    LOW,
    MAX_PLY,
    NODES,
    NUMBER,
    ROOT_WIDTH,
    STOP,
    VCF_BUDGET,
    VCT_BUDGET,
    Memory,
)
from arena_engines.xo.gomoku.ordering import list_moves, update_history, width
from arena_engines.xo.gomoku.patterns import (
    FOUR_AND_THREE,
    SINGLE_FOUR,
    THREATENS_FOUR,
    TWO_THREES,
    WINS_NEXT,
    WINS_NOW,
    Array,
)
from arena_engines.xo.gomoku.threats import FAILS, PLIES, SALTS, probe_attack, store_attack, vcf, vct

WON = 1_000_000
#: Values beyond this are wins in WON - value plies.
MATE = WON - 1000
#: The bound of values without a proof.
UNPROVEN = 100_000
#: No value yet: the node must be searched.
UNDECIDED = 2 * WON

EXACT, LOWER, UPPER = 1, 2, 3
OFFSET = 1 << 21
DEPTHS = 127
CELLS = 255

#: Late move reductions: the first moves have full depth, the others one ply less, from LATE on two, from
#: LATEST on three.
FULL_DEPTH_MOVES = 2
LATE, LATEST = 6, 14
#: A node with at most FUTILE_DEPTH plies left is not searched if its static value is above a null window by
#: FUTILITY a ply.
FUTILE_DEPTH = 3
FUTILITY = 250
#: Below the horizon a threatened open four is still answered, down to this depth.
DEEPEST = -4
#: Fours in a row and positions that VCF may use at a node.
FOURS_DEPTH = 10
FOURS_NODES = 40
#: VCT runs at nodes of plies up to THREAT_PLIES, with at most THREATS threats and a quarter of
#: control[ATTACK_NODES] positions for each ply.
THREAT_PLIES = 3
THREATS = 8


def search_root(board: Board, memory: Memory, side: int, depth: int, low: int, high: int) -> int:
    """The value at this depth, or a bound outside low..high; control[BEST] is the best move so far."""
    _, _, _, frames, moves, _, _, _, _, control = memory
    frames[0, DEPTH] = depth
    frames[0, LOW] = low
    frames[0, HIGH] = high
    ply = 0
    value = begin_node(board, memory, side, 0)
    while True:
        while value == UNDECIDED:
            make_next(board, memory, side ^ ply & 1, ply)
            ply += 1
            value = begin_node(board, memory, side ^ ply & 1, ply)
        if ply == 0:
            return value
        ply -= 1
        unmake(board, moves[ply, frames[ply, NUMBER]], side ^ ply & 1)
        control[HASH] = frames[ply, KEY]
        value = 0 if control[STOP] else update(memory, side ^ ply & 1, ply, -value)


@outlined
def begin_node(board: Board, memory: Memory, side: int, ply: int) -> int:
    """The value of a new node if steps 1 to 3 find it, else UNDECIDED, its moves listed."""
    table, _, _, frames, moves, _, _, _, history, control = memory
    control[NODES] += 1
    if control[STOP] or control[NODES] >= control[LIMIT]:
        control[STOP] = 1
        return 0
    value = terminal(board, control, side, ply)
    if value != UNDECIDED:
        return value
    # Mate distance pruning: no win within five plies is left, and no loss within two.
    frames[ply, LOW] = max(frames[ply, LOW], ply + 2 - WON)
    frames[ply, HIGH] = min(frames[ply, HIGH], WON - ply - 5)
    if frames[ply, LOW] >= frames[ply, HIGH]:
        return int(frames[ply, LOW])
    depth, key = frames[ply, DEPTH], control[HASH]
    # At the root a move is wanted, not a value alone.
    if ply > 0:
        value = probe_table(table, key, ply, depth, frames[ply, LOW], frames[ply, HIGH])
        if value != UNDECIDED:
            return value
    fives = count_of_rank(board, 1 - side, WINS_NOW)
    # A threatened five has to be met at once: no attack and no static value comes before that.
    if fives == 0:
        value = quiescence(board, memory, side, depth, ply)
        if value == UNDECIDED and frames[ply, HIGH] - frames[ply, LOW] == 1:
            value = futile(board, side, depth, frames[ply, HIGH])
        if value != UNDECIDED:
            return value
    limit = control[ROOT_WIDTH] if ply == 0 else width(depth)
    count, cut = list_moves(board, moves, history, side, ply, limit, stored_move(table, key))
    if count == 0:
        return 0
    frames[ply, CUT] = cut
    # A forced answer costs no depth: a line of fours is searched to its end.
    begin_moves(memory, ply, count, depth - (fives == 0))
    return UNDECIDED


def begin_moves(memory: Memory, ply: int, count: int, left: int) -> None:
    """Start on the `count` moves of a node; each has `left` plies of depth."""
    _, _, _, frames, moves, _, _, _, _, control = memory
    if ply == 0:
        control[BEST] = moves[0, 0]
    frames[ply, KEY] = control[HASH]
    frames[ply, FIRST_LOW] = frames[ply, LOW]
    frames[ply, BEST_VALUE] = -WON
    frames[ply, CHOSEN] = moves[ply, 0]
    frames[ply, NUMBER] = 0
    frames[ply, AGAIN] = 0
    frames[ply, COUNT] = count
    frames[ply, LEFT] = left


def terminal(board: Board, control: Array, side: int, ply: int) -> int:
    """The value if ranks decide the node or the stack is full, else UNDECIDED."""
    if count_of_rank(board, side, WINS_NOW):
        if ply == 0:
            control[BEST] = cell_of_rank(board, side, WINS_NOW)
        return WON - ply - 1
    four = open_four(board, side)
    if four >= 0:
        if ply == 0:
            control[BEST] = four
        return WON - ply - 3
    # A lost root still needs a move.
    if count_of_rank(board, 1 - side, WINS_NOW) > 1 and ply > 0:
        return ply + 2 - WON
    return evaluate(board, side) if ply >= MAX_PLY else UNDECIDED


def quiescence(board: Board, memory: Memory, side: int, depth: int, ply: int) -> int:
    """The value of a VCF or VCT; at the horizon the static value, unless an open four is threatened."""
    _, attacks, _, _, _, path, _, _, _, control = memory
    fours = count_of_rank(board, side, SINGLE_FOUR) + count_of_rank(board, side, FOUR_AND_THREE)
    # The last bits keep these entries apart from those of VCT. A failure is searched for once, not in each
    # iteration again.
    key = control[HASH] ^ SALTS[side] ^ 3
    if fours and probe_attack(attacks, key, FOURS_NODES) != FAILS:
        control[VCF_BUDGET] = FOURS_NODES
        found = vcf(board, path, control, side, FOURS_DEPTH)
        if found == 0:
            store_attack(attacks, key, FAILS, FOURS_NODES)
        else:
            if ply == 0:
                control[BEST] = found % PLIES
            return WON - ply - found // PLIES
    threes = count_of_rank(board, side, THREATENS_FOUR) + count_of_rank(board, side, TWO_THREES)
    if 0 < ply <= THREAT_PLIES and fours + threes and has_vct(board, memory, side, ply):
        return WON - ply - 2 * THREATS - 3
    if depth <= 0 and (depth <= DEEPEST or not count_of_rank(board, 1 - side, WINS_NEXT)):
        return evaluate(board, side)
    return UNDECIDED


def futile(board: Board, side: int, depth: int, high: int) -> int:
    """The static value if it is so far above a null window that the search would hardly fall below it."""
    threatened = count_of_rank(board, 1 - side, WINS_NEXT) > 0
    # A static value proves nothing, so it may not cut off the search for a proof either.
    if depth > FUTILE_DEPTH or threatened or abs(high) >= UNPROVEN:
        return UNDECIDED
    value = evaluate(board, side)
    return value if value - FUTILITY * depth >= high else UNDECIDED


def has_vct(board: Board, memory: Memory, side: int, ply: int) -> int:
    """Whether VCT finds a win; a failure is stored with its budget, so that it is not searched for again."""
    _, attacks, _, _, _, _, _, _, _, control = memory
    nodes = control[ATTACK_NODES] >> 2 * ply
    # The last bit keeps these entries apart from those of VCT itself, whose effort is a depth.
    key = control[HASH] ^ SALTS[side] ^ 1
    if probe_attack(attacks, key, nodes) == FAILS:
        return 0
    control[VCT_BUDGET] = nodes
    if vct(board, memory, side, THREATS):
        return 1
    if not control[STOP]:
        store_attack(attacks, key, FAILS, nodes)
    return 0


@outlined
def make_next(board: Board, memory: Memory, side: int, ply: int) -> None:
    """Make the next move of a ply and set the task of the ply below.

    Every move but the first gets a null window; `update` repeats it with the full one if it is better.
    """
    _, _, hashes, frames, moves, _, _, _, _, control = memory
    low, high = frames[ply, LOW], frames[ply, HIGH]
    if frames[ply, NUMBER] > 0 and not frames[ply, AGAIN]:
        high = low + 1
    frames[ply + 1, DEPTH] = frames[ply, LEFT] - (0 if frames[ply, AGAIN] else reduction(frames, ply))
    frames[ply + 1, LOW] = -high
    frames[ply + 1, HIGH] = -low
    cell = moves[ply, frames[ply, NUMBER]]
    make(board, cell, side)
    control[HASH] ^= hashes[side, cell]


def reduction(frames: Array, ply: int) -> int:
    """By how many plies the first search of a late move is less deep."""
    number, left = frames[ply, NUMBER], frames[ply, LEFT]
    # The depth that is left is that of the node where its moves answer a five: none of them is late.
    if number < FULL_DEPTH_MOVES or left < 2 or left == frames[ply, DEPTH]:
        return 0
    less = 1 + (number >= LATE) + (number >= LATEST)
    return int(min(less, left - 1))


def update(memory: Memory, side: int, ply: int, value: int) -> int:
    """Take the value of a move in. Returns the value of the ply after its last move, else UNDECIDED."""
    table, _, _, frames, moves, _, _, _, history, control = memory
    number = frames[ply, NUMBER]
    better = number > 0 and not frames[ply, AGAIN] and frames[ply, LOW] < value
    # Even above the window a reduced search proves nothing at the full depth.
    if better and (value < frames[ply, HIGH] or reduction(frames, ply)):
        frames[ply, AGAIN] = 1
        return UNDECIDED
    frames[ply, AGAIN] = 0
    if value > frames[ply, BEST_VALUE]:
        frames[ply, BEST_VALUE] = value
        frames[ply, CHOSEN] = moves[ply, number]
        if value > frames[ply, LOW]:
            frames[ply, LOW] = value
            if ply == 0:
                control[BEST] = moves[ply, number]
    frames[ply, NUMBER] = number + 1
    if frames[ply, LOW] < frames[ply, HIGH] and number + 1 < frames[ply, COUNT]:
        return UNDECIDED
    best = frames[ply, BEST_VALUE]
    if frames[ply, CUT] and best < -UNPROVEN:
        best = -UNPROVEN  # a move beyond the list may hold
    if best > frames[ply, FIRST_LOW]:
        update_history(history, side, frames[ply, CHOSEN], max(frames[ply, DEPTH], 1))
    bound = LOWER if best >= frames[ply, HIGH] else EXACT if best > frames[ply, FIRST_LOW] else UPPER
    store(table, frames[ply, KEY], ply, frames[ply, DEPTH], best, bound, frames[ply, CHOSEN])
    return int(best)


def evaluate(board: Board, side: int) -> int:
    """The static value: the cells' values for the side to move, less those for the other side, bounded."""
    value = moving_value(board, side) - waiting_value(board, 1 - side)
    return max(-UNPROVEN, min(UNPROVEN, value))


def store(table: Array, key: int, ply: int, depth: int, value: int, bound: int, move: int) -> None:
    """Store the result of a search to `depth`, `ply` plies below the root; it replaces the old entry."""
    # Wins count plies from the root; in the table from the position, which other lines reach at other plies.
    if value > MATE:
        value += ply
    elif value < -MATE:
        value -= ply
    slot = key & (table.shape[0] - 1)
    table[slot, 0] = key
    table[slot, 1] = (value + OFFSET) << 24 | max(depth, 0) << 10 | bound << 8 | move


def probe_table(table: Array, key: int, ply: int, depth: int, low: int, high: int) -> int:
    """The stored value if it is deep enough and decides the window low..high, else UNDECIDED."""
    slot = key & (table.shape[0] - 1)
    entry = table[slot, 1]
    if table[slot, 0] != key or (entry >> 10 & DEPTHS) < depth:
        return UNDECIDED
    value = (entry >> 24) - OFFSET
    if value > MATE:
        value -= ply
    elif value < -MATE:
        value += ply
    bound = entry >> 8 & 3
    if bound == EXACT or (bound == LOWER and value >= high) or (bound == UPPER and value <= low):
        return int(value)
    return UNDECIDED


def stored_move(table: Array, key: int) -> int:
    """The stored best move of a position, else -1."""
    slot = key & (table.shape[0] - 1)
    found = table[slot, 0] == key and table[slot, 1] != 0
    return int(table[slot, 1] & CELLS) if found else -1
