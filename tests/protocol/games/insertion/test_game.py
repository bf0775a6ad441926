"""The insertion plug-in: options, what a client sees, and the helpers for bots."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.slices import all_of

from arena_protocol.games import make_game
from arena_protocol.games.base import Deal, GameError
from arena_protocol.games.insertion import MOVES, Insertion, Position, parse_board, rules

from ... import oracle
from ...boards import boards

BOARD = "53351/34233/13552/44215/44526"
SEQUENCE = "616345134356"


def test_the_defaults_are_the_contest_game_and_print_as_the_protocol_page_shows() -> None:
    game = make_game("insertion", {})
    assert game == Insertion(2, 200, 6, 20, "full", None)
    assert game.options() == {"plies": "200", "colours": "6", "lookahead": "20"}
    assert (game.seats, game.zombie_move) == (2, "6")


def test_start_and_board_are_printed_only_where_they_differ() -> None:
    assert make_game("insertion", {"start": "full"}).options().keys() == {"plies", "colours", "lookahead"}
    assert make_game("insertion", {"start": "empty"}).options()["start"] == "empty"
    assert make_game("insertion", {"board": BOARD}).options()["board"] == BOARD


@all_of(
    ("options", "text"),
    [
        ({"seats": 1}, "insertion: seats is a whole number from 2 to 4, not 1"),
        ({"seats": "5"}, "insertion: seats is a whole number from 2 to 4, not 5"),
        ({"plies": "0"}, "insertion: plies is a whole number from 1 to 60000, not 0"),
        ({"plies": 60001}, "insertion: plies is a whole number from 1 to 60000, not 60001"),
        ({"plies": "200.0"}, "insertion: plies is a whole number from 1 to 60000, not '200.0'"),
        ({"plies": True}, "insertion: plies is a whole number from 1 to 60000, not True"),
        ({"colours": 2}, "insertion: colours is a whole number from 3 to 7, not 2"),
        ({"colours": "8"}, "insertion: colours is a whole number from 3 to 7, not 8"),
        ({"colours": 6.0}, "insertion: colours is a whole number from 3 to 7, not 6.0"),
        ({"lookahead": "0"}, "insertion: lookahead is a whole number from 1 to 999999999, not 0"),
        ({"lookahead": "-1"}, "insertion: lookahead is a whole number from 1 to 999999999, not '-1'"),
        ({"start": "half"}, "insertion: start is one of full, partial, empty, not 'half'"),
        ({"start": 1}, "insertion: start is one of full, partial, empty, not 1"),
        ({"board": 1}, "insertion: board is 1 to 256 boards joined by '|', not 1"),
        ({"board": BOARD, "start": "full"}, "insertion: give either start or board, not both"),
        ({"board": "|" * 256}, "insertion: board is 1 to 256 boards joined by '|', not 257 boards"),
        ({"board": f"{BOARD}|x"}, "a board is five rows of five cells joined by '/', not 'x'"),
        ({"board": "x"}, "a board is five rows of five cells joined by '/', not 'x'"),
        ({"board": BOARD, "colours": 5}, "a cell of the board is '.' or a colour from 1 to 5, not '6'"),
        (
            {"board": "...../...../...../...../.111."},
            "a start board has no run of three or more of one colour: '...../...../...../...../.111.'",
        ),
    ],
)
def test_an_impossible_option_is_refused(options: dict[str, object], text: str) -> None:
    with pytest.raises(GameError) as refused:
        make_game("insertion", options)
    assert str(refused.value) == text


@all_of(
    ("deal", "text"),
    [
        (Deal("x"), "a board is five rows of five cells joined by '/', not 'x'"),
        (
            Deal("...../...../...../...../7...."),
            "a cell of the board is '.' or a colour from 1 to 6, not '7'",
        ),
        (Deal("1..../1..../1..../2..../1....", "1"), "a start board has no run of three or more"),
        (Deal(BOARD, "1237"), "a picture of the sequence is a colour from 1 to 6, not '7'"),
        (Deal(BOARD, "12345"), "a game of 4 plies has at most as many pictures, not 5"),
    ],
)
def test_a_start_of_another_game_is_refused(deal: Deal, text: str) -> None:
    with pytest.raises(GameError) as refused:
        Insertion(plies=4).start(deal)
    assert str(refused.value).startswith(text)


def test_the_moves_are_1_to_15_in_their_order_and_nothing_else() -> None:
    position = Insertion().start(Deal(BOARD, SEQUENCE))
    expected = ["1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15"]
    assert list(MOVES) == list(Insertion().legal_moves(position)) == expected
    assert [
        move for move in [*expected, "0", "16", "06", ""] if Insertion().is_legal(position, move)
    ] == expected


def test_seats_move_in_turn_and_earn_what_they_remove() -> None:
    game = Insertion(seats=3, plies=4)
    position = game.start(Deal(BOARD, "6163"))
    assert game.legal_moves(position) == MOVES
    for ply, (move, points) in enumerate([("4", 30), ("5", 30), ("13", 30), ("2", 0)]):
        assert (game.to_move(position), position.gain(move), position.gain(int(move))) == (
            ply % 3 + 1,
            points,
            points,
        )
        step = game.play(position, move)
        assert step.points == points
        position = step.position
    assert position == Position(parse_board("1...1/6.353/1.226/3.215/44526"), "6163", 4, (30, 30, 30))
    assert (game.end(position), game.legal_moves(position)) == ("complete", ())


@given(st.integers(0, 10_000), st.lists(st.sampled_from(MOVES), max_size=40))
def test_the_waves_of_a_move_are_its_removals_one_after_another(seed: int, moves: list[str]) -> None:
    game = Insertion(plies=40)
    position = game.start(game.deal(seed))
    for move in moves:
        number, picture = MOVES.index(move) + 1, position.picture
        assert picture is not None
        p0, p1, p2, _ = rules.insert(*position.planes, number, picture)
        waves = 0
        while gone := rules.runs(p0, p1, p2):
            p0, p1, p2 = rules.remove(p0, p1, p2, gone)
            waves += 1
        assert game.waves(position, move) == waves
        position = game.play(position, move).position


@all_of("move", ["0", "16", "06", "-1", "", "6 ", "six", "٦", "1e1"])
def test_a_move_that_is_no_number_from_1_to_15_is_refused(move: str) -> None:
    position = Insertion().start(Deal(BOARD, SEQUENCE))
    for play in (lambda: Insertion().play(position, move), lambda: position.gain(move)):
        with pytest.raises(GameError) as refused:
            play()
        assert str(refused.value) == f"a move of insertion is a number from 1 to 15, not {move!r}"


def test_no_ply_is_played_after_the_last() -> None:
    game = Insertion(plies=1)
    position = game.play(game.start(Deal(BOARD, "6")), "4").position
    assert not game.is_legal(position, "6")
    assert (position.picture, position.visible) == (None, "")
    with pytest.raises(GameError, match=r"^the game is over: all 1 plies are played$"):
        game.play(position, "6")
    with pytest.raises(GameError, match=r"^the picture of ply 2 is not known$"):
        position.gain("6")


def test_a_picture_beyond_the_lookahead_cannot_be_played_before_it_is_revealed() -> None:
    game = Insertion(plies=12, lookahead=1)
    deal = Deal(BOARD, SEQUENCE)
    client = game.play(game.start(Deal(BOARD, game.preview(deal))), "4").position
    assert client.picture is None
    assert game.legal_moves(client) == MOVES
    with pytest.raises(GameError, match=r"^the picture of ply 2 is not known$"):
        game.play(client, "5")
    revealed = game.reveal(deal, 1)
    assert revealed == "1"
    assert game.play(game.extend(client, revealed), "5").position.board == "1...1/6.353/1.422/44215/44526"


@pytest.mark.parametrize(
    ("revealed", "text"),
    [
        ("7", "a picture of the sequence is a colour from 1 to 6, not '7'"),
        ("12", "a game of 2 plies has at most as many pictures, not 3"),
    ],
)
def test_a_reveal_of_another_game_is_refused(revealed: str, text: str) -> None:
    game = Insertion(plies=2)
    with pytest.raises(GameError) as refused:
        game.extend(game.start(Deal(BOARD, "1")), revealed)
    assert str(refused.value) == text


@given(st.integers(1, 12), st.integers(1, 20))
def test_picture_ply_plus_k_comes_into_sight_after_each_ply(plies: int, lookahead: int) -> None:
    game = Insertion(plies=plies, lookahead=lookahead)
    deal = Deal(BOARD, SEQUENCE[:plies])
    assert game.preview(deal) == deal.sequence[:lookahead]
    for ply in range(1, plies + 1):
        number = ply + lookahead  # counted from 1
        assert game.reveal(deal, ply) == (deal.sequence[number - 1] if number <= plies else None)


@given(boards(6), st.integers(1, 6), st.sampled_from(MOVES))
def test_the_gain_of_a_move_is_ten_points_a_removed_cell(board: str, colour: int, move: str) -> None:
    position = Position(parse_board(board), str(colour), 0, (0, 0))
    assert position.gain(move) == 10 * oracle.play(board, int(move), colour)[1]
    assert position.picture == colour
    assert position.board == board


def test_a_bot_sees_the_moves_that_differ_and_the_pictures_to_come() -> None:
    position = Insertion().start(Deal("...../...../...../...../.....", "123456"))
    assert position.distinct_moves == ("1", "7", "8", "9", "10")
    assert (position.picture, position.visible, position.seat) == (1, "123456", 1)
    after = Insertion().play(position, "7").position
    assert (after.picture, after.visible, after.seat) == (2, "23456", 2)


def test_the_repr_of_a_position_is_its_constructor() -> None:
    position = Insertion().start(Deal(BOARD, SEQUENCE))
    assert eval(repr(position)) == position
