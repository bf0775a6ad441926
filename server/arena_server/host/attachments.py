"""What every run of a contest has attached: its draws, what its bots used, and its pace."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final

from arena_protocol.record import VOID, GameRecord
from arena_server.core.contest import Contest
from arena_server.core.effects import StartDraw, Store
from arena_server.core.events import DrawDone, Event
from arena_server.core.formats.base import Draw
from arena_server.core.log_events import LogEvent
from arena_server.core.overview import Progress
from arena_server.host.draw_runner import run_draw
from arena_server.host.log_events import ContestPace
from arena_server.host.observers import Attachment, BotPlaces, Errand
from arena_server.stats.pace import GamePace
from arena_server.terms.timetable import Timetable

#: The log says at most once in this time how far a contest is.
LOG_PACE_S: Final = 600


class DrawRunner(Attachment):
    """Runs the draws of a contest while the games of other contests go on.

    `feed` takes what was drawn, `crashed` what a draw raised.
    """

    def __init__(self, feed: Callable[[Event], None], crashed: Callable[[Exception], None]) -> None:
        self._feed = feed
        self._crashed = crashed
        self._over = False
        self._drawing: asyncio.Task[None] | None = None

    def carry_out(self, errand: Errand) -> bool:
        if not isinstance(errand, StartDraw):
            return False
        self._drawing = asyncio.get_running_loop().create_task(self._draw(errand.draw))
        return True

    async def _draw(self, draw: Draw) -> None:
        try:
            drawn = await run_draw(draw)
        except Exception as error:  # whatever it is, no round can be drawn: the contest cannot go on
            self._crashed(error)
        else:
            if not self._over:
                self._feed(DrawDone(drawn))

    def finished(self, problem: str | None) -> None:
        self._over = True

    async def detached(self) -> None:
        if self._drawing is not None:
            self._drawing.cancel()


class UsageMeter(Attachment):
    """Adds to a record what its bots used, where that is measured; `store` takes the record then."""

    def __init__(self, store: Callable[[Store], None]) -> None:
        self._store = store
        self._measuring: set[asyncio.Task[None]] = set()

    def measure(self, store: Store, places: Sequence[BotPlaces]) -> None:
        """Ask these places."""
        task = asyncio.get_running_loop().create_task(self._measure(store, places))
        self._measuring.add(task)
        task.add_done_callback(self._measuring.discard)

    async def _measure(self, store: Store, places: Sequence[BotPlaces]) -> None:
        usage = [each for place in places for each in await place.used_in(store.game_id)]
        record = replace(store.record, usage=tuple(sorted(usage)))
        self._store(replace(store, record=record))

    async def detached(self) -> None:
        for task in self._measuring:
            task.cancel()


class PaceLog(Attachment):
    """Knows how fast the games of a contest end, and logs it now and then."""

    def __init__(self, contest: Contest, timetable: Timetable, log: Callable[[LogEvent], None]) -> None:
        self._contest = contest
        self._timetable = timetable
        self._log = log
        self._pace = GamePace()
        self._results = 0
        self._logged = 0.0

    def started(self) -> None:
        self._logged = time.monotonic()
        self._results = self._contest.status.progress().done
        self._pace.see(self._logged, self._results)

    def recorded(self, record: GameRecord) -> None:
        if record.end == VOID:
            return
        now = time.monotonic()
        self._results += 1
        self._pace.see(now, self._results)
        if now >= self._logged + LOG_PACE_S:
            known = self._contest.status.progress()
            progress = replace(known, done=known.done + 1)  # its Stored is still to come
            if (pace := self.pace(progress)) is not None:
                self._logged = now
                per_hour = round(pace["games_per_hour"])
                self._log(ContestPace(progress.done, progress.total, per_hour, pace["left_s"]))

    def pace(self, progress: Progress) -> dict[str, Any] | None:
        """How fast its games end now, and when the last one will (`stats/pace.py`)."""
        ends = self._timetable.ends_at
        ends_s = None if ends is None else (ends - datetime.now(UTC)).total_seconds()
        return self._pace.plain(time.monotonic(), progress.left, ends_s)
