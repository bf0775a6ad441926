"""The estimates of all empty cells of an XO board, for both sides, kept up to date move by move.

A mark changes the values of cells on the four lines through it only, at most five away
(section 2 of the 1970 paper says as much), so `after` recomputes those and shares the rule of
scale.py through a table of patterns. It must not know: whose move it is, searches, thresholds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from arena_engines.xo.scale import EMPTY, FOE, OWN, cell_estimate, line_estimate

REACH = 5
#: Along a row, a column and the two diagonals, as (column, row) steps.
DIRECTIONS = ((1, 0), (0, 1), (1, 1), (1, -1))
#: Both sides: X is side 0, O side 1.
SIDES = (0, 1)

#: A pattern: the ten neighbours on a line, ternary digits EMPTY, OWN, FOE; weight of each by its offset.
_WEIGHTS = {
    offset: 3 ** (offset + REACH - (offset > 0)) for offset in range(-REACH, REACH + 1) if offset != 0
}
#: Line values by pattern, filled as patterns come up (0: not yet); a pure function's memory.
_line_values = bytearray(3 ** len(_WEIGHTS))
#: Four line values a, b, c, d (1..10) as the digits of one number to the base 11.
_BASE = 11


@dataclass(frozen=True, slots=True)
class Geometry:
    """The lines of one size of board. Cells are numbered in scan order: a1, b1, ..., a2, ...

    `reach[cell][direction]` lists (other cell, weight of `cell` in the other's pattern);
    `borders[direction][cell]` is the pattern of the border alone.
    """

    size: int
    reach: tuple[tuple[tuple[tuple[int, int], ...], ...], ...]
    borders: tuple[tuple[int, ...], ...]


@cache
def geometry_of(size: int) -> Geometry:
    """The lines of a board of size x size."""
    cells = range(size * size)
    reach = tuple(tuple(_reach(size, cell, step) for step in DIRECTIONS) for cell in cells)
    borders = tuple(tuple(_border(size, cell, step) for cell in cells) for step in DIRECTIONS)
    return Geometry(size, reach, borders)


def _on_board(size: int, cell: int, step: tuple[int, int], offset: int) -> int | None:
    column, row = cell % size + step[0] * offset, cell // size + step[1] * offset
    return size * row + column if 0 <= column < size and 0 <= row < size else None


def _reach(size: int, cell: int, step: tuple[int, int]) -> tuple[tuple[int, int], ...]:
    others = ((_on_board(size, cell, step, offset), _WEIGHTS[-offset]) for offset in _WEIGHTS)
    return tuple((other, weight) for other, weight in others if other is not None)


def _border(size: int, cell: int, step: tuple[int, int]) -> int:
    return sum(
        FOE * weight for offset, weight in _WEIGHTS.items() if _on_board(size, cell, step, offset) is None
    )


def line_value(pattern: int) -> int:
    """The line value of a cell whose ten neighbours form `pattern`: scale.py's, remembered."""
    value = _line_values[pattern]
    if not value:
        digits = [pattern // 3**place % 3 for place in range(len(_WEIGHTS))]
        value = line_estimate([*digits[:REACH], EMPTY, *digits[REACH:]], REACH)
        _line_values[pattern] = value
    return value


@cache
def _folds() -> bytes:
    """The cell value for every packed four line values."""
    digits = ([packed // _BASE**place % _BASE for place in range(4)] for packed in range(_BASE**4))
    return bytes(cell_estimate(lines) if all(lines) else 0 for lines in digits)


@dataclass(frozen=True, slots=True)
class Estimates:
    """A board with its values; never changed, `after` gives the next one.

    `marks[cell]` is EMPTY or 1 + side; `values[side][cell]` the value in halves of marking the cell,
    0 where it is taken. The patterns and packed line values are what `after` goes on from.
    """

    geometry: Geometry
    marks: bytes
    values: tuple[bytes, bytes]
    patterns: tuple[tuple[list[int], ...], tuple[list[int], ...]]
    packed: tuple[list[int], list[int]]

    @property
    def empty(self) -> list[int]:
        """The empty cells in scan order."""
        return [cell for cell, mark in enumerate(self.marks) if not mark]

    def after(self, cell: int, side: int) -> Estimates:
        """The board with a mark of `side` on an empty `cell`."""
        marks = bytearray(self.marks)
        marks[cell] = 1 + side
        values = (bytearray(self.values[0]), bytearray(self.values[1]))
        patterns = (tuple(map(list.copy, self.patterns[0])), tuple(map(list.copy, self.patterns[1])))
        packed = (self.packed[0].copy(), self.packed[1].copy())
        for viewer in SIDES:
            digit = OWN if viewer == side else FOE
            values[viewer][cell] = 0
            self._touch(cell, digit, marks, values[viewer], patterns[viewer], packed[viewer])
        return Estimates(self.geometry, bytes(marks), (bytes(values[0]), bytes(values[1])), patterns, packed)

    def _touch(
        self,
        cell: int,
        digit: int,
        marks: bytearray,
        values: bytearray,
        patterns: tuple[list[int], ...],
        packed: list[int],
    ) -> None:
        """Bring one side's values on the lines through `cell` up to date."""
        folds, line_values = _folds(), _line_values
        base = 1
        for pattern, reach in zip(patterns, self.geometry.reach[cell], strict=True):
            for other, weight in reach:
                if marks[other]:
                    continue
                before = pattern[other]
                now = before + digit * weight
                pattern[other] = now
                change = (line_values[now] or line_value(now)) - line_values[before]
                if change:
                    packed[other] += change * base
                    values[other] = folds[packed[other]]
            base *= _BASE


@cache
def empty_board(size: int) -> Estimates:
    """The estimates of the empty board."""
    geometry = geometry_of(size)
    packed = [
        sum(line_value(borders[cell]) * _BASE**place for place, borders in enumerate(geometry.borders))
        for cell in range(size * size)
    ]
    values = bytes(_folds()[each] for each in packed)
    patterns = tuple(map(list, geometry.borders))
    return Estimates(geometry, bytes(size * size), (values, values), (patterns, patterns), (packed, packed))


def estimates_of(size: int, x: Sequence[int], o: Sequence[int]) -> Estimates:
    """The estimates of a board with marks on the cells `x` and `o`."""
    board = empty_board(size)
    for side, cells in enumerate((x, o)):
        for cell in cells:
            board = board.after(cell, side)
    return board
