"""Questions and orders to the loop, from any other thread, each with a time limit.

It must not know: HTTP, what is asked, how the answer is shown.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from typing import Protocol, TypeVar

from arena_server.core.events import Command

#: A loop that does not come to a question within this time is not responsive.
ASK_S = 1.0
#: An order is answered once it is durable: what a slow disk may take.
ORDER_S = 10.0

Answer = TypeVar("Answer")


class Unresponsive(Exception):  # noqa: N818 - a state of the loop, which the caller reports as such
    """The loop did not answer in time, or is gone; the text is one clear line."""


class Feedable(Protocol):
    """Takes events, on the loop's thread: the host."""

    def feed(self, event: Command) -> None:
        """Let the contest judge the event."""


class Desk:
    """Brings what other threads want before the loop."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, ask_s: float = ASK_S, order_s: float = ORDER_S
    ) -> None:
        self._loop = loop
        self._ask_s = ask_s
        self._order_s = order_s
        self._last = 0
        self._orders: dict[int, Future[str | None]] = {}

    def ask(self, call: Callable[[], Answer]) -> Answer:
        """Have `call` made on the loop's thread, and return what it returned or raise what it raised.

        Raises Unresponsive.
        """
        future: Future[Answer] = Future()
        self._later(_make, call, future)
        return _wait(future, self._ask_s, "the loop")

    def order(self, host: Callable[[], Feedable], verb: str, target: str) -> str | None:
        """Give an order, and return why it was not obeyed, or None. Raises Unresponsive.

        `host` is called on the loop's thread; what it raises is raised here.
        """
        future: Future[str | None] = Future()
        self._later(self._give, host, verb, target, future)
        order = f"{verb} {target}".rstrip()
        return _wait(future, self._order_s, f"the contest (the order may yet be obeyed: {order})")

    def reply(self, number: int, problem: str | None) -> None:
        """The contest's answer to the order of this number; on the loop's thread."""
        future = self._orders.pop(number, None)
        if future is not None:
            future.set_result(problem)

    def _give(self, host: Callable[[], Feedable], verb: str, target: str, future: Future[str | None]) -> None:
        try:
            taker = host()
        except Exception as error:  # it belongs to whoever asked, not to the loop
            future.set_exception(error)
            return
        self._last += 1
        self._orders[self._last] = future
        taker.feed(Command(self._last, verb, target))

    def _later(self, call: Callable[..., None], *arguments: object) -> None:
        try:
            self._loop.call_soon_threadsafe(call, *arguments)
        except RuntimeError:
            raise Unresponsive("the server has ended") from None


def _make(call: Callable[[], Answer], future: Future[Answer]) -> None:
    try:
        future.set_result(call())
    except Exception as error:  # it belongs to whoever asked, not to the loop
        future.set_exception(error)


def _wait(future: Future[Answer], timeout: float, who: str) -> Answer:
    try:
        return future.result(timeout)
    except TimeoutError:
        raise Unresponsive(f"no answer from {who} within {timeout:g} s") from None
