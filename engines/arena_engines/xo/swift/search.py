"""The move of the program of 1970, and its analysis in depth: minimax.py over arrays, node for node.

A vector (p, q, r) is one integer p * P + q * Q + r, p in quarters, which compares as the vector does: |q|
stays below 200, |r| below the number of levels. The levels are frames of a stack of its own, so that
the machine code can be kept on the disk:

    frames    int64, levels x FRAME: the threshold, the window, the best value, the move under way. Moves
              are not listed but looked for when their turn comes, for the board is the same again then
    quarters  int8: table 1, by whether the machine moves, alpha and beta
    bits      int8: which bit it is, by the remainder of a bit divided by BITS
    control   int64: the registers below

The functions compile. They must not know: texts, openings, clocks.
"""

from __future__ import annotations

from arena_engines.xo.minimax import WON_P
from arena_engines.xo.scale import EMPTY, WINS
from arena_engines.xo.swift.board import (
    COUNTS,
    FOR_SIDE,
    HIGHS,
    ROW,
    VALUES,
    WHERE,
    WORD,
    WORDS,
    Array,
    World,
    cell_of_pair,
    fives,
    look,
    make,
    mark,
    recommended,
    unmake,
    winning_cell,
)

#: (frames, quarters, bits, control)
Memory = tuple[Array, Array, Array, Array]
WORLD = (
    "Tuple((int64[::1], uint8[::1], int16[::1], int64[::1], uint8[::1], int16[::1], uint8[::1], int64[::1]))"
)
MEMORY = "Tuple((int64[:,::1], int8[::1], int8[::1], int64[::1]))"
SIGNATURE = f"int64({WORLD}, {MEMORY}, int8[::1], int64)"

#: Columns of `frames`. CELL is the move under way, FOUND its higher value, REST how many cells of that
#: value come after it.
THRESHOLD, LOW, HIGH, BEST, CELL, FOUND, REST = range(7)
FRAME = 7
#: Registers: the positions looked at; from how many on every new one is dead; the best move of the root.
NODES, LIMIT, CHOSEN = range(3)
CONTROLS = 3
#: Divided by this prime the bits of a word all leave different remainders.
BITS = 67

P, Q = 1 << 20, 1 << 10
WON = int(4 * WON_P)
#: Beyond every vector, and no vector at all.
LOWEST, HIGHEST = -(1 << 40), 1 << 40
UNDECIDED = 1 << 50


def run(world: World, memory: Memory, marks: Array, side: int) -> int:
    """The cell for `side`. The world is an empty board; `marks` has EMPTY or 1 + side for every cell."""
    control = memory[3]
    control[NODES] = 0
    for cell in range(marks.shape[0]):
        if marks[cell] != EMPTY:
            mark(world, cell, int(marks[cell]) - 1, 0, 0)
    if fives(world, side, 0):
        return winning_cell(world, side)
    if fives(world, 1 - side, 0) < 2 and open_level(world, memory, 0):
        return analyse(world, memory, side)
    return cell_of_pair(world, recommended(world, side, 0))


def analyse(world: World, memory: Memory, machine: int) -> int:
    """The machine's move; level 0 is open."""
    frames, _, _, control = memory
    level = 0
    while True:
        if level == frames.shape[0] - 2:
            value = sweep(world, memory, machine, level)
        else:
            make(world, frames[level, CELL], machine ^ (level & 1), level)
            level += 1
            value = enter(world, memory, machine, level)
        while value != UNDECIDED:
            if level == 0:
                return int(control[CHOSEN])
            level -= 1
            unmake(world, level)
            value = absorb(world, memory, level, value)


def sweep(world: World, memory: Memory, machine: int, level: int) -> int:
    """The value of an open level whose moves all lead to dead positions; none of them needs to be made."""
    frames, _, _, control = memory
    value = UNDECIDED
    while value == UNDECIDED:
        control[NODES] += 1
        look(world, frames[level, CELL], machine ^ (level & 1), level)
        value = settled(world, machine, level + 1)
        if value == UNDECIDED:
            value = static(world, memory, machine, level + 1)
        value = absorb(world, memory, level, value)
    return value


def enter(world: World, memory: Memory, machine: int, level: int) -> int:
    """Look at a position: its value, or UNDECIDED if its moves must tell."""
    control = memory[3]
    control[NODES] += 1
    value = settled(world, machine, level)
    if value != UNDECIDED:
        return value
    if control[NODES] < control[LIMIT] and open_level(world, memory, level):
        return UNDECIDED
    return static(world, memory, machine, level)


def settled(world: World, machine: int, level: int) -> int:
    """The value of a position where the mover makes five or cannot stop the other side, else UNDECIDED."""
    mover = machine ^ (level & 1)
    if fives(world, mover, level):
        return hastened(WON if mover == machine else -WON, 0, level)
    if fives(world, 1 - mover, level) > 1:
        return hastened(-WON if mover == machine else WON, 0, level)
    return UNDECIDED


def hastened(p: int, q: int, level: int) -> int:
    """The vector of p, q and the haste at this level."""
    haste = -level if p > 0 else level if p < 0 else 0
    return p * P + q * Q + haste


def static(world: World, memory: Memory, machine: int, level: int) -> int:
    """The static estimate of a dead position; 0 on a full board."""
    quarters, counts = memory[1], world[2]
    mover = machine ^ (level & 1)
    pair = recommended(world, mover, level)
    if pair == 0:
        return 0
    x, o = pair >> 4, pair & 15
    alpha, beta = (o, x) if machine else (x, o)
    p = int(quarters[((VALUES if mover == machine else 0) + alpha) * VALUES + beta])
    at = COUNTS * (level & ROW) + max(x, o)
    q = int(counts[at + FOR_SIDE * machine]) - int(counts[at + FOR_SIDE * (1 - machine)])
    return hastened(p, q, level)


def open_level(world: World, memory: Memory, level: int) -> int:
    """Set out on the perspective moves of a position; whether it has any."""
    frames = memory[0]
    frames[level, LOW] = frames[level - 1, LOW] if level else LOWEST
    frames[level, HIGH] = frames[level - 1, HIGH] if level else HIGHEST
    frames[level, BEST] = HIGHEST if level & 1 else LOWEST
    frames[level, FOUND] = VALUES
    frames[level, REST] = 0
    return level < frames.shape[0] - 1 and next_move(world, memory, level)


def next_move(world: World, memory: Memory, level: int) -> int:
    """Go on to the next perspective move, the highest first, then in scan order; whether there is one."""
    frames, _, bits, _ = memory
    where = world[3]
    cell = frames[level, CELL] + 1
    if frames[level, REST] == 0:
        if not next_value(world, memory, level):
            return 0
        cell = 0
    word = cell // WORD
    at = WHERE * (level & ROW) + WORDS * frames[level, FOUND]
    left = where[at + word] >> (cell - WORD * word) << (cell - WORD * word)
    while left == 0:
        word += 1
        left = where[at + word]
    frames[level, CELL] = WORD * word + bits[(left & -left) % BITS]
    frames[level, REST] -= 1
    return 1


def next_value(world: World, memory: Memory, level: int) -> int:
    """Go on to the next lower value of perspective moves; whether there is one.

    A five that threatens is the only cell of its value. All other moves lose at once, which is never better:
    they are only counted.
    """
    frames, _, _, control = memory
    counts = world[2]
    highs = COUNTS * (level & ROW) + HIGHS
    value = frames[level, FOUND]
    if WINS <= value < VALUES:
        for lower in range(frames[level, THRESHOLD], WINS):
            control[NODES] += counts[highs + lower]
        return 0
    value -= 1
    while value >= frames[level, THRESHOLD] and counts[highs + value] == 0:
        value -= 1
    frames[level, FOUND] = value
    frames[level, REST] = counts[highs + value]
    return int(value >= frames[level, THRESHOLD])


def absorb(world: World, memory: Memory, level: int, value: int) -> int:
    """Take the value of a move in; the value of the level if no move is left to look at, else UNDECIDED."""
    frames, _, _, control = memory
    if level & 1:
        frames[level, BEST] = min(frames[level, BEST], value)
        frames[level, HIGH] = min(frames[level, HIGH], value)
    elif value > frames[level, BEST]:
        frames[level, BEST] = value
        frames[level, LOW] = max(frames[level, LOW], value)
        if level == 0:
            control[CHOSEN] = frames[0, CELL]
    if frames[level, LOW] < frames[level, HIGH] and next_move(world, memory, level):
        return UNDECIDED
    return int(frames[level, BEST])
