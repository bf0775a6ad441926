"""An event loop in virtual time: it waits for no timer."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class _Leaps(selectors.DefaultSelector):
    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:  # nothing will happen by itself: a thread may be at work
            return super().select(None)
        if not (found := super().select(0)):
            self.now += timeout
        return found


class LeapingLoop(asyncio.SelectorEventLoop):
    """Its clock leaps to the next timer when there is nothing else to do."""

    def __init__(self) -> None:
        self._leaps = _Leaps()
        super().__init__(self._leaps)

    def time(self) -> float:
        return self._leaps.now


def leap(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine in virtual time."""
    with asyncio.Runner(loop_factory=LeapingLoop) as runner:
        return runner.run(work)
