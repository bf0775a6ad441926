"""Virtual time: what is to happen, and when. It must not know: what happens."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from random import Random

#: One millisecond in nanoseconds, the unit of every moment here.
MS = 1_000_000
SECOND = 1000 * MS


def dice(seed: int) -> Random:
    """A source of chance that a seed fixes."""
    return Random(seed)  # noqa: S311 - chance that can be repeated is the point; no secret comes of it


def one_in(rng: Random, number: int) -> bool:
    """Whether chance has it, once in `number` times; 0 is never."""
    return number > 0 and rng.randrange(number) == 0


class Agenda:
    """Actions in the order of their moments, and for one moment in the order they were entered."""

    def __init__(self) -> None:
        self.now = 0
        self._queue: list[tuple[int, int, Callable[[], object]]] = []
        self._entered = 0

    @property
    def next(self) -> int | None:
        """The moment of the next action; None: there is none."""
        return self._queue[0][0] if self._queue else None

    def after(self, delay: int, action: Callable[[], object]) -> None:
        """Do `action` in `delay` nanoseconds."""
        self._entered += 1
        heappush(self._queue, (self.now + delay, self._entered, action))

    def step(self) -> None:
        """Let time pass to the next action, and do it."""
        self.now, _, action = heappop(self._queue)
        action()

    def wait_until(self, moment: int) -> None:
        """Let time pass to `moment`, if it is not past."""
        self.now = max(self.now, moment)
