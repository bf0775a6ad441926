"""Between the web thread and the referee's loop: calls with a time limit, and news of transcripts.

`LoopBridge` makes the calls, also those of `host_view.py`; `TranscriptNews` says which lines the web thread
may read. Nothing else of the server may be touched from the web thread.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

from arena_server.core.events import Command, Observe
from arena_server.core.transcript import Transcript
from arena_server.host.loop_link import LoopLink
from arena_server.host.observers import Attachment, TranscriptReader

if TYPE_CHECKING:
    pass

#: A loop that has not answered within this time counts as unresponsive.
CALL_S = 1.0
#: A web thread with more games than this to look at has stood still for long, and begins again.
MOST_NEWS = 20_000
#: An order is answered once it is durable: the limit allows for a slow disk.
ORDER_S = 10.0

Answer = TypeVar("Answer")


#: Said until the database is open; what was asked for was not done.
NOT_STARTED: Final = "the contest has not begun yet: the database is being opened"
STOPPING: Final = (
    "the server is stopping; an order without an answer may still be kept: see the list of orders"
)


class UnavailableError(Exception):
    """The server cannot answer now; the text says why in one line."""


class EventTaker(Protocol):
    """Takes events on the loop's thread: a hosted contest."""

    def feed(self, event: Command | Observe) -> None:
        """Hand the event to the contest."""


class LoopBridge(Attachment):
    """Runs functions on another thread's event loop; await its methods on any other loop."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, call_s: float = CALL_S, order_s: float = ORDER_S
    ) -> None:
        self.loop: Final = loop
        self._call_s = call_s
        self._order_s = order_s
        self._last = 0
        self._orders: dict[int, Future[str | None]] = {}
        self._ended = False

    async def call(self, function: Callable[[], Answer]) -> Answer:
        """Run `function` on the loop's thread; return its result or raise its exception.

        Raises UnavailableError if the loop does not answer in time or has ended.
        """
        future: Future[Answer] = Future()
        self._schedule(_run, function, future)
        return await _wait(future, self._call_s, "the loop")

    async def call_back(self, begin: Callable[[Callable[[Answer], None]], None]) -> Answer:
        """Run `begin` on the loop's thread with what it is to call with the answer; raises as `call`."""
        future: Future[Answer] = Future()
        self._schedule(_begin, begin, future)
        return await _wait(future, self._order_s, "the loop")

    async def order(self, contest: Callable[[], EventTaker], command: Command) -> str | None:
        """Give an order to a contest, under a number of its own, and wait until its answer is durable.

        `contest` is called on the loop's thread. Returns why the order was refused, None if it
        was carried out. Raises UnavailableError, and what `contest` raises.
        """
        future: Future[str | None] = Future()
        self._schedule(self._feed, contest, lambda number: replace(command, number=number), future)
        order = f"{command.verb} {command.target}".rstrip()
        return await _wait(
            future, self._order_s, f"the contest (the order may still be carried out: {order})"
        )

    async def observe(self, contest: Callable[[], EventTaker]) -> None:
        """Have a contest tell its observers how far each transcript may be shown, until `ignore`.

        Returns when they know that of all running games. Raises as `order` does.
        """
        future: Future[str | None] = Future()
        self._schedule(self._feed, contest, lambda number: Observe(number, on=True), future)
        await _wait(future, self._order_s, "the contest")

    def ignore(self, contest: Callable[[], EventTaker]) -> None:
        """End `observe`, unless the contest or the server has ended."""
        with suppress(UnavailableError):
            self._schedule(self._feed, contest, lambda number: Observe(number, on=False), Future())

    def replied(self, number: int, problem: str | None) -> None:
        """Take the contest's answer. Runs on the loop's thread."""
        future = self._orders.pop(number, None)
        if future is not None:
            future.set_result(problem)

    def end(self) -> None:
        """No contest answers any more: refuse the orders that wait. Runs on the loop's thread."""
        self._ended = True
        while self._orders:
            _, future = self._orders.popitem()
            future.set_exception(UnavailableError(STOPPING))

    def _feed(
        self,
        contest: Callable[[], EventTaker],
        event: Callable[[int], Command | Observe],
        future: Future[str | None],
    ) -> None:
        try:
            taker = contest()
        except Exception as error:  # raised by who waits for the answer; the loop goes on
            future.set_exception(error)
            return
        if self._ended:
            future.set_exception(UnavailableError(STOPPING))
            return
        self._last += 1
        self._orders[self._last] = future
        taker.feed(event(self._last))

    def _schedule(self, function: Callable[..., None], *arguments: object) -> None:
        try:
            LoopLink(self.loop).demand(function, *arguments)
        except RuntimeError:
            raise UnavailableError("the server has ended") from None


def _run(function: Callable[[], Answer], future: Future[Answer]) -> None:
    try:
        future.set_result(function())
    except Exception as error:  # raised in `call`; the loop goes on
        future.set_exception(error)


def _begin(begin: Callable[[Callable[[Answer], None]], None], future: Future[Answer]) -> None:
    try:
        begin(future.set_result)
    except Exception as error:  # raised in `call_back`; the loop goes on
        future.set_exception(error)


async def _wait(future: Future[Answer], timeout: float, who: str) -> Answer:
    # `shield`: a timeout must not cancel a future that the other thread is about to set.
    try:
        async with asyncio.timeout(timeout):
            return await asyncio.shield(asyncio.wrap_future(future))
    except TimeoutError:
        raise UnavailableError(f"no answer from {who} within {timeout:g} s") from None


class TranscriptNews(TranscriptReader):
    """How far the transcripts of a contest may be shown, from the referee's thread to the web thread.

    It holds one number for each game that has grown since the last `take`; the lines stay where they are.
    `delay` (ns) is that of the contest.
    """

    def __init__(self, delay: int) -> None:
        self.delay = delay
        #: Whether nothing follows.
        self.over = False
        self._lock = threading.Lock()
        self._news: dict[Transcript, int] = {}
        self._problem: str | None = None
        self._reader: tuple[LoopLink, asyncio.Event, asyncio.Event] | None = None

    # -- the referee's thread

    def shown(self, transcript: Transcript, end: int) -> None:
        with self._lock:
            first = not self._news
            self._news[transcript] = end
            if len(self._news) > MOST_NEWS:
                self._news.clear()
                self._problem = "the pages were too slow for the games, and begin again"
        if first and (reader := self._reader) is not None:
            to_web, woken, _ = reader
            to_web.post(woken.set)

    def closed(self, problem: str | None) -> None:
        with self._lock:
            self.over = True
            self._problem = self._problem or problem
        if (reader := self._reader) is not None:
            to_web, woken, closed = reader
            to_web.post(closed.set)
            to_web.post(woken.set)

    # -- the web thread

    def listen(self, loop: asyncio.AbstractEventLoop, woken: asyncio.Event, closed: asyncio.Event) -> None:
        """Set `woken` on `loop` when there are news, and `closed` when nothing follows."""
        with self._lock:
            self._news, self._problem = {}, None
        self._reader = LoopLink(loop), woken, closed

    def ignore(self) -> None:
        """End `listen`."""
        self._reader = None

    def take(self) -> dict[Transcript, int]:
        """The end of each transcript that has grown since the last call.

        Raises UnavailableError if that was so long ago that it is not known, or if the contest failed.
        """
        with self._lock:
            news, self._news = self._news, {}
            problem = self._problem
        if problem is not None:
            raise UnavailableError(problem)
        return news
