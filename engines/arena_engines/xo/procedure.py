"""The general procedure and the opening rule of the 1970 paper (sections 3.2 and 3.3).

It must not know: searches, thresholds, clocks.
"""

from __future__ import annotations

from typing import NamedTuple

from arena_engines.xo.estimates import Estimates


class Choice(NamedTuple):
    """A cell and its values, in halves, for the side to move and for the other."""

    cell: int
    own: int
    foe: int


def general_procedure(board: Estimates, side: int) -> Choice:
    """The cell that the values alone recommend to `side`; the board must not be full.

    Own values are not below the foe's: the initiative is ours, take our best cell; else the foe's
    best. Of several the one whose other value is the largest, then the first in scan order.
    """
    own, foe = board.values[side], board.values[1 - side]
    leading, other = (own, foe) if max(own) >= max(foe) else (foe, own)
    best = max(leading)
    cells = [cell for cell, value in enumerate(leading) if value == best]
    cell = max(cells, key=other.__getitem__)
    return Choice(cell, own[cell], foe[cell])


def central_cells(size: int) -> tuple[int, ...]:
    """The four cells in the middle; on an odd board the middle one and those beside and above it."""
    low = (size - 1) // 2
    return tuple(size * row + column for row in (low, low + 1) for column in (low, low + 1))


def opening_move(size: int, marked: int | None, turn: int) -> int:
    """The machine's first move: on an empty board, or when one cell is `marked`.

    Alone, a central cell: `turn` (0, 1, ...) picks which, so that games vary. Against a mark on a
    central cell the one diagonally opposite; against another, its diagonal neighbour nearest the middle.
    """
    centre = central_cells(size)
    if marked is None:
        return centre[turn % len(centre)]
    if marked in centre:
        return centre[len(centre) - 1 - centre.index(marked)]
    return min(_diagonal_neighbours(size, marked), key=lambda cell: _distance(size, cell))


def _diagonal_neighbours(size: int, cell: int) -> list[int]:
    column, row = cell % size, cell // size
    corners = [(column + dx, row + dy) for dy in (-1, 1) for dx in (-1, 1)]
    return [size * y + x for x, y in corners if 0 <= x < size and 0 <= y < size]


def _distance(size: int, cell: int) -> int:
    """Four times the square of the distance to the middle of the board."""
    return (2 * (cell % size) - size + 1) ** 2 + (2 * (cell // size) - size + 1) ** 2
