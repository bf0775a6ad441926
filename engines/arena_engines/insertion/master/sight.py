"""See which of the fifteen moves remove a run, all at once and without making any of them.

Almost all moves of a search remove nothing (24 of 25 on boards from games), and at the last ply only
those that do matter. A move moves one picture, one row or one column by one cell, so a run that it
completes shows as equal neighbours between the moved planes and the planes at rest: some 150
operations on words, no loop and no branch, in the time of four moves made. A loop of `sight` over many
boards becomes vector code, eight boards at a time.

Pictures beside each other are compared as planes (rules.py draws the bits): `x << 5` brings to a
cell what lies left of it, `x >> 5` what lies right, `x << 1` what lies below, `x >> 1` above.

It must not know: points, depths, tables. Oracle: rules.play, move by move, in the tests.
"""

from __future__ import annotations

from arena_protocol.games.insertion.rules import (
    BOARD,
    BOTTOM,
    NOT_BOTTOM,
    NOT_TOP,
    UPPER_THREE,
)

TOP = BOTTOM << 4
LEFT = 0b11111
RIGHT = LEFT << 20


def differ(s0: int, s1: int, s2: int, p0: int, p1: int, p2: int) -> int:
    """Return the cells whose colours differ between two boards."""
    return (s0 ^ p0) | (s1 ^ p1) | (s2 ^ p2)


def columns(bits: int) -> int:
    """Gather the bottom bits of the five columns into bits 0..4."""
    return (bits & 1) | bits >> 4 & 2 | bits >> 8 & 4 | bits >> 12 & 8 | bits >> 16 & 16


def rows(bits: int) -> int:
    """Fold all columns onto the left one: which rows hold any bit."""
    bits |= bits >> 10
    return (bits | bits >> 5 | bits >> 20) & LEFT


def upside_down(bits: int) -> int:
    """Turn rows 0..4 into the order of the moves 11..15, the top row first."""
    return (bits & 1) << 4 | (bits & 2) << 2 | bits & 4 | (bits & 8) >> 2 | (bits & 16) >> 4


def sight(p0: int, p1: int, p2: int, colour: int) -> int:
    """Return four sets of moves for a settled board, 16 bits each, bit n for move n (1..15).

    Bits 0..15: the distinct moves, as rules.distinct_moves gives them. Bits 16..31: those of them
    that surely remove a run. Bits 32..47: those of them that may (a pushed picture falls two rows or
    more); no other move removes anything. Bits 48..63: the moves by which a picture falls off.
    """
    occupied = p0 | p1 | p2
    empty = BOARD & ~occupied
    landing = (occupied << 1 | BOTTOM) & empty
    c0 = -(colour & 1)
    c1 = -(colour >> 1 & 1)
    c2 = -(colour >> 2 & 1)
    same = occupied & ~differ(p0, p1, p2, c0, c1, c2)
    # Pairs of equal neighbours at rest, brought to the cell that would make them three.
    pairs = occupied & ~differ(p0, p1, p2, p0 >> 5, p1 >> 5, p2 >> 5)
    towers = occupied & NOT_TOP & ~differ(p0, p1, p2, p0 >> 1, p1 >> 1, p2 >> 1)
    pair_left = pairs << 10
    pair_right = pairs >> 5
    tower_above = towers >> 1 & NOT_TOP
    tower_below = towers << 2 & UPPER_THREE
    left = same << 5
    right = same >> 5
    open_hit = (
        (left & pair_left) | (right & pair_right) | (left & right) | (same << 1 & tower_below)
    ) & landing
    # Drops on full columns: the column sinks by one beside its neighbours.
    full = occupied & occupied >> 1
    full &= full >> 2 & occupied >> 4 & BOTTOM
    hit = open_hit & ~LEFT
    if full:
        s0 = (p0 >> 1 & NOT_TOP) | (c0 & TOP)
        s1 = (p1 >> 1 & NOT_TOP) | (c1 & TOP)
        s2 = (p2 >> 1 & NOT_TOP) | (c2 & TOP)
        left = ~differ(s0, s1, s2, p0 << 5, p1 << 5, p2 << 5) & occupied << 5
        right = ~differ(s0, s1, s2, p0 >> 5, p1 >> 5, p2 >> 5) & occupied >> 5
        full_hit = (left & pair_left) | (right & pair_right) | (left & right) | (same & same << 1 & TOP)
        hit |= full_hit & full * LEFT
    drops = columns((hit | hit >> 1 | hit >> 2 | hit >> 3 | hit >> 4) & BOTTOM)
    # Pushes from the left; `hole` is the first empty cell of each row.
    gap = empty | empty << 5
    gap |= gap << 10
    gap |= gap << 20
    moving = BOARD & ~gap
    full_rows = moving >> 20
    hole = gap & ~(gap << 5) & BOARD & ~LEFT
    at = hole & landing
    low = hole >> 1 & NOT_TOP & landing
    s0 = p0 << 5 | (c0 & LEFT)
    s1 = p1 << 5 | (c1 & LEFT)
    s2 = p2 << 5 | (c2 & LEFT)
    above = ~differ(s0, s1, s2, p0 >> 1, p1 >> 1, p2 >> 1) & occupied >> 1 & NOT_TOP
    below = ~differ(s0, s1, s2, p0 << 1, p1 << 1, p2 << 1) & occupied << 1 & NOT_BOTTOM & tower_below
    ahead = ~differ(s0, s1, s2, p0 >> 5, p1 >> 5, p2 >> 5) & occupied >> 5
    beneath = ~differ(s0, s1, s2, p0 << 1, p1 << 1, p2 << 1) & occupied << 1 & NOT_BOTTOM
    hit = ((above & tower_above) | below | (above & beneath)) & moving
    hit |= (same & pairs & LEFT) << 10 & (moving | at)
    hit |= (below | (ahead & (pair_right | pair_left | (same & LEFT) << 5))) & at
    s0 = s0 >> 1 & NOT_TOP
    s1 = s1 >> 1 & NOT_TOP
    s2 = s2 >> 1 & NOT_TOP
    below = ~differ(s0, s1, s2, p0 << 1, p1 << 1, p2 << 1) & occupied << 1 & tower_below
    left = ~differ(s0, s1, s2, p0 << 5, p1 << 5, p2 << 5) & occupied << 5
    right = ~differ(s0, s1, s2, p0 >> 5, p1 >> 5, p2 >> 5) & occupied >> 5
    hit |= ((below | (left & pair_left) | (right & pair_right) | (left & right)) & low) << 1
    from_left = rows(hit) | (open_hit & LEFT)
    maybe_left = rows(hole & ~at & ~(low << 1)) & occupied & ~from_left
    # Pushes from the right: the mirror image.
    gap = empty | empty >> 5
    gap |= gap >> 10
    gap |= gap >> 20
    moving = BOARD & ~gap
    hole = gap & ~(gap >> 5) & ~RIGHT
    at = hole & landing
    low = hole >> 1 & NOT_TOP & landing
    s0 = p0 >> 5 | (c0 & RIGHT)
    s1 = p1 >> 5 | (c1 & RIGHT)
    s2 = p2 >> 5 | (c2 & RIGHT)
    above = ~differ(s0, s1, s2, p0 >> 1, p1 >> 1, p2 >> 1) & occupied >> 1 & NOT_TOP
    beneath = ~differ(s0, s1, s2, p0 << 1, p1 << 1, p2 << 1) & occupied << 1 & NOT_BOTTOM
    below = beneath & tower_below
    ahead = ~differ(s0, s1, s2, p0 << 5, p1 << 5, p2 << 5) & occupied << 5
    hit = ((above & tower_above) | below | (above & beneath)) & moving
    hit |= (same & pairs << 5 & RIGHT) >> 10 & (moving | at)
    hit |= (below | (ahead & (pair_left | pair_right | (same & RIGHT) >> 5))) & at
    s0 = s0 >> 1 & NOT_TOP
    s1 = s1 >> 1 & NOT_TOP
    s2 = s2 >> 1 & NOT_TOP
    below = ~differ(s0, s1, s2, p0 << 1, p1 << 1, p2 << 1) & occupied << 1 & tower_below
    left = ~differ(s0, s1, s2, p0 << 5, p1 << 5, p2 << 5) & occupied << 5
    right = ~differ(s0, s1, s2, p0 >> 5, p1 >> 5, p2 >> 5) & occupied >> 5
    hit |= ((below | (left & pair_left) | (right & pair_right) | (left & right)) & low) << 1
    rim = occupied >> 20
    from_right = rows(hit) & rim
    maybe_right = rows(hole & ~at & ~(low << 1)) & rim & ~from_right
    moves = ((occupied | landing) & LEFT) << 1 | (full & 1) << 6 | 0b1111 << 7 | upside_down(rim) << 11
    sure = (from_left << 1 | drops << 6 | upside_down(from_right) << 11) & moves
    maybe = (maybe_left & LEFT) << 1 | upside_down(maybe_right) << 11
    falling = full_rows << 1 | columns(full) << 6 | upside_down(full_rows) << 11
    return moves | sure << 16 | maybe << 32 | falling << 48
