"""The move of the program of 1970, and its analysis in depth: minimax.py over arrays, node for node.

A vector (p, q, r) is one integer p * P + q * Q + r, p in quarters, which compares as the vector does: |q|
stays below 200, |r| below the number of levels. The levels are frames of a stack of its own, so that
the machine code can be kept on the disk:

    frames   int64, levels x FRAME: the threshold, the window, the best value, the move under way. Moves
             are not listed but looked for when their turn comes, for the board is the same again then
    control  int64: the registers below

The functions compile. They must not know: texts, openings, clocks.
"""

from __future__ import annotations

from arena_engines.xo.minimax import WON_P
from arena_engines.xo.scale import EMPTY
from arena_engines.xo.swift.board import (
    COUNT,
    HIGHER,
    QUARTERS,
    VALUES,
    Array,
    World,
    cell_of_values,
    fives,
    make,
    recommended,
    unmake,
    winning_cell,
)

#: (frames, control)
Memory = tuple[Array, Array]
WORLD = "Tuple((int32[:,::1], int16[:,:,:,::1], int8[::1]))"
MEMORY = "Tuple((int64[:,::1], int64[::1]))"
SIGNATURE = f"int64({WORLD}, {MEMORY}, int8[::1], int64)"

#: Columns of `frames`. CELL is the move under way, FOUND its higher value, REST how many cells of that
#: value come after it.
THRESHOLD, LOW, HIGH, BEST, CELL, FOUND, REST = range(7)
FRAME = 7
#: Registers: the positions looked at; from how many on every new one is dead; the best move of the root.
NODES, LIMIT, CHOSEN = range(3)
CONTROLS = 3

P, Q = 1 << 20, 1 << 10
WON = int(4 * WON_P)
#: Beyond every vector, and no vector at all.
LOWEST, HIGHEST = -(1 << 40), 1 << 40
UNDECIDED = 1 << 50


def run(world: World, memory: Memory, marks: Array, side: int) -> int:
    """The cell for `side`. The world is an empty board; `marks` has EMPTY or 1 + side for every cell."""
    _, control = memory
    control[NODES] = 0
    for cell in range(marks.shape[0]):
        if marks[cell] != EMPTY:
            make(world, cell, marks[cell] - 1)
    if fives(world, side):
        return winning_cell(world, side)
    if fives(world, 1 - side) < 2 and open_level(world, memory, 0):
        return analyse(world, memory, side)
    pair = recommended(world, side)
    return cell_of_values(world, pair // VALUES, pair % VALUES)


def analyse(world: World, memory: Memory, machine: int) -> int:
    """The machine's move; level 0 is open."""
    frames, control = memory
    level = 0
    while True:
        make(world, frames[level, CELL], machine ^ (level & 1))
        level += 1
        value = enter(world, memory, machine, level)
        while value != UNDECIDED:
            level -= 1
            unmake(world, frames[level, CELL], machine ^ (level & 1))
            value = absorb(world, memory, level, value)
            if level == 0 and value != UNDECIDED:
                return int(control[CHOSEN])


def enter(world: World, memory: Memory, machine: int, level: int) -> int:
    """Look at a position: its value, or UNDECIDED if its moves must tell."""
    _, control = memory
    control[NODES] += 1
    mover = machine ^ (level & 1)
    if fives(world, mover):
        return hastened(WON if mover == machine else -WON, 0, level)
    if fives(world, 1 - mover) > 1:
        return hastened(-WON if mover == machine else WON, 0, level)
    if control[NODES] < control[LIMIT] and open_level(world, memory, level):
        return UNDECIDED
    return static(world, mover, machine, level)


def hastened(p: int, q: int, level: int) -> int:
    """The vector of p, q and the haste at this level."""
    haste = -level if p > 0 else level if p < 0 else 0
    return p * P + q * Q + haste


def static(world: World, mover: int, machine: int, level: int) -> int:
    """The static estimate of a dead position; 0 on a full board."""
    board, _, tables = world
    pair = recommended(world, mover)
    if pair == 0:
        return 0
    x, o = pair // VALUES, pair % VALUES
    alpha, beta = (o, x) if machine else (x, o)
    row = VALUES if mover == machine else 0
    p = int(tables[QUARTERS + (row + alpha) * VALUES + beta])
    best = max(x, o)
    return hastened(p, int(board[COUNT + machine, best] - board[COUNT + 1 - machine, best]), level)


def open_level(world: World, memory: Memory, level: int) -> int:
    """Set out on the perspective moves of a position; whether it has any."""
    frames, _ = memory
    frames[level, LOW] = frames[level - 1, LOW] if level else LOWEST
    frames[level, HIGH] = frames[level - 1, HIGH] if level else HIGHEST
    frames[level, BEST] = HIGHEST if level & 1 else LOWEST
    frames[level, FOUND] = VALUES
    frames[level, REST] = 0
    return level < frames.shape[0] - 1 and next_move(world, frames, level)


def next_move(world: World, frames: Array, level: int) -> int:
    """Go on to the next perspective move, the highest first, then in scan order; whether there is one."""
    board, _, _ = world
    cell = frames[level, CELL] + 1
    value = frames[level, FOUND]
    if frames[level, REST] == 0:
        cell = 0
        value -= 1
        while value >= frames[level, THRESHOLD] and board[COUNT + 2, value] == 0:
            value -= 1
        if value < frames[level, THRESHOLD]:
            return 0
        frames[level, FOUND] = value
        frames[level, REST] = board[COUNT + 2, value]
    while board[HIGHER, cell] != value:
        cell += 1
    frames[level, CELL] = cell
    frames[level, REST] -= 1
    return 1


def absorb(world: World, memory: Memory, level: int, value: int) -> int:
    """Take the value of a move in; the value of the level if no move is left to look at, else UNDECIDED."""
    frames, control = memory
    if level & 1:
        frames[level, BEST] = min(frames[level, BEST], value)
        frames[level, HIGH] = min(frames[level, HIGH], value)
    elif value > frames[level, BEST]:
        frames[level, BEST] = value
        frames[level, LOW] = max(frames[level, LOW], value)
        if level == 0:
            control[CHOSEN] = frames[0, CELL]
    if frames[level, LOW] < frames[level, HIGH] and next_move(world, frames, level):
        return UNDECIDED
    return int(frames[level, BEST])
