"""Why no game of a contest is offered, and whom it waits for, as people read it: with the time of day.

Log, `arena admin status`, the pages and `arena tournament` all show what `holds_json` and `waiting_json`
return.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from arena_server.core.life import CLOSED, DRAWING, NOT_BEGUN, TIME_UP, WAITING, Hold, RunState
from arena_server.core.log_events import (
    BotAbsent,
    BotOnProbation,
    CommandDone,
    ConnectionLost,
    ContestBegun,
    LogEvent,
    LoggedIn,
    ProbationOver,
    RoundDrawn,
)
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
from arena_server.core.status import ContestStatus
from arena_server.host.log_events import ContestWaiting
from arena_server.host.observers import Attachment

NS_PER_S: Final = 1_000_000_000
#: The interval at which the list is read. It is logged if it has stood for one, with no game running.
LOOK_S: Final = 2.5
#: And it is read so soon after an event that changes it, with others that come in this time.
SOON_S: Final = 0.2
#: The log names them at most once in this time.
LOG_S: Final = 10
#: How many bots a line names.
NAMES: Final = 5

#: What is said of a hold that has no number or moment of its own.
HOLD_TEXTS: Final = {
    str(RunState.PAUSED): "paused by the organiser",
    CLOSED: "closed by its hours",
    str(RunState.DRAINING): "draining: the contest stops once no game runs",
    TIME_UP: "the time of the contest is over: it ends once no game runs",
    DRAWING: "a round is being drawn",
}


#: The events that change holds or list; what they do not tell is read at the next interval.
CHANGES: Final = (
    LoggedIn,
    ConnectionLost,
    BotAbsent,
    BotOnProbation,
    ProbationOver,
    ContestBegun,
    RoundDrawn,
    CommandDone,
)

REASONS: Final = (NEVER_CONNECTED, NO_VERSION, AWAY, FROZEN, VALIDATION, PROBATION, KICKED)

Waiting = tuple[Awaited, ...]


class HeldContest(NamedTuple):
    """What holds a contest at a moment."""

    holds: tuple[Hold, ...] = ()
    waiting: Waiting = ()


def waiting_json(waiting: Sequence[Awaited], now: int, wall: float) -> list[dict[str, Any]]:
    """Return the list as JSON types: `last_seen` is a moment in UTC or null, `text` the reason in words.

    `now` (ns, the clock of the contest) and `wall` (s since 1970) are the same moment.
    """
    return [_plain(awaited, now, wall) for awaited in waiting]


def barred_line(awaited: Awaited) -> str:
    """What the author of a bot that an order of the organiser keeps out is to know of its versions."""
    text = _text(awaited, None, time.gmtime())
    return f"no version of {awaited.name} plays: {text}; ask the organiser for this order"


#: What `held_now` returns of a contest that nothing holds.
NOT_HELD: Final[Mapping[str, list[dict[str, Any]]]] = {"waiting": [], "holds": []}


def held_now(holds: Sequence[Hold], waiting: Sequence[Awaited]) -> Mapping[str, list[dict[str, Any]]]:
    """`waiting_json` and `holds_json` at this moment, as `waiting` and `holds`."""
    plain = waiting_json(waiting, time.monotonic_ns(), time.time())
    return {"waiting": plain, "holds": holds_json(holds, plain)}


def holds_json(holds: Sequence[Hold], waiting: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the holds as JSON types; `until` is a moment in UTC or null, `text` the hold in words.

    `waiting` is what `waiting_json` has returned for the same moment.
    """
    return [_plain_hold(hold, waiting) for hold in holds]


def _plain_hold(hold: Hold, waiting: Sequence[dict[str, Any]]) -> dict[str, Any]:
    until = None if hold.until is None else time.gmtime(hold.until // 1000)
    return {
        "hold": hold.kind,
        "until": None if until is None else time.strftime("%Y-%m-%dT%H:%M:%SZ", until),
        "text": waiting_line(waiting) if hold.kind == WAITING else _hold_text(hold, until),
    }


def _hold_text(hold: Hold, until: time.struct_time | None) -> str:
    if hold.kind == NOT_BEGUN:
        return f"not begun: {hold.here} of {hold.quorum} bots are there"
    if hold.kind == CLOSED and until is not None:
        return f"closed until {time.strftime('%Y-%m-%d %H:%M', until)} UTC"
    return HOLD_TEXTS[hold.kind]


def holds_line(holds: Sequence[dict[str, Any]]) -> str:
    """All holds in one line, those for every game first; empty if there are none."""
    return "; ".join(each["text"] for each in holds)


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
        if awaited.returns:
            lift = f"until a validation game without a fault, or `arena admin lift {awaited.name}`"
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
    """Reads holds and list of a contest at intervals: for the log, and for spectators `delay` ns later.

    Probation, a lost connection and a draw tell of a game, which spectators see that late, too.
    """

    def __init__(self, status: ContestStatus, delay: int, log: Callable[[LogEvent], None]) -> None:
        self._status = status
        self._delay = delay
        self._log = log
        self._timer: asyncio.TimerHandle | None = None
        self._soon: asyncio.TimerHandle | None = None
        #: What was so from which moment on: what spectators may see, the last first, and newer.
        self._history: deque[tuple[int, HeldContest]] = deque()
        self._idle: Waiting = ()
        self._logged: Waiting = ()
        self._logged_at: int | None = None

    def started(self) -> None:
        self._look_again()

    def _look_again(self) -> None:
        self.look(time.monotonic_ns(), time.time())
        self._timer = asyncio.get_running_loop().call_later(LOOK_S, self._look_again)

    def happened(self, event: LogEvent) -> None:
        if isinstance(event, CHANGES) and self._timer is not None and self._soon is None:
            self._soon = asyncio.get_running_loop().call_later(SOON_S, self._note_soon)

    def _note_soon(self) -> None:
        self._soon = None
        self.note(time.monotonic_ns())

    def finished(self, problem: str | None) -> None:
        if problem is not None:  # else spectators still wait for the last of the list
            self._stop()

    async def detached(self) -> None:
        self._stop()

    def _stop(self) -> None:
        for timer in (self._timer, self._soon):
            if timer is not None:
                timer.cancel()
        self._timer = None

    def note(self, now: int) -> HeldContest:
        """Read the list for spectators."""
        shown = HeldContest(*self._status.held())
        if not self._history or self._history[-1][1] != shown:
            self._history.append((now, shown))
        while len(self._history) > 1 and self._history[1][0] <= now - self._delay:
            self._history.popleft()
        return shown

    def look(self, now: int, wall: float) -> None:
        """Read the list once, for the log, too."""
        shown = self.note(now)
        idle, self._idle = self._idle, shown.waiting if self._status.idle else ()
        due = self._logged_at is None or now >= self._logged_at + LOG_S * NS_PER_S
        if due and self._idle == idle and idle not in ((), self._logged):
            self._logged, self._logged_at = idle, now
            self._log(ContestWaiting(len(idle), waiting_line(waiting_json(idle, now, wall))))

    def shown(self, now: int) -> HeldContest:
        """What spectators may see."""
        return next(
            (shown for at, shown in reversed(self._history) if at <= now - self._delay), HeldContest()
        )
