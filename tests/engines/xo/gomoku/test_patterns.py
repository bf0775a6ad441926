"""Pattern tables against their definition."""

from __future__ import annotations

import pytest

from arena_engines.xo.gomoku import patterns
from arena_engines.xo.gomoku.searcher import Searcher

from ..oracle import shape

SIZES = (10, 14)


@pytest.fixture(scope="module")
def searchers() -> dict[int, Searcher]:
    return {size: Searcher(size) for size in SIZES}


SIGNS = ".mo#"  # EMPTY, X, O and BORDER of a code; `m` is the side that looks


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
