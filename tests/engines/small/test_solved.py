"""Solvers against independent exhaustive ones; perfect engines never lose."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.engines.positions import played_at_random

from arena_engines.engine import Engine, Position
from arena_engines.registry import create
from arena_engines.small.solved import MarksSolver, Outcome, Solver
from arena_protocol.games import make_game
from arena_protocol.games.base import Deal, Game, P
from arena_protocol.games.disc import Disc, Turned
from arena_protocol.games.lastcoin import Heap, LastCoin
from arena_protocol.games.mnk import Marks, TicTacToe

from ...slices import all_of, rows


@cache
def disc_mover_wins(total: int, top: int, m: int) -> bool:
    """The Lithuanian text's recursion on (s, d)."""
    if total >= m:
        return False  # the other side has just reached m
    return any(not disc_mover_wins(total + turned, turned, m) for turned in (top % 6 + 1, (top + 4) % 6 + 1))


@cache
def naive_tictactoe(cells: str, mark: str, size: int, win: int) -> int:
    """1, 0 or -1 for the side to move, on a string of cells, by trying everything."""
    other = "o" if mark == "x" else "x"
    if any(all(cells[cell] == other for cell in line) for line in naive_lines(size, win)):
        return -1
    if "." not in cells:
        return 0
    return max(
        -naive_tictactoe(cells[:cell] + mark + cells[cell + 1 :], other, size, win)
        for cell, sign in enumerate(cells)
        if sign == "."
    )


@cache
def naive_lines(size: int, win: int) -> tuple[tuple[int, ...], ...]:
    starts = [
        (x, y, dx, dy)
        for x in range(size)
        for y in range(size)
        for dx, dy in ((1, 0), (0, 1), (1, 1), (-1, 1))
    ]
    ends = [(x, y, dx, dy, x + (win - 1) * dx, y + (win - 1) * dy) for x, y, dx, dy in starts]
    inside = [
        (x, y, dx, dy) for x, y, dx, dy, last_x, last_y in ends if 0 <= last_x < size and 0 <= last_y < size
    ]
    return tuple(tuple(size * (y + k * dy) + x + k * dx for k in range(win)) for x, y, dx, dy in inside)


def text_of(game: TicTacToe, position: Marks) -> str:
    return game.state_text(position).replace("/", "")


def test_the_disc_game_to_13_is_won_by_the_first_player_and_its_tree_has_9_levels() -> None:
    game = Disc(13)
    start = game.start(game.deal(0))
    assert Solver(game).outcome(start).result == 1
    level, levels = [start], 0
    while level := [game.play(node, move).position for node in level for move in game.legal_moves(node)]:
        levels += 1
        if levels == 7:  # the text: "8 positions, and only one of them (11, 2) is not final"
            assert len(level) == 8
            assert [node for node in level if node.total < 13] == [Turned(11, 2, 2)]
        if levels == 8:
            assert sorted((node.total, node.top) for node in level) == [(12, 1), (14, 3)]
        if levels == 9:
            assert [game.winner(node) for node in level] == [1, 1]
    assert levels == 9


@all_of("m", range(1, 61))
def test_the_disc_game_to_any_m_agrees_with_the_recursion_of_the_text(m: int) -> None:
    game = Disc(m)
    solver = Solver(game)
    for total in range(m):
        for top in range(1, 7):
            assert (solver.outcome(Turned(total, top, 1)).result == 1) == disc_mover_wins(total, top, m)


def test_the_disc_game_to_1000_is_solved_without_deep_recursion() -> None:
    assert Solver(Disc(1000)).outcome(Turned(0, 1, 1)).plies > 100


@all_of("coins", range(1, 40))
def test_last_coin_is_lost_to_the_mover_just_when_a_third_leaves_one(coins: int) -> None:
    outcome = Solver(LastCoin(coins)).outcome(Heap(coins, 1))
    assert outcome.result == (-1 if coins % 3 == 1 else 1)


def test_seven_coins_are_won_by_the_second_player() -> None:
    game = LastCoin(7)
    solver = Solver(game)
    assert solver.outcome(Heap(7, 1)) == Outcome(-1, 5)
    # The strategy of the Russian text: one coin is answered by two, two by one.
    assert [solver.best_move(Heap(coins, 2)) for coins in (6, 5, 3, 2)] == ["2", "1", "2", "1"]


@pytest.mark.parametrize(("size", "win", "result"), rows([(4, 3, 1), (3, 3, 0), (4, 4, 0)], 2))
def test_tictactoe_from_the_empty_board(size: int, win: int, result: int) -> None:
    game = TicTacToe(size, win)
    assert MarksSolver(game).outcome(game.start(game.deal(0))) == result


def all_positions(game: Game[P]) -> Iterator[P]:
    level = {game.start(game.deal(0))}
    while level:
        yield from level
        level = {game.play(node, move).position for node in level for move in game.legal_moves(node)}


def test_all_5478_positions_of_3x3_agree_with_the_naive_solver() -> None:
    game = TicTacToe(3, 3)
    general, special = Solver(game), MarksSolver(game)
    positions = list(all_positions(game))
    for position in positions:
        mark = "x" if game.to_move(position) == 1 else "o"
        expected = naive_tictactoe(text_of(game, position), mark, 3, 3)
        assert general.outcome(position).result == special.outcome(position) == expected
    assert len(positions) == len(general) == 5478


@settings(max_examples=60, deadline=None)
@given(st.sampled_from([3, 4]), st.integers(7, 16), st.randoms(use_true_random=False))
def test_late_positions_of_4x4_agree_with_the_naive_solver(
    win: int, plies: int, chance: random.Random
) -> None:
    game = TicTacToe(4, win)
    position = played_at_random(game, chance, plies)
    mark = "x" if game.to_move(position) == 1 else "o"
    assert MarksSolver(game).outcome(position) == naive_tictactoe(text_of(game, position), mark, 4, win)


def test_the_winner_takes_the_shortest_way_and_the_loser_the_longest() -> None:
    game = TicTacToe(3, 3)
    solver = Solver(game)
    won = game.start(Deal("x../.x./oo."))
    assert (solver.best_move(won), solver.outcome(won)) == ("c1", Outcome(1, 1))
    disc = Disc(20)
    solver = Solver(disc)
    for total in range(20):
        position = Turned(total, 3, 1)
        ends = [solver.after(position, move) for move in disc.legal_moves(position)]
        after = solver.after(position, solver.best_move(position))
        wins = [end.plies for end in ends if end.result == -1]
        assert after.plies == (min(wins) if wins else max(end.plies for end in ends))


def game_of(rules: Game[Any], first: Engine, second: Engine) -> tuple[int, ...]:
    position = rules.start(rules.deal(0))
    while rules.end(position) is None:
        engine = (first, second)[rules.to_move(position) - 1]
        move = engine.choose(Position(rules=rules, state=position))
        position = rules.play(position, str(move)).position
    return rules.totals(position)


@pytest.mark.parametrize(("options", "pairs"), rows([({}, 10), ({"size": 4}, 1)], 2))
def test_perfect_never_loses_tictactoe(options: dict[str, int], pairs: int) -> None:
    rules = make_game("tictactoe", options)
    perfect, points = create("perfect", "tictactoe"), 0
    for seed in range(pairs):
        rival = create(f"random:seed={seed}", "tictactoe")
        first, second = game_of(rules, perfect, rival), game_of(rules, rival, perfect)
        assert first[0] >= 1
        assert second[1] >= 1
        points += first[0] + second[1]
    assert points > 2.2 * pairs  # and wins some
    assert game_of(rules, perfect, perfect) == (1, 1)


@pytest.mark.parametrize(
    ("name", "key", "values", "winner"),
    [
        ("disc", "m", range(1, 30), lambda m: 1 if disc_mover_wins(0, 1, m) else 2),
        ("lastcoin", "coins", range(1, 20), lambda coins: 2 if coins % 3 == 1 else 1),
    ],
)
def test_perfect_wins_what_is_won(name: str, key: str, values: range, winner: Callable[[int], int]) -> None:
    for number in values:
        rules = make_game(name, {key: number})
        seat = winner(number)
        for seed in range(3):
            seats = [create(f"random:seed={seed}", name)] * 2
            seats[seat - 1] = create("perfect", name)
            assert game_of(rules, *seats)[seat - 1] == 2
        assert game_of(rules, create("perfect", name), create("perfect", name))[seat - 1] == 2


def test_perfect_wins_at_once_where_it_can() -> None:
    rules = make_game("tictactoe", {"size": 4, "win": 3})
    assert create("perfect", "tictactoe").choose(Position.at(rules, "..../oo../.xx./....")) in ("a2", "d2")
