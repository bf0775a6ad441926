"""How much later than planned moves are: waking up, a late timer, the wire. Measured move by move.

Mean and deviation are smoothed as RFC 6298 smooths the round trips of TCP. A bank pays the mean of many
moves; a limit of one move must hold for nearly every move.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

from arena_engines.engine import AnyPosition

MEAN_GAIN, DEVIATION_GAIN = 1 / 8, 1 / 4
#: Deviations above the mean of `cautious`, as in RFC 6298.
DEVIATIONS = 4.0
#: One move counts at most this many times the expectation: a machine that slept once says little about later
#: moves, while a lasting change is followed within some moves.
MOST = 4.0


class Lateness:
    """The lateness of one engine's moves, in milliseconds; `begin` and `end` are around every choice.

    typical: to be expected of each of many moves, at least `least`; cautious: exceeded by few moves.
    """

    def __init__(self, least: float, now: Callable[[], float] = perf_counter) -> None:
        """`now` returns seconds."""
        self._least = least
        self._now = now
        self._mean, self._deviation = least, 0.0
        self._last: AnyPosition | None = None
        self._began = self._planned = self._spent = 0.0

    @property
    def typical(self) -> float:
        return max(self._least, self._mean)

    @property
    def cautious(self) -> float:
        return self.typical + DEVIATIONS * self._deviation

    def begin(self, position: AnyPosition) -> None:
        """A move is to be chosen here; the clock of the position tells what the last one was charged."""
        self._began = self._now()
        last, self._last = self._last, position
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
