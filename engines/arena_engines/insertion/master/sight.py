"""See which of the fifteen moves remove a run, all at once and without making any of them.

Almost all moves of a search remove nothing (24 of 25 on boards from games), and at the last ply only
those that do matter. A move moves one picture, one row or one column by one cell, so a run that it
completes shows as equal neighbours between the moved planes and the planes at rest: some 130
operations on words, no loop and no branch, in the time of three moves made. A loop of `sight` over many
boards becomes vector code, eight boards at a time.

A word holds a plane twice, from bit 32 on as its mirror image: what is found of pushes from the left
stands in the upper half for pushes from the right. Pictures beside each other are compared as planes
(rules.py draws the bits): `x << 5` brings to a cell what lies left of it, `x >> 5` what lies right,
`x << 1` what lies below, `x >> 1` above. Bits 25..31 between the halves may hold anything on the way:
every result is cut to its cells.

It must not know: points, depths, tables. Oracle: rules.play, move by move, in the tests.
"""

from __future__ import annotations

from arena_protocol.games.insertion import rules

#: Where the mirror image begins, and what gives a mask its image too.
IMAGE = 32
TWICE = 1 | 1 << IMAGE

LEFT = 0b11111
TOP = rules.BOTTOM << 4
BOTTOM = rules.BOTTOM
BOARDS = rules.BOARD * TWICE
BOTTOMS = rules.BOTTOM * TWICE
NOT_BOTTOMS = rules.NOT_BOTTOM * TWICE
NOT_TOPS = rules.NOT_TOP * TWICE
UPPER_THREES = rules.UPPER_THREE * TWICE
LEFTS = LEFT * TWICE
#: The columns that can be moved two to the right within a half.
THREE_LEFT = ((1 << 15) - 1) * TWICE
#: The lowest bit of each set that a sight consists of, and the multiplier of `columns`.
FIELDS = 1 | 1 << 16 | 1 << 32 | 1 << 48
GATHER = 1 << 20 | 1 << 16 | 1 << 12 | 1 << 8 | 1 << 4
SECOND = LEFT << 5
MIDDLE = LEFT << 10


def both(plane: int) -> int:
    """Return a plane with its mirror image above it."""
    image = (plane & LEFT) << 20 | (plane & SECOND) << 10 | plane & MIDDLE
    image |= plane >> 10 & SECOND | plane >> 20
    return plane | image << IMAGE


def differ(s0: int, s1: int, s2: int, p0: int, p1: int, p2: int) -> int:
    """Return the cells whose colours differ between two boards."""
    return (s0 ^ p0) | (s1 ^ p1) | (s2 ^ p2)


def columns(bits: int) -> int:
    """Gather the bottom bits of the five columns into bits 0..4: bit 5x times 2**(20 - 4x) is bit 20 + x."""
    return bits * GATHER >> 20 & LEFT


def rows(bits: int) -> int:
    """Fold all columns of both halves onto their first one: which rows hold any bit."""
    bits |= bits >> 10 & THREE_LEFT
    return (bits | bits >> 5 | bits >> 20) & LEFTS


def upside_down(sets: int) -> int:
    """Turn rows 0..4 of each set of 16 bits into the order of the moves 11..15, the top row first."""
    return (
        (sets & 1 * FIELDS) << 4
        | (sets & 2 * FIELDS) << 2
        | sets & 4 * FIELDS
        | (sets & 8 * FIELDS) >> 2
        | (sets & 16 * FIELDS) >> 4
    )


def sight(p0: int, p1: int, p2: int, colour: int) -> int:
    """Return four sets of moves for a settled board, 16 bits each, bit n for move n (1..15).

    Bits 0..15: the distinct moves, as rules.distinct_moves gives them. Bits 16..31: those of them
    that surely remove a run. Bits 32..47: those of them that may (a pushed picture falls two rows or
    more); no other move removes anything. Bits 48..63: the moves by which a picture falls off.
    """
    p0 = both(p0)
    p1 = both(p1)
    p2 = both(p2)
    occupied = p0 | p1 | p2
    empty = BOARDS & ~occupied
    landing = (occupied << 1 | BOTTOMS) & empty
    c0 = -(colour & 1)
    c1 = -(colour >> 1 & 1)
    c2 = -(colour >> 2 & 1)
    same = occupied & ~differ(p0, p1, p2, c0, c1, c2)
    # Pairs of equal neighbours at rest, brought to the cell that would make them three.
    pairs = occupied & ~differ(p0, p1, p2, p0 >> 5, p1 >> 5, p2 >> 5)
    towers = occupied & NOT_TOPS & ~differ(p0, p1, p2, p0 >> 1, p1 >> 1, p2 >> 1)
    pair_left = pairs << 10
    pair_right = pairs >> 5
    tower_above = towers >> 1 & NOT_TOPS
    tower_below = towers << 2 & UPPER_THREES
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
        s0 = (p0 >> 1 & NOT_TOPS) | (c0 & TOP)
        s1 = (p1 >> 1 & NOT_TOPS) | (c1 & TOP)
        s2 = (p2 >> 1 & NOT_TOPS) | (c2 & TOP)
        left = ~differ(s0, s1, s2, p0 << 5, p1 << 5, p2 << 5) & occupied << 5
        right = ~differ(s0, s1, s2, p0 >> 5, p1 >> 5, p2 >> 5) & occupied >> 5
        full_hit = (left & pair_left) | (right & pair_right) | (left & right) | (same & same << 1 & TOP)
        hit |= full_hit & full * LEFT
    drops = columns((hit | hit >> 1 | hit >> 2 | hit >> 3 | hit >> 4) & BOTTOM)
    # Pushes from the left; `hole` is the first empty cell of each row.
    gap = (empty | empty << 5) & BOARDS
    gap |= (gap & THREE_LEFT) << 10
    gap |= (gap & LEFTS) << 20
    moving = BOARDS & ~gap
    hole = gap & ~(gap << 5) & ~LEFTS
    at = hole & landing
    low = hole >> 1 & NOT_TOPS & landing
    s0 = p0 << 5 | (c0 & LEFTS)
    s1 = p1 << 5 | (c1 & LEFTS)
    s2 = p2 << 5 | (c2 & LEFTS)
    above = ~differ(s0, s1, s2, p0 >> 1, p1 >> 1, p2 >> 1) & occupied >> 1 & NOT_TOPS
    beneath = ~differ(s0, s1, s2, p0 << 1, p1 << 1, p2 << 1) & occupied << 1 & NOT_BOTTOMS
    below = beneath & tower_below
    ahead = ~differ(s0, s1, s2, p0 >> 5, p1 >> 5, p2 >> 5) & occupied >> 5
    hit = ((above & tower_above) | below | (above & beneath)) & moving
    hit |= (same & pairs & LEFTS) << 10 & (moving | at)
    hit |= (below | (ahead & (pair_right | pair_left | (same & LEFTS) << 5))) & at
    s0 = s0 >> 1 & NOT_TOPS
    s1 = s1 >> 1 & NOT_TOPS
    s2 = s2 >> 1 & NOT_TOPS
    below = ~differ(s0, s1, s2, p0 << 1, p1 << 1, p2 << 1) & occupied << 1 & tower_below
    left = ~differ(s0, s1, s2, p0 << 5, p1 << 5, p2 << 5) & occupied << 5
    right = ~differ(s0, s1, s2, p0 >> 5, p1 >> 5, p2 >> 5) & occupied >> 5
    hit |= ((below | (left & pair_left) | (right & pair_right) | (left & right)) & low) << 1
    # A push into an empty rim cell is a drop, and bears the lower number: a row on the left, 10 on the right.
    rim = occupied >> IMAGE & LEFT
    open_rows = (occupied | landing) & LEFT
    pushed = rows(hit)
    from_left = (pushed | open_hit) & open_rows
    from_right = pushed >> IMAGE & rim
    unsure = rows(hole & ~at & ~(low << 1)) & occupied
    full_rows = (moving >> 20 & LEFT) << 48
    left = open_rows | from_left << 16 | (unsure & LEFT & ~from_left) << 32 | full_rows
    right = rim | from_right << 16 | (unsure >> IMAGE & ~from_right) << 32 | full_rows
    top = full & 1 | 0b11110
    top |= (drops & top) << 16 | columns(full) << 48
    return left << 1 | top << 6 | upside_down(right) << 11
