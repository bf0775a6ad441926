"""What a position is worth, at a glance and from memory: the static value and the table of positions.

An entry of the table is two int64: the hash, and

    value + OFFSET << 24 | depth << 10 | bound << 8 | move

A win is kept as its distance from the position itself. The functions compile. They must not know: the
search.
"""

from __future__ import annotations

from arena_engines.xo.modern.board import SUMS, World
from arena_engines.xo.modern.patterns import Array

WON = 1_000_000
#: Values beyond this are wins in so many plies.
MATE = WON - 1000
#: No value: the search must tell.
UNDECIDED = 2 * WON

EXACT, LOWER, UPPER = 1, 2, 3
OFFSET = 1 << 21
DEPTHS = 127
CELLS = 255


def worth(world: World, side: int) -> int:
    """The static value: what the cells are worth to the side to move, less what they are to the other."""
    sums = world[0][SUMS]
    return int(sums[side] - sums[2 + 1 - side])


def remember(table: Array, key: int, ply: int, depth: int, value: int, bound: int, move: int) -> None:
    """Put into the table what a search to this depth found, `ply` plies below the root."""
    if value > MATE:
        value += ply
    elif value < -MATE:
        value -= ply
    slot = key & (table.shape[0] - 1)
    table[slot, 0] = key
    table[slot, 1] = (value + OFFSET) << 24 | max(depth, 0) << 10 | bound << 8 | move


def remembered(table: Array, key: int, ply: int, depth: int, low: int, high: int) -> int:
    """The value that the table has for a task, else UNDECIDED."""
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


def known_move(table: Array, key: int) -> int:
    """The best move of a position that the table has, else -1."""
    slot = key & (table.shape[0] - 1)
    found = table[slot, 0] == key and table[slot, 1] != 0
    return int(table[slot, 1] & CELLS) if found else -1
