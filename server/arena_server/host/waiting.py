"""Whom a contest waits for, as people read it: `Contest.waiting` with the time of day.

Log, `arena admin status`, the pages and `arena tournament` all show what `plain_waiting` returns.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Final

from arena_server.core.contest import Contest
from arena_server.core.log_events import LogEvent
from arena_server.core.overview import (
    AWAY,
    FROZEN,
    KICKED,
    NEVER_CONNECTED,
    NO_VERSION,
    PROBATION,
    VALIDATION,
    Awaited,
)
from arena_server.host.logs import ContestWaiting
from arena_server.host.observers import Attachment

NS_PER_S: Final = 1_000_000_000
#: The interval at which the list is read. It is logged if it has stood for one, with no game running.
LOOK_S: Final = 2.5
#: The log names them at most once in this time.
LOG_S: Final = 10
#: How many bots a line names.
NAMES: Final = 5

REASONS: Final = (NEVER_CONNECTED, NO_VERSION, AWAY, FROZEN, VALIDATION, PROBATION, KICKED)

Waiting = tuple[Awaited, ...]


def plain_waiting(waiting: Sequence[Awaited], now: int, wall: float) -> list[dict[str, Any]]:
    """Return the list as JSON types: `last_seen` is a moment in UTC or null, `text` the reason in words.

    `now` (ns, the clock of the contest) and `wall` (s since 1970) are the same moment.
    """
    return [_plain(awaited, now, wall) for awaited in waiting]


def waiting_now(waiting: Sequence[Awaited]) -> list[dict[str, Any]]:
    """`plain_waiting` at this moment."""
    return plain_waiting(waiting, time.monotonic_ns(), time.time())


def waiting_line(bots: Sequence[dict[str, Any]]) -> str:
    """`waiting for NAME (text), ...`, with the first five names; empty if there are none."""
    if not bots:
        return ""
    named = ", ".join(f"{each['bot']} ({each['text']})" for each in bots[:NAMES])
    more = f" and {len(bots) - NAMES} more" if len(bots) > NAMES else ""
    return f"waiting for {named}{more}"


def _plain(awaited: Awaited, now: int, wall: float) -> dict[str, Any]:
    seen = None
    if awaited.last_seen is not None:
        seen = time.gmtime(wall - (now - awaited.last_seen) / NS_PER_S)
    return {
        "bot": awaited.name,
        "reason": awaited.reason,
        "last_seen": None if seen is None else time.strftime("%Y-%m-%dT%H:%M:%SZ", seen),
        "text": _text(awaited, seen, time.gmtime(wall)),
    }


def _text(awaited: Awaited, seen: time.struct_time | None, today: time.struct_time) -> str:
    lift = f"until `arena admin lift {awaited.name}`"
    if awaited.reason == KICKED:
        return f"kicked by the organiser, {lift}"
    if awaited.reason == PROBATION:
        # It is the greater of the two that has reached the limit.
        if awaited.faulty_games >= awaited.faulty_trials:
            games = f"{awaited.faulty_games} faulty game" + ("" if awaited.faulty_games == 1 else "s")
        else:
            plural = "" if awaited.faulty_trials == 1 else "s"
            games = f"{awaited.faulty_trials} faulty validation game{plural}"
        return f"on probation: paired no more after {games}, {lift}"
    if awaited.reason == VALIDATION:
        again = f"it plays another when it connects again, or by `arena admin validate {awaited.name}`"
        return f"not validated: its validation game had a fault; {again}"
    if awaited.reason == FROZEN:
        return "its container is frozen, and the Docker engine does not thaw it"
    if awaited.reason == NO_VERSION:
        return "no version yet"
    if awaited.reason == NEVER_CONNECTED:
        return "never connected"
    if seen is None:
        return "not connected since the server started"
    day = "" if seen[:3] == today[:3] else "%Y-%m-%d "
    return f"last seen {time.strftime(f'{day}%H:%M', seen)} UTC"


class WaitingList(Attachment):
    """Reads the list of a contest at intervals: for the log, and for spectators `delay` ns later.

    Probation and a lost connection tell of a running game, which spectators see that late, too.
    """

    def __init__(self, contest: Contest, delay: int, log: Callable[[LogEvent], None]) -> None:
        self._contest = contest
        self._delay = delay
        self._log = log
        self._timer: asyncio.TimerHandle | None = None
        #: What the list was from which moment on: those that spectators may see, the last first, and newer.
        self._history: deque[tuple[int, Waiting]] = deque()
        self._idle: Waiting = ()
        self._logged: Waiting = ()
        self._logged_at: int | None = None

    def started(self) -> None:
        self._look_again()

    def _look_again(self) -> None:
        self.look(time.monotonic_ns(), time.time())
        self._timer = asyncio.get_running_loop().call_later(LOOK_S, self._look_again)

    def finished(self, problem: str | None) -> None:
        if problem is not None:  # else spectators still wait for the last of the list
            self._stop()

    async def detached(self) -> None:
        self._stop()

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def look(self, now: int, wall: float) -> None:
        """Read the list once."""
        waiting = self._contest.waiting()
        if not self._history or self._history[-1][1] != waiting:
            self._history.append((now, waiting))
        while len(self._history) > 1 and self._history[1][0] <= now - self._delay:
            self._history.popleft()
        idle, self._idle = self._idle, waiting if self._contest.idle else ()
        due = self._logged_at is None or now >= self._logged_at + LOG_S * NS_PER_S
        if due and self._idle == idle and idle not in ((), self._logged):
            self._logged, self._logged_at = idle, now
            self._log(ContestWaiting(len(idle), waiting_line(plain_waiting(idle, now, wall))))

    def shown(self, now: int) -> Waiting:
        """What spectators may see."""
        return next((waiting for at, waiting in reversed(self._history) if at <= now - self._delay), ())
