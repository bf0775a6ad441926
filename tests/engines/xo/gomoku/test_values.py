"""The learnt values of cells: every class has them, and more threats are worth more."""

from __future__ import annotations

from arena_engines.xo.gomoku import patterns
from arena_engines.xo.gomoku.searcher import Searcher
from arena_engines.xo.gomoku.values import class_name, values


def test_every_cell_code_has_the_values_of_its_class() -> None:
    known = values()
    table = Searcher(10).cell_table
    for code in range(patterns.CELL_CODES):
        moving, waiting = known[class_name(code)]
        assert table[code, patterns.VALUES] == moving * 2**32 + waiting
    assert len(known) == len({class_name(code) for code in range(patterns.CELL_CODES)})


def test_the_name_of_a_class_is_its_shapes_from_the_highest() -> None:
    assert (
        class_name(patterns.FIVE + 9 * patterns.ONE + 81 * patterns.NOTHING + 729 * patterns.OPEN_TWO)
        == "8310"
    )


def test_one_more_step_towards_five_is_worth_more() -> None:
    """Along one line with nothing else, to the side to move; an open three is worth more than a four."""
    rising = ("1000", "2000", "3000", "5000", "7000", "8000")
    for side in (0, 1):
        worth = [values()[name][side] for name in rising]
        assert worth == sorted(worth), worth
