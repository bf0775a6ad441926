"""The life of a server: contests on one port, one database and one event loop, in a stated order.

start   every contest that goes on: its writer thread opens the database, its core begins or goes on;
        accept
serve   show those that are over; until `stop`, the end of all contests if asked for, or the failure of
        the last one
stop    accept no more; end the contests; wait until their results are durable and sent;
        let connections drain; close the database. `suspend` leaves running games to the next server
"""

from __future__ import annotations

import asyncio
import gc
import socket
import sys
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from arena_server.core.admission import ConnectionLimits
from arena_server.core.events import Tick
from arena_server.core.log_events import LogEvent
from arena_server.core.router import Router
from arena_server.errors import ArenaError
from arena_server.host.begin_right import BeginRight
from arena_server.host.bot_logs import LoggedDriver
from arena_server.host.driver import Driver
from arena_server.host.interfaces import Cipher
from arena_server.host.listener import connection_cap, raise_descriptor_limit
from arena_server.host.log_events import (
    ConnectionsLimited,
    ContestFailed,
    ProgramsNotStarted,
    ServerFault,
    ServerStopping,
)
from arena_server.host.logs import Log
from arena_server.host.observers import DispatchedContest, PlayedElsewhere
from arena_server.host.run import ContestRun
from arena_server.store.database import Database
from arena_server.terms.config import GUESTS_PER_ADDRESS
from arena_server.terms.spec import ContestSpec

#: What the database may take to make the last results durable before the server gives up on it.
SETTLE_S = 30.0
#: The levels of the log that tell nothing of a contest which is not listed.
QUIET = ("debug", "info")
#: What connections may take to read their BYE; a little more than they linger by themselves.
DRAIN_S = 2.5

#: Nearly all that a contest makes is freed by its last reference. A collection that is not of the youngest
#: objects alone would look at every running game for nothing, 0.1 s with a thousand of them.
COLLECT = (5_000, 200, 50)

#: While the writer encodes a record, the loop may have to wait for the interpreter so long;
#: Python's own 5 ms would be seen in every bot's turn-round.
SWITCH_S = 0.0005


class HostObserver:
    """Base class of what wants to know the contests of a host; called on the loop's thread."""

    def added(self, hosted: ContestRun) -> None:
        """A contest is about to begin: the moment to observe it."""

    def removed(self, hosted: ContestRun) -> None:
        """A contest is not part of the host any more."""

    def serving(self) -> None:
        """The contests that were given to `run` have begun, and clients can connect."""


class ProcessTuning(HostObserver):
    """Sets interpreter and collector of the whole process for a host: short waits, few collections."""

    def __init__(self) -> None:
        sys.setswitchinterval(SWITCH_S)
        gc.enable()
        gc.set_threshold(*COLLECT)

    def serving(self) -> None:
        gc.collect()
        gc.freeze()  # what is loaded now stays; the collector need not look at it again


@dataclass(frozen=True, slots=True, kw_only=True)
class HostSetup:
    """What all contests of a host share. `until_finished`: it leaves after the last game of all.

    It stays if `keep_page` then answers True.
    The spectators have what bots and log-ins leave of `max_connections`, at most `max_spectators`.
    `cipher` makes the server's end of an encrypted connection, if connections are to be encrypted.
    `reserved` descriptors are kept for the web server. `software` is what ARENA says.
    `inner` is a second listening socket, for clients of this machine: never encrypted.
    `unstarted` bots have a program in their file, which is not started here; programs of the bots `leaving`
    end with the server. With `elsewhere` the games of
    the listed contests are not played here, and it makes who plays those of one. `right` is that to begin
    contests in `database`.
    """

    database: Database
    max_connections: int
    software: str
    max_spectators: int | None = None
    spectators_per_address: int = GUESTS_PER_ADDRESS
    until_finished: bool = False
    keep_page: Callable[[], bool] = lambda: False
    cipher: Callable[[], Cipher | None] = lambda: None
    reserved: int = 0
    inner: socket.socket | None = None
    unstarted: Sequence[str] = ()
    leaving: frozenset[str] = frozenset()
    elsewhere: Callable[[DispatchedContest], PlayedElsewhere] | None = None
    right: BeginRight = field(default_factory=BeginRight)


class Host:
    """Contests on one listening socket; `run` is its life. Every method is for the loop's thread."""

    def __init__(
        self, setup: HostSetup, sock: socket.socket, log: Log, observers: Sequence[HostObserver] = ()
    ) -> None:
        self._setup = setup
        self._sock = sock
        self._log = log
        self._observers = list(observers)
        #: The contests by name, those that are over too.
        self.contests: dict[str, ContestRun] = {}
        self._driver: Driver | None = None
        self._failure: ArenaError | None = None
        self._leave = asyncio.Event()
        #: Whether another server goes on with the running games.
        self._suspends = False
        #: Whether all contests that were given to `run` have begun, and clients can connect.
        self.is_serving = False
        #: Whether lines of the log name their contest, those of the beginning too.
        self._several = False
        #: The contests that were given to `run` have begun, or failed to; or it has ended.
        self._begun = asyncio.Event()

    def observe(self, observer: HostObserver) -> None:
        """Add an observer; call it before `run`."""
        self._observers.append(observer)

    @property
    def right(self) -> BeginRight:
        """The right to begin contests in the database of all."""
        return self._setup.right

    @property
    def leaving(self) -> bool:
        """Whether the server is about to end."""
        return self._leave.is_set()

    @property
    def connections(self) -> tuple[int, int]:
        """How many connections are open, and how many may be."""
        return (0, 0) if self._driver is None else (len(self._driver.pool), self._driver.pool.cap)

    async def run(self, specs: Sequence[ContestSpec]) -> None:
        """Serve to the end. Raises StoreError if the database failed, ArenaError for a fault of our own.

        A contest that fails is closed; the error is raised if it was the last one.
        """
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(self._crashed)
        self._driver = driver = self._make_driver(loop, specs)
        self._several = sum(spec.listed for spec in specs) > 1
        try:
            entered = [self._enter(spec) for spec in specs]
            later = [hosted for hosted in entered if hosted.spec.over]
            if len(later) == len(entered):
                later = []  # clients come for one of these
            self._router.expect(hosted.name for hosted in later)
            await self._begin_all([hosted for hosted in entered if hosted not in later])
            if not later:
                self._all_begun()
            if not self._leave.is_set():
                await self._serve(driver, later)
        finally:
            self._leave.set()
            self._begun.set()
            self._sock.close()
            if self._setup.inner is not None:
                self._setup.inner.close()
            await asyncio.gather(*(hosted.close() for hosted in self.contests.values()))
            driver.stop()
        if self._failure is not None:
            raise self._failure

    def _make_driver(self, loop: asyncio.AbstractEventLoop, specs: Sequence[ContestSpec]) -> Driver:
        wanted, descriptors = self._setup.max_connections, raise_descriptor_limit()
        cap = connection_cap(wanted, descriptors, self._setup.reserved)
        if cap < wanted:
            self._log.write(ConnectionsLimited(cap, wanted, descriptors))
        if self._setup.unstarted:
            self._log.write(ProgramsNotStarted(", ".join(self._setup.unstarted)))
        limits = ConnectionLimits(cap, self._setup.max_spectators, self._setup.spectators_per_address)
        self._router = Router(self._setup.software, limits)
        # A server without logs of bots does not pay for them with every line.
        logged = any(spec.bot_logs is not None for spec in specs)
        return (LoggedDriver if logged else Driver)(
            self._router, loop, cap, self._log.write, self._setup.cipher
        )

    async def _begin_all(self, contests: Sequence[ContestRun]) -> None:
        for hosted in contests:
            if not self._leave.is_set():
                await self._begin(hosted)

    def _all_begun(self) -> None:
        self._begun.set()
        self.leave_at_end()

    async def _show(self, driver: Driver, contests: Sequence[ContestRun]) -> None:
        """Have the contests that are over, while the others are played."""
        for number, hosted in enumerate(contests, start=1):
            await self._begin_all([hosted])
            self._router.expect(each.name for each in contests[number:])
            if not self._leave.is_set():
                driver.feed(self._router, Tick())  # for clients that wait for it
        self._all_begun()

    async def _serve(self, driver: Driver, later: Sequence[ContestRun]) -> None:
        listeners = [driver.pool.listen(self._sock)]
        if (inner := self._setup.inner) is not None:
            listeners.append(driver.pool.listen(inner, plain=True))
        driver.start()
        self.is_serving = True
        for observer in self._observers:
            observer.serving()
        showing = asyncio.ensure_future(self._show(driver, later)) if later else None
        try:
            await self._leave.wait()
        finally:
            for listener in listeners:
                listener.close()
            for hosted in self.contests.values():
                if self._suspends and hosted.spec.listed:
                    hosted.suspend(self._setup.leaving)
                else:  # no server goes on with the game of a visitor
                    hosted.stop()
            with suppress(TimeoutError):
                async with asyncio.timeout(SETTLE_S):
                    for hosted in list(self.contests.values()):
                        await hosted.over.wait()
            if showing is not None:
                await showing
            driver.pool.close()
            await driver.pool.drained(DRAIN_S)

    # -- contests

    async def begun(self) -> None:
        """Wait until the contests that were given to `run` are in `contests`, or it has ended."""
        await self._begun.wait()

    async def add(self, spec: ContestSpec, database: Database | None = None) -> ContestRun:
        """Begin one more contest while the host runs; the loop never waits for a `database` of its own.

        Raises ValueError if there is one of its name, and ArenaError if it cannot begin.
        """
        await self.begun()
        if database is not None:
            return await self._add(spec, database)
        self.right.claim()
        try:
            await self.right.wait()
            hosted = await self._add(spec, None)
            await hosted.entered.wait()
        finally:
            self.right.release()
        return hosted

    async def _add(self, spec: ContestSpec, database: Database | None) -> ContestRun:
        if self._leave.is_set():
            raise ArenaError("the server is stopping")
        hosted = self._enter(spec, database)
        await self._begin(hosted)
        if hosted.failure is not None:
            await self.remove(hosted.name)
            raise hosted.failure
        return hosted

    async def remove(self, name: str) -> None:
        """Stop a contest, wait until its results are durable, and forget it; one that is gone is no error."""
        if (hosted := self.contests.get(name)) is None:
            return
        hosted.stop()
        with suppress(TimeoutError):
            async with asyncio.timeout(SETTLE_S):
                await hosted.over.wait()
        await hosted.close()
        if self.contests.pop(name, None) is not None:  # it was not removed meanwhile
            for observer in self._observers:
                observer.removed(hosted)

    def _enter(self, spec: ContestSpec, database: Database | None = None) -> ContestRun:
        assert self._driver is not None, "the host runs"
        name = spec.name
        if name in self.contests:
            raise ValueError(f"two contests are called {name}")
        hosted = self.contests[name] = ContestRun(
            spec,
            self._setup.database if database is None else database,
            self._router,
            self._driver,
            lambda event: self._write_log(event, spec),
            self._ended,
            patient=database is not None,
        )
        if spec.listed and self._setup.elsewhere is not None:
            hosted.attach(self._setup.elsewhere(hosted))
        for observer in self._observers:
            observer.added(hosted)
        return hosted

    def check_place(self, slots: int) -> None:
        """Raise ValueError unless the server has places for this many connections of bots more."""
        self._router.check_place(slots)

    @property
    def listed(self) -> list[ContestRun]:
        """The contests that the host is there for."""
        return [hosted for hosted in self.contests.values() if hosted.spec.listed]

    def _write_log(self, event: LogEvent, spec: ContestSpec) -> None:
        if not spec.listed and event.level in QUIET:
            return  # the games of visitors are no news of the contest
        named = self._several or len(self.listed) > 1 or not spec.listed
        if isinstance(event, ContestFailed) and not named:
            return  # the server ends with its only contest, and with this error
        self._log.write(event, spec.name if named else None)

    async def _begin(self, hosted: ContestRun) -> None:
        try:
            if await hosted.open():
                hosted.start()
        except ArenaError as error:
            hosted.fail(error)

    def _ended(self) -> None:
        """A contest is over; one may be before the next one begins."""
        if self._begun.is_set():
            self.leave_at_end()

    def leave_at_end(self) -> None:
        """Leave if no contest goes on, as far as that was asked for."""
        contests = self.listed
        failures = [hosted.failure for hosted in contests if hosted.failure is not None]
        if failures and len(failures) == len(contests):
            self._failure = self._failure or failures[0]
            self._leave.set()
        elif (
            self._setup.until_finished
            and contests
            and all(hosted.over.is_set() for hosted in contests)
            and not self._setup.keep_page()
        ):
            self._leave.set()

    # -- the end

    def stop(self, why: str = "asked") -> None:
        """End all contests: running games are void, results so far are kept."""
        if not self._leave.is_set():
            self._log.write(ServerStopping(why))
            self._leave.set()
            for hosted in self.contests.values():
                if hosted.contest is None:  # the database is still being opened
                    hosted.stop()

    def suspend(self, why: str) -> None:
        """End the server; the next one goes on with the contests that are listed, and their running games."""
        self._suspends = True
        self.stop(why)

    def _crashed(self, _loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Stop at an exception in a callback: a fault of our own, after which no verdict could be trusted."""
        error = context.get("exception")
        for line in traceback.format_exception(error) if error else [str(context.get("message"))]:
            for part in line.rstrip().splitlines():
                self._log.write(ServerFault(part))
        self._failure = ArenaError("the server stopped at a fault of its own; the log above tells where")
        for hosted in self.contests.values():
            hosted.fail(self._failure)
        self._leave.set()
