"""The static values of cells, learnt from self-play by benchmarks/learn_xo.py.

A class is the four shapes of a cell without their order, the highest first. A line of values.txt is a class
as four digits, its value for the side to move and for the side that waits.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from arena_engines.xo.gomoku.patterns import CELL_CODES, SHAPES, VALUES, Array

FILE = Path(__file__).with_name("values.txt")


def class_name(code: int) -> str:
    """The class of a cell code: `8310` has a five, an open two and a one."""
    return "".join(sorted((str(code // SHAPES**line % SHAPES) for line in range(4)), reverse=True))


@cache
def values() -> dict[str, tuple[int, int]]:
    """The values of every class: to the side to move, and to the side that waits."""
    rows = (line.split() for line in FILE.read_text("ascii").splitlines())
    return {name: (int(moving), int(waiting)) for name, moving, waiting in rows}


def fill_values(cell_table: Array) -> None:
    """Fill the column VALUES of `cell_table` (patterns.py)."""
    known = values()
    for code in range(CELL_CODES):
        moving, waiting = known[class_name(code)]
        cell_table[code, VALUES] = (moving << 32) + waiting
