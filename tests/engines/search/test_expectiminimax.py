"""Expectiminimax against its definition."""

from __future__ import annotations

from fractions import Fraction

from arena_engines.search.expectiminimax import ExpectedNode, expectiminimax
from arena_engines.search.minimax import minimax
from arena_protocol.games.insertion.board import parse_board

from ..conftest import Case
from ..insertion_oracle import InsertionTree
from ..insertion_oracle import Node as Board
from .toys import Path, Toy


def expected(toy: Toy, position: Path, depth: int) -> Fraction:
    """Expectiminimax by its definition."""
    drawn = toy.outcomes(position) if depth else []
    if drawn:
        return sum((chance * expected(toy, child, depth) for chance, child in drawn), Fraction(0))
    moves = toy.moves(position) if depth else []
    if not moves:
        return Fraction(toy.horizon(position))
    values = [
        gain + expected(toy, child, depth - 1) for child, gain in (toy.play(position, m) for m in moves)
    ]
    return max(values) if toy.maximises(position) else min(values)


def test_expectiminimax_by_its_definition_on_hundreds_of_trees() -> None:
    with_draws = 0
    for seed in range(250):
        toy = Toy(seed, draws=True)
        told: list[ExpectedNode] = []
        found = expectiminimax(toy, (), 4, told.append)
        assert found.value == expected(toy, (), 4)
        draws = [node for node in told if str(node.path[-1]).startswith("draw")]
        assert found.nodes == len(told) - len(draws)
        with_draws += bool(draws)
    assert with_draws > 125


def test_without_draws_it_is_minimax() -> None:
    for seed in range(250):
        full, ours = minimax(Toy(seed), (), 5), expectiminimax(Toy(seed), (), 5)
        assert ours.value == full.value
        assert ours.nodes == full.nodes
        assert ours.move == next(iter(full.line), None)


def test_beyond_the_visible_pictures_every_colour_is_as_likely(cases: list[Case]) -> None:
    for case in cases[::16]:
        root = Board(parse_board(case.board))
        ours = expectiminimax(InsertionTree(case.visible[:1], wildcards=case.colours), root, 2)
        replies: dict[int, list[int]] = {}
        for colour in range(1, case.colours + 1):
            tree = InsertionTree(case.visible[0] + str(colour))
            for move in tree.moves(root):
                child, gain = tree.play(root, move)
                replies.setdefault(move, []).append(gain + minimax(tree, child, 1).value)
        means = {move: Fraction(sum(values), case.colours) for move, values in replies.items()}
        assert ours.value == max(means.values())
        assert ours.move == max(means, key=lambda move: means[move])


def test_with_every_picture_visible_nothing_is_drawn(cases: list[Case]) -> None:
    for case in cases[::20]:
        root = Board(parse_board(case.board))
        wild = expectiminimax(InsertionTree(case.visible[:2], wildcards=case.colours), root, 2)
        full = minimax(InsertionTree(case.visible[:2]), root, 2)
        assert wild.value == full.value
        assert (wild.move, wild.nodes) == (full.line[0], full.nodes)
