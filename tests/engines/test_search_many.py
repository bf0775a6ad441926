"""Deepening, max^n, expectiminimax, and the searches over whole games of the arena."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest

from arena_engines.insertion.champion import Champion
from arena_engines.insertion.eval import unpack
from arena_engines.insertion.strategy import SPOILING
from arena_engines.insertion.tree import InsertionTree
from arena_engines.insertion.tree import Node as Board
from arena_engines.search.adapters import AllSeats, TwoSides
from arena_engines.search.alphabeta import alphabeta, deepen
from arena_engines.search.expectiminimax import ExpectedNode, expectiminimax
from arena_engines.search.maxn import SharedNode, maxn
from arena_engines.search.minimax import Node, minimax
from arena_protocol.games import GameError, make_game
from arena_protocol.games.base import Deal
from arena_protocol.games.decided import WIN_POINTS
from arena_protocol.games.insertion import Insertion
from arena_protocol.games.insertion.text import parse_board

if TYPE_CHECKING:
    from tests.engines.conftest import Case

Path = tuple[int, ...]


class Toy:
    """A tree of random gains and horizons, fixed by a seed: sides and draws in any order."""

    def __init__(self, seed: int, draws: bool = False) -> None:
        self.seed, self.draws = seed, draws

    def pick(self, position: Path, salt: int, below: int) -> int:
        return hash((self.seed, salt, position)) % below

    def moves(self, position: Path) -> range:
        ends = len(position) >= 6 or (position and self.pick(position, 1, 10) == 0)
        return range(0 if ends else 1 + self.pick(position, 2, 3))

    def play(self, position: Path, move: int) -> tuple[Path, int]:
        child = (*position, move)
        return child, self.pick(child, 3, 5) - 2

    def maximises(self, position: Path) -> bool:
        return self.pick(position, 4, 2) == 0

    def horizon(self, position: Path) -> int:
        return self.pick(position, 5, 5) - 2

    def outcomes(self, position: Path) -> list[tuple[Fraction, Path]]:
        drawn = position and position[-1] >= 100
        if not self.draws or drawn or self.pick(position, 6, 10) < 6:
            return []
        weights = [1 + self.pick(position, 7 + each, 3) for each in range(3)]
        return [
            (Fraction(weight, sum(weights)), (*position, 100 + each)) for each, weight in enumerate(weights)
        ]


class ManyToy:
    """The same for seats that each want points of their own."""

    def __init__(self, seed: int, seats: int) -> None:
        self.toy, self.seats = Toy(seed), seats
        self.moves = self.toy.moves

    def play(self, position: Path, move: int) -> tuple[Path, tuple[int, ...]]:
        child = (*position, move)
        return child, self.some(child, 3)

    def to_move(self, position: Path) -> int:
        return self.toy.pick(position, 4, self.seats)

    def horizon(self, position: Path) -> tuple[int, ...]:
        return self.some(position, 5)

    def some(self, position: Path, salt: int) -> tuple[int, ...]:
        return tuple(self.toy.pick(position, 10 * salt + seat, 5) - 2 for seat in range(self.seats))


def test_three_searches_agree_on_thousands_of_trees() -> None:
    for seed in range(3000):
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


def test_alphabeta_agrees_with_minimax_on_thousands_of_boards(cases: list[Case]) -> None:
    count = 0
    for case in cases:
        for seats, start in product((2, 3), range(5)):
            tree = InsertionTree(case.visible[start : start + 1 + count % 2], seats, SPOILING)
            root = Board(parse_board(case.board))
            full, cut = minimax(tree, root, 2), alphabeta(tree, root, 2)
            assert (full.value, full.line) == (cut.value, cut.line)
            count += 1
    assert count > 2000


def best_for_each(toy: ManyToy, position: Path, depth: int) -> tuple[tuple[int, ...], Path]:
    """Max^n by its definition, from lists."""
    moves = toy.moves(position) if depth else []
    if not moves:
        return toy.horizon(position), ()
    answers = []
    for move in moves:
        child, gains = toy.play(position, move)
        values, line = best_for_each(toy, child, depth - 1)
        answers.append((tuple(a + b for a, b in zip(gains, values, strict=True)), (move, *line)))
    return max(answers, key=lambda answer: answer[0][toy.to_move(position)])


@pytest.mark.parametrize("seats", [1, 2, 3, 4])
def test_maxn_is_best_for_each_in_turn(seats: int) -> None:
    for seed in range(500):
        toy = ManyToy(seed, seats)
        told: list[SharedNode] = []
        found = maxn(toy, (), 5, told.append)
        assert (found.values, found.line) == best_for_each(toy, (), 5)
        assert found.nodes == len(told) == len({node.path for node in told})
        assert all(node.seat == toy.to_move(node.path[:-1]) for node in told)


def test_maxn_of_two_rivals_is_minimax() -> None:
    game = make_game("disc", {"m": 9})
    for state in ("0/1/1", "3/2/2", "5/6/1", "2/3/1"):
        position = game.start(Deal(state))
        seat = game.to_move(position)
        wins = maxn(AllSeats(game), position, 12).values[seat - 1] > 0
        assert wins == (minimax(TwoSides(game, seat), position, 12).value > 0)


def test_three_seats_of_insertion_each_for_itself() -> None:
    game = Insertion.from_options({"seats": 3, "plies": 9, "colours": 3, "start": "empty"})
    position = game.start(game.deal(4))
    for move in ("7", "8", "7", "8", "9", "9"):
        position = game.play(position, move).position
    seats = AllSeats(game)
    found = maxn(seats, position, 3)
    assert found.nodes == 15 + 15**2 + 15**3
    end = position
    for move in found.line:
        end = game.play(end, move).position
    assert found.values == tuple(b - a for a, b in zip(position.totals, end.totals, strict=True))
    mine = []
    for move in game.legal_moves(position):
        child, gains = seats.play(position, move)
        mine.append(gains[0] + maxn(seats, child, 2).values[0])
    assert found.values[0] == max(mine)
    assert found.line[0] == game.legal_moves(position)[mine.index(max(mine))]


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


def test_expectiminimax_by_its_definition_on_a_thousand_trees() -> None:
    with_draws = 0
    for seed in range(1000):
        toy = Toy(seed, draws=True)
        told: list[ExpectedNode] = []
        found = expectiminimax(toy, (), 4, told.append)
        assert found.value == expected(toy, (), 4)
        draws = [node for node in told if str(node.path[-1]).startswith("draw")]
        assert found.nodes == len(told) - len(draws)
        with_draws += bool(draws)
    assert with_draws > 500


def test_without_draws_it_is_minimax() -> None:
    for seed in range(1000):
        full, ours = minimax(Toy(seed), (), 5), expectiminimax(Toy(seed), (), 5)
        assert (ours.value, ours.nodes) == (full.value, full.nodes)
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
        assert (wild.value, wild.move, wild.nodes) == (full.value, full.line[0], full.nodes)


def test_tic_tac_toe_is_a_draw_and_the_disc_game_the_first_players() -> None:
    for name, options, value in (
        ("tictactoe", {"size": 3}, 0),
        ("disc", {"m": 13}, WIN_POINTS),
        ("lastcoin", {"coins": 7}, -WIN_POINTS),
    ):
        game = make_game(name, options)
        assert alphabeta(TwoSides(game), game.start(game.deal(0)), 20).value == value
        assert alphabeta(TwoSides(game, 2), game.start(game.deal(0)), 20).value == -value


@pytest.mark.parametrize("search", [minimax, alphabeta])
def test_a_game_that_hides_pictures_is_searched_as_far_as_they_are_known(
    search: Callable[..., Any],
) -> None:
    game = Insertion.from_options({"plies": 10, "lookahead": 2})
    deal = game.deal(3)
    position = game.start(Deal(deal.board, game.preview(deal)))
    assert search(TwoSides(game), position, 2).nodes > 15
    with pytest.raises(GameError, match="the picture of ply 3 is not known"):
        search(TwoSides(game), position, 3)
