"""`arena standings --cards`: the rounds of a Swiss in one table, a line for each bot."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests.server.programs import Shell

from arena_cli.player_cards import NOTE, cards_table
from arena_server.web.archive import Archive

from .test_verify_rounds import play


@pytest.fixture
def swiss(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    play(tmp_path, "swiss", rounds=2)


def test_every_meeting_is_seen_from_both_sides_and_the_results_are_the_score(
    swiss: None, shell: Shell
) -> None:
    cards = json.loads(shell("standings", "--cards", "--json").out)["cards"]
    by_number = {card["no"]: card for card in cards}
    worth = {"1": 1, "1/2": 0.5, "0": 0}
    for card in cards:
        score = 0.0
        for number in "12":
            field = card[number]
            if field == "bye":
                score += 1
                continue
            other, colour, result = field[0], field[1], field[2:]
            back = by_number[int(other)][number]
            assert (int(back[0]), {colour, back[1]}) == (card["no"], {"w", "b"})
            assert worth[result] + worth[back[2:]] == 1
            score += worth[result]
        assert score == float(card["score"])


def test_pages_and_publish_have_the_cards_of_the_command(swiss: None, shell: Shell) -> None:
    """The document of the pages, of `site` and of `report` too, and the page of `publish`."""
    printed = json.loads(shell("standings", "--cards", "--json").out)["cards"]
    found = json.loads(Archive(Path("arena.db")).rounds(1))["cards"]
    assert found
    assert printed == [
        {"no": card["no"], "bot": card["bot"]}
        | {str(number): text for number, text in enumerate(card["rounds"], start=1)}
        | {"score": f"{card['score']:g}"}
        for card in found
    ]
    assert shell("publish", "public").code == 0
    page = Path("public/index.html").read_text()
    assert "player cards" in page
    rows = [re.findall(r"<td[^>]*>(?:<bdi>)?([^<]*)(?:</bdi>)?</td>", row) for row in page.split("<tr>")]
    for card in found:
        assert [str(card["no"]), card["bot"], *card["rounds"], f"{card['score']:g}"] in rows


def test_a_bracket_has_no_cards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shell: Shell) -> None:
    monkeypatch.chdir(tmp_path)
    play(tmp_path, "knockout")
    assert "cards" not in json.loads(Archive(Path("arena.db")).rounds(1))
    assert shell("publish", "public").code == 0
    assert "player cards" not in Path("public/index.html").read_text()


def test_it_is_for_a_swiss_alone(shell: Shell, here: Path) -> None:
    outcome = shell("standings", "--cards")
    assert (outcome.code, outcome.line) == (2, "arena: --cards: expected a Swiss, trial is a round-robin")


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--cross"], "--cards: leave out --cross, --rounds, --teams, --ratings and --file"),
        (
            ["--scoring", "wins"],
            "--scoring: the rounds are scored as the contest says; leave it out with --cards",
        ),
    ],
)
def test_options_that_contradict_each_other(options: list[str], problem: str, shell: Shell) -> None:
    outcome = shell("standings", "--cards", *options)
    assert (outcome.code, outcome.line) == (2, f"arena: {problem}")


def test_the_table_has_a_column_for_each_round() -> None:
    cards = [
        {"no": 1, "bot": "ann", "rounds": ["2w1", "bye"], "score": 2.0},
        {"no": 2, "bot": "bob", "rounds": ["1b0", "-"], "score": 0.5},
    ]
    table = cards_table("cup", cards)
    assert [column.name for column in table.columns] == ["no", "bot", "1", "2", "score"]
    assert table.rows == [[1, "ann", "2w1", "bye", "2"], [2, "bob", "1b0", "-", "0.5"]]
    assert table.notes == [NOTE]
