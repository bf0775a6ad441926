"""`arena play` against a program: a person's input, the referee and the program as processes."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

import pytest
from tests.server.programs import ARENA, PATIENCE_S, Outcome, arena, inside

pytestmark = pytest.mark.real

SHORT = ("--option", "plies=6", "--seed", "3")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "mybot.py").write_text(
        "from arena_client import run\nrun(lambda view: view.legal_moves[2])\n"
    )
    return tmp_path


def play(folder: Path, typed: str, *arguments: str) -> Outcome:
    return arena("play", *arguments, cwd=folder, typed=typed)


def test_a_whole_game(folder: Path) -> None:
    outcome = play(folder, "hint\n6\n99\n6\n6\n", "insertion", "--against", "python mybot.py", *SHORT)
    assert (outcome.code, outcome.err) == (0, "")
    assert "the engine would play " in outcome.out
    assert "not '99'" in outcome.out
    assert "seat 1 (you) played 6" in outcome.out
    assert "seat 2 (mybot) played 3" in outcome.out
    assert "seat 1: you                           0 points     20.000 s" in outcome.out
    assert outcome.out.splitlines()[-1].startswith("the game is over: you ")


@pytest.mark.soak
def test_the_program_moves_first_in_a_game_without_pictures(folder: Path) -> None:
    outcome = play(folder, "b2\nquit\n", "tictactoe", "--seat", "2", "--against", "python mybot.py")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.count("seat 1 (mybot) played ") == 2
    assert outcome.out.endswith("your move: you left the game\n")


@pytest.mark.soak
def test_the_program_fills_all_other_seats(folder: Path) -> None:
    options = ("--option", "seats=3", "--option", "plies=6")
    outcome = play(folder, "6\n6\n", "insertion", "--against", "python mybot.py", *options)
    assert outcome.code == 0, outcome.err
    assert "seat 3: mybot" in outcome.out


def test_the_program_gets_the_chosen_variables(folder: Path) -> None:
    bot = folder / "mybot.py"
    bot.write_text("import os\nassert os.environ['DEEP'] == 'yes'\n" + bot.read_text())
    outcome = play(
        folder, "6\nquit\n", "insertion", "--against", "python mybot.py", "--env", "DEEP=yes", *SHORT
    )
    assert (outcome.code, outcome.err) == (0, "")
    assert "seat 2 (mybot) played " in outcome.out


@pytest.mark.parametrize("words", [(), ("--against", "greedy"), ("--against", "./mybot", "--web")])
@pytest.mark.soak
def test_variables_without_a_program(words: tuple[str, ...]) -> None:
    outcome = inside("play", "insertion", "--env", "DEEP=yes", *words)
    line = "arena: --env: expected with --against and a program, whose variables they are"
    assert (outcome.code, outcome.line) == (2, line)


@pytest.mark.soak
def test_a_program_that_cannot_start_is_one_line(folder: Path) -> None:
    outcome = play(folder, "", "insertion", "--against", "python -c 'import no_such_module'")
    assert outcome.code == 1
    assert outcome.line.endswith(" cannot start: ModuleNotFoundError: No module named 'no_such_module'")


@pytest.mark.soak
def test_a_program_that_does_not_exist_is_wrong_input(folder: Path) -> None:
    outcome = inside("play", "insertion", "--against", "./nowhere", cwd=folder)
    assert outcome.code == 2
    assert outcome.line == "arena: --against: no program './nowhere' here or on the path"


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGHUP])
@pytest.mark.soak
def test_a_signal_while_a_move_is_awaited(folder: Path, how: int) -> None:
    with subprocess.Popen(
        [*ARENA, "play", "insertion", "--against", "python mybot.py"],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as running:
        assert running.stdout is not None
        try:
            shown = b""
            while not shown.endswith(b"your move: ") and (byte := running.stdout.read(1)):
                shown += byte
            running.send_signal(how)
            _, errors = running.communicate(timeout=PATIENCE_S)
        finally:
            running.kill()
    assert running.returncode == 130
    assert errors == b""
