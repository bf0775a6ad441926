"""Master's exact search is the champion's: move, EVAL, from every view, with every limit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from arena_engines.insertion.champion import Champion
from arena_engines.insertion.master.engine import Master
from arena_engines.insertion.minimax import Minimax

if TYPE_CHECKING:
    from tests.engines.conftest import Case


@pytest.fixture(scope="module")
def master() -> Master:
    return Master()


@pytest.mark.parametrize("depth", [1, 2, 3, 4, 5, 6])
def test_analysis_equals_the_champions_in_move_and_eval(
    cases: list[Case], master: Master, depth: int
) -> None:
    champion = Champion()
    for case in cases:
        ours = master.analyse(case.board, case.visible, depth)
        theirs = champion.analyse(case.board, case.visible, depth)
        assert (ours.move, ours.eval) == (theirs.move, theirs.eval), case


def test_analysis_equals_minimax(cases: list[Case], master: Master) -> None:
    minimax = Minimax()
    for case in cases[::8]:
        ours = master.analyse(case.board, case.visible, 4)
        assert ours[:2] == minimax.analyse(case.board, case.visible, 4)[:2], case


def test_the_same_board_before_other_pictures_is_another_position(cases: list[Case], master: Master) -> None:
    case = cases[10]
    other = case.visible[::-1]
    again = [master.analyse(case.board, visible, 6)[:2] for visible in (case.visible, other, case.visible)]
    champion = Champion()
    assert again == [
        champion.analyse(case.board, visible, 6)[:2] for visible in (case.visible, other, case.visible)
    ]


def test_a_deep_search_visits_far_fewer_nodes_than_the_champion(cases: list[Case], master: Master) -> None:
    champion = Champion()
    six = [case for case in cases if case.colours == 6]
    ours = sum(master.analyse(case.board, case.visible, 6).nodes for case in six)
    theirs = sum(champion.analyse(case.board, case.visible, 6).nodes for case in six)
    assert ours * 4 < theirs


def test_depth_ends_with_the_pictures(cases: list[Case], master: Master) -> None:
    case = cases[3]
    assert (
        master.analyse(case.board, case.visible[:3], 9)[:2]
        == master.analyse(case.board, case.visible[:3], 3)[:2]
    )
