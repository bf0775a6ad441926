"""The disc game: moves, ends, and what it refuses."""

from __future__ import annotations

import pytest
from tests.slices import all_of

from arena_protocol.games import make_game
from arena_protocol.games.base import Deal, GameError
from arena_protocol.games.disc import Disc, Turned

from .play import play_all


def test_the_disc_turns_to_either_neighbour_and_adds_it() -> None:
    game = make_game("disc", {})
    position = game.start(game.deal(0))
    assert game.state_text(position) == "0/1/1"
    assert game.legal_moves(position) == ("2", "6")
    after = game.play(position, "6").position
    assert after == Turned(6, 6, 2)
    assert game.legal_moves(after) == ("1", "5")
    assert game.play(Turned(11, 2, 2), "3").points == 2


@pytest.mark.parametrize(("moves", "totals"), [("6 5 4", (2, 0)), ("2 3 4 5", (0, 2)), ("6 5", (0, 0))])
def test_the_seat_that_reaches_m_wins(moves: str, totals: tuple[int, int]) -> None:
    game = make_game("disc", {"m": "13"})
    assert game.totals(play_all(game, moves)) == totals


@pytest.mark.parametrize(
    ("position", "move", "text"),
    [
        (Turned(0, 1, 1), "1", "a move of disc is 2 or 6 here, not '1'"),
        (Turned(14, 3, 1), "4", "the game is over: the sum has reached 13"),
    ],
)
def test_the_disc_game_refuses_a_move(position: Turned, move: str, text: str) -> None:
    game = Disc(13)
    assert not game.is_legal(position, move)
    with pytest.raises(GameError) as refused:
        game.play(position, move)
    assert str(refused.value) == text


@all_of("board", ["", "0/1", "0/7/1", "0/0/1", "0/1/3", "-1/1/1", "a/1/1", "12345/1/1", "²/1/1"])
def test_the_disc_game_refuses_a_position(board: str) -> None:
    with pytest.raises(GameError) as refused:
        Disc().start(Deal(board))
    assert str(refused.value) == f"a position of disc is SUM/TOP/SEAT, such as 0/1/1, not {board!r}"
