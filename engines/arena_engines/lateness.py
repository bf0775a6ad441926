"""How much later than planned moves are: waking up, a late timer, the wire. Measured move by move.

Mean and deviation are smoothed as RFC 6298 smooths the round trips of TCP. A bank pays the mean of many
moves; a limit of one move must hold for nearly every move.

A thread that shares its core runs for some milliseconds, and then waits while the others run. If the end of
its time falls into such a wait, it is late by the rest of it. Mean and deviation miss that: most moves end
before their time and are not late. So a limit keeps the longest of these waits free, as the system counts
them in every move, and what a move waited before its beginning: the request was there already.
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable
from threading import get_ident
from time import perf_counter
from typing import NamedTuple

from arena_engines.engine import AnyPosition

MEAN_GAIN, DEVIATION_GAIN = 1 / 8, 1 / 4
#: Deviations above the mean of `cautious`, as in RFC 6298.
DEVIATIONS = 4.0
#: One move counts at most this many times the expectation: a machine that slept once says little about later
#: moves, while a lasting change is followed within some moves.
MOST = 4.0
#: The waits of this many moves are kept.
MOVES_KEPT = 8
#: A thread that ran for this long without a wait has its core for itself; less says nothing. (Linux: 4 ms
#: between the ticks at which threads of one priority take turns.)
LEAST_RUN = 4.0


class Schedule(NamedTuple):
    """Milliseconds that a thread ran, and that it waited for a core, and how often it got one."""

    ran: float = 0.0
    waited: float = 0.0
    turns: int = 0

    def since(self, before: Schedule) -> Schedule:
        return Schedule(self.ran - before.ran, self.waited - before.waited, self.turns - before.turns)


def own_schedule() -> Schedule:
    """Return the schedule of the calling thread; zeros where the system does not count it."""
    with contextlib.suppress(OSError, ValueError), open("/proc/thread-self/schedstat", "rb") as file:
        ran, waited, turns = map(int, file.read().split())
        return Schedule(ran / 1e6, waited / 1e6, turns)
    return Schedule()


class Lateness:
    """The lateness of one engine's moves, in milliseconds; `begin` and `end` are around every choice.

    typical: to be expected of each of many moves, at least `least`; cautious: exceeded by few moves, with
    what the move in hand has waited before `begin`.
    """

    def __init__(
        self,
        least: float,
        now: Callable[[], float] = perf_counter,
        schedule: Callable[[], Schedule] = own_schedule,
    ) -> None:
        """`now` returns seconds, `schedule` that of the calling thread."""
        self._least = least
        self._now = now
        self._schedule = schedule
        self._mean, self._deviation = least, 0.0
        self._last: AnyPosition | None = None
        self._began = self._planned = self._spent = 0.0
        self._thread = 0
        self._then = Schedule()
        #: What the last moves waited for a core at a time; what the move in hand waited before `begin`.
        self._waits: deque[float] = deque(maxlen=MOVES_KEPT)
        self._before = 0.0

    @property
    def typical(self) -> float:
        return max(self._least, self._mean)

    @property
    def cautious(self) -> float:
        measured = self.typical + DEVIATIONS * self._deviation
        return self._before + max(measured, self._least + max(self._waits, default=0.0))

    def begin(self, position: AnyPosition) -> None:
        """A move is to be chosen here; the clock of the position tells what the last one was charged."""
        self._began = self._now()
        last, self._last = self._last, position
        schedule = self._schedule()
        self._before = schedule.since(self._then).waited if self._thread == get_ident() else 0.0
        self._thread, self._then = get_ident(), schedule
        if last is None:
            return
        late = self._spent - self._planned
        if (
            len(position.moves) > len(last.moves)
            and position.moves[: len(last.moves)] == last.moves
            and position.start == last.start
            and position.clock is not None
            and last.clock is not None
        ):
            charged = last.clock + position.increment - position.clock
            # A search that ended before its time was not late: what came behind it was.
            late = max(0.0, late) + max(0.0, charged - self._spent)
        late = min(max(0.0, late), MOST * self.cautious)
        self._deviation += DEVIATION_GAIN * (abs(late - self._mean) - self._deviation)
        self._mean += MEAN_GAIN * (late - self._mean)

    def end(self, planned: float) -> None:
        """The move that was to take `planned` milliseconds at most has been chosen."""
        self._spent = (self._now() - self._began) * 1000
        self._planned = planned
        schedule = self._schedule()
        had, self._then = schedule.since(self._then), schedule
        late = self._spent - planned
        # A timer is a thread, too: where it waits before the search does, the move is late by both waits.
        if late >= 0 or had.turns or had.ran >= LEAST_RUN:
            self._waits.append(min(max(late, had.waited / max(1, had.turns)), MOST * self.cautious))
