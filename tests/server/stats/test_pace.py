"""The pace of a contest: over the last results, and what is left at that pace."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena_server.stats.pace import (
    LAST_GAMES,
    GamePace,
    clock_text,
    pace_json,
    pace_text,
)


@given(
    steps=st.lists(st.tuples(st.integers(1, 10_000), st.integers(0, 5)), min_size=1, max_size=300),
    before=st.integers(0, 50),
    after=st.integers(0, 100),
)
def test_it_is_that_of_the_last_results(steps: list[tuple[int, int]], before: int, after: int) -> None:
    """Against the whole list: since the newest moment with LAST_GAMES fewer results, else since the first."""
    pace, moments, now, done = GamePace(), [(0, before)], 0, before
    pace.see(0, before)
    for seconds, games in steps:
        now, done = now + seconds, done + games
        pace.see(now, done)
        if games:
            moments.append((now, done))
    then, known = max((each for each in moments if each[1] <= done - LAST_GAMES), default=moments[0])
    now += after
    expected = pace_json(done - known, now - then, 7)
    assert pace.plain(now, 7) == expected


def test_games_an_hour_and_what_is_left() -> None:
    assert pace_json(0, 60.0, 5) is None
    assert pace_json(5, 0.0, 5) is None
    assert pace_json(30, 60.0, 90) == {"games_per_hour": 1800.0, "left_s": 180}
    assert pace_json(30, 60.0, None) == {"games_per_hour": 1800.0, "left_s": None}
    # A bracket may have had more games than were expected.
    assert pace_json(30, 60.0, -2) == {"games_per_hour": 1800.0, "left_s": 0}
    assert GamePace().plain(5.0, 9) is None


@pytest.mark.parametrize(
    ("more", "ends_s", "left"), [(None, 45.4, 45), (90, 45.4, 45), (2, 45.4, 20), (None, -3.0, 0)]
)
def test_it_ends_with_the_timetable_at_the_latest(more: int | None, ends_s: float, left: int) -> None:
    pace = GamePace()
    assert pace.plain(0.0, more, ends_s) is None
    pace.see(0.0, 0)
    pace.see(100.0, 10)
    assert pace.plain(100.0, more, ends_s) == {"games_per_hour": 360.0, "left_s": left}


def test_results_that_are_taken_back_have_been_played_and_are_to_come_again() -> None:
    pace = GamePace()
    for second in range(0, 101, 10):
        pace.see(second, second // 10)
    pace.see(100, 4)
    assert pace.plain(100, 16 - 4) == {"games_per_hour": 360.0, "left_s": 120}
    pace.see(110, 5)
    assert pace.plain(110, 16 - 5) == {"games_per_hour": 360.0, "left_s": 110}


@pytest.mark.parametrize(
    ("pace", "text"),
    [
        (None, "ETA -"),
        ({"games_per_hour": 12.4, "left_s": 34}, "ETA 0:34"),
        ({"games_per_hour": 12.4, "left_s": 3661}, "ETA 1:01:01"),
        ({"games_per_hour": 1240.4, "left_s": None}, "1,240 games an hour"),
    ],
)
def test_the_words(pace: dict[str, float | None] | None, text: str) -> None:
    assert pace_text(pace) == text


def test_a_duration() -> None:
    assert [clock_text(seconds) for seconds in (0, 59, 60, 36_000)] == ["0:00", "0:59", "1:00", "10:00:00"]
