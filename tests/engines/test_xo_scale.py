"""The values of the 1970 paper: the sliding scale, the correction for five cells, the fold."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena_engines.xo.program1970.evaluation import (
    EMPTY,
    FOE,
    MOST,
    NOTHING,
    OWN,
    WINS,
    cell_estimate,
    fold,
    line_estimate,
    linear_group,
)

SIGNS = {".": EMPTY, "x": OWN, "o": FOE, "*": EMPTY}
VALUES = range(1, MOST + 1)


def value(text: str) -> float:
    """The paper's number for the cell `*` of a line such as `o.x*x..`; the border is beyond the ends."""
    return line_estimate([SIGNS[sign] for sign in text], text.index("*")) / 2


def moves_to_win(line: list[int], at: int) -> int | None:
    """The fewest own marks, the one at `at` first, that make five with it: tried window by window."""
    fives = [range(start, start + 5) for start in range(at - 4, at + 1)]
    inside = [five for five in fives if five[0] >= 0 and five[-1] < len(line)]
    open_ = [five for five in inside if all(line[cell] != FOE for cell in five if cell != at)]
    return min((sum(line[cell] == EMPTY or cell == at for cell in five) for five in open_), default=None)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("....*....", 1.0),  # alone in the open: five moves
        ("*........", 0.5),  # beside the border
        ("..x*x....", 3.0),  # an open three
        (".oxx*....", 2.5),  # a three closed on one side
        ("..xx*x...", 4.0),  # an open four
        ("oxxx*....", 3.5),  # a four that one move stops
        (".x*xx....", 4.0),
        ("x.x*x....", 3.5),
        ("..xx*xx..", 4.5),  # five
        (".xxx*xxx.", 5.0),  # six and more win too
        ("xx.x*.xx.", 3.5),
    ],
)
def test_the_scale_slides_over_the_cell(line: str, expected: float) -> None:
    assert value(line) == expected


@pytest.mark.parametrize("line", ["o.x*xo", "*...", "xx*x", "oxx*xo..", ".o*o."])
def test_a_group_of_less_than_five_cells_is_worth_half(line: str) -> None:
    assert value(line) == NOTHING / 2


def test_figure_3_a_five_in_a_group_of_five_is_worth_as_much_as_another_five() -> None:
    """The scale alone gives 4.5 (a) and 4 (b), "although both win equally fast": b is corrected to 4.5."""
    assert value(".xx*xxo") == 4.5
    assert value("oxx*xxo") == 4.5


@pytest.mark.parametrize(
    ("line", "expected"),
    [("ox.*xxo", 3.5), ("oxxx*.o", 3.5), ("ox.*.xo", 2.5), ("o.x*x.o", 2.5), ("o..*..o", 0.5)],
)
def test_in_a_group_of_five_a_mark_less_is_a_move_more(line: str, expected: float) -> None:
    assert value(line) == expected


@given(st.lists(st.sampled_from([EMPTY, OWN, FOE]), min_size=1, max_size=14), st.data())
def test_a_value_tells_the_number_of_moves_that_win(line: list[int], data: st.DataObject) -> None:
    """5.5 - l rounded up, as the paper reads it: the reason for the correction, and why it is enough."""
    at = data.draw(st.integers(0, len(line) - 1))
    line[at] = EMPTY
    low, high = linear_group(line, at)
    if high - low < 5:
        assert moves_to_win(line, at) is None
        return
    moves = -((line_estimate(line, at) - 11) // 2)
    assert max(moves, 1) == moves_to_win(line, at)


@given(st.lists(st.sampled_from([EMPTY, OWN, FOE]), min_size=5, max_size=14), st.data())
def test_a_line_is_worth_the_same_from_either_end(line: list[int], data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(line) - 1))
    line[at] = EMPTY
    assert line_estimate(line, at) == line_estimate(line[::-1], len(line) - 1 - at)


def test_the_fold_is_symmetric() -> None:
    assert all(fold(a, b) == fold(b, a) for a, b in product(VALUES, repeat=2))


def test_the_fold_is_associative_so_the_order_of_lines_is_free() -> None:
    assert all(fold(fold(a, b), c) == fold(a, fold(b, c)) for a, b, c in product(VALUES, repeat=3))


def test_the_fold_is_never_below_either_line_and_half_changes_nothing() -> None:
    assert all(fold(a, b) >= max(a, b) for a, b in product(VALUES, repeat=2))
    assert all(fold(a, NOTHING) == a for a in VALUES)
    assert [fold(MOST, a) for a in VALUES] == [MOST] * 10
    assert [fold(WINS, a) for a in VALUES] == [WINS] * 9 + [MOST]


@pytest.mark.parametrize(
    ("a", "b", "both"),
    [
        (3.5, 3.5, 4),
        (3.5, 3, 4),
        (3, 3, 4),
        (3, 2.5, 3.5),
        (2.5, 2.5, 2.5),
        (2, 2, 2.5),
        (1.5, 1.5, 1.5),
        (1, 1, 1),
    ],
)
def test_two_lines_make_more_than_one(a: float, b: float, both: float) -> None:
    assert fold(int(2 * a), int(2 * b)) / 2 == both


def test_figure_4_two_fours_at_once_are_worth_more_than_one() -> None:
    """a has one line of 3.5 and can be parried, b two of them: the other side stops only one."""
    four, nothing = int(2 * value("oxxx*...")), 2
    assert cell_estimate([four, nothing, nothing, nothing]) == four
    assert cell_estimate([four, nothing, four, nothing]) > four
