"""`arena highlights`: the list, its JSON, and the GIF of the first ten."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.server.programs import Shell

from arena_cli import highlights
from arena_cli.highlights import MOST, told
from arena_protocol.errors import needs_extra

KINDS = {"upset", "comeback", "cascade", "first fault", "game of"}


def test_the_list_and_its_json(here: Path, shell: Shell) -> None:
    lines = shell("highlights").out.splitlines()
    answer = json.loads(shell("highlights", "--json").out)
    assert (answer["contest"], answer["games"]) == ("trial", 6)
    assert len(lines) == len(answer["highlights"]) >= 1
    for line, found in zip(lines, answer["highlights"], strict=True):
        game, ply, text = re.fullmatch(r"(g\d+) +ply (\d+) +(.+)", line).groups()  # type: ignore[union-attr]
        assert (game, int(ply), text) == (found["game"], found["ply"], told(found))
        assert re.sub(r" [\d-]+$", "", text.partition(":")[0]) in KINDS
    assert lines[-1].endswith("first fault: zero, illegal")


def test_a_gif_of_the_first_ten(here: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    image = pytest.importorskip("PIL.Image")
    monkeypatch.setattr(highlights, "MOST", 1)
    monkeypatch.setattr(highlights, "BEFORE", 1)
    assert shell("highlights", "--gif", "ten.gif").out.splitlines()[-1] == "written: ten.gif"
    with_json = shell("highlights", "--gif", "ten.gif", "--json")
    assert json.loads(with_json.out)["highlights"]
    assert with_json.err == "written: ten.gif\n"
    with image.open(here / "ten.gif") as drawn:
        assert drawn.n_frames == 2
    assert MOST == 10


def test_without_any(here: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    empty = {"whole": True, "games": 0, "highlights": []}
    monkeypatch.setattr("arena_server.web.highlights.HighlightDocuments.find", lambda *_: empty)
    assert shell("highlights").out == "trial: no highlights among 0 games\n"
    pytest.importorskip("PIL")
    assert shell("highlights", "--gif", "x.gif").line == "arena: --gif: trial has no highlights to be drawn"
    assert not (here / "x.gif").exists()


def test_a_gif_without_pillow(here: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "PIL", None)
    outcome = shell("highlights", "--gif", "x.gif")
    assert (outcome.code, outcome.line) == (2, f"arena: {needs_extra('--gif', 'pictures')}")


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"kind": "upset", "value": 1200}, "upset: b wins against a, rated 1,200 points higher"),
        ({"kind": "swing", "value": 1}, "comeback: b wins against a after being 1 point behind"),
        ({"kind": "cascade", "value": 4}, "cascade: b makes 4 waves by one move"),
        ({"kind": "fault", "text": "timeout"}, "first fault: b, timeout"),
        (
            {"kind": "day", "text": "2026-11-28", "value": 1},
            "game of 2026-11-28: a - b, 1 change of the lead",
        ),
        ({"kind": "day", "text": "2026-11-28", "value": 0}, "game of 2026-11-28: a - b, the longest one"),
    ],
)
def test_each_kind_in_words(given: dict[str, Any], text: str) -> None:
    assert told({"names": ["a", "b"], "seat": 2, "value": 0, "text": ""} | given) == text
