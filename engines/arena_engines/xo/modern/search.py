"""Alpha-beta over the cells that matter, with a table of positions and searches for threats.

Values are those of the side to move, within -WON..WON; a win nearer by a ply is worth one more. Every node:

    1. what the ranks of cells decide: five now, two fives against us, an open four (`plain`)
    2. what the table knows
    3. a win by fours, near the root one by threats; at the horizon the static value (`quiet`)
    4. the moves, best first; all but the first are asked only whether they are better at all, the late
       ones to less depth first (`descend`, `absorb`)

The search keeps its own stack of frames, one a ply, so that its machine code can be kept on the disk. It
stops when control[STOP] is set or control[LIMIT] nodes are reached; what it returns then is of no use, but
control[BEST] is. The functions compile. They must not know: clocks, texts.
"""

from __future__ import annotations

from arena_engines.jit import outlined
from arena_engines.xo.modern.board import World, cell_of_rank, how_many, make, unmake
from arena_engines.xo.modern.fours import PLIES, win_by_fours
from arena_engines.xo.modern.memory import (
    AGAIN,
    BEST,
    BEST_VALUE,
    CHOSEN,
    COUNT,
    DEPTH,
    ENOUGH,
    FIRST_LOW,
    FOURS_LEFT,
    HASH,
    HIGH,
    KEY,
    LEFT,
    LIMIT,
    LOW,
    MAX_PLY,
    NODES,
    NUMBER,
    STOP,
    THREATS_LEFT,
    Memory,
)
from arena_engines.xo.modern.moves import list_moves, praise
from arena_engines.xo.modern.patterns import (
    FOUR_AND_THREE,
    SINGLE_FOUR,
    THREATENS_FOUR,
    TWO_THREES,
    WINS_NEXT,
    WINS_NOW,
    Array,
)
from arena_engines.xo.modern.threats import FAILS, SALTS, note, recalled, win_by_threats
from arena_engines.xo.modern.values import (
    EXACT,
    LOWER,
    UNDECIDED,
    UPPER,
    WON,
    known_move,
    remember,
    remembered,
    worth,
)

#: So many moves are searched to the full depth at once, the others a ply less deep first; those from the
#: sixth on two plies, the last ones three.
FULL_DEPTH_MOVES = 2
LATE, LATEST = 6, 14
#: Below the horizon an open four that threatens is answered, down to this depth.
DEEPEST = -4
#: Fours in a row and positions that the search for fours at a node may use.
FOURS_DEPTH = 10
FOURS_NODES = 40
#: Near the root wins by threats are searched for too: so many threats, and positions (a quarter a ply on).
THREAT_PLIES = 3
THREATS = 8
THREAT_NODES = 2000


def search_root(world: World, memory: Memory, side: int, depth: int, low: int, high: int) -> int:
    """The value of the position at this depth; control[BEST] is the best move, the best so far if stopped."""
    _, _, _, frames, moves, _, _, _, _, control = memory
    frames[0, DEPTH] = depth
    frames[0, LOW] = low
    frames[0, HIGH] = high
    ply = 0
    value = enter(world, memory, side, 0)
    while True:
        while value == UNDECIDED:
            descend(world, memory, side ^ ply & 1, ply)
            ply += 1
            value = enter(world, memory, side ^ ply & 1, ply)
        if ply == 0:
            return value
        ply -= 1
        unmake(world, moves[ply, frames[ply, NUMBER]], side ^ ply & 1)
        control[HASH] = frames[ply, KEY]
        value = 0 if control[STOP] else absorb(memory, side ^ ply & 1, ply, -value)


@outlined
def enter(world: World, memory: Memory, side: int, ply: int) -> int:
    """The value of a new node if it can be told at once, else UNDECIDED and its moves are listed."""
    table, _, _, frames, moves, _, _, _, history, control = memory
    control[NODES] += 1
    if control[STOP] or control[NODES] >= control[LIMIT]:
        control[STOP] = 1
        return 0
    value = plain(world, control, side, ply)
    if value != UNDECIDED:
        return value
    # Nothing can be better than a win in five plies now, nor worse than a loss in two.
    frames[ply, LOW] = max(frames[ply, LOW], ply + 2 - WON)
    frames[ply, HIGH] = min(frames[ply, HIGH], WON - ply - 5)
    if frames[ply, LOW] >= frames[ply, HIGH]:
        return int(frames[ply, LOW])
    depth, key = frames[ply, DEPTH], control[HASH]
    if ply > 0:
        value = remembered(table, key, ply, depth, frames[ply, LOW], frames[ply, HIGH])
        if value != UNDECIDED:
            return value
    threats = how_many(world, 1 - side, WINS_NOW)
    if threats == 0:
        value = quiet(world, memory, side, depth, ply)
        if value != UNDECIDED:
            return value
    count = list_moves(world, moves, history, side, ply, depth, known_move(table, key))
    if count == 0:
        return 0
    # A forced answer costs no depth, so that a line of fours is seen to its end.
    begin(memory, ply, count, depth - (threats == 0))
    return UNDECIDED


def begin(memory: Memory, ply: int, count: int, left: int) -> None:
    """Set out on the moves of a node, each with so much depth left."""
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


def plain(world: World, control: Array, side: int, ply: int) -> int:
    """What the ranks of cells decide: five now, two fives against us, an open four; and the last ply."""
    if how_many(world, side, WINS_NOW):
        if ply == 0:
            control[BEST] = cell_of_rank(world, side, WINS_NOW)
        return WON - ply - 1
    threats = how_many(world, 1 - side, WINS_NOW)
    if threats == 0 and how_many(world, side, WINS_NEXT):
        if ply == 0:
            control[BEST] = cell_of_rank(world, side, WINS_NEXT)
        return WON - ply - 3
    if threats > 1 and ply > 0:
        return ply + 2 - WON
    return worth(world, side) if ply >= MAX_PLY else UNDECIDED


def quiet(world: World, memory: Memory, side: int, depth: int, ply: int) -> int:
    """A win by fours or by threats; at the horizon the static value, unless an open four threatens."""
    _, _, _, _, _, path, _, _, _, control = memory
    fours = how_many(world, side, SINGLE_FOUR) + how_many(world, side, FOUR_AND_THREE)
    if fours:
        control[FOURS_LEFT] = FOURS_NODES
        found = win_by_fours(world, path, control, side, FOURS_DEPTH)
        if found:
            if ply == 0:
                control[BEST] = found % PLIES
            return WON - ply - found // PLIES
    threes = how_many(world, side, THREATENS_FOUR) + how_many(world, side, TWO_THREES)
    if 0 < ply <= THREAT_PLIES and fours + threes and threatens(world, memory, side, ply):
        return WON - ply - 2 * THREATS - 1
    if depth <= 0 and (depth <= DEEPEST or not how_many(world, 1 - side, WINS_NEXT)):
        return worth(world, side)
    return UNDECIDED


def threatens(world: World, memory: Memory, side: int, ply: int) -> int:
    """Whether a win by threats is found; what was looked for in vain with this effort is not again."""
    _, known, _, _, _, _, _, _, _, control = memory
    effort = THREAT_NODES >> 2 * ply
    key = control[HASH] ^ SALTS[side] ^ 1
    if recalled(known, key, effort) == FAILS:
        return 0
    control[THREATS_LEFT] = effort
    control[ENOUGH] = 0
    if win_by_threats(world, memory, side, THREATS):
        return 1
    if not control[STOP]:
        note(known, key, FAILS, effort)
    return 0


@outlined
def descend(world: World, memory: Memory, side: int, ply: int) -> None:
    """Make the next move of a ply and set the task of the one below.

    All moves but the first are first asked only whether they are better at all.
    """
    _, _, hashes, frames, moves, _, _, _, _, control = memory
    low, high = frames[ply, LOW], frames[ply, HIGH]
    if frames[ply, NUMBER] > 0 and not frames[ply, AGAIN]:
        high = low + 1
    frames[ply + 1, DEPTH] = frames[ply, LEFT] - (0 if frames[ply, AGAIN] else reduction(frames, ply))
    frames[ply + 1, LOW] = -high
    frames[ply + 1, HIGH] = -low
    cell = moves[ply, frames[ply, NUMBER]]
    make(world, cell, side)
    control[HASH] ^= hashes[side, cell]


def reduction(frames: Array, ply: int) -> int:
    """How many plies less deep a late move is looked at first; only if it is better than expected, fully."""
    number, left = frames[ply, NUMBER], frames[ply, LEFT]
    if number < FULL_DEPTH_MOVES or left < 2 or left == frames[ply, DEPTH]:
        return 0
    less = 1 + (number >= LATE) + (number >= LATEST)
    return int(min(less, left - 1))


def absorb(memory: Memory, side: int, ply: int, value: int) -> int:
    """Take the value of a move in; the value of the ply if it is the last one, else UNDECIDED."""
    table, _, _, frames, moves, _, _, _, history, control = memory
    number = frames[ply, NUMBER]
    better = number > 0 and not frames[ply, AGAIN] and frames[ply, LOW] < value
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
    if best > frames[ply, FIRST_LOW]:
        praise(history, side, frames[ply, CHOSEN], max(frames[ply, DEPTH], 1))
    bound = LOWER if best >= frames[ply, HIGH] else EXACT if best > frames[ply, FIRST_LOW] else UPPER
    remember(table, frames[ply, KEY], ply, frames[ply, DEPTH], best, bound, frames[ply, CHOSEN])
    return int(best)
