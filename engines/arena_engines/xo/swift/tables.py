"""The tables of the compiled program, filled by the readable one's own functions: each rule has one home.

It must not know: searches. Importing this file needs no numpy.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from itertools import product

from arena_engines.xo.estimates import REACH, empty_board, geometry_of, line_value
from arena_engines.xo.minimax import initiative
from arena_engines.xo.scale import FOE, cell_estimate
from arena_engines.xo.swift.board import (
    BORDER,
    LINES,
    MARK,
    PACKED,
    PATTERN,
    RAYS,
    ROWS,
    VALUES,
    Array,
    refold,
)

#: The patterns of the five neighbours on one side of a cell.
HALF_LINES = 3**REACH


@cache
def tables() -> Array:
    """The line values, the folds and table 1, one behind the other (int8)."""
    import numpy as np

    return np.array([*line_values(), *folds(), *quarters()], dtype="i1")


def line_values() -> Iterator[int]:
    """The line value of every pattern of ten neighbours.

    What lies behind a foe's mark changes no value, so each pattern has that of the one with nothing but
    foes there; of those there are 63 x 63 instead of 3^10.
    """
    before = [shadowed(half, range(REACH - 1, -1, -1)) for half in range(HALF_LINES)]
    after = [shadowed(half, range(REACH)) for half in range(HALF_LINES)]
    return (line_value(low + HALF_LINES * high) for high in after for low in before)


def shadowed(half: int, places: Iterable[int]) -> int:
    """Half a line with foes everywhere behind its first foe; `places` leads away from the cell."""
    blocked = False
    result = 0
    for place in places:
        digit = half // 3**place % 3
        blocked = blocked or digit == FOE
        result += (FOE if blocked else digit) * 3**place
    return result


def folds() -> Iterator[int]:
    """The cell value of every four line values, packed to the base VALUES."""
    for digits in product(range(VALUES), repeat=LINES):
        yield cell_estimate(digits) if all(digits) else 0


def quarters() -> Iterator[int]:
    """Table 1 of the paper in quarters, by whether the machine moves, alpha and beta."""
    for mine, alpha, beta in product((False, True), range(VALUES), range(VALUES)):
        yield int(4 * initiative(alpha / 2, beta / 2, machine_moves=mine))


@cache
def reach_table(size: int) -> Array:
    """The cells on the eight rays from each, and its weight in their patterns (int16)."""
    import numpy as np

    cells = size * size
    table = np.zeros((cells, RAYS, REACH, 2), dtype="i2")
    table[:, :, :, 0] = cells
    for cell, lines in enumerate(geometry_of(size).reach):
        for ray, entries in enumerate(ray for line in lines for ray in rays_of(line)):
            for place, entry in enumerate(entries):
                table[cell, ray, place] = entry
    return table


def rays_of(line: tuple[tuple[int, int], ...]) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """A line of the geometry as its rays, backwards and forwards; whoever lies behind sees one ahead."""
    back = [entry for entry in line if entry[1] >= HALF_LINES]
    return back[::-1], list(line[len(back) :])


@cache
def blank_board(size: int) -> Array:
    """The empty board (int32, ROWS x (cells + 1))."""
    import numpy as np

    empty = empty_board(size)
    cells = size * size
    board = np.zeros((ROWS, cells + 1), dtype="i4")
    board[MARK, cells] = BORDER
    board[PATTERN : PATTERN + 2 * LINES, :cells] = [*empty.patterns[0], *empty.patterns[1]]
    board[PACKED : PACKED + 2, :cells] = empty.packed
    for cell in range(cells):
        refold(board, tables(), cell)
    return board
