"""Configurations and entrants that make no contest: each is refused with one clear line."""

from __future__ import annotations

import pytest
from tests.server.core.contest_harness import MS
from tests.slices import all_of

from arena_server.core.contest import Contest
from arena_server.core.formats import FORMATS
from arena_server.terms.config import ContestConfig, ContestConfigError, Entrant

GOOD = {"name": "c", "seed": 1}


@all_of(
    ("config", "text"),
    [
        ({"deals": "mixed"}, "deals is one of fresh, paired, not 'mixed'"),
        ({"format": "league"}, f"contest.format: expected one of {', '.join(FORMATS)}, got 'league'"),
        ({"tie_breaks": ("wins", "luck")}, "tie_breaks: a tie-break is one of points, wins, "),
        ({"scoring": "goals"}, "expected points, wins or values such as 3-1-0, got 'goals'"),
        ({"game": "go"}, "no game 'go'"),
        ({"options": {"plies": 0}}, "plies is a whole number from 1"),
        (
            {"games_per_pair": 3},
            "contest.games_per_pair: expected a multiple of 2, so that every bot has each seat",
        ),
        ({"clock_ms": 0}, "clock_ms must be from 1 to 864000000, not 0"),
        ({"increment_ms": -1}, "increment_ms must be from 0 to 600000, not -1"),
        ({"flood_limit": 0}, "flood_limit must be from 1"),
        ({"absent_ms": -1}, "absent_ms must be from 0 to 864000000, not -1"),
    ],
)
def test_an_impossible_config_is_one_clear_line(config: dict[str, object], text: str) -> None:
    with pytest.raises(ContestConfigError, match=text) as caught:
        Contest(ContestConfig(**GOOD | config), [Entrant("a"), Entrant("b")], "x".__mul__, 0)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)


@all_of(
    ("entrants", "text"),
    [
        ([Entrant("a")], "bot: expected at least 2, for 2 seats, got 1"),
        ([Entrant("a"), Entrant("onlooker", plays=False)], "bot: expected at least 2, for 2 seats, got 1"),
        ([Entrant("a"), Entrant("a")], "two bots are called a"),
        ([Entrant("a"), Entrant("b c")], "a bot cannot be called 'b c'"),
        ([Entrant("a"), Entrant("b", "abc")], "token_sha256 of b must be 64 hexadecimal digits"),
        ([Entrant("a"), Entrant("b", "x" * 64)], "token_sha256 of b must be 64 hexadecimal digits"),
    ],
)
def test_impossible_entrants_are_one_clear_line(entrants: list[Entrant], text: str) -> None:
    with pytest.raises(ContestConfigError, match=text):
        Contest(ContestConfig(name="c", seed=1), entrants, "x".__mul__, 0)


def test_the_contest_begins_at_the_moment_given() -> None:
    config = ContestConfig(name="c", seed=1, absent_ms=5)
    assert Contest(config, [Entrant("a"), Entrant("b")], "x".__mul__, 100 * MS).deadline == 105 * MS
