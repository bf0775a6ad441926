"""When games of a contest may start, by the clock on the wall: its hours, its end, its freeze.

Times of day are those of this machine's zone (the variable TZ changes it).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from typing import Final

_HOURS: Final = re.compile(r"([01]\d|2[0-3]):([0-5]\d)-([01]\d|2[0-3]):([0-5]\d)", re.ASCII)
EXPECTED_HOURS: Final = "hours such as '18:00-23:00'"


@dataclass(frozen=True, slots=True)
class DailyHours:
    """From `begin` to `end` of each day; an `end` that is not later is that of the next day."""

    begin: time
    end: time

    def at(self, now: datetime) -> tuple[bool, datetime]:
        """Whether `now` (aware) is within them, and when that changes; both in the local zone."""
        local = now.astimezone()
        today = local.date()
        # Each moment is made of the local date and time, so that a change to summer time moves it.
        changes = sorted(
            (_moment(datetime.combine(today + timedelta(days=day), of_day)), is_open)
            for day in range(-1, 3)
            for of_day, is_open in ((self.begin, True), (self.end, False))
        )
        is_open = next(is_open for moment, is_open in reversed(changes) if moment <= local)
        return is_open, next(moment for moment, _ in changes if moment > local)


def _moment(local: datetime) -> datetime:
    """The moment of a local time without a zone; one that the change to summer time leaves out is later."""
    # Not `local.astimezone()`: until Python 3.13 it makes 01:30 of a 02:30 that is left out.
    return datetime.fromtimestamp(local.timestamp(), UTC).astimezone()


def parse_hours(text: str) -> DailyHours:
    """Raises ValueError with one line."""
    found = _HOURS.fullmatch(text)
    if found is None:
        raise ValueError(f"expected {EXPECTED_HOURS}")
    begin, end = time(int(found[1]), int(found[2])), time(int(found[3]), int(found[4]))
    if begin == end:
        raise ValueError(f"expected {EXPECTED_HOURS}; for the whole day leave the key out")
    return DailyHours(begin, end)


@dataclass(frozen=True, slots=True)
class Moment:
    """What holds now, and when that changes (None: it does not); the hours change at `until`, in ms.

    `starts_at` (ms) is still to come.
    """

    is_open: bool
    until: int | None
    starts_at: int | None
    time_up: bool
    frozen: bool
    next_change: datetime | None


@dataclass(frozen=True, slots=True)
class Timetable:
    """The hours in which games start, beginning and end, and since when spectators see nothing new."""

    hours: DailyHours | None = None
    ends_at: datetime | None = None
    freeze_at: datetime | None = None
    starts_at: datetime | None = None

    def at(self, now: datetime) -> Moment:
        """What holds at `now`, which is aware."""
        is_open, until = (True, None) if self.hours is None else self.hours.at(now)
        starts_at = None if self.starts_at is None or now >= self.starts_at else self.starts_at
        moments = (until, starts_at, self.ends_at, self.freeze_at)
        changes = [each for each in moments if each is not None and each > now]
        return Moment(
            is_open,
            None if until is None else milliseconds(until),
            None if starts_at is None else milliseconds(starts_at),
            self.ends_at is not None and now >= self.ends_at,
            self.freeze_at is not None and now >= self.freeze_at,
            min(changes, default=None),
        )

    def after(self, begin: datetime, played: timedelta) -> datetime:
        """When games could be played for so long since `begin`, which is aware."""
        if self.hours is None:
            return begin + played
        now = begin
        while True:
            is_open, until = self.hours.at(now)
            if is_open and now + played <= until:
                return now + played
            if is_open:
                played -= until - now
            now = until

    def playing(self, begin: datetime, end: datetime) -> timedelta:
        """For how long games can be played from `begin` to `end`, which are aware."""
        if self.hours is None:
            return max(end - begin, timedelta())
        now, found = begin, timedelta()
        while now < end:
            is_open, until = self.hours.at(now)
            found += min(until, end) - now if is_open else timedelta()
            now = until
        return found


def milliseconds(moment: datetime) -> int:
    """Since 1970, UTC."""
    return round(moment.timestamp() * 1000)
