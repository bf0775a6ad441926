"""The tables of the compiled program, filled by the readable one's own functions: each rule has one home.

A view is written as the five places of a ray, the nearest first, two bits each: EMPTY, 1 + side, or BORDER.
It must not know: searches. Importing this file needs no numpy.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from itertools import product

from arena_engines.xo.estimates import DIRECTIONS, REACH, empty_board, geometry_of, line_value
from arena_engines.xo.minimax import initiative
from arena_engines.xo.scale import EMPTY, FOE, OWN, cell_estimate
from arena_engines.xo.swift.board import (
    COUNTS,
    FOLDS,
    FOR_O,
    KINDS,
    LOG,
    ONE_O,
    ONE_X,
    PLACES,
    RAYS,
    VALUES,
    WHERE,
    WORD,
    Array,
    World,
    revalue,
)
from arena_engines.xo.swift.search import BITS

BORDER = 3
VIEWS = 4**REACH
#: What a place of a view is to X and to O.
TO_X, TO_O = (EMPTY, OWN, FOE, FOE), (EMPTY, FOE, OWN, FOE)
#: No cell.
OFF = 255

#: How one side sees a view: EMPTY, OWN or FOE on every place.
Sight = tuple[int, ...]


@cache
def tables() -> Array:
    """The steps between kinds, the line values and the folds, one behind the other (uint8)."""
    import numpy as np

    return np.array([*steps(), *lines(), *folds()], dtype="u1")


@cache
def quarters() -> Array:
    """Table 1 of the paper in quarters, by whether the machine moves, alpha and beta (int8)."""
    import numpy as np

    cases = product((False, True), range(VALUES), range(VALUES))
    values = [int(4 * initiative(alpha / 2, beta / 2, machine_moves=mine)) for mine, alpha, beta in cases]
    return np.array(values, dtype="i1")


@cache
def bits() -> Array:
    """Which bit of a word it is, by its remainder (int8)."""
    import numpy as np

    table = np.zeros(BITS, dtype="i1")
    for bit in range(WORD):
        table[(1 << bit) % BITS] = bit
    return table


# ---- views and their kinds


def places_of(view: int) -> list[int]:
    """The places of a view."""
    return [view >> 2 * place & 3 for place in range(REACH)]


def sight(view: int, digits: Sight) -> Sight:
    """A view as one side sees it: all behind its first foe might as well be foes."""
    places = [digits[each] for each in places_of(view)]
    free = places.index(FOE) if FOE in places else REACH
    return (*places[:free], *[FOE] * (REACH - free))


@cache
def examples() -> dict[tuple[Sight, Sight], int]:
    """A view of every kind, by how X and O see it; the kinds are numbered in this order."""
    return {(sight(view, TO_X), sight(view, TO_O)): view for view in reversed(range(VIEWS))}


@cache
def kinds() -> list[int]:
    """The kind of every view."""
    numbers = {both: number for number, both in enumerate(examples())}
    return [numbers[sight(view, TO_X), sight(view, TO_O)] for view in range(VIEWS)]


@cache
def visits() -> Array:
    """The empty places of every kind of view that some side can see, three bits each, from 1 (int16)."""
    import numpy as np

    table = np.zeros(KINDS, dtype="i2")
    for number, both in enumerate(examples()):
        seen = [place for place in range(REACH) if any(each[place] == EMPTY for each in both)]
        table[number] = sum(place + 1 << 3 * at for at, place in enumerate(seen))
    return table


def steps() -> Iterator[int]:
    """The kind that follows each when a mark of a side comes on a place; itself where none can come."""
    views = list(examples().values())
    for kind, side, place in product(range(KINDS), (0, 1), range(PLACES)):
        free = kind < len(views) and place < REACH and places_of(views[kind])[place] == EMPTY
        yield kinds()[views[kind] | (1 + side) << 2 * place] if free else kind


def lines() -> Iterator[int]:
    """Both sides' line values of every two kinds of views, the two ways from a cell along a line."""
    sights = [*examples(), *[None] * (KINDS - len(examples()))]
    for back, ahead in product(sights, sights):
        yield both_values(back, ahead) if back and ahead else 0


def both_values(back: tuple[Sight, Sight], ahead: tuple[Sight, Sight]) -> int:
    """The line values for X and O of a cell that sees this both ways."""
    x, o = (line_value(pattern_of(back[side], ahead[side])) for side in (0, 1))
    return x + ONE_O * o


def pattern_of(back: Sight, ahead: Sight) -> int:
    """The pattern of ten neighbours, as estimates.line_value reads it."""
    return sum(digit * 3**place for place, digit in enumerate((*reversed(back), *ahead)))


def folds() -> Iterator[int]:
    """The cell value of every four line values, as digits to the base VALUES."""
    for values in product(range(VALUES), repeat=len(DIRECTIONS)):
        yield cell_estimate(values) if all(values) else 0


# ---- boards


def new_world(size: int, levels: int) -> World:
    """An empty board of its own, with rows for so many levels."""
    import numpy as np

    counts, where, logs = (np.zeros(levels * row, dtype="i8") for row in (COUNTS, WHERE, LOG))
    states, kinds, *_ = map(np.copy, blank_board(size))
    world = (states, kinds, counts.astype("i2"), where, reach_table(size), visits(), tables(), logs)
    clear(world, size)
    return world


def clear(world: World, size: int) -> None:
    """Make the board empty."""
    for each, blank in zip(world, blank_board(size), strict=False):
        each[: blank.size] = blank


@cache
def reach_table(size: int) -> Array:
    """The cells on the eight rays from each, OFF where a ray has ended (uint8)."""
    import numpy as np

    table = np.full((size * size, RAYS, PLACES), OFF, dtype="u1")
    for cell, through in enumerate(geometry_of(size).reach):
        for ray, others in enumerate(ray for line in through for ray in rays_of(line)):
            table[cell, ray, : len(others)] = others
    return table.ravel()


def rays_of(line: Iterable[tuple[int, int]]) -> tuple[list[int], list[int]]:
    """A line of the geometry as its rays, backwards and forwards; whoever lies behind sees one ahead."""
    back = [other for other, weight in line if weight >= 3**REACH]
    return back[::-1], [other for other, weight in line if weight < 3**REACH]


@cache
def blank_board(size: int) -> tuple[Array, Array, Array, Array]:
    """The empty board: its states and kinds, and a row of counts and of where."""
    import numpy as np

    states = np.zeros(size * size, dtype="i8")
    counts, where = np.zeros(COUNTS, dtype="i2"), np.zeros(WHERE, dtype="i8")
    log = np.zeros(LOG, dtype="i8")
    world = (states, blank_kinds(size), counts, where, reach_table(size), visits(), tables(), log)
    for cell, digits in enumerate(empty_board(size).packed[0]):
        value = int(tables()[FOLDS + digits])
        revalue(world, cell, (ONE_X + 1) * value, digits << FOR_O | digits, 0, 0)
    return states, blank_kinds(size), counts, where


@cache
def blank_kinds(size: int) -> Array:
    """The kinds of all views on the empty board (uint8)."""
    import numpy as np

    off = reach_table(size).reshape(-1, PLACES)[:, :REACH] == OFF
    views = (off * (BORDER << 2 * np.arange(REACH))).sum(axis=1)
    return np.array(kinds(), dtype="u1")[views]
