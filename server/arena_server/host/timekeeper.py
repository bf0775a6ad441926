"""Feeds a contest what its timetable says, at once and at each change of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

from arena_server.core.clock import NS_PER_MS
from arena_server.core.events import Event, Freeze, Hours, TimeUp
from arena_server.host.observers import Attachment
from arena_server.terms.timetable import Moment, Timetable, milliseconds

#: The clock of the machine may be set while the contest waits: look at it at least once in this time.
LOOK_S: Final = 60.0


class Timekeeper(Attachment):
    """Feeds Hours, TimeUp and Freeze to a contest at each change of its timetable, until it is over."""

    def __init__(
        self,
        timetable: Timetable,
        feed: Callable[[Event], None],
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._timetable = timetable
        self._feed = feed
        self._clock = clock
        self._told: Moment | None = None
        self._timer: asyncio.TimerHandle | None = None

    def started(self) -> None:
        self._look()

    def _look(self) -> None:
        """Feed what has changed since the last call, at first all that holds; come back at the next change.

        The contest has not had its first Tick then, which may come late: outside its hours it misses no bot.
        """
        for event in self._changes():
            self._feed(event)

    def _changes(self) -> list[Event]:
        now = self._clock()
        moment, told = self._timetable.at(now), self._told
        self._told = moment
        events: list[Event] = []
        # Before the hours, which may let games start.
        if moment.frozen and (told is None or not told.frozen) and self._timetable.freeze_at is not None:
            frozen_for = milliseconds(now) - milliseconds(self._timetable.freeze_at)
            events.append(Freeze(frozen_for * NS_PER_MS))
        if moment.time_up and (told is None or not told.time_up):
            events.append(TimeUp())
        hours = Hours(moment.is_open, moment.until, moment.starts_at)
        before = None if told is None else Hours(told.is_open, told.until, told.starts_at)
        table = self._timetable
        if (table.hours is not None or table.starts_at is not None) and before != hours:
            events.append(hours)
        if moment.next_change is not None:
            left = (moment.next_change - now).total_seconds()
            self._timer = asyncio.get_running_loop().call_later(min(left, LOOK_S), self._look)
        return events

    def finished(self, problem: str | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
