"""The values of cells of the 1970 paper (section 3.1): a line, the fold of four lines, the whole board.

All values are in halves, so that they are integers: 1 is the paper's 0.5, 10 its 5. A line value l means that
ceil(5.5 - l) moves win on that line if the other side does nothing.

`line_estimate`, `fold` and `cell_estimate` are the paper's rules. `Estimates` is a board with the values of
all empty cells for both sides; `after` recomputes only the cells on the four lines through a new mark, at
most five away, by a table of line patterns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, reduce

EMPTY, OWN, FOE = 0, 1, 2

#: The sliding scale of figure 2: 1/2 1 1 1 1 1/2.
SCALE = (1, 2, 2, 2, 2, 1)
FIVE = 5

#: The value on a line where no five is possible; folding it with another value leaves that value.
NOTHING = 1
#: From this value (4.5) on the mark makes five.
WINS = 9
MOST = 10

#: Figure 5 without its marginal row and column: _FOLD[a - 1][b - 1] for a, b = 0.5, 1, ... 5.
_FOLD = (
    (1, 2, 3, 4, 5, 6, 7, 8, 9, 10),
    (2, 2, 3, 4, 5, 6, 7, 8, 9, 10),
    (3, 3, 3, 4, 5, 6, 7, 8, 9, 10),
    (4, 4, 4, 5, 5, 7, 7, 8, 9, 10),
    (5, 5, 5, 5, 5, 7, 7, 8, 9, 10),
    (6, 6, 6, 7, 7, 8, 8, 8, 9, 10),
    (7, 7, 7, 7, 7, 8, 8, 8, 9, 10),
    (8, 8, 8, 8, 8, 8, 8, 8, 9, 10),
    (9, 9, 9, 9, 9, 9, 9, 9, 9, 10),
    (10, 10, 10, 10, 10, 10, 10, 10, 10, 10),
)


def fold(a: int, b: int) -> int:
    """Figure 5: the joint value of two lines through a cell. Symmetric and associative."""
    return _FOLD[a - 1][b - 1]


def cell_estimate(lines: Sequence[int]) -> int:
    """The value of a cell for one side: the fold of its four line values."""
    return reduce(fold, lines)


def line_estimate(line: Sequence[int], at: int) -> int:
    """The value of marking cell `at` of a line: the paper's algorithm, steps 1 to 6.

    `line` holds EMPTY, OWN or FOE from border to border; `at` counts as OWN.
    """
    low, high = linear_group(line, at)
    if high - low < FIVE:
        return NOTHING
    best = max(_sum_under_scale(line, low, high, at, start) for start in range(at - 5, at + 1))
    if high - low == FIVE:
        best = max(best, _five_cells_estimate(line, low, high, at))
    return best


def linear_group(line: Sequence[int], at: int) -> tuple[int, int]:
    """The cells low..high - 1 around `at` up to the next foe's mark or the end of the line."""
    low, high = at, at + 1
    while low > 0 and line[low - 1] != FOE:
        low -= 1
    while high < len(line) and line[high] != FOE:
        high += 1
    return low, high


def _sum_under_scale(line: Sequence[int], low: int, high: int, at: int, start: int) -> int:
    """The paper's P_k, the first square of the scale on cell `start`; squares off the group are negative."""
    total = 0
    for weight, cell in zip(SCALE, range(start, start + len(SCALE)), strict=True):
        if not low <= cell < high:
            total -= weight
        elif cell == at or line[cell] == OWN:
            total += weight
    return total


def _five_cells_estimate(line: Sequence[int], low: int, high: int, at: int) -> int:
    """The corrected value for a group of five, where m marks win in 6 - m moves: l = m - 1/2.

    The scale has six squares, one of which is always off such a group. With both ends marked the
    sum is half too low (figure 3: 4 instead of 4.5), and only then; a longer group needs no correction.
    """
    marks = sum(1 for cell in range(low, high) if cell == at or line[cell] == OWN)
    return 2 * marks - 1


REACH = 5
#: Along a row, a column and the two diagonals, as (column, row) steps.
DIRECTIONS = ((1, 0), (0, 1), (1, 1), (1, -1))
#: Both sides: X is side 0, O side 1.
SIDES = (0, 1)

#: A pattern is the ten neighbours on a line as ternary digits EMPTY, OWN, FOE; the weight of each by its
#: offset.
_WEIGHTS = {
    offset: 3 ** (offset + REACH - (offset > 0)) for offset in range(-REACH, REACH + 1) if offset != 0
}
#: Cache of `line_value` by pattern; 0 is not computed yet.
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
    """The line value of a cell whose ten neighbours form `pattern`."""
    value = _line_values[pattern]
    if not value:
        digits = [pattern // 3**place % 3 for place in range(len(_WEIGHTS))]
        value = line_estimate([*digits[:REACH], EMPTY, *digits[REACH:]], REACH)
        _line_values[pattern] = value
    return value


@cache
def _folds() -> bytes:
    """The cell value for every four packed line values."""
    digits = ([packed // _BASE**place % _BASE for place in range(4)] for packed in range(_BASE**4))
    return bytes(cell_estimate(lines) if all(lines) else 0 for lines in digits)


@dataclass(frozen=True, slots=True)
class Estimates:
    """An immutable board with its values; `after` returns the next one.

    `marks[cell]` is EMPTY or 1 + side; `values[side][cell]` the value in halves of marking the cell,
    0 where it is taken. `patterns[side][direction][cell]` and `packed[side][cell]` are the state of `after`.
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
        """Update one side's values on the lines through `cell`, now marked OWN or FOE (`digit`)."""
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
