"""`arena play`: typed input and the replies to it."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from arena_cli.app import app
from arena_cli.person import result_text
from arena_cli.program import user_message
from arena_protocol.games import make_game
from arena_server.stats.scores import PlayedGame


def play(typed: str, *arguments: str) -> tuple[str, str | None]:
    done = CliRunner().invoke(app, ["play", *arguments], input=typed)
    message = user_message(done.exception) if isinstance(done.exception, Exception) else None
    return done.stdout, message


SMALL = ("tictactoe", "--against", "perfect")


def test_a_whole_game_against_a_perfect_player_is_not_won() -> None:
    shown, _ = play("\n".join(["b2", "a1", "b1", "a2", "c2", "a3", "b3", "c3", "c1"]) + "\n", *SMALL)
    last = shown.splitlines()[-1]
    assert last == "the game is over: you 1, seat 2 1; a draw"


def test_the_board_has_names_and_the_game_a_description() -> None:
    shown, _ = play("quit\n", *SMALL)
    brief = "Seat 1 has x and begins. A move is an empty cell, such as b2; 3 in a line win."
    assert shown.startswith(f"{brief}\nType a move, or: hint, moves, help, quit.\n")
    assert "3 . . .\n2 . . .\n1 . . .\n  a b c\n" in shown
    assert "legal moves: a1, b1, c1, a2, b2, c2, a3, b3, c3\n" in shown
    assert " s\n" not in shown, "no clock"


def test_a_taken_square_is_refused_with_the_reason() -> None:
    shown, _ = play("b2\nb2\nquit\n", *SMALL)
    assert "your move: b2 is taken\nType a move, or: hint, moves, help, quit.\n" in shown
    assert shown.endswith("you left the game\n")


def test_words_that_are_no_moves() -> None:
    shown, _ = play("moves\nhelp\n\nhint\n", *SMALL)
    assert "legal moves: a1, b1, c1, a2, b2, c2, a3, b3, c3" in shown
    assert shown.count("Type a move, or: hint, moves, help, quit.") == 3
    assert "the engine would play " in shown
    assert shown.endswith("you left the game\n"), "the end of the input is the end of the game"


def test_the_hint_of_an_engine_that_sees_pictures() -> None:
    shown, _ = play(
        "hint\n6\n6\n", "insertion", "--option", "plies=4", "--option", "lookahead=2", "--seed", "5"
    )
    assert "the engine would play " in shown
    assert all(len(line.split()) <= 3 for line in shown.splitlines() if line.startswith("next "))
    assert "the game is over: you " in shown


def test_the_second_seat_sees_the_move_of_the_first() -> None:
    shown, _ = play("quit\n", *SMALL, "--seat", "2", "--clock", "5m")
    assert "ply 2\nseat 1 (perfect) played " in shown
    assert "seat 2: you" in shown
    assert shown.count("300.000 s") == 1, "the own clock is known"


def test_many_moves_are_counted_and_listed_on_request() -> None:
    shown, _ = play("z99\nmoves\n", "xo", "--against", "random:seed=1")
    assert "\nlegal moves: 100, type moves to see them\n" in shown
    assert "a move of xo is a cell from a1 to j10, not 'z99'\n" in shown
    assert "legal moves: a1, b1" in shown
    assert max(map(len, shown.splitlines())) < 91


def test_every_ply_of_the_others_is_printed() -> None:
    shown, _ = play("6\n", "insertion", "--option", "seats=3", "--option", "plies=9", "--seed", "5")
    deed = " ".join(shown[shown.index("ply 4\n") :].split("\n\n")[0].split()[2:])
    assert [word for word in deed.split() if word.startswith("(")] == ["(you)", "(greedy)", "(greedy)"]
    assert deed.startswith("seat 1 (you) played 6")


@pytest.mark.parametrize(("seat", "verdict"), [("1", "you have lost"), ("2", "you have won")])
def test_the_winner_is_printed_under_the_last_position(seat: str, verdict: str) -> None:
    moves = {"1": "1\n1\n1\n", "2": "2\n1\n2\n1\n1\n"}[seat]
    arguments = ("lastcoin", "--seat", seat, "--option", f"coins={'4' if seat == '1' else '1'}")
    shown, _ = play(moves, *arguments)
    assert "\n0 of " in shown
    assert shown.endswith(f"; {verdict}\n")


def test_the_seat_at_fault_is_named() -> None:
    rules = make_game("insertion", {})
    answer = result_text(rules, PlayedGame((10, 40), ("timeout", None), (9, 9), ()), 2)
    assert answer == "the game is over: seat 1 10 (timeout), you 40"


@pytest.mark.parametrize(
    ("game", "name"), [("insertion", "greedy"), ("disc", "perfect"), ("tictactoe", "perfect")]
)
def test_the_default_opponent(game: str, name: str) -> None:
    assert f"seat 2: {name} " in play("quit\n", game)[0]


def test_a_game_starts_from_a_position_of_a_library(tmp_path: Path) -> None:
    library = tmp_path / "starts.jsonl"
    library.write_text('{"game": "tictactoe", "state": "xox/oxo/ox."}\n')
    shown, _ = play("c1\n", *SMALL, "--library", str(library))
    assert "3 x o x\n2 o x o\n1 o x .\n" in shown
    assert "you have won" in shown


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (
            ("xo", "--against", "xo1970", "--library", "x.jsonl"),
            "--library: the program of 1970 plays from the empty board; leave it out",
        ),
        (
            ("xo", "--against", "xo1970", "--option", "board=" + "/".join(["." * 10] * 10)),
            "--option board: the program of 1970 plays without clocks from the empty board",
        ),
        (("chess",), "no game 'chess'"),
        (("xo", "--against", "bob"), "--against: no engine 'bob' for xo"),
        (("insertion", "--seat", "3"), "--seat: insertion has 2 seats, got 3"),
    ],
)
def test_wrong_input_is_one_line(arguments: tuple[str, ...], line: str) -> None:
    _, message = play("", *arguments)
    assert message is not None
    assert message.startswith(line)
    assert "\n" not in message
