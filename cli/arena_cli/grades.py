"""`arena export --format grades`: the table of a contest as the marks of a course, a line a bot."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from arena_cli.results import teams_json
from arena_server.errors import ConfigError
from arena_server.stats.standings import number_json, row_json

if TYPE_CHECKING:
    from arena_server.stats.standings import Standings
    from arena_server.store.reader import Results
    from arena_server.store.schema import ContestRow

GRADES_FILE: Final = "grades.csv"
TEAMS_FILE: Final = "teams.csv"
COLUMNS: Final = ("rank", "name", "owner", "games", "points", "score", "percent", "grade")
TEAM_COLUMNS: Final = ("rank", "team", "bots", "counted", "score", "percent", "grade")

#: The least percent of each grade, the highest first.
Scale = Sequence[tuple[Fraction, str]]


def read_scale(text: str) -> Scale:
    """A scale such as A=90,B=75,C=50. Raises ConfigError."""
    scale: dict[str, Fraction] = {}
    for each in text.split(","):
        grade, _, least = (part.strip() for part in each.rpartition("="))
        number = _number(least)
        if not grade or grade in scale or number is None or not grade.isprintable():
            raise ConfigError(
                f"--grades: expected GRADE=PERCENT,... such as A=90,B=75,C=50, got {text!r:.60}"
            )
        scale[grade] = number
    if len(set(scale.values())) < len(scale):
        raise ConfigError(f"--grades: expected another percent for each grade, got {text!r:.60}")
    return sorted(((least, grade) for grade, least in scale.items()), reverse=True)


def _number(text: str) -> Fraction | None:
    """A percentage; None: it is none."""
    if not text.replace(".", "", 1).isdecimal() or not text.isascii() or len(text) > 8:
        return None
    number = Fraction(text)
    return number if number <= 100 else None


def percents(scores: Mapping[str, Fraction]) -> dict[str, Fraction]:
    """Each score as a part of the best one; one that is not positive is 0."""
    best = max(scores.values(), default=Fraction(0))
    return {
        name: 100 * max(Fraction(0), score) / best if best > 0 else Fraction(0)
        for name, score in scores.items()
    }


def grade_rows(table: Standings, owners: Mapping[str, str], scale: Scale) -> list[dict[str, Any]]:
    """A line a bot in the order of the table, by the names of COLUMNS.

    Only who has played and has an owner has a percent, where any bot has one: the others are the organiser's.
    """
    rows, scores = [row_json(row) for row in table.rows()], table.scores()
    graded = {
        row["bot"]: scores[row["bot"]]
        for row in rows
        if row["rank"] is not None and (not owners or row["bot"] in owners)
    }
    marks = percents(graded)
    return [
        {
            "rank": row["rank"],
            "name": row["bot"],
            "owner": owners.get(row["bot"], ""),
            "games": row["games"],
            "points": row["points"],
            "score": number_json(scores[row["bot"]]),
            **_mark(marks.get(row["bot"]), scale),
        }
        for row in rows
    ]


def team_grades(teams: Mapping[str, Any], scale: Scale) -> list[dict[str, Any]]:
    """A line a team, by the names of TEAM_COLUMNS; `teams` is as in `teams_json`."""
    rows = teams["rows"]
    marks = percents({row["team"]: Fraction(row["score"]) for row in rows if row["rank"] is not None})
    return [
        row | {"counted": " ".join(row["counted"]), **_mark(marks.get(row["team"]), scale)} for row in rows
    ]


def _mark(percent: Fraction | None, scale: Scale) -> dict[str, Any]:
    """Percent and grade; both empty for None. The grade is that of the exact value."""
    if percent is None:
        return {"percent": None, "grade": None}
    grade = next((grade for least, grade in scale if percent >= least), None)
    return {"percent": round(float(percent), 1), "grade": grade}


def grade_files(
    results: Results, contest: ContestRow, last: int | None, scale: Scale
) -> tuple[int, dict[str, str]]:
    """How many games count, and the files by their names; that of the teams if the contest has some."""
    table = results.sums.table(contest, last=last)
    rows = grade_rows(table, results.facts.owners(contest), scale)
    files = {GRADES_FILE: _csv(COLUMNS, rows)}
    if teams := teams_json(results, contest, table):
        files[TEAMS_FILE] = _csv(TEAM_COLUMNS, team_grades(teams["teams"], scale))
    return table.games, files


def _csv(columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, lineterminator="\n", extrasaction="ignore")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()
