"""Wins by fours and by threats: what is found is won by the rules, and short wins by fours are all found."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from arena_engines.xo.cells import cell_names
from arena_engines.xo.gomoku.searcher import Searcher

from ..oracle import Cells, double_fours, empty, fives, holes, threat_wins, wins_by_fours, wins_by_threats

SIZE = 10
NAMES = cell_names(SIZE)
#: Marks close together, where fours are.
CORNER = [SIZE * row + column for row in range(7) for column in range(7)]


@pytest.fixture(scope="module")
def searcher() -> Searcher:
    return Searcher(SIZE)


def cells(names: str) -> list[int]:
    return [NAMES.index(name) for name in names.split()]


@st.composite
def positions(draw: st.DrawFn, most: int = 26) -> tuple[Cells, Cells]:
    order = draw(st.permutations(CORNER))
    marks = draw(st.integers(8, most))
    return frozenset(order[:marks:2]), frozenset(order[1:marks:2])


#: O threatens five on 25, where X makes an open four.
PARRIED_BY_AN_OPEN_FOUR = (
    frozenset({0, 11, 13, 15, 16, 20, 34, 43}),
    frozenset({1, 3, 5, 10, 22, 23, 24, 26}),
)


@settings(max_examples=60)
@given(positions(), st.integers(0, 3))
@example(PARRIED_BY_AN_OPEN_FOUR, 0)
def test_wins_by_fours_are_those_of_a_slow_search(
    searcher: Searcher, position: tuple[Cells, Cells], depth: int
) -> None:
    x, o = position
    searcher.set_position(sorted(x), sorted(o))
    found = searcher.vcf(0, depth)
    assert (found is not None) == wins_by_fours(SIZE, x, o, depth)


@settings(max_examples=60)
@given(positions(), st.integers(0, 2))
@example(PARRIED_BY_AN_OPEN_FOUR, 0)
@example(PARRIED_BY_AN_OPEN_FOUR, 1)
def test_wins_by_threats_are_those_of_a_slow_search(
    searcher: Searcher, position: tuple[Cells, Cells], depth: int
) -> None:
    x, o = position
    searcher.set_position(sorted(x), sorted(o))
    searcher.reset()
    won = searcher.vct(0, depth) if depth else searcher.vcf(0, 0)
    assert (won is not None) == wins_by_threats(SIZE, x, o, depth)
    if won is not None and depth:
        assert SIZE**2 > won.cell >= 0
        assert won.cell in holes(SIZE, x, o) | double_fours(SIZE, x, o) or threat_wins(
            SIZE, x | {won.cell}, o, depth
        )


def refutations(mine: Cells, theirs: Cells) -> Iterator[tuple[Cells, Cells]]:
    """Every position after any move of the other side that does not let `mine` make five at once."""
    for cell in empty(SIZE, mine, theirs):
        after = theirs | {cell}
        if not fives(SIZE, mine, after):
            yield mine, after


def holds(searcher: Searcher, mine: Cells, theirs: Cells, fours_only: bool, depth: int) -> bool:
    """Whether the win claimed for `mine`, to move, is one against every answer, by claims again."""
    if fives(SIZE, mine, theirs):
        return True
    searcher.set_position(sorted(mine), sorted(theirs))
    found = searcher.vcf(0) or (None if fours_only else searcher.vct(0))
    if found is None or depth == 0:
        return found is not None
    after = mine | {found.cell}
    if fives(SIZE, theirs, after):
        return False
    return all(holds(searcher, *each, fours_only, depth - 1) for each in refutations(after, theirs))


@settings(max_examples=20)
@given(positions(), st.booleans())
def test_a_claimed_win_stands_against_every_answer(
    searcher: Searcher, position: tuple[Cells, Cells], fours_only: bool
) -> None:
    x, o = position
    searcher.set_position(sorted(x), sorted(o))
    if searcher.vcf(0) or (not fours_only and searcher.vct(0)):
        assert holds(searcher, x, o, fours_only, 1)


@settings(max_examples=40)
@given(positions(), st.integers(0, 2**32))
def test_a_claimed_win_can_be_played_to_five(
    searcher: Searcher, position: tuple[Cells, Cells], seed: int
) -> None:
    x, o = position
    chance = random.Random(seed)
    searcher.set_position(sorted(x), sorted(o))
    claimed = searcher.vct(0)
    while claimed and not fives(SIZE, x, o):
        searcher.set_position(sorted(x), sorted(o))
        found = searcher.vcf(0) or searcher.vct(0)
        assert found is not None
        x |= {found.cell}
        assert not fives(SIZE, o, x)
        answers = fives(SIZE, x, o) or empty(SIZE, x, o)
        o |= {chance.choice(answers)}


def test_two_open_threes_that_cross_win_by_threats_and_not_by_fours(searcher: Searcher) -> None:
    searcher.set_position(cells("e5 f5 d6 d7"), cells("a1 j10 a10 j1"))
    assert searcher.vcf(0) is None
    found = searcher.vct(0)
    assert found is not None
    assert NAMES[found.cell] == "d5"


def test_a_lone_open_three_wins_nothing_against_the_others_four(searcher: Searcher) -> None:
    searcher.set_position(cells("e5 f5 g5"), cells("a1 b1 c1 d1"))
    assert searcher.vct(0) is None


def test_a_search_out_of_positions_finds_nothing_and_leaves_the_board_as_it_was(searcher: Searcher) -> None:
    searcher.set_position(cells("e5 f5 d6 d7"), cells("a1 j10 a10 j1"))
    before = searcher.grid.copy()
    searcher.reset()
    assert searcher.vct(0, nodes=0) is None
    assert (searcher.grid == before).all()
    assert searcher.vct(0) is not None
    assert (searcher.grid == before).all()
