"""The fifteen children of one node, made, seen and valued all at once in vector code.

A level holds them lane by lane (layout.py); lane = move - 1. Lanes of moves that are no distinct moves
hold copies, lane 15 holds what it held: what is done with a level names the lanes that count.
It must not know: depths, windows, tables.
"""

from __future__ import annotations

from arena_engines.insertion.master.layout import (
    CELL,
    COLOUR,
    FELL,
    FLIP,
    FORCED,
    GAIN,
    HISTORY,
    INFINITY,
    KEY,
    NONE,
    P0,
    P1,
    P2,
    RECORD,
    REPLY,
    ROWS,
    SIGHT,
)
from arena_engines.insertion.master.sight import sight
from arena_engines.jit import outlined
from arena_protocol.games.insertion.rules import drop, push_left, push_right, runs, settle

#: The array; to the type checker a list, since it is only indexed by numbers.
Memory = list[int]
LANES = 16
SET = 0xFFFF
#: Offsets of levels are below this. The mask shows the compiler that no index is negative, which Python
#: would count from the end: without it no loop becomes vector code.
OFFSETS = 0xFFFFF
#: A run has three cells at least.
RUN = 3
#: and all runs of a move together at most the whole board.
CELLS = 25


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


def at_most(seen: int, cell: int, fell: int) -> int:
    """Return what no move can be worth more than."""
    best = -INFINITY
    if loud(seen):
        best = CELLS * cell + max(fell, 0)
    quiet = seen & ~loud(seen) & SET
    if quiet & (seen >> 48):
        best = max(best, fell)
    if quiet & ~(seen >> 48):
        best = max(best, 0)
    return best


def loud(seen: int) -> int:
    """Return the set of moves that remove a run, or may."""
    return (seen >> 16 | seen >> 32) & SET


@outlined
def expand(p0: int, p1: int, p2: int, seen: int, base: int, plan: int, mem: Memory) -> None:
    """Make all fifteen moves into the level at `base`: planes, gains, and what the next mover sees.

    Lanes of moves that are no distinct moves hold copies; lane 15 holds what it held.
    """
    base &= OFFSETS
    plan &= OFFSETS
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
    plan &= OFFSETS
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
def reply_all(move: int, base: int, plan: int, mem: Memory) -> None:
    """Answer all children of a level with one move, into their REPLY lanes; `plan` is the reply's ply.

    The keys are what a reply is worth to its mover: exactly if the next ply has no loud move, else at most.
    """
    base &= OFFSETS
    plan &= OFFSETS
    insert_all(move, base, mem[plan + COLOUR], mem)
    settle_all(base + REPLY, plan, mem)
    colour = mem[plan + RECORD + COLOUR]
    forced = mem[plan + RECORD + FORCED]
    cell = mem[plan + RECORD + CELL]
    fell = mem[plan + RECORD + FELL]
    for i in range(base + REPLY, base + REPLY + LANES):
        seen = allowed(sight(mem[i + P0], mem[i + P1], mem[i + P2], colour), forced)
        mem[i + SIGHT] = seen
        mem[i + KEY] = mem[i + GAIN] - at_least(seen, cell, fell)


def insert_all(move: int, base: int, colour: int, mem: Memory) -> None:
    """Insert a picture into all boards of a level by one move; REPLY GAIN gets the pictures that fell off."""
    base &= OFFSETS
    if move <= 5:
        for i in range(base, base + LANES):
            mem[i + REPLY + P0], mem[i + REPLY + P1], mem[i + REPLY + P2], mem[i + REPLY + GAIN] = push_left(
                mem[i + P0], mem[i + P1], mem[i + P2], move - 1, colour
            )
    elif move <= 10:
        for i in range(base, base + LANES):
            mem[i + REPLY + P0], mem[i + REPLY + P1], mem[i + REPLY + P2], mem[i + REPLY + GAIN] = drop(
                mem[i + P0], mem[i + P1], mem[i + P2], move - 6, colour
            )
    else:
        for i in range(base, base + LANES):
            mem[i + REPLY + P0], mem[i + REPLY + P1], mem[i + REPLY + P2], mem[i + REPLY + GAIN] = push_right(
                mem[i + P0], mem[i + P1], mem[i + P2], 15 - move, colour
            )


def settle_all(base: int, plan: int, mem: Memory) -> None:
    """Turn what fell off into gains; settle the boards that hold a run."""
    base &= OFFSETS
    plan &= OFFSETS
    fell = mem[plan + FELL]
    for i in range(base, base + LANES):
        mem[i + GAIN] *= fell
        mem[i + KEY] = runs(mem[i + P0], mem[i + P1], mem[i + P2])
    for i in range(base, base + LANES):
        if mem[i + KEY]:
            mem[i + P0], mem[i + P1], mem[i + P2], removed, _ = settle(mem[i + P0], mem[i + P1], mem[i + P2])
            mem[i + GAIN] += removed * mem[plan + CELL]


@outlined
def sort_keys(todo: int, base: int, plan: int, mem: Memory) -> None:
    """Write the keys of the lanes in `todo`: gain, less what is surely lost at once, then history."""
    base &= OFFSETS
    plan &= OFFSETS
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
    plan &= OFFSETS
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
    for i in range(2 * mem[ROWS]):
        top = max(top, mem[base + KEY + i])
    return top


@outlined
def drop_refuted(base: int, floor: int, mem: Memory) -> int:
    """Take out the lanes that the reply to all brings down to `floor`; return the most of their bounds."""
    base &= OFFSETS
    most = -INFINITY
    for i in range(2 * mem[ROWS]):
        key = mem[base + KEY + i]
        value = mem[base + GAIN + i] - mem[base + REPLY + KEY + i]
        done = (key != NONE) & (loud(mem[base + REPLY + SIGHT + i]) == 0) & (value <= floor)
        most = max(most, value if done else -INFINITY)
        mem[base + KEY + i] = NONE if done else key
    return most
