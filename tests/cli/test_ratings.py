"""`arena ratings`: what is rated, the table, and what is refused."""

from __future__ import annotations

import json
import sys
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.server.programs import Shell
from tests.server.records import Kept, opening

from arena_server.stats.rated_games import Games

LEAGUE = "a 3 b 1\nb 2 a 1\nb 5 c 4\nc 3 b 3\nc 9 a 0\na 7 c 2\nlow 0 a 9\n"


@pytest.fixture
def league(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "league.txt"
    path.write_text(LEAGUE)
    return path


def test_a_contest_of_the_database(here: Path, shell: Shell) -> None:
    shown = json.loads(shell("ratings", "--json").out)
    assert shown["rated"] == "trial, insertion"
    assert {row["bot"] for row in shown["ratings"]} | set(shown["unrated"]) == {"first", "six", "zero"}
    chosen = shell("ratings", "--contest", "trial", "--contest", "1", "--json")
    assert json.loads(chosen.out) == shown, "a contest counts once"
    assert json.loads(shell("ratings", "--all", "--json").out) == shown


class TwoEpochs:
    """A database with a contest of today's rules and, later, two of other ones; `rated` has what is rated."""

    def __init__(self) -> None:
        kinds = [("old", {}), ("new", {"epoch": "2"}), ("newer", {"epoch": "2"})]
        self.rows = [
            SimpleNamespace(id=number, name=name, game="insertion", options=options, is_rated=True)
            for number, (name, options) in enumerate(kinds, start=1)
        ]
        self.rated: list[str] = []
        self.sums = SimpleNamespace(rated=self._rated)

    def _rated(self, contest: SimpleNamespace, versions: bool) -> Games:
        self.rated.append(contest.name)
        return Games.of({})

    def contests(self) -> list[SimpleNamespace]:
        return self.rows

    def contest(self, selector: str | None = None) -> SimpleNamespace:
        return next(row for row in reversed(self.rows) if selector in (None, row.name))


@pytest.fixture
def epochs(monkeypatch: pytest.MonkeyPatch) -> TwoEpochs:
    results = TwoEpochs()
    monkeypatch.setattr("arena_cli.ratings.open_results", lambda database: nullcontext(results))
    return results


def test_games_by_other_rules_are_not_rated_together(epochs: TwoEpochs, shell: Shell) -> None:
    refused = shell("ratings", "--contest", "old", "--contest", "new")
    assert (refused.code, refused.line) == (
        2,
        "arena: --contest: expected contests of one epoch of the rules, got old 1, new 2",
    )
    assert epochs.rated == []


def test_all_contests_are_those_by_the_rules_of_the_latest(epochs: TwoEpochs, shell: Shell) -> None:
    shell("ratings", "--all")
    assert epochs.rated == ["new", "newer"]


def test_practice_is_left_out_of_all_and_refused_by_itself(epochs: TwoEpochs, shell: Shell) -> None:
    epochs.rows[1].is_rated = False
    assert shell("ratings", "--all").code == 0
    assert epochs.rated == ["newer"]
    refused = shell("ratings", "--contest", "new", "--contest", "newer")
    assert (refused.code, refused.line) == (
        2,
        "arena: --contest: new is not rated (rated = false): its games are practice",
    )
    epochs.rows[2].is_rated = False
    assert shell("ratings", "--all").line.startswith("arena: --all: new, newer is not rated")
    assert epochs.rated == ["newer"]


def test_by_version_and_as_columns_of_the_table(here: Path, shell: Shell) -> None:
    shown = json.loads(shell("ratings", "--versions", "--json").out)
    assert {row["bot"] for row in shown["ratings"]} <= {"first", "six", "zero"}
    assert all("version" in row for row in shown["ratings"])
    head = shell("ratings", "--versions").out.splitlines()[2].split()
    assert head[:4] == ["rank", "bot", "version", "rating"]
    rated = {row["bot"]: row for row in json.loads(shell("ratings", "--json").out)["ratings"]}
    for row in json.loads(shell("standings", "--ratings", "--json").out)["standings"]:
        found = rated.get(row["bot"])
        assert row["rating"] == (found and {key: found[key] for key in ("rating", "interval", "ranks")})
    assert shell("standings", "--ratings").code == 0


def test_a_file_for_people(league: Path, shell: Shell) -> None:
    outcome = shell("ratings", "--file", "league.txt")
    assert outcome.code == 0
    lines = outcome.out.splitlines()
    assert lines[0] == "league.txt: 6 games"
    assert lines[2].split() == ["rank", "bot", "rating", "95", "%", "ranks", "games", "score"]
    assert [line.split()[1] for line in lines[4:7]] == ["b", "a", "c"]
    assert lines[-2] == (
        "low is not rated (winless): it has won or drawn no game against a rated player or one above"
    )
    assert lines[-1].startswith("seat 2 is worth ")


def test_a_score_of_53_percent_is_21_points(league: Path, shell: Shell) -> None:
    """8 games won, 90 drawn and 2 lost, half of each from either seat."""
    won, drawn, lost = "a 1 b 0\nb 0 a 1\n", "a 1 b 1\nb 1 a 1\n", "a 0 b 1\nb 1 a 0\n"
    league.write_text(4 * won + 45 * drawn + lost)
    rows = json.loads(shell("ratings", "--file", "league.txt", "--json").out)["ratings"]
    assert {row["bot"]: (round(row["rating"]), row["score"]) for row in rows} == {
        "a": (1510, 0.53),
        "b": (1490, 0.47),
    }


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--all", "--contest", "x"], "--all: it is for all contests; leave out --contest"),
        (
            ["--file", "league.txt", "--all"],
            "--file: a file of results has no contests; leave out --contest and --all",
        ),
        (
            ["--file", "league.txt", "--versions"],
            "--file: a file of results has no versions; leave out --versions",
        ),
    ],
)
def test_what_does_not_fit_together(league: Path, shell: Shell, arguments: list[str], line: str) -> None:
    outcome = shell("ratings", *arguments)
    assert (outcome.code, outcome.out, outcome.line) == (2, "", f"arena: {line}")


def test_games_of_different_numbers_of_seats(league: Path, shell: Shell) -> None:
    league.write_text("a 1 b 2\na 1 b 2 c 3\n")
    outcome = shell("ratings", "--file", "league.txt")
    assert outcome.code == 2
    assert outcome.line == "arena: arena ratings: expected games of one number of seats, got [2, 3]"


def test_without_its_library_it_names_the_extra(
    league: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "numpy", None)
    outcome = shell("ratings", "--file", "league.txt")
    assert outcome.code == 2
    assert outcome.line.startswith("arena: arena ratings needs the extra [ratings]: ")


def test_ratings_are_columns_of_the_table_of_a_contest_alone(league: Path, shell: Shell) -> None:
    outcome = shell("standings", "--ratings", "--file", "league.txt")
    assert outcome.code == 2
    assert (
        outcome.line
        == "arena: --ratings: it is for the table of a contest; leave out --cross, --rounds and --file"
    )


def test_practice_has_a_table_without_ratings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shell: Shell
) -> None:
    monkeypatch.chdir(tmp_path)
    header = opening()
    kept = Kept(tmp_path / "arena.db", replace(header, config=replace(header.config, rated=False)))
    kept.start()
    kept.close("finished")
    assert "not rated: practice games" in shell("standings").out
    assert json.loads(shell("standings", "--json").out)["contest"]["rated"] is False
    refused = shell("standings", "--ratings")
    assert (refused.code, refused.line) == (
        2,
        "arena: --ratings: trial is not rated (rated = false): its games are practice",
    )
