"""The values of all cells, kept up to date move by move, against the paper's steps on whole lines."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena_engines.xo.program1970.evaluation import (
    EMPTY,
    FOE,
    OWN,
    Estimates,
    cell_estimate,
    empty_board,
    estimates_of,
    line_estimate,
)
from arena_protocol.games.marks import board_of

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
