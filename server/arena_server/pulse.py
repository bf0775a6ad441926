"""Whether the loop runs: it is to show that it does, and how late it comes tells how long it stood still.

It must not know: what stood still meanwhile, or what a stall costs.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

#: How often the loop is to show that it runs, and how late it may be before that is a stall.
BEAT_S = 0.1
STALL_NS = 200_000_000


class Pulse:
    """The beats of one loop; `beaten` is called at each of them, once `start` was called."""

    def __init__(self, loop: asyncio.AbstractEventLoop, beaten: Callable[[], None]) -> None:
        self._loop = loop
        self._beaten = beaten
        self._last = 0
        self._next: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Watch from now on."""
        self._last = time.monotonic_ns()
        self._next = self._loop.call_later(BEAT_S, self._beat)

    def stop(self) -> None:
        """Watch no more."""
        if self._next is not None:
            self._next.cancel()
            self._next = None

    def _beat(self) -> None:
        self._beaten()
        self.start()

    def stall(self) -> tuple[int, int] | None:
        """From when to when (monotonic ns) the loop has just stood still; None if it has not. Told once."""
        now = time.monotonic_ns()
        if self._next is None or now - self._last <= STALL_NS:
            return None
        began, self._last = self._last, now
        return began, now
