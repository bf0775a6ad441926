"""The console of xo1970: settings, confirmed moves, stored games."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from arena_cli.app import app
from arena_cli.program import user_message
from arena_museum.program1970.gametext import parse_game


def console(typed: str, folder: Path, *arguments: str) -> str:
    words = ["play", "xo", "--against", "xo1970", "--games", str(folder), "--seed", "3", *arguments]
    done = CliRunner().invoke(app, words, input=typed)
    assert done.exception is None
    return done.stdout


def test_a_game_is_played_printed_stored_and_replayed(tmp_path: Path) -> None:
    """M begins on f5; П marks the left column and loses."""
    moves = [f"a{row}\n\n" for row in range(1, 20)]
    shown = console(f"begin machine\nstart\n{''.join(moves)}", tmp_path)
    path = tmp_path / "xo1970-1.txt"
    game = parse_game(path.read_text(encoding="utf-8"))
    assert game.result() == "М wins"
    assert game.machine_begins
    assert path.read_text(encoding="utf-8") in shown
    assert f"stored: arena replay {path}\n" in shown
    replayed = CliRunner().invoke(app, ["replay", str(path)]).stdout
    assert replayed.count("\n10 . ") >= len(game.moves)
    assert replayed.endswith("М wins\n\n")
    last = CliRunner().invoke(app, ["replay", str(path), "--ply", "1"]).stdout
    assert "1. М " in last


def test_the_machine_thinks_only_after_the_move_is_confirmed(tmp_path: Path) -> None:
    shown = console("start\ne5\nback\nf6\n\nquit\n", tmp_path)
    before, _, after = shown.partition("e5 is taken back")
    assert "М plays" not in before
    assert " 5 . . . . X . . . . .\n" in before, "the move is shown before it is confirmed"
    assert after.count("М plays e5") == 1, "the answer to a mark on a central cell is the diagonal one"
    assert parse_game((tmp_path / "xo1970-1.txt").read_text(encoding="utf-8")).moves == ("f6", "e5")


@pytest.mark.parametrize(
    ("word", "answer"),
    [
        ("z9", "a move of xo is a cell from a1 to j10, not 'z9'"),
        ("e5", "e5 is taken"),
        ("", "a move of xo is a cell from a1 to j10, not ''"),
        ("start", "a move of xo is a cell from a1 to j10, not 'start'"),
        ("size 15", "size 15: expected 10 to 14"),
        ("begin", "begin : expected begin me or begin machine"),
        ("thresholds 3", "thresholds=3: expected 2 to 12 rising numbers"),
    ],
)
def test_wrong_input_changes_nothing(word: str, answer: str, tmp_path: Path) -> None:
    shown = console(f"start\ne5\n\n{word}\nmoves\nquit\n", tmp_path)
    assert answer in shown
    assert " 1   e5    f6\nunfinished\n" in shown.partition(answer)[2]


def test_settings_change_within_the_session_and_hold_for_the_next_game(tmp_path: Path) -> None:
    typed = "start\ne5\n\nsize 13\nthresholds 3/5\nbegin machine\nnew\nstart\nboard\nquit\n"
    shown = console(typed, tmp_path)
    assert "the next game: 13 x 13, thresholds 3/5, the machine begins\n" in shown
    first, second = (
        parse_game((tmp_path / f"xo1970-{number}.txt").read_text(encoding="utf-8")) for number in (1, 2)
    )
    assert (first.size, first.thresholds, first.machine_begins) == (10, "3.5/3.5/3.5/3.5/4/4/5", False)
    assert (second.size, second.thresholds, second.machine_begins) == (13, "3/5", True)


def test_the_command_line_gives_the_first_settings(tmp_path: Path) -> None:
    shown = console("foo\nhelp\nquit\n", tmp_path, "--option", "size=14", "--seat", "2")
    assert "[14 x 14, thresholds 3.5/3.5/3.5/3.5/4/4/5, the machine begins] > " in shown
    assert "expected start or a setting, got 'foo'" in shown
    assert list(tmp_path.iterdir()) == [], "without a move nothing is stored"


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (
            ["--clock", "5m"],
            "--clock: the program of 1970 plays without clocks from the empty board; leave it out",
        ),
        (["--option", "opening=4"], "--option opening: the program of 1970 plays without clocks"),
        (["--seat", "3"], "--seat: xo has 2 seats, got 3"),
        (["--against", "xo1970:depth=3"], "--against: engine xo1970 has no parameter 'depth'"),
    ],
)
def test_what_the_console_does_not_have_is_one_line(arguments: list[str], line: str) -> None:
    done = CliRunner().invoke(app, ["play", "xo", "--against", "xo1970", *arguments])
    assert isinstance(done.exception, Exception)
    assert (user_message(done.exception) or "").startswith(line)


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    words = ["play", "xo", "--against", "xo1970", "--games", str(tmp_path / "file")]
    done = CliRunner().invoke(app, words, input="start\ne5\n\nquit\n")
    assert isinstance(done.exception, Exception)
    assert (user_message(done.exception) or "").startswith("--games: cannot write to ")


def test_a_stored_game_that_was_changed_is_one_line(tmp_path: Path) -> None:
    console("start\ne5\n\nquit\n", tmp_path)
    path = tmp_path / "xo1970-1.txt"
    path.write_text(path.read_text(encoding="utf-8").replace("unfinished", "draw"), encoding="utf-8")
    done = CliRunner().invoke(app, ["replay", str(path)])
    assert isinstance(done.exception, Exception)
    expected = f"{path}: line 4 of a game of XO: expected 'unfinished', got 'draw'"
    assert user_message(done.exception) == expected
