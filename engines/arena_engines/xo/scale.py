"""The estimates of the 1970 paper: one line, the fold of four lines, one cell.

All values are in halves, so that they stay whole numbers: 1 is the paper's 0.5, 10 its 5. The paper
(section 3.1) reads a line's estimate l so: 5.5 - l, rounded up, is the number of moves that win on
that line if the other side does nothing. It must not know: boards, searches, whose move it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

EMPTY, OWN, FOE = 0, 1, 2

#: The sliding scale of figure 2: 1/2 1 1 1 1 1/2.
SCALE = (1, 2, 2, 2, 2, 1)
FIVE = 5

#: What a cell is worth on a line where no five can ever stand; it changes no other line's value.
NOTHING = 1
#: From here on the mark makes five: 4.5.
WINS = 9
MOST = 10

#: Figure 5 without its lost row and column: _FOLD[a - 1][b - 1] for a, b = 0.5, 1, ... 5.
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
    """The joint value of two lines through a cell: symmetric and associative, so the order is free."""
    return _FOLD[a - 1][b - 1]


def cell_estimate(lines: Sequence[int]) -> int:
    """The value of a cell for one side from the values of the four lines through it."""
    return reduce(fold, lines)


def line_estimate(line: Sequence[int], at: int) -> int:
    """The value of marking cell `at` of a whole line: the paper's algorithm, steps 1 to 6.

    `line` holds EMPTY, OWN or FOE; beyond its ends is the border. `at` is taken as OWN already.
    """
    low, high = linear_group(line, at)
    if high - low < FIVE:
        return NOTHING
    best = max(_sum_under_scale(line, low, high, at, start) for start in range(at - 5, at + 1))
    if high - low == FIVE:
        best = max(best, _five_cells_estimate(line, low, high, at))
    return best


def linear_group(line: Sequence[int], at: int) -> tuple[int, int]:
    """The neighbouring cells around `at` without a foe's mark: the first one, and the one after the last."""
    low, high = at, at + 1
    while low > 0 and line[low - 1] != FOE:
        low -= 1
    while high < len(line) and line[high] != FOE:
        high += 1
    return low, high


def _sum_under_scale(line: Sequence[int], low: int, high: int, at: int, start: int) -> int:
    """The paper's P_k: the scale's first square lies on cell `start`; a square off the group counts -1."""
    total = 0
    for weight, cell in zip(SCALE, range(start, start + len(SCALE)), strict=True):
        if not low <= cell < high:
            total -= weight
        elif cell == at or line[cell] == OWN:
            total += weight
    return total


def _five_cells_estimate(line: Sequence[int], low: int, high: int, at: int) -> int:
    """The correction for a group of five: there m marks win in 6 - m moves, so l = m - 1/2.

    The scale has six squares, one of which is always off such a group. With both ends marked the
    sum is half too low (figure 3: 4 instead of 4.5), and only then; a longer group needs no correction.
    """
    marks = sum(1 for cell in range(low, high) if cell == at or line[cell] == OWN)
    return 2 * marks - 1
