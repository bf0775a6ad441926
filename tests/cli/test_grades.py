"""Teams and grades on every channel, and the scale of the grades."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from tests.server.programs import inside
from tests.server.records import keep, opening
from tests.slices import all_of

from arena_cli.grades import grade_rows, percents, read_scale
from arena_cli.publish import page
from arena_server.errors import ConfigError
from arena_server.stats.results import GameResult
from arena_server.stats.standings import Standings
from arena_server.store.published import PublishedHead
from arena_server.web.archive import Archive


def stored(folder: Path, teams: int | None) -> Path:
    database, wanted = folder / "arena.db", opening(new=False)
    first, *_ = wanted.names
    config = replace(wanted.config, teams=teams, owners={first: "ann"})
    keep(database, status="finished", contest=replace(wanted, config=config))
    return database


def test_every_channel_has_the_teams(tmp_path: Path) -> None:
    document = Archive(stored(tmp_path, 2)).contest(1)
    (row,) = document["teams"]["rows"]
    assert (document["teams"]["best"], row["team"], row["bots"]) == (2, "ann", 1)
    html = page(document, PublishedHead(1, "trial", document["started_at"], 0, "ab", document["started_at"]))
    assert "trial: teams, the best 2 of each team count" in html
    assert "trial: teams, the best 2 of each team count" in inside("standings", cwd=tmp_path).out
    plain = json.loads(inside("standings", "--json", cwd=tmp_path).out)
    assert plain["teams"] == document["teams"]
    assert json.loads(inside("standings", "--teams", "--json", cwd=tmp_path).out)["teams"] == plain["teams"]
    table = inside("standings", "--teams", "--format", "csv", cwd=tmp_path).out.splitlines()
    assert table[0] == "rank,team,score,bots,counted"
    assert len(table) == 2
    assert "team" not in inside("standings", "--format", "csv", cwd=tmp_path).out, "a file has one table"
    assert inside("export", "out", "--format", "grades", cwd=tmp_path).code == 0
    with (tmp_path / "out" / "teams.csv").open(encoding="utf-8") as file:
        (graded,) = csv.DictReader(file)
    assert (graded["team"], graded["rank"]) == ("ann", str(row["rank"] or ""))


def test_a_contest_without_teams_has_no_such_table(tmp_path: Path) -> None:
    assert "teams" not in Archive(stored(tmp_path, None)).contest(1)
    said = inside("standings", "--teams", cwd=tmp_path)
    assert (said.code, said.line) == (
        2,
        "arena: --teams: trial has no teams: contest.teams = { best = k } makes some",
    )
    said = inside("standings", "--teams", "--cross", cwd=tmp_path)
    assert said.line == "arena: --teams: leave out --cross, --rounds, --ratings and --file"
    assert inside("export", "out", "--format", "grades", cwd=tmp_path).code == 0
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["grades.csv"]
    said = inside("export", "out", "--grades", "A=1", cwd=tmp_path)
    assert (said.code, said.line) == (2, "arena: --grades: expected with --format grades")


def test_grades_of_a_class() -> None:
    table = Standings("abcde")
    for names, totals in ((("a", "b"), (9, 4)), (("c", "d"), (3, -1))):
        table.add(GameResult(names, totals))
    owners = {"b": "bea", "c": "cid", "d": "dan", "e": "eva"}
    rows = grade_rows(table, owners, read_scale("A=90,B=75,F=0"))
    assert [[row[key] for key in ("name", "rank", "score", "percent", "grade")] for row in rows] == [
        ["a", 1, 9, None, None],  # the organiser's
        ["b", 2, 4, 100.0, "A"],
        ["c", 3, 3, 75.0, "B"],
        ["e", None, 0, None, None],  # it has not played
        ["d", 5, -1, 0.0, "F"],
    ]
    assert [row["percent"] for row in grade_rows(table, {}, ())][:2] == [100.0, 44.4]


def test_a_percent_is_of_the_best_and_a_grade_of_the_exact_value() -> None:
    assert percents({"a": Fraction(-2), "b": Fraction(-1)}) == {"a": 0, "b": 0}
    assert percents({}) == {}
    table = Standings("ab")
    table.add(GameResult(("a", "b"), (2000, 1799)))
    assert grade_rows(table, {}, read_scale("A=90, B=0"))[1]["grade"] == "B", "89.95 is not 90"


@all_of(
    "text",
    ["", "A", "A=", "=5", "A=101", "A=-1", "A=x", "A=9,A=8", "A=1e2", "A=5,", "A\x07=5", "A=" + "0" * 9],
)
def test_what_is_no_scale(text: str) -> None:
    with pytest.raises(ConfigError, match="--grades: expected GRADE=PERCENT"):
        read_scale(text)


def test_two_grades_of_one_percent() -> None:
    with pytest.raises(ConfigError, match="--grades: expected another percent for each grade, got 'A=5,B=5'"):
        read_scale("A=5,B=5")
