"""`arena standings --rounds`: what was drawn, in a terminal and in every format."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from tests.server.programs import Shell
from tests.server.store.test_drawn import play

from arena_cli.rounds import bracket_lines, print_rounds
from arena_cli.tables import OutputFormat
from arena_server.store.reader import Results


def match(
    one: str | None,
    other: str | None,
    state: str = "over",
    scores: tuple[float, float] = (0, 0),
    *,
    winner: str | None = None,
    games: tuple[int, ...] = (1,),
    points: tuple[int, int] = (0, 0),
    decided_by: str | None = None,
) -> dict[str, Any]:
    """A match of the document; the seed of a bot is its place in the alphabet."""
    names = [one, other]
    seeds = [None if name is None else ord(name[0]) - ord("a") + 1 for name in names]
    return {
        "names": names,
        "seeds": seeds,
        "scores": list(scores),
        "points": list(points),
        "games": list(games if state in ("over", "open") else ()),
        "winner": winner,
        "state": state,
    } | ({"decided_by": decided_by} if decided_by else {})


BRACKET = [
    {
        "title": "quarter-finals",
        "kind": "level",
        "matches": [
            match("ann", None, "bye", winner="ann"),
            match("dan", "eve", scores=(1.5, 0.5), winner="dan"),
            match("bob", "gus", "walkover", winner="gus"),
            match("cid", "fay", "open", (1, 0)),
        ],
    },
    {
        "title": "semi-finals",
        "kind": "level",
        "matches": [match("ann", "dan", scores=(0, 2), winner="dan"), match("gus", None, "to come")],
    },
    {"title": "final", "kind": "level", "matches": [match("dan", None, "to come")]},
]
TREE = """\
quarter-finals     semi-finals     final       winner

1 ann  bye      ┐
                ├  1 ann  0     ┐
         -      ┘               │
                                ├  4 dan    ┐
4 dan  1.5      ┐               │           │
                ├  4 dan  2     ┘           │
5 eve  0.5      ┘                           │
                                            ├  ?
2 bob           ┐                           │
                ├  7 gus        ┐           │
7 gus  w/o      ┘               │           │
                                ├    ?      ┘
3 cid    1      ┐               │
                ├    ?          ┘
6 fay    0      ┘
"""


@pytest.fixture
def drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The database of a knockout of four bots, in the current folder."""
    play(tmp_path / "arena.db")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "arena.db"


def test_a_bracket_is_a_tree() -> None:
    assert "\n".join(bracket_lines(BRACKET)) + "\n" == TREE


def test_points_are_shown_where_they_decide() -> None:
    level = {"title": "final", "kind": "level"}
    final = match(
        "ann", "bob", scores=(1, 1), winner="bob", games=(1, 2), points=(940, 1310), decided_by="points"
    )
    assert bracket_lines([{**level, "matches": [final]}]) == [
        "final                winner",
        "",
        "1 ann    1 (940)  ┐",
        "                  ├  bob",
        "2 bob  1 (1,310)  ┘",
    ]


def test_a_second_grand_final_is_a_tree_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    """It has as many matches as the first, so it is no next level of its tree."""
    print_rounds("cup", [*BRACKET, {**BRACKET[-1], "title": "deciding match"}], OutputFormat.TABLE)
    out = capsys.readouterr().out
    assert out.startswith(f"cup\n\n{TREE}\ndeciding match")


def test_what_does_not_fit_is_tables(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    print_rounds("cup", BRACKET, OutputFormat.TABLE)
    assert capsys.readouterr().out == f"cup\n\n{TREE}"
    monkeypatch.setattr("arena_cli.rounds.PLAIN_WIDTH", 40)
    print_rounds("cup", BRACKET, OutputFormat.TABLE)
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line in ("quarter-finals", "semi-finals", "final")] == [
        *("quarter-finals", "semi-finals", "final")
    ]
    assert "┐" not in "".join(lines)


def test_groups_and_rounds_are_tables_before_the_bracket(capsys: pytest.CaptureFixture[str]) -> None:
    group = {
        "title": "group A",
        "kind": "group",
        "ranking": ["bob", "ann"],
        "matches": [match("ann", "bob", scores=(0, 2), winner="bob", games=(3, 5))],
    }
    print_rounds("cup", [group, *BRACKET], OutputFormat.TABLE)
    out = capsys.readouterr().out
    assert out.endswith(f"\n\n{TREE}")
    lines = [line.split() for line in out.splitlines()]
    assert ["1", "1", "ann", "0", "2", "bob", "2", "bob", "over", "g3", "g5"] in lines
    assert ["order:", "bob,", "ann"] in lines


def test_every_format_says_the_same(drawn: Path, shell: Shell) -> None:
    with Results(drawn) as results:
        history = results.sums.history(results.contest())
    assert history is not None
    document = history.document()
    assert json.loads(shell("standings", "--rounds", "--json").out) == {"contest": "trial", **document}
    rows = list(csv.DictReader(shell("standings", "--rounds", "--format", "csv").out.splitlines()))
    matches = [(each["title"], match) for each in document["rounds"] for match in each["matches"]]
    assert [(row["round"], row["bot 1"], row["bot 2"], row["winner"]) for row in rows] == [
        (title, *match["names"], match["winner"]) for title, match in matches
    ]
    out = shell("standings", "--rounds").out
    assert out.startswith("trial: insertion, 3 of 3 games, ")
    assert "├  a" in out.splitlines()[-4]


def test_a_tie_that_the_seeds_decide_says_so_without_points() -> None:
    level = {"title": "final", "kind": "level"}
    final = match(
        "ann", "bob", scores=(1, 1), winner="ann", games=(1, 2), points=(940, 1310), decided_by="seed"
    )
    lines = [line.split() for line in bracket_lines([{**level, "matches": [final]}])]
    assert lines[2] == ["1", "ann", "1", "by", "seed", "┐"]
    assert lines[4] == ["2", "bob", "1", "┘"]


def test_what_decides_a_tie_is_a_column_of_tables(capsys: pytest.CaptureFixture[str]) -> None:
    tied = [
        match("ann", "bob", scores=(1, 1), winner="ann", games=(1, 2), decided_by="seed"),
        match("cid", "dan", scores=(1, 1), winner="dan", games=(3, 4), decided_by="points"),
        match("eve", "fay", scores=(2, 0), winner="eve", games=(5, 6)),
    ]
    levels = [{"title": "quarter-finals", "kind": "level", "matches": tied}]
    print_rounds("friday", levels, OutputFormat.CSV)
    rows = list(csv.DictReader(capsys.readouterr().out.splitlines()))
    assert [row["decided by"] for row in rows] == ["seed", "points", ""]
    levels[0]["kind"] = "round"
    print_rounds("friday", levels, OutputFormat.TABLE)
    assert "decided by" in capsys.readouterr().out
    print_rounds("friday", [{**levels[0], "matches": tied[2:]}], OutputFormat.CSV)
    assert "decided by" not in capsys.readouterr().out


def test_a_contest_without_rounds(here: Path, shell: Shell) -> None:
    outcome = shell("standings", "--rounds")
    assert (outcome.code, outcome.line) == (
        2,
        "arena: --rounds: the format of trial, round-robin, draws no rounds",
    )


@pytest.mark.parametrize("other", [("--cross",), ("--file", "games.txt")])
def test_what_contradicts_it(here: Path, shell: Shell, other: tuple[str, ...]) -> None:
    outcome = shell("standings", "--rounds", *other)
    text = "arena: --rounds: it is for a contest alone; leave out --cross and --file"
    assert (outcome.code, outcome.line) == (2, text)
    outcome = shell("standings", "--rounds", "--ratings")
    assert outcome.line.startswith("arena: --ratings: it is for the table of a contest; ")
