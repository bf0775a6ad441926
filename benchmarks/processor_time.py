"""Let the milliseconds of master be processor time, so that other programs do not shorten its searches.

For games under a clock the referee's must count the same: `play_deal(..., now=time.thread_time_ns)`.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Self

from arena_engines.insertion.master import engine, planner
from arena_engines.lateness import Lateness

#: Seconds between two looks at the processor time.
POLL = 0.0001


class CpuTimer(threading.Thread):
    """A SearchTimer that waits for the processor time of the thread that makes it."""

    def __init__(self, seconds: float, function: Callable[[], None]) -> None:
        super().__init__(daemon=True)
        self._clock = time.pthread_getcpuclockid(threading.get_ident())
        self._end = time.clock_gettime(self._clock) + seconds
        self._function = function
        self._cancelled = threading.Event()
        self._calling = threading.Lock()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        with self._calling:
            self._cancelled.set()

    def run(self) -> None:
        """Call the function when the time is over."""
        while not self._cancelled.wait(max(POLL, self._end - time.clock_gettime(self._clock))):
            with self._calling:
                if time.clock_gettime(self._clock) >= self._end and not self._cancelled.is_set():
                    self._function()
                    return


@contextmanager
def processor_time() -> Iterator[None]:
    """Within the block a master that is created there counts the processor time of its thread."""
    kept = engine.perf_counter, planner.perf_counter, planner.SearchTimer, engine.Lateness
    engine.perf_counter = planner.perf_counter = time.thread_time
    planner.SearchTimer = CpuTimer
    engine.Lateness = partial(Lateness, now=time.thread_time)
    try:
        yield
    finally:
        engine.perf_counter, planner.perf_counter, planner.SearchTimer, engine.Lateness = kept
