"""The board of `xo`: shapes by definition, tables symmetric, increments equal to the full evaluation."""

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

from .xo_slow import five, shape, shapes

SIZES = (10, 14)
#: The signature of `make` and `unmake`.
MAKES = f"void({BOARD}, int64, int64)"
SIGNS = ".mo#"  # EMPTY, X, O and BORDER of a code; `m` is the side that looks


@pytest.fixture(scope="module")
def searchers() -> dict[int, Searcher]:
    return {size: Searcher(size) for size in SIZES}


def line_text(code: int, side: int) -> str:
    """A neighbourhood as the slow definition reads it."""
    own = 1 + side
    signs = ["." if part == 0 else "m" if part == own else "#" for part in parts(code)]
    return "".join([*signs[:4], "m", *signs[4:]])


def parts(code: int) -> list[int]:
    return [code >> 2 * place & 3 for place in range(8)]


def code_of(places: list[int]) -> int:
    return sum(part << 2 * place for place, part in enumerate(places))


def test_every_neighbourhood_has_the_shape_of_the_definition(searchers: dict[int, Searcher]) -> None:
    lines = searchers[10].line_table
    for code in range(0, patterns.LINE_CODES, 7):
        for side in (0, 1):
            assert lines[code] >> 4 * side & 15 == shape(line_text(code, side)), (code, side)


def test_the_table_of_lines_is_symmetric_in_direction_and_in_sides(searchers: dict[int, Searcher]) -> None:
    lines = searchers[10].line_table
    swapped = (0, 2, 1, 3)
    for code in range(patterns.LINE_CODES):
        places = parts(code)
        assert lines[code_of(places[::-1])] == lines[code]
        other = lines[code_of([swapped[part] for part in places])]
        assert (other & 15, other >> 4) == (lines[code] >> 4, lines[code] & 15)


def test_a_cells_worth_does_not_depend_on_the_order_of_its_lines(searchers: dict[int, Searcher]) -> None:
    cells = searchers[10].cell_table
    grid = cells.reshape(9, 9, 9, 9, patterns.CELL_COLUMNS)
    for order in ((1, 0, 2, 3, 4), (0, 2, 1, 3, 4), (0, 1, 3, 2, 4)):
        assert (grid.transpose(order) == grid).all()


def test_ranks_say_what_a_mark_threatens() -> None:
    def rank(*four: int) -> int:
        return patterns.cell_rank(sum(each * 9**at for at, each in enumerate(four)))

    p = patterns
    assert rank(p.FIVE, 0, 0, 0) == p.WINS_NOW
    assert rank(p.OPEN_FOUR, 0, 0, 0) == rank(p.FOUR, p.FOUR, 0, 0) == p.WINS_NEXT
    assert rank(p.FOUR, p.OPEN_THREE, 0, 0) == p.FOUR_AND_THREE
    assert rank(p.FOUR, p.THREE, p.OPEN_TWO, 0) == p.SINGLE_FOUR
    assert rank(p.OPEN_THREE, 0, p.OPEN_THREE, 0) == p.TWO_THREES
    assert rank(p.OPEN_THREE, p.THREE, 0, 0) == p.THREATENS_FOUR
    assert rank(p.THREE, p.THREE, p.OPEN_TWO, p.ONE) == p.QUIET


def slow_board(searcher: Searcher, x: frozenset[int], o: frozenset[int]) -> dict[str, Any]:
    """What the board must hold, from the definition."""
    size, cells = searcher.size, searcher.cell_table
    packed = np.zeros((2, size * size), dtype=int)
    sums = np.zeros(4 + 2 * patterns.RANKS, dtype=int)
    for cell in set(range(size * size)) - x - o:
        for side, (mine, theirs) in enumerate(((x, o), (o, x))):
            code = sum(each * 9**at for at, each in enumerate(shapes(size, cell, mine, theirs)))
            packed[side, cell] = code
            sums[side] += cells[code, patterns.MOVING]
            sums[2 + side] += cells[code, patterns.WAITING]
            sums[4 + patterns.RANKS * side + cells[code, patterns.RANK]] += 1
    return {"packed": packed, "sums": sums}


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
    world = (searcher.grid, searcher.neighbours, searcher.line_table, searcher.cell_table)
    make, unmake = compiled(boards.make, MAKES), compiled(boards.unmake, MAKES)
    for cell, side in zip(order, sides, strict=True):
        make(world, cell, side)
    for cell, side in reversed(list(zip(order, sides, strict=True))[kept:]):
        unmake(world, cell, side)
    x = frozenset(cell for cell, side in zip(order[:kept], sides, strict=False) if side == 0)
    expected = slow_board(searcher, x, frozenset(order[:kept]) - x)
    board = searcher.grid
    assert (board[boards.CELL : boards.CELL + 2] == expected["packed"]).all()
    assert (board[boards.SUMS, : 4 + 2 * patterns.RANKS] == expected["sums"]).all()


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
    assert (cells == searchers[10].cell_table).all()
