"""Master's exact search against the champion, minimax and a plain search by any weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena_engines.insertion.champion import Champion
from arena_engines.insertion.master import layout
from arena_engines.insertion.master.engine import Master
from arena_engines.insertion.master.search import ALL, FIRST, different_boards
from arena_engines.insertion.master.workspace import (
    HALF,
    PLAN,
    POINTS,
    SPOILING,
    Weights,
    Workspace,
    depths_to,
)
from arena_museum.history import Minimax
from arena_protocol.games.insertion.board import Planes, parse_board
from arena_protocol.games.insertion.rules import distinct_moves, play

from ....slices import rows
from ...positions import at
from .games import minimax

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
        ours = master.analyse(case.position, depth)
        theirs = champion.analyse(case.position, depth)
        assert (ours.move, ours.eval) == (theirs.move, theirs.eval), case


def test_an_analysis_does_not_depend_on_the_positions_before(cases: list[Case]) -> None:
    used = Master()
    for number, case in enumerate(cases[::6]):
        depth = 2 + number % 6
        ours, theirs = used.analyse(case.position, depth), Master().analyse(case.position, depth)
        assert ours._replace(seconds=0) == theirs._replace(seconds=0), case


def test_analysis_equals_minimax(cases: list[Case], master: Master) -> None:
    minimax = Minimax()
    for case in cases[::8]:
        ours = master.analyse(case.position, 4)
        assert ours[:2] == minimax.analyse(case.position, 4)[:2], case


@pytest.mark.parametrize("weights", [SPOILING, Weights(mine=900, theirs=-400, fell=30), Weights(0, -7, 5)])
@pytest.mark.parametrize("depth", rows([2, 4], 2))
def test_a_search_by_any_weights_finds_what_minimax_finds(
    cases: list[Case], weights: Weights, depth: int
) -> None:
    work = Workspace(table_bits=8)
    for case in cases[:: 6 * depth]:
        planes = parse_board(case.board)
        work.new_game()
        work.write(PLAN, 0, case.visible[:depth], [1 - ply % 2 for ply in range(depth + 1)], weights)
        work.start()
        move = work.deepen(planes, PLAN, 0, range(1, depth + 1), FIRST)
        assert (move, work.value) == minimax(planes, case.visible[:depth], weights), case


@pytest.mark.parametrize("weights", rows([SPOILING, POINTS, HALF], 3))
@pytest.mark.parametrize("depth", rows([4, 1, 2, 3], 2))
def test_the_ties_are_exactly_the_moves_of_the_best_value(
    cases: list[Case], weights: Weights, depth: int
) -> None:
    work = Workspace(table_bits=8)
    sizes = set()
    for case in cases[:: 12 * depth]:
        planes = parse_board(case.board)
        work.new_game()
        work.write(PLAN, 0, case.visible[:depth], [1 - ply % 2 for ply in range(depth + 1)], weights)
        work.start()
        work.deepen(planes, PLAN, 0, depths_to(depth), ALL)
        values = {}
        for move in range(1, 16):
            if distinct_moves(*planes) >> move & 1:
                p0, p1, p2, removed, fell, _ = play(*planes, move, int(case.visible[0]))
                values[move] = removed * weights.mine + fell * weights.fell
                if depth > 1:
                    values[move] += minimax((p0, p1, p2), case.visible[1:depth], weights, mine=False)[1]
        best = max(values.values())
        assert work.value == best
        assert work.ties == sum(1 << move for move, value in values.items() if value == best), case
        sizes.add(bin(work.ties).count("1"))
    assert len(sizes) > 1


@given(st.lists(st.tuples(*[st.integers(0, 2)] * 3), min_size=15, max_size=15), st.integers(0, (1 << 15) - 1))
def test_of_equal_boards_the_lowest_move_is_kept(boards: list[Planes], lanes: int) -> None:
    level = [0] * layout.LEVEL
    for lane, board in enumerate(boards):
        for plane, bits in zip((layout.P0, layout.P1, layout.P2), board, strict=True):
            level[plane + lane] = bits
    lowest: dict[Planes, int] = {}
    for lane, board in enumerate(boards):
        if lanes >> lane & 1:
            lowest.setdefault(board, lane + 1)
    assert different_boards(lanes << 1, 0, level) == sum(1 << move for move in lowest.values())


def test_the_same_board_before_other_pictures_is_another_position(cases: list[Case], master: Master) -> None:
    case = cases[10]
    other = case.visible[::-1]
    again = [
        master.analyse(at(case.board, visible), 6)[:2] for visible in (case.visible, other, case.visible)
    ]
    champion = Champion()
    assert again == [
        champion.analyse(at(case.board, visible), 6)[:2] for visible in (case.visible, other, case.visible)
    ]


def test_a_deep_search_visits_far_fewer_nodes_than_the_champion(cases: list[Case], master: Master) -> None:
    champion = Champion()
    six = [case for case in cases if case.colours == 6]
    ours = sum(master.analyse(case.position, 6).nodes for case in six)
    theirs = sum(champion.analyse(case.position, 6).nodes for case in six)
    assert ours * 4 < theirs


def test_depth_ends_with_the_pictures(cases: list[Case], master: Master) -> None:
    case = cases[3]
    assert (
        master.analyse(at(case.board, case.visible[:3]), 9)[:2]
        == master.analyse(at(case.board, case.visible[:3]), 3)[:2]
    )
