"""Keys that decide nothing: each is refused in a new contest, and its neighbours that decide are not."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.server.terms.test_config_file import toml
from tests.slices import all_of

from arena_server.errors import ConfigError
from arena_server.terms.file import parse_contest
from arena_server.terms.idle_keys import check_idle_keys, idle_keys

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "configuration.md").read_text(encoding="utf-8")
NOW = datetime(2026, 12, 24, 18, 0, tzinfo=UTC)
ONE_OWNER = '[[bot]]\nname = "a"\nowner = "club"\n[[bot]]\nname = "b"\nowner = "club"\n'
TWO_OWNERS = ONE_OWNER.replace("club", "elsewhere", 1)
BEFORE_END = "expected a moment before that of contest.ends_at"
OWNER = "bot 1: owner: expected none, because no rule of this contest asks for owners (contest.format = {})"
LAST = "contest.tie_breaks: expected only what can decide, got "


def found(contest: str, bots: str = "") -> list[str]:
    return list(idle_keys(parse_contest(toml(contest=contest, bots=bots), "c.toml"), NOW))


@all_of(
    ("contest", "line"),
    [
        (
            "ends_at = 2026-12-24T18:00:00Z",
            "contest.ends_at: expected a moment to come, got 2026-12-24 18:00:00+0000",
        ),
        (
            "freeze_at = 2026-12-24T17:00:00Z",
            "contest.freeze_at: expected a moment to come, got 2026-12-24 17:00:00+0000",
        ),
        (
            "freeze_at = 2026-12-24T20:00:00Z\nends_at = 2026-12-24T20:00:00Z",
            f"contest.freeze_at: {BEFORE_END}, which ends the freeze",
        ),
        (
            "starts_at = 2026-12-24T20:00:00Z\nends_at = 2026-12-24T20:00:00Z",
            f"contest.starts_at: {BEFORE_END}",
        ),
        (
            'probation = 0\nprobation_for = "1h"',
            "contest.probation_for: expected none with probation = 0, which bars no bot, got '1h'",
        ),
        (
            "scoring = { win = 3, draw = 1, loss = 0, bye = 1 }",
            "contest.scoring: expected bye with a Swiss alone, got '3-1-0,bye=1'",
        ),
        (
            'format = "knockout"\nscoring = { win = 3, draw = 1, loss = 0 }',
            'contest.scoring: expected "points" or "wins" for a bracket, got \'3-1-0\'',
        ),
        ('tie_breaks = ["points"]', LAST + "'points': the table ranks by points already"),
        ('tie_breaks = ["pairs-won"]', LAST + "'pairs-won': deals = \"fresh\" has no deal with two games"),
        ('tie_breaks = ["lot", "wins"]', LAST + "'wins': lot before it separates all"),
        (
            'format = "knockout"\ntie_breaks = ["wins", "head-to-head"]',
            LAST + "'head-to-head': two bots that are out on the same level have not met",
        ),
    ],
)
def test_a_key_that_decides_nothing(contest: str, line: str) -> None:
    assert found(contest) == [line]
    with pytest.raises(ConfigError) as caught:
        check_idle_keys(parse_contest(toml(contest=contest), "c.toml"), NOW, "c.toml")
    assert str(caught.value) == f"c.toml: {line}"


@all_of(
    "contest",
    [
        "",
        "starts_at = 2026-12-24T17:00:00Z",  # the organiser is late
        "starts_at = 2026-12-24T19:00:00Z\nfreeze_at = 2026-12-24T20:00:00Z\nends_at = 2026-12-24T21:00:00Z",
        'probation_for = "1h"',
        'tie_breaks = ["wins", "head-to-head", "lot"]',
        'scoring = "wins"\ntie_breaks = ["points"]',
        "scoring = { win = 3, draw = 1, loss = 0 }",
        'format = "swiss"\nscoring = { win = 3, draw = 1, loss = 0, bye = 1 }',
        'format = "swiss"\ntie_breaks = ["points", "buchholz"]',
        'deals = "paired"\ntie_breaks = ["pairs-won", "won-plies", "direct-match"]',
        'format = "knockout"\ntie_breaks = ["points"]',
    ],
)
def test_a_key_that_decides_something(contest: str) -> None:
    assert found(contest) == []


@pytest.mark.parametrize("form", ["round-robin", "matches", "gauntlet", "ladder"])
def test_owners_where_no_rule_asks_for_them(form: str) -> None:
    first, second = found(f'format = "{form}"', ONE_OWNER)
    assert first == OWNER.format(repr(form)) + ", got 'club'"
    assert second == first.replace("bot 1", "bot 2")


def test_owners_make_teams_in_every_format() -> None:
    assert found("teams = { best = 2 }", ONE_OWNER) == []
    assert found('format = "ladder"\nteams = { best = 1 }', TWO_OWNERS) == []


def test_owners_where_a_rule_asks_for_them() -> None:
    """Owners decide in the formats that read them; in a Swiss with "never" one owner leaves no pair."""
    assert found('format = "knockout"', ONE_OWNER) == found('format = "swiss"', ONE_OWNER) == []
    ignored = 'format = "knockout"\nsame_owner = "ignore"'
    assert found(ignored, TWO_OWNERS)[0].startswith(OWNER.format("'knockout'"))
    assert found('format = "swiss"\nsame_owner = "never"', TWO_OWNERS) == []
    assert found('format = "swiss"\nsame_owner = "never"', ONE_OWNER) == [
        'contest.same_owner: expected bots of two owners or more with "never", because else no two of them '
        "may meet; all are of 'club'"
    ]
    assert found('format = "swiss"\nsame_owner = "never"') == []


def test_the_example_of_the_page() -> None:
    section = PAGE.partition("### Keys that decide nothing")[2].partition("\n### ")[0]
    example = section.partition("An example: `")[2]
    text = " ".join(example.partition("is refused with `")[2].partition("`")[0].split())
    assert found(example.partition("`")[0]) == [text]
