"""The board of the compiled program of 1970: estimates.py in arrays, changed by each mark and back.

A view is what a cell sees along one of its eight rays; ray 1 leads back where ray 0 leads, and so on. Views
that are worth the same are of one kind (tables.py). Rows that belong to a level are copied for the next one:

    states   int64, one a cell: the line values for X, the digits of a number to the base VALUES; those for O
             FOR_O bits higher; from bit PAIR the values for X and O, ONE_X times the one and the other, 0
             where taken; from bit HIGHER the higher one of both
    kinds    uint8, cells x RAYS: the kind of every view
    counts   int16, levels x COUNTS: on how many cells X has each value; from FOR_SIDE on O; from HIGHS on how
             many have it as the higher one; from PAIRS on how many have each pair
    where    int64, levels x WHERE: the cells of each higher value, as the bits of WORDS words of WORD cells
    reach    uint8, cells x RAYS x PLACES: the cells along each ray, the nearest first
    visits   int16, by kind: the empty places of a view that its marks leave open to either side, three bits
             each, counted from 1
    tables   uint8: the kind that follows each when a mark comes; from LINES on both sides' line values of
             every two kinds; from FOLDS on the value of every four line values
    logs     int64, levels x LOG: how many entries a move has made, and the entries (remembered)

All arrays are flat, and indices are masked where that shows that they are not negative: otherwise each one
would be looked at whether it counts from the end. Only empty cells are kept up to date, so marks are taken
back in the reverse order. The functions compile. They must not know: searches.
"""

from __future__ import annotations

from typing import Any

from arena_engines.xo.estimates import DIRECTIONS
from arena_engines.xo.scale import MOST, WINS

#: A numpy array; its type stands in the signature that the kernel is compiled with.
Array = Any
#: (states, kinds, counts, where, reach, visits, tables, logs)
World = tuple[Array, Array, Array, Array, Array, Array, Array, Array]

RAYS = 2 * len(DIRECTIONS)
#: Values are 0..MOST.
VALUES = MOST + 1

#: Parts of a state.
FOR_O, PAIR, HIGHER, STATE = 16, 32, 40, 44
DIGITS, LINE_DIGITS = (1 << PAIR) - 1, (1 << FOR_O) - 1
#: Of a pair.
ONE_X = 16

#: Parts of a row of `counts`, and its length.
FOR_SIDE, HIGHS, PAIRS, COUNTS = 16, 32, 48, 256
#: Parts of a row of `where`, and its length.
WORD, WORDS, WHERE = 49, 4, 64
PLACES = 8
#: An entry of a log is a state, the kind of a view, its ray, and the cell.
LOGGED_KIND, LOGGED_RAY, LOGGED_CELL, LOG = STATE, STATE + 7, STATE + 10, 64
#: No log: the board remains as it is.
NOWHERE = -1

#: There are less than KINDS kinds; a mark of side s on place p leads from each to that at STEP * kind +
#: PLACES * s + p.
KINDS, STEP = 128, 2 * PLACES
#: A line's values for both sides in one number: ONE_O times those of O, and those of X.
ONE_O = 16
#: Where the parts of `tables` begin.
LINES = KINDS * STEP
FOLDS = LINES + KINDS * KINDS

#: No cell and no row is higher.
CELL, ROW = 255, 15


def make(world: World, cell: int, side: int, level: int) -> None:
    """Put a mark of `side` on an empty cell; this level's log gets what it changes."""
    _, _, _, where, _, _, _, _ = world
    copy_counts(world, level)
    start = WHERE * (level & ROW)
    for at in range(start, start + VALUES * WORDS):
        where[at + WHERE] = where[at]
    mark(world, cell, side, level + 1, level)


def unmake(world: World, level: int) -> None:
    """Take back the mark that was made on this level."""
    states, kinds, _, _, _, _, _, logs = world
    start = LOG * (level & ROW)
    for at in range(start + 1, start + 1 + logs[start]):
        entry = int(logs[at])
        cell = entry >> LOGGED_CELL & CELL
        states[cell] = entry & ((1 << STATE) - 1)
        kinds[RAYS * cell + (entry >> LOGGED_RAY & (RAYS - 1))] = entry >> LOGGED_KIND & (KINDS - 1)


def look(world: World, cell: int, side: int, level: int) -> None:
    """Count for the next level what a mark on an empty cell would change; nothing else knows of it."""
    copy_counts(world, level)
    mark(world, cell, side, level + 1, NOWHERE)


def copy_counts(world: World, level: int) -> None:
    """Begin the counts of the next level with those of this one."""
    counts = world[2]
    start = COUNTS * (level & ROW)
    for at in range(start, start + PAIRS + VALUES * ONE_X):
        counts[at + COUNTS] = counts[at]


def mark(world: World, cell: int, side: int, row: int, log: int) -> None:
    """Put a mark on an empty cell, counted in this row, and bring those up to date that see it."""
    states, kinds, _, _, reach, visits, _, logs = world
    cell &= CELL
    at = LOG * (log & ROW) + 1
    if log != NOWHERE:
        logs[at] = remembered(world, cell, 0)
    revalue(world, cell, 0, int(states[cell]) & DIGITS, row, log)
    for ray in range(RAYS):
        places = int(visits[kinds[RAYS * cell + ray]])
        while places:
            place = (places & 7) - 1
            places >>= 3
            other = int(reach[RAYS * PLACES * cell + PLACES * ray + place])
            at += 1
            if log != NOWHERE:
                logs[at & (LOG * ROW + LOG - 1)] = remembered(world, other, ray ^ 1)
            show(world, other, ray ^ 1, PLACES * side + place, row, log)
    if log != NOWHERE:
        logs[LOG * (log & ROW)] = at - LOG * (log & ROW)


def remembered(world: World, cell: int, ray: int) -> int:
    """The entry of a log from which a cell's state and a view are restored."""
    states, kinds = world[0], world[1]
    kind = int(kinds[RAYS * cell + ray])
    return cell << LOGGED_CELL | ray << LOGGED_RAY | kind << LOGGED_KIND | int(states[cell])


def show(world: World, cell: int, ray: int, step: int, row: int, log: int) -> None:
    """Let an empty cell see a mark along one of its rays."""
    states, kinds, _, _, _, _, tables, _ = world
    before = int(kinds[RAYS * cell + ray])
    after = int(tables[STEP * before + step])
    if log != NOWHERE:
        kinds[RAYS * cell + ray] = after
    line = LINES + KINDS * int(kinds[RAYS * cell + (ray ^ 1)])
    old, new = int(tables[line + before]), int(tables[line + after])
    if old != new:
        grown = (new % ONE_O - old % ONE_O) + (new // ONE_O - old // ONE_O) * (1 << FOR_O)
        digits = (int(states[cell]) & DIGITS) + grown * place_value(ray)
        x = int(tables[FOLDS + (digits & LINE_DIGITS)])
        o = int(tables[FOLDS + (digits >> FOR_O & LINE_DIGITS)])
        revalue(world, cell, ONE_X * x + o, digits, row, log)


def place_value(ray: int) -> int:
    """What one more on a ray's line adds to the digits."""
    line = ray >> 1
    return (VALUES if line & 1 else 1) * (VALUES * VALUES if line & 2 else 1)


def revalue(world: World, cell: int, pair: int, digits: int, row: int, log: int) -> None:
    """Give a cell other values, counted in this row; while they are 0 the counts mean nothing."""
    states, _, counts, _, _, _, _, _ = world
    state = int(states[cell])
    old, higher = state >> PAIR & 255, state >> HIGHER & 15
    if pair != old:
        start = COUNTS * (row & ROW)
        counts[start + (old >> 4)] -= 1
        counts[start + FOR_SIDE + (old & 15)] -= 1
        counts[start + PAIRS + old] -= 1
        counts[start + (pair >> 4)] += 1
        counts[start + FOR_SIDE + (pair & 15)] += 1
        counts[start + PAIRS + pair] += 1
        if log != NOWHERE:
            higher = max(pair >> 4, pair & 15)
            if higher != state >> HIGHER & 15:
                move(world, cell, state >> HIGHER & 15, higher, row & ROW)
    if log != NOWHERE:
        states[cell] = higher << HIGHER | pair << PAIR | digits


def move(world: World, cell: int, old: int, new: int, row: int) -> None:
    """Let the higher value of a cell be another one."""
    counts, where = world[2], world[3]
    counts[COUNTS * row + HIGHS + old] -= 1
    counts[COUNTS * row + HIGHS + new] += 1
    word = cell // WORD
    bit = 1 << (cell - WORD * word)
    where[WHERE * row + WORDS * old + word] &= ~bit
    where[WHERE * row + WORDS * new + word] |= bit


def fives(world: World, side: int, row: int) -> int:
    """On how many cells `side` would make five."""
    counts = world[2]
    start = COUNTS * (row & ROW) + FOR_SIDE * side
    total = 0
    for value in range(WINS, VALUES):
        total += counts[start + value]
    return int(total)


def highest(world: World, side: int, row: int) -> int:
    """The highest value for `side`; 0 on a full board."""
    counts = world[2]
    start = COUNTS * (row & ROW) + FOR_SIDE * side
    value = MOST
    while value > 0 and counts[start + value] == 0:
        value -= 1
    return value


def recommended(world: World, side: int, row: int) -> int:
    """The general procedure: the pair of values of the cell that `side` should take; 0 on a full board."""
    counts = world[2]
    own, foe = highest(world, side, row), highest(world, 1 - side, row)
    leader = side if own >= foe else 1 - side
    best = max(own, foe)
    first, step = (best, ONE_X) if leader else (ONE_X * best, 1)
    start = COUNTS * (row & ROW) + PAIRS + first
    other = MOST
    while other > 0 and counts[start + step * other] == 0:
        other -= 1
    return first + step * other


def cell_of_pair(world: World, pair: int) -> int:
    """The first cell in scan order with these values; there is one."""
    states = world[0]
    cell = 0
    while states[cell] >> PAIR & 255 != pair:
        cell += 1
    return cell


def winning_cell(world: World, side: int) -> int:
    """The first cell in scan order on which `side` makes five; there is one."""
    states = world[0]
    cell = 0
    while states[cell] >> (PAIR if side else PAIR + 4) & 15 < WINS:
        cell += 1
    return cell
