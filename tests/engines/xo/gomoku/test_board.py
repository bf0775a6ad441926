"""The board: increments equal the evaluation from the definition."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena_engines.jit import compiled
from arena_engines.xo.gomoku import board as boards
from arena_engines.xo.gomoku import patterns
from arena_engines.xo.gomoku.kernel import BOARD
from arena_engines.xo.gomoku.searcher import Searcher
from arena_engines.xo.gomoku.values import class_name, fill_values, values

from ..oracle import five, shapes

SIZES = (10, 12, 14)


#: The signature of `make` and `unmake`.
MAKES = f"void({BOARD}, int64, int64)"


@pytest.fixture(scope="module")
def searchers() -> dict[int, Searcher]:
    return {size: Searcher(size) for size in SIZES}


def slow_board(searcher: Searcher, x: frozenset[int], o: frozenset[int]) -> dict[str, Any]:
    """What the board must hold, from the definition."""
    size, cells = searcher.size, searcher.cell_table
    codes = np.zeros((2, size * size), dtype=int)
    sums = np.zeros((2, 2), dtype=int)
    ranks = np.zeros((2, patterns.RANKS), dtype=int)
    for cell in set(range(size * size)) - x - o:
        for side, (mine, theirs) in enumerate(((x, o), (o, x))):
            code = sum(each * 9**at for at, each in enumerate(shapes(size, cell, mine, theirs)))
            codes[side, cell] = code
            sums[side] += values()[class_name(code)]
            ranks[side, cells[code, patterns.RANK]] += 1
    return {"codes": codes, "sums": sums, "ranks": ranks}


def first_from(ranks: np.ndarray[Any, Any], rank: int, start: int) -> int:
    """The first cell from `start` on of at least this rank, -1 if there is none."""
    return next((cell for cell in range(start, len(ranks)) if ranks[cell] >= rank), -1)


@settings(max_examples=25)
@given(st.sampled_from(SIZES), st.data())
def test_increments_there_and_back_equal_the_full_evaluation(
    searchers: dict[int, Searcher], size: int, data: st.DataObject
) -> None:
    searcher = searchers[size]
    order = data.draw(st.lists(st.integers(0, size * size - 1), unique=True, max_size=60))
    kept = data.draw(st.integers(0, len(order)))
    sides = [data.draw(st.integers(0, 1)) for _ in order]
    searcher.set_position([], [])
    board = searcher.board
    make, unmake = compiled(boards.make, MAKES), compiled(boards.unmake, MAKES)
    for cell, side in zip(order, sides, strict=True):
        make(board, cell, side)
    for cell, side in reversed(list(zip(order, sides, strict=True))[kept:]):
        unmake(board, cell, side)
    x = frozenset(cell for cell, side in zip(order[:kept], sides, strict=False) if side == 0)
    o = frozenset(order[:kept]) - x
    expected = slow_board(searcher, x, o)
    marks = [1 if cell in x else 2 if cell in o else 0 for cell in range(size * size)]
    assert searcher.grid[boards.MARK].tolist() == marks
    assert (searcher.grid[boards.CELL : boards.CELL + 2] == expected["codes"]).all()
    for side in (0, 1):
        worth = boards.moving_value(board, side), boards.waiting_value(board, side)
        assert worth == tuple(expected["sums"][side])
        counts = [boards.count_of_rank(board, side, rank) for rank in range(patterns.RANKS)]
        assert counts == expected["ranks"][side].tolist()


@settings(max_examples=25)
@given(st.permutations(range(60)), st.integers(20, 50))
def test_cells_of_a_rank_are_found_from_every_start(
    searchers: dict[int, Searcher], order: list[int], marks: int
) -> None:
    searcher = searchers[12]
    searcher.set_position(order[:marks:2], order[1:marks:2])
    codes = searcher.grid[boards.CELL : boards.CELL + 2]
    ranks = searcher.cell_table[codes, patterns.RANK]
    next_of_rank = compiled(boards.next_of_rank, f"int64({BOARD}, int64, int64, int64)")
    next_of_either = compiled(boards.next_of_either, f"int64({BOARD}, int64, int64)")
    for side in (0, 1):
        assert [boards.rank_of(searcher.board, cell, side) for cell in range(144)] == ranks[side].tolist()
    for rank in (patterns.THREATENS_FOUR, patterns.SINGLE_FOUR, patterns.WINS_NOW):
        for start in range(145):
            found = [next_of_rank(searcher.board, side, rank, start) for side in (0, 1)]
            assert found == [first_from(ranks[side], rank, start) for side in (0, 1)]
            either = next_of_either(searcher.board, rank, start)
            assert either == first_from(ranks.max(axis=0), rank, start)


@given(st.sets(st.integers(0, 99), max_size=40), st.sets(st.integers(0, 99), max_size=40), st.integers(0, 99))
def test_a_mark_of_the_highest_rank_is_five_by_the_rules(
    searchers: dict[int, Searcher], mine: set[int], theirs: set[int], cell: int
) -> None:
    x, o = frozenset(mine - {cell}), frozenset(theirs - mine - {cell})
    searcher = searchers[10]
    searcher.set_position(sorted(x), sorted(o))
    best = searcher.cell_table[searcher.grid[boards.CELL, cell], patterns.RANK]
    if not five(10, x):
        assert (best == patterns.WINS_NOW) == five(10, x | {cell})


def test_the_kernel_as_plain_python_fills_the_same_tables(searchers: dict[int, Searcher]) -> None:
    reach = np.zeros((100, 32), dtype=np.int16)
    boards.fill_neighbours(reach, 10)
    assert (reach == searchers[10].neighbours).all()
    cells = np.zeros_like(searchers[10].cell_table)
    patterns.fill_cells(cells)
    fill_values(cells)
    assert (cells == searchers[10].cell_table).all()
