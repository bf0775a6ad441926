"""Between the game's position and the cell numbers that the XO players work with.

Cells are numbered in scan order: a1 is 0, b1 is 1, ...; X is side 0, O side 1. It must not
know: how anything is played.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

from arena_protocol.games.mnk import Marks, board_of


class Sides(NamedTuple):
    """The marked cells of X and of O, each in scan order."""

    x: list[int]
    o: list[int]

    @property
    def to_move(self) -> int:
        """The side whose move it is."""
        return len(self.x) - len(self.o)


@cache
def cell_names(size: int) -> tuple[str, ...]:
    """The name of every cell, by its number."""
    return tuple(board_of(size).cells)


def sides_of(size: int, position: Marks) -> Sides:
    """The cells of a position of the game."""
    bits = list(board_of(size).cells.values())
    x, o = ([cell for cell, bit in enumerate(bits) if plane & bit] for plane in (position.x, position.o))
    return Sides(x, o)


def bits_of(cells: Iterable[int]) -> int:
    """Marked cells as the bits of one number, which compares however they came about."""
    return sum(1 << cell for cell in cells)


@cache
def symmetries(size: int) -> tuple[tuple[int, ...], ...]:
    """Where every cell comes to lie when the board is turned and mirrored, in each of the eight ways."""
    turned = [tuple(range(size * size))]
    for _ in range(3):
        turned.append(tuple(turned[-1][size * (size - 1 - at % size) + at // size] for at in turned[0]))
    mirrored = [tuple(at - at % size + size - 1 - at % size for at in image) for image in turned]
    return (*turned, *mirrored)
