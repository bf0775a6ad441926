"""Documents that take long to make are filled on a thread of their own; a page gets what is known by then."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from queue import SimpleQueue
from threading import Thread
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
        self._name = name
        self._fill = fill
        self._queue = SimpleQueue[tuple[ShownResults, int, asyncio.Future[None]]]()
        self._thread: Thread | None = None
        self._running: dict[tuple[ShownResults, int], asyncio.Future[None]] = {}

    async def wait(self, shown: ShownResults, number: int) -> bool:
        """Whether all is filled after WAIT_S at most; if not, it goes on. Raises what `fill` raises."""
        if (running := self._running.get((shown, number))) is None:
            running = self._begin(shown, number)
        done, _ = await asyncio.wait([running], timeout=WAIT_S)
        if done:
            running.result()
        return bool(done)

    def _begin(self, shown: ShownResults, number: int) -> asyncio.Future[None]:
        running: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._running[shown, number] = running
        self._queue.put((shown, number, running))
        if self._thread is None:
            # The end of the process waits for no daemon: the records of a long contest take minutes.
            self._thread = Thread(target=self._work, name=self._name, daemon=True)
            self._thread.start()
        return running

    def _work(self) -> None:
        while True:
            shown, number, running = self._queue.get()
            failed: Exception | None = None
            try:
                self._fill(shown, number, PAUSE)
            except Exception as error:  # who waits raises it
                failed = error
            try:
                running.get_loop().call_soon_threadsafe(self._filled, (shown, number), failed)
            except RuntimeError:  # the loop is closed, and no page waits
                self._running.pop((shown, number), None)

    def _filled(self, key: tuple[ShownResults, int], failed: Exception | None) -> None:
        running = self._running.pop(key)
        if failed is None:
            running.set_result(None)
        else:
            running.set_exception(failed)
            running.exception()  # of those who wait each raises it
