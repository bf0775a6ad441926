"""Calls from the web thread into the referee's loop, each with a time limit.

`LoopBridge` makes the calls; `ServerView` has the functions that run on the loop's thread and
read the server's state there. Nothing else of the server may be touched from the web thread.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar

from arena_server.core.config import ContestConfig
from arena_server.core.events import Command
from arena_server.core.standings import Overview
from arena_server.durations import Durations
from arena_server.server import Server, ServerObserver
from arena_server.sockets import local_host
from arena_server.store.database import Database
from arena_server.web.metrics import MetricsRecorder, Snapshot

if TYPE_CHECKING:
    from arena_server.core.contest import Contest
    from arena_server.driver import Driver

#: A loop that has not answered within this time counts as unresponsive.
CALL_S = 1.0
#: An order is answered once it is durable: the limit allows for a slow disk.
ORDER_S = 10.0

Answer = TypeVar("Answer")


class UnavailableError(Exception):
    """The server cannot answer now; the text says why in one line."""


class EventTaker(Protocol):
    """Takes events on the loop's thread: the driver."""

    def feed(self, event: Command) -> None:
        """Hand the event to the contest."""


class LoopBridge(ServerObserver):
    """Runs functions on another thread's event loop; await its methods on any other loop."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, call_s: float = CALL_S, order_s: float = ORDER_S
    ) -> None:
        self._loop = loop
        self._call_s = call_s
        self._order_s = order_s
        self._last = 0
        self._orders: dict[int, Future[str | None]] = {}

    async def call(self, function: Callable[[], Answer]) -> Answer:
        """Run `function` on the loop's thread; return its result or raise its exception.

        Raises UnavailableError if the loop does not answer in time or has ended.
        """
        future: Future[Answer] = Future()
        self._schedule(_run, function, future)
        return await _wait(future, self._call_s, "the loop")

    async def order(self, driver: Callable[[], EventTaker], verb: str, target: str) -> str | None:
        """Give an order to the contest and wait until its answer is durable.

        `driver` is called on the loop's thread. Returns why the order was refused, None if it
        was carried out. Raises UnavailableError, and what `driver` raises.
        """
        future: Future[str | None] = Future()
        self._schedule(self._feed, driver, verb, target, future)
        order = f"{verb} {target}".rstrip()
        return await _wait(
            future, self._order_s, f"the contest (the order may still be carried out: {order})"
        )

    def replied(self, number: int, problem: str | None) -> None:
        """Take the contest's answer to an order. Runs on the loop's thread."""
        future = self._orders.pop(number, None)
        if future is not None:
            future.set_result(problem)

    def _feed(
        self, driver: Callable[[], EventTaker], verb: str, target: str, future: Future[str | None]
    ) -> None:
        try:
            taker = driver()
        except Exception as error:  # raised in `order`; the loop goes on
            future.set_exception(error)
            return
        self._last += 1
        self._orders[self._last] = future
        taker.feed(Command(self._last, verb, target))

    def _schedule(self, function: Callable[..., None], *arguments: object) -> None:
        try:
            self._loop.call_soon_threadsafe(function, *arguments)
        except RuntimeError:
            raise UnavailableError("the server has ended") from None


def _run(function: Callable[[], Answer], future: Future[Answer]) -> None:
    try:
        future.set_result(function())
    except Exception as error:  # raised in `call`; the loop goes on
        future.set_exception(error)


async def _wait(future: Future[Answer], timeout: float, who: str) -> Answer:
    # `shield`: a timeout must not cancel a future that the other thread is about to set.
    try:
        async with asyncio.timeout(timeout):
            return await asyncio.shield(asyncio.wrap_future(future))
    except TimeoutError:
        raise UnavailableError(f"no answer from {who} within {timeout:g} s") from None


@dataclass(frozen=True, slots=True)
class Referee:
    """The server that the pages show: `address` is its port for bots, `tls` whether that is encrypted."""

    server: Server
    config: ContestConfig
    database: Database
    address: tuple[str, int]
    tls: bool = False

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A connection to the port for bots, from this machine. Raises OSError."""
        host, port = self.address
        context: ssl.SSLContext | None = None
        if self.tls:
            context = ssl.create_default_context()
            context.check_hostname = False  # our own port: there is no name to check
            context.verify_mode = ssl.CERT_NONE
        return await asyncio.open_connection(local_host(host), port, ssl=context)


class ServerView(ServerObserver):
    """A server as the web application sees it. Every method but `name` runs on the loop's thread.

    Create it before the server runs: it subscribes to the server's start and to its metrics.
    """

    def __init__(self, server: Server, config: ContestConfig) -> None:
        self._labels = {"name": config.name, "game": config.game, "software": config.software}
        self._server = server
        self._metrics = MetricsRecorder()
        self._contest: Contest | None = None
        self._driver: Driver | None = None
        server.observe(self._metrics)
        server.observe(self)

    def started(self, contest: Contest, driver: Driver) -> None:
        self._contest, self._driver = contest, driver

    @property
    def name(self) -> str:
        """The name of the contest."""
        return self._labels["name"]

    def driver(self) -> Driver:
        """The receiver of orders. Raises UnavailableError before the contest has started."""
        if self._driver is None:
            raise _not_started()
        return self._driver

    def problem(self) -> str | None:
        """Why no bot can play, in one line; None if bots can."""
        if self._server.leaving:
            return "the server is stopping"
        if self._contest is None:
            return str(_not_started())
        ended = self._contest.ended
        return None if ended is None else f"the contest is over: {ended}"

    def snapshot(self) -> Snapshot:
        """All metrics at this moment."""
        progress = None if self._contest is None else self._contest.progress()
        held, cap, durations = 0, 0, Durations()
        if (driver := self._driver) is not None:
            held, cap, durations = len(driver.pool), driver.pool.cap, driver.durations.copy()
        return Snapshot(self._labels, self._metrics.counts(), durations, progress, held, cap)

    def overview(self) -> tuple[Overview, int]:
        """The contest and the number of connections. Raises UnavailableError before the start."""
        if self._contest is None:
            raise _not_started()
        return self._contest.overview(), len(self.driver().pool)


def _not_started() -> UnavailableError:
    return UnavailableError("the contest has not begun yet: the database is being opened")
