"""docs/climb.md: its example runs, and its numbers are those of the command."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

from typer.testing import CliRunner

from arena_cli.app import app
from arena_cli.climb import BEYOND, DEALS, GAMES, WIDTH
from arena_cli.climb_ladder import RatedLadder

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "climb.md").read_text(encoding="utf-8")


def test_the_numbers_of_the_page() -> None:
    for option in (f"--games {GAMES}", f"--width {WIDTH}", f"--deals {DEALS}"):
        assert f"| `{option}` |" in PAGE
    assert f"more than {BEYOND} points" in PAGE


def test_the_example_prints_what_the_page_has() -> None:
    line = re.findall(r"```sh\n(arena climb .*)\n```", PAGE)[1]
    (shown,) = re.findall(r"```text\n(step 1.*?)```", PAGE, re.DOTALL)
    done = CliRunner().invoke(app, shlex.split(line)[1:])
    assert done.exit_code == 0
    said, (before, after) = done.stderr.splitlines(), shown.split("...\n")
    assert said[: before.count("\n")] == before.splitlines()
    assert [said[-1], *done.stdout.splitlines()] == after.splitlines()


def test_the_ladder_of_the_page(tmp_path: Path) -> None:
    (text,) = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    path = tmp_path / "ladder.json"
    path.write_text(text)
    assert len(RatedLadder.read(path).rungs) == len(json.loads(text)["rungs"])
