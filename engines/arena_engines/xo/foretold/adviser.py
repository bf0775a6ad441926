"""Foresight in a thread of its own, beside the search for a move.

It must not know: how a plan is made, how a move is searched for.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from time import perf_counter

from arena_engines.xo.foretold.foresight import Advice, Foresight
from arena_engines.xo.foretold.watched import Story


class Whistle:
    """Ends a search that goes on beside another one; once it was blown it stops nothing that comes later."""

    def __init__(self, stop: Callable[[], None]) -> None:
        self._stop = stop
        self._one_at_a_time = threading.Lock()
        self._blown = False

    def blow(self) -> None:
        """End the search, unless that was done."""
        with self._one_at_a_time:
            before, self._blown = self._blown, True
            if not before:
                self._stop()

    def blown(self) -> bool:
        """Whether the search has ended."""
        return self._blown


class Adviser:
    """Looks for advice about one position at a time; who does not wait for it can go on at once."""

    def __init__(self, foresight: Foresight) -> None:
        self._foresight = foresight
        self._one_at_a_time = threading.Lock()

    def ask(self, story: Story, seconds: float, whistle: Whistle) -> Future[Advice | None]:
        """Begin to look for advice: until the whistle is blown, and for so many seconds at the longest.

        With safe advice nothing else needs to be looked for, and the whistle is blown.
        """
        began = perf_counter()

        def in_time(part: float) -> bool:
            return not whistle.blown() and perf_counter() - began < part * seconds

        def told(advising: Future[Advice | None]) -> None:
            advice = None if advising.exception() else advising.result()
            if advice is not None and advice.safe:
                whistle.blow()

        advising: Future[Advice | None] = Future()
        advising.add_done_callback(told)
        # A daemon: nobody who leaves the program waits until a move would have been made.
        threading.Thread(target=self._look, args=(story, in_time, advising), daemon=True).start()
        return advising

    def _look(self, story: Story, in_time: Callable[[float], bool], advising: Future[Advice | None]) -> None:
        """Look for advice, once nothing is looked for any more for the move before."""
        with self._one_at_a_time:
            try:
                advising.set_result(self._foresight.advice(story, in_time))
            except Exception as error:
                advising.set_exception(error)
