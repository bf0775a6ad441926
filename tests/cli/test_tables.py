"""Standings, cross-tables and ratings in every format."""

from __future__ import annotations

import csv
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from tests.server.programs import Shell

from arena_cli.results import standings_table
from arena_cli.tables import Column, ResultTable

GAMES = "a 3000 b 100\nb 200 c 100\nc 100 a 100\n"


@pytest.fixture
def games(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "games.txt"
    path.write_text(GAMES)
    return path


def test_csv_has_numbers_as_programs_read_them(games: Path, shell: Shell) -> None:
    out = shell("standings", "--file", "games.txt", "--format", "csv").out
    assert list(csv.DictReader(out.splitlines())) == [
        {"rank": "1", "bot": "a", "points": "3100", "games": "2", "mean points": "1550.0", "faults": ""},
        {"rank": "2", "bot": "b", "points": "300", "games": "2", "mean points": "150.0", "faults": ""},
        {"rank": "3", "bot": "c", "points": "200", "games": "2", "mean points": "100.0", "faults": ""},
    ]


def test_markdown(games: Path, shell: Shell) -> None:
    games.write_text(GAMES.replace("b ", "b_b ").replace(" c ", " c "))
    assert shell("standings", "--file", "games.txt", "--format", "md").out == (
        "**games.txt: 3 games, scored by points**\n\n"
        "| rank | bot | points | games | mean points | faults |\n"
        "|---:|---|---:|---:|---:|---|\n"
        "| 1 | a | 3,100 | 2 | 1,550.0 | - |\n"
        "| 2 | b\\_b | 300 | 2 | 150.0 | - |\n"
        "| 3 | c | 200 | 2 | 100.0 | - |\n"
    )


class Cells(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "tr":
            self.rows.append([])

    def handle_data(self, data: str) -> None:
        if self.rows and data.strip():
            self.rows[-1].append(data)


def test_html_is_a_table_with_escaped_texts(here: Path, shell: Shell) -> None:
    out = shell("standings", "--format", "html").out
    heads, *rows = Cells(out.partition("</table>")[0]).rows
    assert heads == ["rank", "bot", "points", "games", "mean points", "faults"]
    assert {row[1] for row in rows} == {"first", "six", "zero"}
    assert "&quot;0&quot;" in out, "a bot's line stands in a note"


def test_html_is_a_page_to_be_hung_up() -> None:
    """Title, date and place at the head; a wide table lies on its side; no script, nothing to load."""
    narrow = ResultTable(
        "cup: 2 games", [Column("bot", is_text=True)], [["<a>"]], ["note"], "Cup (cup)", ["2026-12-24, Sofia"]
    )
    page = narrow.as_page()
    assert page.startswith("<!doctype html>\n")
    assert "<title>Cup (cup)</title>" in page
    assert '<h1><bdi>Cup (cup)</bdi></h1>\n<p class="about" dir="auto">2026-12-24, Sofia</p>\n<table' in page
    assert '<td style="text-align: left"><bdi>&lt;a&gt;</bdi></td>' in page
    assert "size: A4;" in page
    assert not re.search("<script|src=|href=|url\\(", page)
    wide = ResultTable("cup", [Column(str(place)) for place in range(12)], [])
    assert "size: A4 landscape;" in wide.as_page()
    assert "<body class=wide>" in wide.as_page()
    assert "<h1>" not in wide.as_page(), "the title of the table is enough"
    assert narrow.as_page(wide).count("<table") == 2


def test_the_cross_table(games: Path, shell: Shell) -> None:
    out = shell("standings", "--file", "games.txt", "--cross", "--format", "csv").out
    assert list(csv.reader(out.splitlines())) == [
        ["", "bot", "1", "2", "3", "score"],
        ["1", "a", "*", "1/1", "0.5/1", "1.5/2"],
        ["2", "b", "0/1", "*", "1/1", "1/2"],
        ["3", "c", "0.5/1", "0/1", "*", "0.5/2"],
    ]
    games.write_text("a 1 b 0\nc 1 d 0\n")
    rows = shell("standings", "--file", "games.txt", "--cross").out.splitlines()
    assert rows[4].split() == ["1", "a", "*", "-", "1/1", "-", "1/1"]


def test_the_cross_table_as_json(here: Path, shell: Shell) -> None:
    shown = json.loads(shell("standings", "--cross", "--json").out)
    assert shown["cross_table"]["first"]["zero"]["games"] == 2
    total = sum(each["score"] for row in shown["cross_table"].values() for each in row.values())
    assert total == 6, "each game has one point to share"
    assert "cross_table" not in json.loads(shell("standings", "--format", "json").out)
    assert shell("standings", "--cross").out.startswith("trial: insertion, 6 of 6 games, ")


def test_ratings_have_the_same_formats(games: Path, shell: Shell) -> None:
    out = shell("ratings", "--file", "games.txt", "--format", "csv").out
    assert out.splitlines()[0] == "rank,bot,rating,95 %,ranks,games,score"


def test_two_formats_at_once(games: Path, shell: Shell) -> None:
    outcome = shell("standings", "--file", "games.txt", "--json", "--format", "csv")
    assert outcome.code == 2
    assert outcome.line == "arena: --json: --format csv says otherwise; leave one of them out"


def test_a_tie_break_that_has_its_column_gets_no_second_one() -> None:
    row = {"rank": 1, "bot": "a", "points": 3, "games": 1, "mean": 3.0, "wins": 1, "faults": {}}
    row |= {"tie_breaks": {"points": 3, "wins": 1, "lot": 7}}
    heads = [
        [column.name for column in standings_table("", [row], wins=wins).columns] for wins in (True, False)
    ]
    assert heads == [
        ["rank", "bot", "points", "games", "mean points", "wins", "lot", "faults"],
        ["rank", "bot", "points", "games", "mean points", "wins", "lot", "faults"],
    ]
    (cells,) = standings_table("", [row], wins=True).rows
    assert cells == [1, "a", 3, 1, 3.0, 1, 7, None]


@pytest.mark.parametrize("ties", [0, 3, 12])
def test_no_name_and_no_number_is_cut(ties: int, capsys: pytest.CaptureFixture[str]) -> None:
    names = [f"a-bot-with-a-long-name-{number}" for number in range(3)]
    tie_breaks = {f"sonneborn-berger-{tie}": 3_000_000_000 + tie for tie in range(ties)}
    row = {"rank": 1, "points": 3, "games": 1, "mean": 3.0, "wins": 1, "tie_breaks": tie_breaks}
    rows = [row | {"bot": name, "faults": {"illegal": 7, "timeout": 123}} for name in names]
    standings_table("a title", rows).print()
    lines = capsys.readouterr().out.splitlines()
    for name in names:
        (line,) = (line for line in lines if name in line)
        assert line.split()[-4:] == ["illegal", "7,", "timeout", "123"]
        assert [text for text in line.split() if text.startswith("3,000,")] == [
            f"{value:,}" for value in tie_breaks.values()
        ]
    assert "…" not in "".join(lines)
    heads = "".join(lines[1:5])
    assert heads.count("berger") == ties


def test_numbers_that_rank_have_all_of_their_decimals() -> None:
    row = {"rank": 1, "bot": "a", "points": 3, "games": 8, "mean": 0.38, "wins": 2, "faults": {}}
    row |= {"score": 0.3125, "tie_breaks": {"buchholz": 1.25, "wins": 0.5}}
    (cells,) = standings_table("", [row]).rows
    assert cells == [1, "a", "0.3125", 3, 8, 0.38, "1.25", 0.5, None]
