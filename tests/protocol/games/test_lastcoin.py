"""Last coin loses: moves, ends, and what it refuses."""

from __future__ import annotations

import pytest
from tests.slices import all_of

from arena_protocol.games import make_game
from arena_protocol.games.base import Deal, GameError
from arena_protocol.games.lastcoin import Heap, LastCoin

from .play import play_all


@pytest.mark.parametrize(("moves", "totals"), [("2 2 2 1", (2, 0)), ("1 2 1 2 1", (0, 2)), ("2 2 2", (0, 0))])
def test_the_seat_that_takes_the_last_coin_loses(moves: str, totals: tuple[int, int]) -> None:
    game = make_game("lastcoin", {"coins": 7})
    assert game.totals(play_all(game, moves)) == totals


def test_the_points_of_the_last_coin_are_never_the_movers() -> None:
    game = LastCoin()
    step = game.play(Heap(1, 2), "1")
    assert (step.points, game.totals(step.position)) == (0, (2, 0))


@pytest.mark.parametrize(
    ("position", "move", "text"),
    [
        (Heap(5, 1), "3", "a move of lastcoin is to take 1 or 2 of 5 coins, not '3'"),
        (Heap(1, 1), "2", "a move of lastcoin is to take 1 or 2 of 1 coins, not '2'"),
        (Heap(0, 1), "1", "the game is over: no coin is left"),
    ],
)
def test_last_coin_refuses_a_move(position: Heap, move: str, text: str) -> None:
    game = LastCoin()
    assert not game.is_legal(position, move)
    with pytest.raises(GameError) as refused:
        game.play(position, move)
    assert str(refused.value) == text


@all_of("board", ["", "7", "7/0", "7/1/1", "x/1", "12345/1", "-7/1"])
def test_last_coin_refuses_a_position(board: str) -> None:
    with pytest.raises(GameError) as refused:
        LastCoin().start(Deal(board))
    assert str(refused.value) == f"a position of lastcoin is COINS/SEAT, such as 7/1, not {board!r}"
