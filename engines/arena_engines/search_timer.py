"""A call after some time: how a compiled search learns that it must stop."""

from __future__ import annotations

from _thread import allocate_lock, start_new_thread
from collections.abc import Callable
from time import perf_counter
from typing import Self


class SearchTimer:
    """Call a function in a thread of its own after `seconds`, unless the block has ended by then.

    A threading.Timer waits until its thread runs, which took 12 to 16 ms in one of 100 moves beside busy
    programs. Here the time counts from the beginning of the block, whenever the thread gets a core, and
    nothing is called after its end.
    """

    def __init__(self, seconds: float, function: Callable[[], None]) -> None:
        self._seconds = seconds
        self._function = function
        self._ended = False
        self._running = allocate_lock()
        #: Held while the function is called, and while the block ends.
        self._calling = allocate_lock()

    def __enter__(self) -> Self:
        self._running.acquire()
        start_new_thread(self._wait, (perf_counter() + self._seconds,))
        return self

    def __exit__(self, *_: object) -> None:
        with self._calling:
            self._ended = True
        self._running.release()

    def _wait(self, end: float) -> None:
        self._running.acquire(timeout=max(0.0, end - perf_counter()))
        with self._calling:
            if not self._ended:
                self._function()
