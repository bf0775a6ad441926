"""Alpha-beta and deepening against minimax."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena_engines.insertion.champion import Champion
from arena_engines.insertion.evaluation import SPOILING, unpack
from arena_engines.search.alphabeta import alphabeta, deepen
from arena_engines.search.minimax import Node, minimax
from arena_protocol.games.insertion.board import parse_board

from ..conftest import Case
from ..insertion_oracle import InsertionTree
from ..insertion_oracle import Node as Board
from .toys import Toy


@given(st.integers(0, 10**6), st.integers(0, 6))
def test_alphabeta_equals_minimax_on_any_tree(seed: int, depth: int) -> None:
    full, cut = minimax(Toy(seed), (), depth), alphabeta(Toy(seed), (), depth)
    assert (cut.value, cut.line[:1]) == (full.value, full.line[:1])
    assert cut.nodes <= full.nodes


@given(st.integers(0, 10**6), st.integers(-8, 8), st.integers(1, 6))
def test_outside_the_window_the_value_is_a_bound(seed: int, low: int, width: int) -> None:
    exact = minimax(Toy(seed), (), 4).value
    found = alphabeta(Toy(seed), (), 4, low, low + width).value
    if low < exact < low + width:
        assert found == exact
    elif exact <= low:
        assert exact <= found <= low
    else:
        assert low + width <= found <= exact


def test_a_told_node_shows_window_gain_and_cut() -> None:
    for seed in range(50):
        nodes: list[Node] = []
        alphabeta(Toy(seed), (), 4, report=nodes.append)
        for node in nodes:
            assert node.low < node.high
            assert node.gain == Toy(seed).play(node.path[:-1], node.path[-1])[1]
            maximises = Toy(seed).maximises(node.path[:-1])
            assert node.cut == (node.value >= node.high if maximises else node.value <= node.low)


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_they_agree_on_insertion(cases: list[Case], seats: int) -> None:
    for case in cases[::6]:
        tree = InsertionTree(case.visible[:2], seats)
        root = Board(parse_board(case.board))
        full, cut = minimax(tree, root, 2), alphabeta(tree, root, 2)
        assert (full.value, full.line) == (cut.value, cut.line)


def test_three_searches_agree_on_hundreds_of_trees() -> None:
    for seed in range(800):
        toy, depth = Toy(seed), seed % 7
        full = minimax(toy, (), depth)
        cut = alphabeta(toy, (), depth)
        *_, last = deepen(toy, (), depth)
        assert (full.value, full.line[:1]) == (cut.value, cut.line[:1]) == (last.value, last.line[:1])
        assert max(cut.nodes, last.nodes) <= full.nodes


def test_deepening_answers_after_every_depth() -> None:
    for seed in range(300):
        rounds = list(deepen(Toy(seed), (), 5))
        right = [minimax(Toy(seed), (), depth) for depth in range(1, 6)]
        assert [(one.value, one.line[:1]) for one in rounds] == [(one.value, one.line[:1]) for one in right]


def test_deepening_tells_every_node_with_its_whole_path() -> None:
    for seed in range(40):
        nodes: list[Node] = []
        rounds = list(deepen(Toy(seed), (), 4, nodes.append))
        assert len(nodes) == sum(found.nodes for found in rounds)
        for node in nodes:
            assert Toy(seed).play(node.path[:-1], node.path[-1])[1] == node.gain


def test_deepening_without_a_move_gives_the_horizon() -> None:
    toy = Toy(1)
    assert list(deepen(toy, (0,) * 6, 3)) == [(toy.horizon((0,) * 6), (), 0)]
    assert list(deepen(toy, (), 0)) == [(toy.horizon(()), (), 0)]


def test_deepening_searches_insertion_like_the_champion(cases: list[Case]) -> None:
    champion = Champion()
    for case in cases[::12]:
        *_, last = deepen(InsertionTree(case.visible[:3]), Board(parse_board(case.board)), 3)
        ours = champion.analyse(case.position, 3)
        assert (ours.move, ours.eval) == (last.line[0], unpack(last.value))


def test_alphabeta_agrees_with_minimax_on_hundreds_of_boards(cases: list[Case]) -> None:
    count = 0
    for case in cases[::4]:
        for seats, start in product((2, 3), range(5)):
            tree = InsertionTree(case.visible[start : start + 1 + count % 2], seats, SPOILING)
            root = Board(parse_board(case.board))
            full, cut = minimax(tree, root, 2), alphabeta(tree, root, 2)
            assert (full.value, full.line) == (cut.value, cut.line)
            count += 1
    assert count > 500
