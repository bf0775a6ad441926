"""Values of lines and cells of the 1970 paper, and their increments."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena_museum.program1970.evaluation import (
    EMPTY,
    FOE,
    MOST,
    NOTHING,
    OWN,
    WINS,
    Estimates,
    cell_estimate,
    empty_board,
    estimates_of,
    fold,
    line_estimate,
    linear_group,
)
from arena_protocol.games.mnk import board_of

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


STEPS = ((1, 0), (0, 1), (1, 1), (1, -1))


def full_estimate(size: int, marks: bytes, cell: int, side: int) -> int:
    """One value by the paper's own steps on the four whole lines, borders and all: nothing is kept."""
    column, row = cell % size, cell // size
    seen = (EMPTY, OWN, FOE) if side == 0 else (EMPTY, FOE, OWN)
    lines = []
    for across, up in STEPS:
        on_board = [
            (step, column + step * across, row + step * up)
            for step in range(-size, size + 1)
            if 0 <= column + step * across < size and 0 <= row + step * up < size
        ]
        signs = [seen[marks[size * y + x]] for _, x, y in on_board]
        lines.append(line_estimate(signs, [step for step, _, _ in on_board].index(0)))
    return cell_estimate(lines)


def all_values(size: int, board: Estimates) -> tuple[bytes, bytes]:
    x, o = (
        bytes(
            0 if mark else full_estimate(size, board.marks, cell, side)
            for cell, mark in enumerate(board.marks)
        )
        for side in (0, 1)
    )
    return x, o


@given(st.integers(10, 14), st.data())
def test_incremental_values_equal_full_ones(size: int, data: st.DataObject) -> None:
    board = empty_board(size)
    near = data.draw(st.integers(3, size))
    cells = data.draw(st.permutations([size * y + x for y in range(near) for x in range(near)]))
    for cell in cells[: data.draw(st.integers(0, 40))]:
        board = board.after(cell, data.draw(st.sampled_from([0, 1])))
    assert board.values == all_values(size, board)


def test_a_whole_game_down_to_the_last_cell_agrees_after_every_mark() -> None:
    board = empty_board(10)
    for ply, cell in enumerate((37 * step + 11) % 100 for step in range(100)):
        board = board.after(cell, ply % 2)
        if ply % 9 == 0 or ply > 95:
            assert board.values == all_values(10, board)
    assert board.empty == []
    assert board.values == (bytes(100), bytes(100))


@pytest.mark.parametrize("size", range(10, 15))
def test_the_empty_board_is_worth_one_in_the_middle_and_the_same_for_both(size: int) -> None:
    board = empty_board(size)
    assert board.values == all_values(size, board)
    assert board.values[0] == board.values[1]
    assert (board.values[0][0], board.values[0][size * (size // 2) + size // 2]) == (1, 2)


def test_a_mark_leaves_the_board_before_it_as_it_was() -> None:
    before = estimates_of(10, [44, 45], [54])
    kept = (before.marks, before.values, [list(row) for row in before.packed], before.patterns[0][0].copy())
    before.after(46, 0).after(47, 1)
    assert kept == (before.marks, before.values, [list(row) for row in before.packed], before.patterns[0][0])


def test_cells_are_numbered_in_the_scan_order_of_the_game() -> None:
    names = list(board_of(10).cells)
    board = estimates_of(10, [names.index(name) for name in ("c4", "d4", "e4", "f4")], [])
    assert [names[cell] for cell, value in enumerate(board.values[0]) if value == 9] == ["b4", "g4"]


def test_the_values_of_o_are_those_of_x_with_the_marks_changed() -> None:
    one, other = estimates_of(12, [40, 41, 54], [60, 61]), estimates_of(12, [60, 61], [40, 41, 54])
    assert one.values == other.values[::-1]


#: Figure 5: the value of two lines by the values of each, 0.5 to 5 in both directions.
FIGURE_5 = """
0.5 1   1.5 2   2.5 3   3.5 4   4.5 5
1   1   1.5 2   2.5 3   3.5 4   4.5 5
1.5 1.5 1.5 2   2.5 3   3.5 4   4.5 5
2   2   2   2.5 2.5 3.5 3.5 4   4.5 5
2.5 2.5 2.5 2.5 2.5 3.5 3.5 4   4.5 5
3   3   3   3.5 3.5 4   4   4   4.5 5
3.5 3.5 3.5 3.5 3.5 4   4   4   4.5 5
4   4   4   4   4   4   4   4   4.5 5
4.5 4.5 4.5 4.5 4.5 4.5 4.5 4.5 4.5 5
5   5   5   5   5   5   5   5   5   5
"""


def test_the_fold_is_the_table_of_figure_5() -> None:
    printed = [[float(value) for value in row.split()] for row in FIGURE_5.split("\n")[1:-1]]
    assert [[fold(a, b) / 2 for b in VALUES] for a in VALUES] == printed
