"""The life of a contest: its phases, what holds it meanwhile, and how it ends.

    planned --quorum, start--> playing --nothing left, abort--> over --archive--> archived
       |                          '--drained, its server ends--> suspended --abort--> over
       '--abort, ...                                                 '--another server--> playing

ENDINGS has the words of `Progress.ended` and of a contest's row, and what follows from each. Standard library
alone: what is loaded before a server listens reads these tables, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, NamedTuple

#: A server plays it, or was killed while it did.
RUNNING: Final = "running"
#: Every game has a result.
FINISHED: Final = "finished"
#: Games are left that bots which are missing, or the end of the time, have left unplayed.
INCOMPLETE: Final = "incomplete"
#: A round that was planned could not be drawn.
SHORT: Final = "short"
#: The server ended, or the organiser drained the contest: it can go on.
STOPPED: Final = "stopped"
#: The organiser has ended it for good.
ABORTED: Final = "aborted"


class Ending(NamedTuple):
    """What an ending means.

    `is_final`: no server goes on with the contest, and all of it may be shown. `is_whole`: each fact follows
    from the results, as no game was broken off that a later fact needs. `fails`: a command that waits for
    the end has status 1. `reason` says it to people, where the word alone does not.
    """

    is_final: bool = False
    is_whole: bool = False
    fails: bool = False
    reason: str = ""


ENDINGS: Final[Mapping[str, Ending]] = {
    FINISHED: Ending(is_final=True, is_whole=True),
    INCOMPLETE: Ending(fails=True),
    SHORT: Ending(
        is_final=True,
        is_whole=True,
        fails=True,
        reason="no further round can be drawn of the bots that are left and may meet",
    ),
    STOPPED: Ending(),  # as it was asked to
    ABORTED: Ending(is_final=True, fails=True),
}
#: The endings after which no server goes on.
FINAL: Final = tuple(word for word, ending in ENDINGS.items() if ending.is_final)
#: Those after which every fact follows from the results.
WHOLE: Final = tuple(word for word, ending in ENDINGS.items() if ending.is_whole)
#: The endings of a contest that no order lets go on; a stopped one is suspended.
OVER: Final = tuple(word for word in ENDINGS if word != STOPPED)


def reason_of(ending: str | None) -> str:
    """Why a contest ended so, for people; empty where the word says it, or it has not ended."""
    return "" if ending is None or ending not in ENDINGS else ENDINGS[ending].reason


class ContestPhase(StrEnum):
    """Where a contest is on its way; `orders.py` says which orders exist in each."""

    #: No game has begun, and none does before its quorum is there.
    PLANNED = "planned"
    PLAYING = "playing"
    #: Its server ends, or it was drained: another server goes on with it.
    SUSPENDED = "suspended"
    OVER = "over"
    #: The organiser has done with it: it is shown, and no client is led to it by its key alone.
    ARCHIVED = "archived"


BEGIN: Final = "begin"
SUSPEND: Final = "suspend"
END: Final = "end"
ARCHIVE: Final = "archive"
#: What leads from one phase to another; what is not here cannot happen. A server that goes on with a contest
#: that was suspended, or is incomplete, has a life of its own, which has begun if games of it were played.
MOVES: Final[Mapping[tuple[ContestPhase, str], ContestPhase]] = {
    (ContestPhase.PLANNED, BEGIN): ContestPhase.PLAYING,
    (ContestPhase.PLANNED, SUSPEND): ContestPhase.SUSPENDED,
    (ContestPhase.PLANNED, END): ContestPhase.OVER,
    (ContestPhase.PLAYING, SUSPEND): ContestPhase.SUSPENDED,
    (ContestPhase.PLAYING, END): ContestPhase.OVER,
    (ContestPhase.SUSPENDED, END): ContestPhase.OVER,  # aborted
    (ContestPhase.OVER, ARCHIVE): ContestPhase.ARCHIVED,
}
#: The phases after the end.
_ENDED: Final = frozenset((ContestPhase.OVER, ContestPhase.ARCHIVED))


class RunState(StrEnum):
    """What the organiser has ordered last about the whole contest."""

    OPEN = "open"
    PAUSED = "paused"
    DRAINING = "draining"
    ABORTED = "aborted"


#: The state of a contest outside its hours, and of one that has not begun.
CLOSED: Final = "closed"
PLANNED: Final = "planned"

NOT_BEGUN: Final = "not-begun"
TIME_UP: Final = "time-up"
DRAWING: Final = "drawing"
WAITING: Final = "waiting"
#: Why no game is offered, or, with the last one, not all that are left.
HOLDS: Final = (
    NOT_BEGUN,
    str(RunState.PAUSED),
    CLOSED,
    str(RunState.DRAINING),
    TIME_UP,
    DRAWING,
    WAITING,
)


class Hold(NamedTuple):
    """One of HOLDS. `until` (ms since 1970, UTC) is when hours begin; `here` bots of `quorum` are there."""

    kind: str
    until: int | None = None
    here: int = 0
    quorum: int = 0


@dataclass(slots=True, eq=False)
class Life:
    """The phase of a contest, and what holds it; nothing else writes them.

    It begins once `quorum` bots are there; with `quorum` 0 it has begun. `is_planned`: its state says that it
    has not, because games could start before. `ended` is one of ENDINGS, once no game runs any more; one
    that the organiser has aborted is over before. `stopping`: its server ends; `suspending`: another one
    goes on with running games. `started`: the organiser has begun it, so that it awaits no moment.
    """

    quorum: int = 0
    is_planned: bool = False
    ended: str | None = None
    phase: ContestPhase = field(init=False)
    run_state: RunState = field(init=False, default=RunState.OPEN)
    is_open: bool = field(init=False, default=True)
    until: int | None = field(init=False, default=None)
    time_up: bool = field(init=False, default=False)
    stopping: bool = field(init=False, default=False)
    suspending: bool = field(init=False, default=False)
    started: bool = field(init=False, default=False)
    _hours: tuple[bool, int | None, int | None] = field(init=False, default=(True, None, None))

    def __post_init__(self) -> None:
        self.phase = ContestPhase.PLAYING if self.quorum == 0 else ContestPhase.PLANNED
        if self.ended is not None:
            self._move(END)

    def _move(self, what: str) -> None:
        self.phase = MOVES[self.phase, what]

    def begin(self) -> None:
        """The quorum is there, or was there before this server."""
        self._move(BEGIN)

    def order(self, state: RunState) -> None:
        """The organiser has ordered it, now or before this server."""
        self.run_state = state
        if state is RunState.ABORTED and self.phase not in _ENDED:
            self._move(END)

    def start(self) -> None:
        """The organiser has begun it, now or before this server: no moment of the beginning is awaited."""
        self.started = True
        self._look_at_hours()

    def set_hours(self, *, is_open: bool, until: int | None, starts_at: int | None = None) -> None:
        """Games may start by the timetable, or may not, `until` a moment; none does before `starts_at`."""
        self._hours = is_open, until, starts_at
        self._look_at_hours()

    def _look_at_hours(self) -> None:
        self.is_open, self.until, starts_at = self._hours
        if starts_at is not None and not self.started:
            self.is_open, self.until = False, starts_at

    def end_time(self) -> None:
        """The time of the contest is over."""
        self.time_up = True

    def stop(self) -> None:
        """Its server ends."""
        self.stopping = True

    def suspend(self) -> None:
        """Its server ends, and another one goes on with its running games."""
        self.stopping = self.suspending = True

    def end(self, ending: str) -> None:
        """No game runs any more, and none will: `ending` is one of ENDINGS."""
        self.ended = ending
        if self.phase not in _ENDED:
            self._move(SUSPEND if ending == STOPPED else END)

    def archive(self) -> None:
        """The organiser has archived it, now or before this server."""
        self._move(ARCHIVE)

    @property
    def is_aborted(self) -> bool:
        """Whether the organiser has ended the contest for good; games of it may still be stored."""
        return self.run_state is RunState.ABORTED

    @property
    def is_archived(self) -> bool:
        """Whether it is shown alone: a client gets there by its name, not by a key."""
        return self.phase is ContestPhase.ARCHIVED

    @property
    def may_start(self) -> bool:
        """Whether games may start."""
        return self.phase is ContestPhase.PLAYING and not self.holds()

    @property
    def goes_on(self) -> bool:
        """Whether games of it may be drawn and started, now or later."""
        return self.phase in (ContestPhase.PLANNED, ContestPhase.PLAYING)

    def holds(self, here: int = 0) -> tuple[Hold, ...]:
        """What keeps every game from starting, with `here` bots."""
        if not self.goes_on:
            return ()
        found = []
        if self.phase is ContestPhase.PLANNED:
            found.append(Hold(NOT_BEGUN, here=here, quorum=self.quorum))
        if self.run_state is not RunState.OPEN:
            found.append(Hold(str(self.run_state)))
        if not self.is_open:
            found.append(Hold(CLOSED, self.until))
        if self.time_up:
            found.append(Hold(TIME_UP))
        return tuple(found)

    @property
    def shown_state(self) -> str:
        """The state of the contest, in one word."""
        if self.ended is not None:
            return self.ended
        if self.run_state is not RunState.OPEN:
            return str(self.run_state)
        if not self.is_open:
            return CLOSED
        return PLANNED if self.is_planned and self.phase is ContestPhase.PLANNED else str(self.run_state)
