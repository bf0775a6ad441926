"""docs/bridges.md: its program plays its tournament, the brain answers as its dialogue shows."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

import pytest
from tests.server.programs import arena, inside

from arena_cli.brain import Preparation, brain_of

MOVE = re.compile(r"\d,\d")
PAGE = (Path(__file__).parents[2] / "docs" / "bridges.md").read_text(encoding="utf-8")


def block(language: str) -> str:
    (text,) = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    assert isinstance(text, str)
    return text


@pytest.mark.real
def test_the_program_of_the_page_plays_the_tournament_of_the_page(tmp_path: Path) -> None:
    (tmp_path / "six.py").write_text(block("python"), encoding="utf-8")
    (tmp_path / "bridged.toml").write_text(block("toml"), encoding="utf-8")
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = arena("tournament", "bridged.toml", "--no-web", cwd=tmp_path, env={"PATH": path})
    assert done.code == 0, done.err
    table = json.loads(inside("standings", "--json", cwd=tmp_path).out)
    assert {row["bot"]: (row["games"], row["faults"]) for row in table["standings"]} == {
        "six": (2, {}),
        "greedy": (2, {}),
    }


def test_the_dialogue_of_the_page() -> None:
    brain = brain_of("xo1970", Preparation())
    lines = block("text").splitlines()
    while lines:
        answer = brain.command(lines.pop(0))
        if answer is not None:
            shown = lines.pop(0)  # equally good cells are drawn by lot: moves have the form of the page alone
            assert shown == answer or (MOVE.fullmatch(shown) and MOVE.fullmatch(answer))
    assert brain.finished
