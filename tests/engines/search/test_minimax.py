"""Minimax and alpha-beta: the principal variation, reports, horizons."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena_engines.search.alphabeta import alphabeta
from arena_engines.search.minimax import Node, minimax
from arena_protocol.games.insertion.board import parse_board

from ..insertion_oracle import InsertionTree
from ..insertion_oracle import Node as Board
from .toys import Path, Toy


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


@pytest.mark.parametrize("search", [minimax, alphabeta])
def test_without_moves_or_depth_the_horizon_is_the_value(search: Callable[..., object]) -> None:
    toy = Toy(1)
    assert search(toy, (), 0) == (toy.horizon(()), (), 0)
    assert search(toy, (0,) * 6, 3) == (toy.horizon((0,) * 6), (), 0)


def test_insertion_ends_with_the_pictures() -> None:
    tree = InsertionTree("6")
    root = Board(parse_board("53351/34233/13552/44215/44526"))
    assert len(tree.moves(root)) == 15
    assert tree.moves(tree.play(root, 4)[0]) == ()
    assert minimax(tree, root, 5).nodes == 15
