"""The clock on the wall: hours over midnight and over a change to summer time, end, freeze."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.slices import all_of

from arena_server.core.events import Event, Freeze, Hours, TimeUp
from arena_server.host.timekeeper import Timekeeper
from arena_server.terms.timetable import Timetable, milliseconds, parse_hours


@pytest.fixture(autouse=True)
def berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A zone with summer time: from 2026-03-29 02:00, to 2026-10-25 03:00."""
    monkeypatch.setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def local(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone()


@all_of(
    ("hours", "begin", "end", "minutes"),
    [
        (None, "2026-11-23T12:00", "2026-11-23T13:00", 60),
        (None, "2026-11-23T13:00", "2026-11-23T12:00", 0),
        ("18:00-23:00", "2026-11-23T12:00", "2026-11-23T19:00", 60),
        ("18:00-23:00", "2026-11-23T22:00", "2026-11-25T12:00", 360),
        ("18:00-23:00", "2026-11-24T12:00", "2026-11-23T12:00", 0),
        ("22:00-04:00", "2026-03-28T23:00", "2026-03-29T12:00", 240),  # summer time begins
    ],
)
def test_how_long_games_can_be_played(hours: str | None, begin: str, end: str, minutes: int) -> None:
    timetable = Timetable(None if hours is None else parse_hours(hours))
    assert timetable.playing(local(begin), local(end)) == timedelta(minutes=minutes)


@all_of(
    ("hours", "now", "is_open", "until"),
    [
        ("18:00-23:00", "2026-11-23T17:59", False, "2026-11-23T18:00"),
        ("18:00-23:00", "2026-11-23T18:00", True, "2026-11-23T23:00"),
        ("18:00-23:00", "2026-11-23T22:59", True, "2026-11-23T23:00"),
        ("18:00-23:00", "2026-11-23T23:00", False, "2026-11-24T18:00"),
        ("22:00-06:00", "2026-11-23T23:30", True, "2026-11-24T06:00"),
        ("22:00-06:00", "2026-11-24T05:59", True, "2026-11-24T06:00"),
        ("22:00-06:00", "2026-11-24T06:00", False, "2026-11-24T22:00"),
        ("08:00-09:00", "2026-03-28T12:00", False, "2026-03-29T08:00"),
        ("08:00-09:00", "2026-10-24T12:00", False, "2026-10-25T08:00"),
        ("02:30-04:00", "2026-03-29T01:00", False, "2026-03-29T03:30"),  # there is no 02:30 that day
    ],
)
def test_hours(hours: str, now: str, is_open: bool, until: str) -> None:
    assert parse_hours(hours).at(local(now)) == (is_open, local(until))


@all_of(
    ("hours", "begin", "minutes", "end"),
    [
        (None, "2026-11-23T17:00", 90, "2026-11-23T18:30"),
        ("18:00-23:00", "2026-11-23T17:00", 300, "2026-11-23T23:00"),
        ("18:00-23:00", "2026-11-23T17:00", 301, "2026-11-24T18:01"),
        ("18:00-23:00", "2026-11-23T22:00", 661, "2026-11-26T18:01"),
        ("22:00-06:00", "2026-10-24T23:00", 480, "2026-10-25T06:00"),  # of a night of nine hours
    ],
)
def test_when_a_contest_of_a_length_is_over(hours: str | None, begin: str, minutes: int, end: str) -> None:
    timetable = Timetable(None if hours is None else parse_hours(hours))
    assert timetable.after(local(begin), timedelta(minutes=minutes)) == local(end)


@settings(max_examples=40)
@given(st.integers(0, 3 * 24 * 60), st.integers(0, 1439), st.integers(0, 1439), st.integers(0, 26 * 60))
def test_the_end_is_that_of_counting_minutes(start: int, begin: int, end: int, length: int) -> None:
    if begin == end:
        return
    hours = parse_hours("-".join(f"{each // 60:02}:{each % 60:02}" for each in (begin, end)))
    now = datetime(2026, 3, 27, tzinfo=UTC) + timedelta(minutes=start)
    found = Timetable(hours).after(now, timedelta(minutes=length))
    left = length
    while left:
        left -= hours.at(now)[0]
        now += timedelta(minutes=1)
    assert found == now or (not length and found >= now)


@given(st.integers(0, 366 * 24 * 60), st.integers(0, 1439), st.integers(0, 1439))
def test_hours_change_at_the_moment_that_they_name(minute: int, begin: int, end: int) -> None:
    if begin == end:
        return
    texts = [f"{each // 60:02}:{each % 60:02}" for each in (begin, end)]
    hours = parse_hours("-".join(texts))
    now = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=minute)
    is_open, until = hours.at(now)
    assert now < until <= now + timedelta(hours=26)
    assert hours.at(until - timedelta(microseconds=1))[0] is is_open


@all_of("text", ["18-23", "18:00 - 23:00", "24:00-01:00", "8:00-9:00", "", "18:00-18:00"])
def test_what_is_no_hours(text: str) -> None:
    with pytest.raises(ValueError, match=r"^expected hours such as '18:00-23:00'"):
        parse_hours(text)


class Loop:
    """Calls later, as `forward` lets time pass; the clock of the machine may be set."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, now: str, timetable: Timetable) -> None:
        self.now = local(now)
        self.fed: list[Event] = []
        self._calls: list[tuple[datetime, Any]] = []
        self.cancelled = 0
        monkeypatch.setattr(asyncio, "get_running_loop", lambda: self)
        self.keeper = Timekeeper(timetable, self.fed.append, lambda: self.now)
        self.keeper.started()

    def call_later(self, seconds: float, call: Any) -> Loop:
        self._calls.append((self.now + timedelta(seconds=seconds), call))
        return self

    def cancel(self) -> None:
        self.cancelled += 1

    def forward(self, minutes: int) -> list[Event]:
        """What is fed meanwhile."""
        before, end = len(self.fed), self.now + timedelta(minutes=minutes)
        while self._calls and self._calls[0][0] <= end:
            self.now, call = self._calls.pop(0)
            call()
        self.now = end
        return self.fed[before:]


def test_a_contest_is_told_at_once_and_at_each_change(monkeypatch: pytest.MonkeyPatch) -> None:
    ends, frozen = local("2026-11-24T20:00"), local("2026-11-24T19:30")
    loop = Loop(monkeypatch, "2026-11-23T22:00", Timetable(parse_hours("18:00-23:00"), ends, frozen))
    assert loop.fed == [Hours(is_open=True, until=milliseconds(local("2026-11-23T23:00")))]
    assert loop.forward(59) == []
    assert loop.forward(1) == [Hours(is_open=False, until=milliseconds(local("2026-11-24T18:00")))]
    assert loop.forward(19 * 60) == [Hours(is_open=True, until=milliseconds(local("2026-11-24T23:00")))]
    assert loop.forward(90) == [Freeze(0)]
    assert loop.forward(30) == [TimeUp()]
    loop.keeper.finished(None)
    assert loop.cancelled == 1


def test_a_server_that_starts_later_is_told_what_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    ends = local("2026-11-24T20:00")
    loop = Loop(monkeypatch, "2026-11-24T20:05", Timetable(None, ends, ends - timedelta(minutes=5)))
    assert loop.fed == [Freeze(600_000_000_000), TimeUp()]
    loop.keeper.finished(None)
    assert loop.forward(600) == []


def test_a_contest_without_times_is_told_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Loop(monkeypatch, "2026-11-24T20:05", Timetable()).forward(600) == []
