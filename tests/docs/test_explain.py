"""docs/explain.md: every command on the page prints what the page shows; its table is true."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from tests.slices import all_of
from typer.testing import CliRunner

from arena_cli.app import app
from arena_engines.small.solved import Solver
from arena_protocol.games.disc import Disc

PAGE = (Path(__file__).parents[2] / "docs" / "explain.md").read_text(encoding="utf-8")
SHOWN = re.findall(r"```sh\n(arena [^\n]*)\n```\n\n```text\n(.*?)```", PAGE, re.DOTALL)
ROWS = re.findall(r"^\| (\d+) \| ([12]) \| (\d+) \|$", PAGE, re.MULTILINE)


#: It takes as long as all others together.
LONG = "arena explain searches tictactoe --seat 2 --draw"


@pytest.mark.parametrize(
    ("command", "output"),
    [pytest.param(*each, marks=[pytest.mark.soak] * (each[0] == LONG), id=each[0]) for each in SHOWN],
)
def test_a_command_prints_what_the_page_shows(command: str, output: str) -> None:
    arena, *arguments = shlex.split(command)
    result = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert (arena, result.exit_code) == ("arena", 0)
    assert result.output == output


def test_every_kind_of_picture_is_on_the_page() -> None:
    assert {shlex.split(command)[2] for command, _ in SHOWN} == {
        "example", "tree", "evaluate", "searches", "whole", "strategy", "hanoi", "integral",
    }  # fmt: skip
    assert len(SHOWN) == 16


@all_of("row", ROWS)
def test_the_table_of_the_disc_game(row: tuple[str, str, str]) -> None:
    game = Disc(int(row[0]))
    outcome = Solver(game).outcome(game.start(game.deal(0)))
    assert (1 if outcome.result == 1 else 2, outcome.plies) == (int(row[1]), int(row[2]))


def test_the_table_of_the_disc_game_is_complete() -> None:
    assert [int(m) for m, _, _ in ROWS] == list(range(1, 31))
