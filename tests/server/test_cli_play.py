"""`arena play`: what a person types, and what it is told."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from arena_server.cli import spoken
from arena_server.cli.app import app


def play(typed: str, *arguments: str) -> tuple[str, str | None]:
    done = CliRunner().invoke(app, ["play", *arguments], input=typed)
    told = spoken(done.exception) if isinstance(done.exception, Exception) else None
    return done.stdout, told


SMALL = ("tictactoe", "--against", "perfect")


def test_a_whole_game_against_a_perfect_player_is_not_won() -> None:
    shown, _ = play("\n".join(["b2", "a1", "b1", "a2", "c2", "a3", "b3", "c3", "c1"]) + "\n", *SMALL)
    last = shown.splitlines()[-1]
    assert last.startswith("the game is over: you ")
    assert not last.startswith("the game is over: you 2")


def test_a_taken_square_is_refused_with_what_may_be_played() -> None:
    shown, _ = play("b2\nb2\nquit\n", *SMALL)
    assert "'b2' is not a legal move here; legal moves: " in shown
    assert shown.endswith("you left the game\n")


def test_words_that_are_no_moves() -> None:
    shown, _ = play("moves\nhelp\n\nhint\n", *SMALL)
    assert "legal moves: a1, b1, c1, a2, b2, c2, a3, b3, c3" in shown
    assert shown.count("Type a move, or: hint, moves, help, quit.") == 2
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
    assert "ply 2\nthe last move was " in shown
    assert "seat 2: you" in shown
    assert "300.000 s" in shown


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("chess",), "no game 'chess'"),
        (("xo", "--against", "bob"), "--against: no engine 'bob' for xo"),
        (("insertion", "--seat", "3"), "--seat: insertion has 2 seats, got 3"),
    ],
)
def test_what_cannot_be_played_is_one_line(arguments: tuple[str, ...], line: str) -> None:
    _, told = play("", *arguments)
    assert told is not None
    assert told.startswith(line)
    assert "\n" not in told
