"""The readable searches: equal where they must be, and every node told."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena_engines.insertion.tree import InsertionTree
from arena_engines.insertion.tree import Node as Board
from arena_engines.search.alphabeta import alphabeta
from arena_engines.search.minimax import Node, minimax
from arena_protocol.games.insertion.text import parse_board

if TYPE_CHECKING:
    from tests.engines.conftest import Case

Path = tuple[int, ...]


class Toy:
    """A tree of random gains and horizons, fixed by a seed; sides in any order, also twice in a row."""

    def __init__(self, seed: int, width: int = 3, height: int = 5) -> None:
        self.seed, self.width, self.height = seed, width, height

    def pick(self, position: Path, salt: int, below: int) -> int:
        return hash((self.seed, salt, position)) % below

    def moves(self, position: Path) -> range:
        ends = len(position) == self.height or (position and self.pick(position, 1, 10) == 0)
        return range(0 if ends else 1 + self.pick(position, 2, self.width))

    def play(self, position: Path, move: int) -> tuple[Path, int]:
        child = (*position, move)
        return child, self.pick(child, 3, 7) - 3

    def maximises(self, position: Path) -> bool:
        return not position or self.pick(position, 4, 2) == 0

    def horizon(self, position: Path) -> int:
        return self.pick(position, 5, 7) - 3


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


@given(st.integers(0, 10**6))
def test_the_line_is_worth_the_value(seed: int) -> None:
    toy = Toy(seed)
    for search in (minimax, alphabeta):
        found = search(toy, (), 4)
        position: Path = ()
        total = 0
        for move in found.line:
            position, gain = toy.play(position, move)
            total += gain
        assert total + toy.horizon(position) == found.value


@pytest.mark.parametrize("search", [minimax, alphabeta])
def test_every_node_is_told_once_children_first(search: Callable[..., object]) -> None:
    for seed in range(50):
        nodes: list[Node] = []
        found = search(Toy(seed), (), 4, report=nodes.append)
        assert len(nodes) == found.nodes  # type: ignore[attr-defined]
        paths = [node.path for node in nodes]
        assert len(set(paths)) == len(paths)
        order = {path: number for number, path in enumerate(paths)}
        assert all(len(path) == 1 or order[path] < order[path[:-1]] for path in paths)


def test_a_told_node_shows_window_gain_and_cut() -> None:
    for seed in range(50):
        nodes: list[Node] = []
        alphabeta(Toy(seed), (), 4, report=nodes.append)
        for node in nodes:
            assert node.low < node.high
            assert node.gain == Toy(seed).play(node.path[:-1], node.path[-1])[1]
            maximises = Toy(seed).maximises(node.path[:-1])
            assert node.cut == (node.value >= node.high if maximises else node.value <= node.low)


@pytest.mark.parametrize("search", [minimax, alphabeta])
def test_without_moves_or_depth_the_horizon_is_the_value(search: Callable[..., object]) -> None:
    toy = Toy(1)
    assert search(toy, (), 0) == (toy.horizon(()), (), 0)
    assert search(toy, (0,) * 5, 3) == (toy.horizon((0,) * 5), (), 0)


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_they_agree_on_insertion(cases: list[Case], seats: int) -> None:
    for case in cases[::6]:
        tree = InsertionTree(case.visible[:2], seats)
        root = Board(parse_board(case.board))
        full, cut = minimax(tree, root, 2), alphabeta(tree, root, 2)
        assert (full.value, full.line) == (cut.value, cut.line)


def test_insertion_ends_with_the_pictures() -> None:
    tree = InsertionTree("6")
    root = Board(parse_board("53351/34233/13552/44215/44526"))
    assert len(tree.moves(root)) == 15
    assert tree.moves(tree.play(root, 4)[0]) == ()
    assert minimax(tree, root, 5).nodes == 15
