"""Tic-tac-toe, the disc game, last coin loses: their rules, their texts and what they refuse."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena_protocol.games import make_game
from arena_protocol.games.base import Deal, Game, GameError
from arena_protocol.games.disc import Disc, Turned
from arena_protocol.games.lastcoin import Heap, LastCoin
from arena_protocol.games.mnk import TicTacToe


def play_all(game: Game, moves: str) -> object:
    position = game.start(game.deal(0))
    for move in moves.split():
        position = game.play(position, move).position
    return position


@pytest.mark.parametrize(
    ("moves", "end", "totals"),
    [
        ("a1 a2 b1 b2 c1", "win", (2, 0)),
        ("a2 a1 b2 b1 c3 c1", "win", (0, 2)),
        ("a3 a2 b2 a1 c1", "win", (2, 0)),
        ("a1 b1 c1 a2 c2 b2 b3 c3 a3", "draw", (1, 1)),
        ("a1 b1 c1 a2", None, (0, 0)),
    ],
)
def test_tictactoe_ends_in_a_win_or_a_draw(moves: str, end: str | None, totals: tuple[int, int]) -> None:
    game = make_game("tictactoe", {})
    position = play_all(game, moves)
    assert (game.end(position), game.totals(position)) == (end, totals)
    assert bool(game.legal_moves(position)) == (end is None)


def test_tictactoe_4x4_has_rows_from_the_top_and_needs_four() -> None:
    game = make_game("tictactoe", {"size": "4"})
    assert game.options() == {"size": "4", "win": "4"}
    position = play_all(game, "b3 b4 c3")
    assert game.state_text(position) == ".o../.xx./..../...."
    assert game.start(Deal(".o../.xx./..../....")) == position
    assert game.to_move(position) == 2
    assert game.end(play_all(game, "a1 a2 b1 b2 c1 c2")) is None
    three = make_game("tictactoe", {"size": 4, "win": 3})
    assert three.end(play_all(three, "a1 a2 b1 b2 c1")) == "win"


def test_moves_of_tictactoe_stand_in_scan_order() -> None:
    game = make_game("tictactoe", {})
    assert game.legal_moves(game.start(game.deal(0))) == (
        "a1",
        "b1",
        "c1",
        "a2",
        "b2",
        "c2",
        "a3",
        "b3",
        "c3",
    )


@pytest.mark.parametrize(
    ("before", "move", "text"),
    [
        ("a1", "a1", "a1 is taken"),
        ("", "d1", "a move of tictactoe is a cell from a1 to c3, not 'd1'"),
        ("", "a01", "a move of tictactoe is a cell from a1 to c3, not 'a01'"),
        ("a1 a2 b1 b2 c1", "c3", "the game is over"),
    ],
)
def test_tictactoe_refuses_a_move(before: str, move: str, text: str) -> None:
    game = make_game("tictactoe", {})
    position = play_all(game, before)
    assert not game.is_legal(position, move)
    with pytest.raises(GameError) as refused:
        game.play(position, move)
    assert str(refused.value) == text


@pytest.mark.parametrize(
    ("board", "text"),
    [
        ("x../...", "a board is 3 rows of 3 cells joined by '/', not 'x../...'"),
        ("x../..../..", "a board is 3 rows of 3 cells joined by '/', not 'x../..../..'"),
        ("x../.?./...", "a cell of the board is '.', 'x' or 'o', not '?'"),
        ("xx./.../...", "x has as many marks as o or one more, not 2 and 0"),
        ("o../.../...", "x has as many marks as o or one more, not 0 and 1"),
        ("xxx/.../ooo", "x and o cannot both have 3 in a line: 'xxx/.../ooo'"),
    ],
)
def test_tictactoe_refuses_a_position(board: str, text: str) -> None:
    with pytest.raises(GameError) as refused:
        make_game("tictactoe", {}).start(Deal(board))
    assert str(refused.value) == text


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
def test_whoever_reaches_m_wins_the_disc_game(moves: str, totals: tuple[int, int]) -> None:
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


@pytest.mark.parametrize(
    "board", ["", "0/1", "0/7/1", "0/0/1", "0/1/3", "-1/1/1", "a/1/1", "12345/1/1", "²/1/1"]
)
def test_the_disc_game_refuses_a_position(board: str) -> None:
    with pytest.raises(GameError) as refused:
        Disc().start(Deal(board))
    assert str(refused.value) == f"a position of disc is SUM/TOP/SEAT, such as 0/1/1, not {board!r}"


@pytest.mark.parametrize(("moves", "totals"), [("2 2 2 1", (2, 0)), ("1 2 1 2 1", (0, 2)), ("2 2 2", (0, 0))])
def test_whoever_takes_the_last_coin_has_lost(moves: str, totals: tuple[int, int]) -> None:
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


@pytest.mark.parametrize("board", ["", "7", "7/0", "7/1/1", "x/1", "12345/1", "-7/1"])
def test_last_coin_refuses_a_position(board: str) -> None:
    with pytest.raises(GameError) as refused:
        LastCoin().start(Deal(board))
    assert str(refused.value) == f"a position of lastcoin is COINS/SEAT, such as 7/1, not {board!r}"


@pytest.mark.parametrize(
    ("name", "options", "text"),
    [
        ("tictactoe", {"size": 5}, "tictactoe: size is a whole number from 3 to 4, not 5"),
        ("tictactoe", {"win": "4"}, "tictactoe: win is 3, not 4"),
        ("tictactoe", {"size": 4, "win": 5}, "tictactoe: win is a whole number from 3 to 4, not 5"),
        ("disc", {"m": "0"}, "disc: m is a whole number from 1 to 1000, not 0"),
        ("disc", {"m": True}, "disc: m is a whole number from 1 to 1000, not True"),
        ("lastcoin", {"coins": "many"}, "lastcoin: coins is a whole number from 1 to 1000, not 'many'"),
        ("lastcoin", {"seats": 3}, "lastcoin: seats is 2, not 3"),
        ("disc", {"seats": "1"}, "disc: seats is 2, not 1"),
        ("tictactoe", {"seats": 4}, "tictactoe: seats is 2, not 4"),
    ],
)
def test_an_impossible_option_is_refused(name: str, options: dict[str, object], text: str) -> None:
    with pytest.raises(GameError) as refused:
        make_game(name, options)
    assert str(refused.value) == text


@given(st.sampled_from([TicTacToe(3, 3), TicTacToe(4, 3), Disc(40), LastCoin(30)]), st.data())
def test_a_forfeit_is_worth_a_win_of_the_other_seat(game: Game, data: st.DataObject) -> None:
    position = game.start(game.deal(0))
    seat = data.draw(st.sampled_from([1, 2]))
    totals = game.forfeit(position, seat)
    assert totals[2 - seat] == 2
    assert sum(totals) == 2


@given(st.sampled_from([TicTacToe(3, 3), TicTacToe(4, 4), Disc(30), LastCoin(20)]), st.data())
def test_a_finished_game_shares_two_points(game: Game, data: st.DataObject) -> None:
    position = game.start(game.deal(0))
    while moves := game.legal_moves(position):
        assert game.totals(position) == (0, 0)
        position = game.play(position, data.draw(st.sampled_from(moves))).position
    assert game.end(position) in ("win", "draw")
    assert sum(game.totals(position)) == 2
