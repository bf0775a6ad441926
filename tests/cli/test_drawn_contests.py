"""Contests of formats that draw, by `arena tournament`: the table, the rounds, and their verification."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.server.programs import Shell, arena, engines

pytestmark = pytest.mark.real

BOTS = ("perfect", "random", "openlines")


def play(folder: Path, name: str) -> dict[str, Any]:
    """Play a contest in this folder; returns what `arena standings --json` prints."""
    text = f'[contest]\nname = "cup"\ngame = "tictactoe"\nformat = "{name}"\ngames_per_pair = 2\n'
    text += engines(*BOTS)
    (folder / "cup.toml").write_text(text)
    outcome = arena("tournament", "cup.toml", "--no-web", cwd=folder)
    assert outcome.code == 0, outcome.err
    assert "ranked by score: " in outcome.out
    assert re.search(r"finished, \w+ leads with a score of \d", outcome.err)
    document: dict[str, Any] = json.loads(arena("standings", "--json", cwd=folder).out)
    games = document["contest"]["games"]
    assert games["played"] == games["total"]
    assert arena("verify", cwd=folder).out == f"verified: {games['played']} games\n"
    return document


@pytest.mark.soak
def test_the_winner_of_the_bracket_is_the_first_of_the_table(
    tmp_path: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = play(tmp_path, "knockout")
    first, final = document["rounds"]
    assert document["standings"][0]["bot"] == final["matches"][0]["winner"]
    assert [match["state"] for match in first["matches"]] == ["bye", "over"]
    with closing(sqlite3.connect(tmp_path / "arena.db")) as database:
        database.execute("DELETE FROM facts WHERE place > 1")
        database.commit()
    monkeypatch.chdir(tmp_path)
    line = shell("verify").line
    assert re.fullmatch(r"arena: not verified: rounds: g\d+ was played, and was not drawn", line)


def test_a_swiss_and_its_report(tmp_path: Path) -> None:
    document = play(tmp_path, "swiss")
    assert [each["title"] for each in document["rounds"]] == ["round 1", "round 2"]
    assert sum(match["state"] == "bye" for each in document["rounds"] for match in each["matches"]) == 2
    assert sum(row["score"] for row in document["standings"]) == 4
    outcome = arena("export", "out", "--format", "trf", cwd=tmp_path)
    assert outcome.out.startswith("exported: ")
    report = (tmp_path / "out" / "cup.trf").read_text()
    assert report.count("0000 - U") == 2


def test_groups_are_followed_by_a_knockout(tmp_path: Path) -> None:
    document = play(tmp_path, "groups")
    group, final = document["rounds"]
    assert (group["title"], group["kind"], final["title"]) == ("group 1", "group", "final")
    assert sorted(group["ranking"][:2]) == sorted(final["matches"][0]["names"])
    assert document["standings"][0]["bot"] == final["matches"][0]["winner"]


@pytest.mark.soak
def test_walkovers_are_counted_below_the_table(tmp_path: Path) -> None:
    text = '[contest]\nname = "cup"\ngame = "tictactoe"\nformat = "knockout"\nabsent = "1s"\n'
    text += engines(*BOTS)
    (tmp_path / "cup.toml").write_text(text + '[[bot]]\nname = "guest"\n')
    outcome = arena("tournament", "cup.toml", "--no-web", cwd=tmp_path)
    assert outcome.code == 0, outcome.err
    assert "\nlost by walkover: guest 1\n" in outcome.out
