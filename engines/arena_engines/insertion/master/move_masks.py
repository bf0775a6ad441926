"""Which moves of a board remove a run, without making any of them.

Almost all moves of a search remove nothing (24 of 25 on boards from games), and at the last ply only those
that do matter. A move shifts one picture, one row or one column by one cell, so a run that it completes shows
as equal neighbours between the shifted planes and the planes at rest: about 130 word operations without
a loop or a branch, in the time of three moves made. A loop of `move_masks` over many boards becomes vector
code, eight boards at a time.

Planes are int64 with 25 bits (rules.py draws them). Inside `move_masks` a word holds a plane twice, from
bit 32 on as its mirror image, so that pushes from the right are found in the upper half. Neighbours are
compared as planes: `x << 5` brings the left neighbour to a cell, `x >> 5` the right one, `x << 1` the one
below, `x >> 1` the one above. Bits 25..31 between the halves may hold anything on the way; every result is
cut to its cells.

Oracle: rules.play, move by move (tests/engines/insertion/master/test_move_masks.py).
"""

from __future__ import annotations

from arena_engines.insertion.master.layout import INFINITY
from arena_engines.jit import outlined
from arena_protocol.games.insertion import rules
from arena_protocol.games.insertion.board import Planes

#: The first bit of the mirror image, and the factor that repeats a mask in it.
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
#: The columns that can move two to the right within a half.
THREE_LEFT = ((1 << 15) - 1) * TWICE
#: The lowest bit of each of the four sets of move masks, and the multiplier of `columns`.
FIELDS = 1 | 1 << 16 | 1 << 32 | 1 << 48
GATHER = 1 << 20 | 1 << 16 | 1 << 12 | 1 << 8 | 1 << 4
SECOND = LEFT << 5
MIDDLE = LEFT << 10
#: One set of move masks.
SET = 0xFFFF
#: The fewest cells that a scoring move removes, and the most.
RUN = 3
CELLS = 25


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


def sink_hits(
    planes: Planes, colours: Planes, occupied: int, same: int, pair_left: int, pair_right: int
) -> int:
    """Return the cells of a run beside a full column that sinks by one, wherever the columns are full."""
    p0, p1, p2 = planes
    s0 = (p0 >> 1 & NOT_TOPS) | (colours[0] & TOP)
    s1 = (p1 >> 1 & NOT_TOPS) | (colours[1] & TOP)
    s2 = (p2 >> 1 & NOT_TOPS) | (colours[2] & TOP)
    left = ~differ(s0, s1, s2, p0 << 5, p1 << 5, p2 << 5) & occupied << 5
    right = ~differ(s0, s1, s2, p0 >> 5, p1 >> 5, p2 >> 5) & occupied >> 5
    return (left & pair_left) | (right & pair_right) | (left & right) | (same & same << 1 & TOP)


def push_hits(
    planes: Planes,
    colours: Planes,
    occupied: int,
    same: int,
    pairs: int,
    towers: int,
    moving: int,
    at: int,
    low: int,
) -> int:
    """Return the cells of a run that a push from the left completes, of both halves."""
    p0, p1, p2 = planes
    pair_left = pairs << 10
    pair_right = pairs >> 5
    tower_above = towers >> 1 & NOT_TOPS
    tower_below = towers << 2 & UPPER_THREES
    s0 = p0 << 5 | (colours[0] & LEFTS)
    s1 = p1 << 5 | (colours[1] & LEFTS)
    s2 = p2 << 5 | (colours[2] & LEFTS)
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
    return hit | ((below | (left & pair_left) | (right & pair_right) | (left & right)) & low) << 1


def push_masks(pushed: int, open_hit: int, falls: int, occupied: int, landing: int, full_rows: int) -> int:
    """Return the part of the move masks that the pushes have, from the rows in which each of these occurs.

    A push into an empty rim cell is a drop, and bears the lower number: a row on the left, 10 on the right.
    """
    rim = occupied >> IMAGE & LEFT
    open_rows = (occupied | landing) & LEFT
    from_left = (pushed | open_hit) & open_rows
    from_right = pushed >> IMAGE & rim
    unsure = falls & occupied
    left = open_rows | from_left << 16 | (unsure & LEFT & ~from_left) << 32 | full_rows
    right = rim | from_right << 16 | (unsure >> IMAGE & ~from_right) << 32 | full_rows
    return left << 1 | upside_down(right) << 11


def move_masks(p0: int, p1: int, p2: int, colour: int) -> int:
    """Return four sets of moves of a board without runs, 16 bits each, bit n for move n (1..15).

    Bits 0..15: the distinct moves, as rules.distinct_moves gives them. Bits 16..31: those of them that
    remove a run for certain. Bits 32..47: those that may (a pushed picture falls two rows or more); no other
    move removes anything. Bits 48..63: the moves that push a picture off the board.
    """
    p0 = both(p0)
    p1 = both(p1)
    p2 = both(p2)
    occupied = p0 | p1 | p2
    empty = BOARDS & ~occupied
    landing = (occupied << 1 | BOTTOMS) & empty
    colours = -(colour & 1), -(colour >> 1 & 1), -(colour >> 2 & 1)
    same = occupied & ~differ(p0, p1, p2, colours[0], colours[1], colours[2])
    # Pairs of equal neighbours at rest, brought to the cell that would make them three.
    pairs = occupied & ~differ(p0, p1, p2, p0 >> 5, p1 >> 5, p2 >> 5)
    towers = occupied & NOT_TOPS & ~differ(p0, p1, p2, p0 >> 1, p1 >> 1, p2 >> 1)
    pair_left = pairs << 10
    pair_right = pairs >> 5
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
        hit |= sink_hits((p0, p1, p2), colours, occupied, same, pair_left, pair_right) & full * LEFT
    drops = columns((hit | hit >> 1 | hit >> 2 | hit >> 3 | hit >> 4) & BOTTOM)
    # Pushes from the left; `hole` is the first empty cell of each row.
    gap = (empty | empty << 5) & BOARDS
    gap |= (gap & THREE_LEFT) << 10
    gap |= (gap & LEFTS) << 20
    moving = BOARDS & ~gap
    hole = gap & ~(gap << 5) & ~LEFTS
    at = hole & landing
    low = hole >> 1 & NOT_TOPS & landing
    hit = push_hits((p0, p1, p2), colours, occupied, same, pairs, towers, moving, at, low)
    top = full & 1 | 0b11110
    top |= (drops & top) << 16 | columns(full) << 48
    falls = rows(hole & ~at & ~(low << 1))
    return top << 6 | push_masks(rows(hit), open_hit, falls, occupied, landing, (moving >> 20 & LEFT) << 48)


def only_forced(masks: int, forced: int) -> int:
    """Return the masks of a zombie if `forced`: its move 6, under the lowest number of its equals."""
    only = ((masks & 0x7E) + 2) >> 1
    table_put = only * (1 | 1 << 16 | 1 << 32) | ~((1 << 48) - 1)
    return masks & (table_put if forced else -1)


@outlined
def legal_masks(p0: int, p1: int, p2: int, colour: int, forced: int) -> int:
    """Return the move masks of one board for a mover with this picture."""
    return only_forced(move_masks(p0, p1, p2, colour), forced)


def lower_bound(masks: int, cell: int, fell: int) -> int:
    """Return a lower bound of the best move's value; exact if no move scores."""
    falling = masks >> 48
    sure = masks >> 16 & SET
    quiet = masks & ~(sure | masks >> 32) & SET
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


def upper_bound(masks: int, cell: int, fell: int) -> int:
    """Return an upper bound of the best move's value."""
    best = -INFINITY
    if scoring(masks):
        best = CELLS * cell + max(fell, 0)
    quiet = masks & ~scoring(masks) & SET
    if quiet & (masks >> 48):
        best = max(best, fell)
    if quiet & ~(masks >> 48):
        best = max(best, 0)
    return best


def scoring(masks: int) -> int:
    """Return the set of moves that remove a run, or may: bits 1..15."""
    return (masks >> 16 | masks >> 32) & SET
