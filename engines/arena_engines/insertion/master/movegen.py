"""The fifteen children of a node at once, in vector code.

`expand` makes them into one level (layout.py), lane by lane, lane = move - 1. Lanes of moves that are not
distinct hold copies, and lane 15 is scratch: callers name the lanes that count. The move masks of all
(move_masks.py) are one loop.
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
    LANES,
    MASKS,
    NONE,
    OFFSETS,
    P0,
    P1,
    P2,
    RECORD,
    REPLY,
    VECTOR,
    Memory,
)
from arena_engines.insertion.master.move_masks import lower_bound, move_masks, only_forced, scoring
from arena_engines.jit import outlined
from arena_protocol.games.insertion.rules import drop, push_left, push_right, runs, settle


@outlined
def expand(p0: int, p1: int, p2: int, masks: int, base: int, record: int, mem: Memory) -> None:
    """Make all fifteen moves into the level at `base`: planes, gains, and the masks of the next mover."""
    base &= OFFSETS
    record &= OFFSETS
    make_moves(p0, p1, p2, mem[record + COLOUR], base, mem)
    remove_runs(masks, base, record, mem)
    colour = mem[record + RECORD + COLOUR]
    forced = mem[record + RECORD + FORCED]
    for i in range(LANES):
        planes = mem[base + P0 + i], mem[base + P1 + i], mem[base + P2 + i]
        mem[base + MASKS + i] = only_forced(move_masks(planes[0], planes[1], planes[2], colour), forced)


def make_moves(p0: int, p1: int, p2: int, colour: int, base: int, mem: Memory) -> None:
    """Insert a picture by all fifteen moves, five at a time.

    The loops run to mem[VECTOR] = 8, which the compiler does not know, so that they become vector code
    instead of five copies; the surplus lanes are overwritten by the next loop or never used.
    """
    base &= OFFSETS
    for y in range(mem[VECTOR]):
        i = base + y
        mem[i + P0], mem[i + P1], mem[i + P2], _ = push_left(p0, p1, p2, y, colour)
    for x in range(mem[VECTOR]):
        i = base + 5 + x
        mem[i + P0], mem[i + P1], mem[i + P2], _ = drop(p0, p1, p2, x, colour)
    for y in range(mem[VECTOR]):
        i = base + 10 + y
        mem[i + P0], mem[i + P1], mem[i + P2], _ = push_right(p0, p1, p2, 4 - y & 7, colour)


def remove_runs(masks: int, base: int, record: int, mem: Memory) -> None:
    """Set the gains of all lanes; remove the runs in the lanes of scoring moves."""
    base &= OFFSETS
    record &= OFFSETS
    falling = masks >> 49
    fell = mem[record + FELL]
    for i in range(LANES):
        mem[base + GAIN + i] = (falling >> i & 1) * fell
    todo = scoring(masks) >> 1
    i = base
    while todo:
        if todo & 1:
            mem[i + P0], mem[i + P1], mem[i + P2], removed, _ = settle(mem[i + P0], mem[i + P1], mem[i + P2])
            mem[i + GAIN] += removed * mem[record + CELL]
        todo >>= 1
        i += 1


@outlined
def reply_all(move: int, base: int, record: int, mem: Memory) -> None:
    """Answer all children of a level with one move, into their REPLY lanes; `plan` is the reply's ply.

    The keys are the replies' values to their mover: exact if the next ply has no scoring move, else upper
    bounds.
    """
    base &= OFFSETS
    record &= OFFSETS
    insert_all(move, base, mem[record + COLOUR], mem)
    settle_all(base + REPLY, record, mem)
    colour = mem[record + RECORD + COLOUR]
    forced = mem[record + RECORD + FORCED]
    cell = mem[record + RECORD + CELL]
    fell = mem[record + RECORD + FELL]
    for i in range(base + REPLY, base + REPLY + LANES):
        masks = only_forced(move_masks(mem[i + P0], mem[i + P1], mem[i + P2], colour), forced)
        mem[i + MASKS] = masks
        mem[i + KEY] = mem[i + GAIN] - lower_bound(masks, cell, fell)


def insert_all(move: int, base: int, colour: int, mem: Memory) -> None:
    """Insert a picture into all boards of a level by one move; REPLY + GAIN gets the pictures pushed off."""
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


def settle_all(base: int, record: int, mem: Memory) -> None:
    """Turn pictures pushed off into gains; settle the boards that hold a run."""
    base &= OFFSETS
    record &= OFFSETS
    fell = mem[record + FELL]
    for i in range(base, base + LANES):
        mem[i + GAIN] *= fell
        mem[i + KEY] = runs(mem[i + P0], mem[i + P1], mem[i + P2])
    for i in range(base, base + LANES):
        if mem[i + KEY]:
            mem[i + P0], mem[i + P1], mem[i + P2], removed, _ = settle(mem[i + P0], mem[i + P1], mem[i + P2])
            mem[i + GAIN] += removed * mem[record + CELL]


@outlined
def sort_keys(todo: int, base: int, record: int, mem: Memory) -> None:
    """Write sort keys of the lanes in `todo`: gain less the reply's lower bound, then history, then lane."""
    base &= OFFSETS
    record &= OFFSETS
    cell = mem[record + RECORD + CELL]
    fell = mem[record + RECORD + FELL]
    flip = mem[record + FLIP]
    for i in range(LANES):
        rest = lower_bound(mem[base + MASKS + i], cell, fell)
        rest = rest if flip > 0 else -rest
        key = (mem[base + GAIN + i] + rest) << 16 | mem[record + HISTORY + i] << 4 | i
        mem[base + KEY + i] = key if todo >> i & 1 else NONE


@outlined
def bound_keys(todo: int, base: int, record: int, mem: Memory) -> None:
    """Write, as keys, upper bounds of the lanes in `todo` with one more ply of the other side."""
    base &= OFFSETS
    record &= OFFSETS
    cell = mem[record + RECORD + CELL]
    fell = mem[record + RECORD + FELL]
    for i in range(LANES):
        key = (mem[base + GAIN + i] - lower_bound(mem[base + MASKS + i], cell, fell)) << 4 | i
        mem[base + KEY + i] = key if todo >> i & 1 else NONE


@outlined
def top_key(base: int, mem: Memory) -> int:
    """Return the greatest key of a level."""
    base &= OFFSETS
    top = NONE
    for i in range(2 * mem[VECTOR]):
        top = max(top, mem[base + KEY + i])
    return top


@outlined
def drop_refuted(base: int, floor: int, mem: Memory) -> int:
    """Drop the lanes that the reply to all refutes (value <= `floor`); return their greatest value."""
    base &= OFFSETS
    most = -INFINITY
    for i in range(2 * mem[VECTOR]):
        key = mem[base + KEY + i]
        value = mem[base + GAIN + i] - mem[base + REPLY + KEY + i]
        done = (key != NONE) & (scoring(mem[base + REPLY + MASKS + i]) == 0) & (value <= floor)
        most = max(most, value if done else -INFINITY)
        mem[base + KEY + i] = NONE if done else key
    return most
