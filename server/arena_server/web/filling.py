"""Documents that take long to make are filled on a thread of their own; a page gets what is known by then."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Final

from arena_server.web.shown_results import ShownResults

#: A server that plays has the rest of a processor: a record is read in 1 to 3 ms, a million games are fitted
#: in 9 s.
PAUSE: Final = 2.0
#: How long an answer waits for what is being filled: a page that is drawn waits for it, and asks again.
WAIT_S: Final = 0.2


class Filling:
    """One thread that fills the documents of contests, one after another.

    `fill(shown, number, pause)` fills those of a contest as far as results may be seen by now, and sleeps
    after each part for `pause` times what it took.
    """

    def __init__(self, name: str, fill: Callable[[ShownResults, int, float], None]) -> None:
        self._fill = fill
        self._thread = ThreadPoolExecutor(1, name)
        self._running: dict[tuple[ShownResults, int], asyncio.Future[None]] = {}

    async def wait(self, shown: ShownResults, number: int) -> bool:
        """Whether all is filled after WAIT_S at most; if not, it goes on. Raises what `fill` raises."""
        key = shown, number
        if key not in self._running:
            loop = asyncio.get_running_loop()
            self._running[key] = loop.run_in_executor(self._thread, self._fill, shown, number, PAUSE)
            self._running[key].add_done_callback(partial(self._filled, key))
        done, _ = await asyncio.wait([running := self._running[key]], timeout=WAIT_S)
        if done:
            running.result()
        return bool(done)

    def _filled(self, key: tuple[ShownResults, int], running: asyncio.Future[None]) -> None:
        del self._running[key]
        if not running.cancelled():
            running.exception()  # of those who wait each raises it
