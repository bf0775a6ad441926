"""`arena explain`: text on the terminal, SVG in a file, one clear line for what cannot be drawn."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.server.programs import inside
from typer.testing import CliRunner

from arena_cli.app import app


def arena(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["explain", *arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.parametrize(
    ("arguments", "lines"),
    [
        (["example"], ["alphabeta: 11 vertices built below the root, 6 evaluated"]),
        (["example", "--minimax"], ["minimax: 17 vertices built below the root, 10 evaluated"]),
        (["whole", "disc", "--set", "m=6"], ["11 positions on 4 levels below the root"]),
        (["whole", "disc", "--option", "m=6"], ["11 positions on 4 levels below the root"]),
        (["integral", "-x^2"], ["∫ -x^2 dx = -x^3/3 + C"]),
        (["strategy", "lastcoin", "--seat", "2"], ["8 problems, 1 of them elementary"]),
        (["strategy", "lastcoin", "--all"], ["14 problems; no solution"]),
        (["strategy", "tictactoe", "--draw", "--state", "xox/.o./oxx"], ["5 problems, 2 of them elementary"]),
        (["hanoi"], ["The tower of Hanoi, 3 discs, 7 moves"]),
        (["integral", "2*y", "--variable", "y"], ["∫ 2*y dy = y^2 + C"]),
        (["tree", "disc", "--depth", "1"], ["alphabeta: 2 vertices built below the root, 2 evaluated"]),
        (["tree", "tictactoe", "--state", "xo./.x./..o"], ["tictactoe, seat 1 to move: xo./.x./..o"]),
        (["tree", "insertion", "--state", "...../...../...../...../.....", "--next", "12"], ["△ 0"]),
    ],
)  # fmt: skip
def test_a_picture_is_printed_as_text(arguments: list[str], lines: list[str]) -> None:
    output = arena(*arguments).splitlines()
    assert set(lines) <= set(output)


def test_a_drawing_goes_to_a_file(tmp_path: Path) -> None:
    file = tmp_path / "disc.svg"
    output = arena("whole", "disc", "--svg", str(file))
    assert output == f"{file}: disc, the whole tree from 0/1/1\n"
    assert file.read_text(encoding="utf-8").startswith('<svg xmlns="http://www.w3.org/2000/svg"')


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["whole", "chess"], "arena: no game 'chess'; this version has:"),
        (["whole", "disc", "--set", "m"], "arena: --option: expected KEY=VALUE, got 'm'"),
        (["whole", "disc", "--set", "mm=3"], "arena: disc has no option 'mm'; it has: m, seats"),
        (
            ["whole", "disc", "--svg", "/no/such/folder/x.svg"],
            "arena: --svg: cannot write /no/such/folder/x.svg:",
        ),
        (["integral", "exp(x^2)"], "arena: the rules here do not solve the integral of exp(x^2)"),
        (
            ["tree", "insertion", "--depth", "9", "--minimax"],
            "arena: the picture would have more than 4000 vertices",
        ),
    ],
)
def test_wrong_input_is_one_line(arguments: list[str], line: str) -> None:
    outcome = inside("explain", *arguments)
    assert outcome.code != 0
    assert outcome.out == ""
    assert outcome.line.startswith(line)


def test_every_command_has_help_with_an_example() -> None:
    for name in ("tree", "whole", "strategy", "hanoi", "integral", "example"):
        assert "Example: arena explain" in " ".join(arena(name, "--help").split())
