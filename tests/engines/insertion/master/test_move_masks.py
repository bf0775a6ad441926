"""The move masks of fifteen moves against the rules, move by move."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from arena_engines.insertion.master.move_masks import move_masks
from arena_protocol.games.insertion import rules
from arena_protocol.games.insertion.board import parse_board

if TYPE_CHECKING:
    from tests.engines.conftest import Case


COLOURS = st.integers(1, 7)


@st.composite
def settled_boards(draw: st.DrawFn) -> tuple[int, int, int]:
    """Any settled board that moves can lead to."""
    planes = (0, 0, 0)
    few = draw(st.integers(2, 7))
    for move, colour in draw(st.lists(st.tuples(st.integers(1, 15), st.integers(1, 7)), max_size=60)):
        planes = rules.play(*planes, move, 1 + colour % few)[:3]
    return planes


def check(planes: tuple[int, int, int], colour: int) -> tuple[int, int]:
    """Compare with the rules, move by move; return how many moves score and how many are left open."""
    word = move_masks(*planes, colour)
    moves, sure, maybe, falling = (word >> 16 * part & 0xFFFF for part in range(4))
    assert moves == rules.distinct_moves(*planes)
    assert sure & maybe == 0
    assert (sure | maybe) & ~moves == 0
    for move in range(1, 16):
        *_, removed, fell, _ = rules.play(*planes, move, colour)
        if moves >> move & 1:
            assert fell == falling >> move & 1
            assert removed or not sure >> move & 1
            assert not removed or (sure | maybe) >> move & 1
    return sure.bit_count(), maybe.bit_count()


@given(settled_boards(), COLOURS)
def test_sight_agrees_with_the_rules_on_any_board(planes: tuple[int, int, int], colour: int) -> None:
    check(planes, colour)


def test_sight_agrees_with_the_rules_on_boards_from_games(cases: list[Case]) -> None:
    seen = [check(parse_board(case.board), colour) for case in cases for colour in range(1, 8)]
    sure, open_ = (sum(column) for column in zip(*seen, strict=True))
    # Nearly all is decided without making a move; else the frontier of a search would gain nothing.
    assert 0 < open_ < sure
