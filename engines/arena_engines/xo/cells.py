"""Positions of XO as lists of cell numbers.

Cells are numbered in scan order: a1 is 0, b1 is 1, ...; X is side 0, O side 1.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from arena_protocol.games.mnk import Marks, board_of


class Sides(NamedTuple):
    """The marked cells of X and of O, each in scan order."""

    x: list[int]
    o: list[int]

    @property
    def to_move(self) -> int:
        """The side to move: 0 is X."""
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
