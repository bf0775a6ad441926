"""The life of a contest server: start, serve, stop, in a stated order.

start   signals; writer thread (opens the database, looks for an unfinished contest);
        contest, new or continued; accept; freeze what is loaded
serve   until a signal, the end of the contest if asked for, or a failure
stop    accept no more; stop the contest; wait until its results are durable and sent;
        let connections drain; close the database
"""

from __future__ import annotations

import asyncio
import gc
import secrets
import signal
import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena_protocol.games import make_game
from arena_protocol.record import GameRecord
from arena_server.bot_logs import BotLogs, LoggedDriver
from arena_server.connection import Cipher
from arena_server.core.config import ContestConfig, Entrant
from arena_server.core.contest import Contest
from arena_server.core.events import Stop
from arena_server.core.journal import JournalError
from arena_server.core.log_events import LogEvent
from arena_server.core.schedule import schedule_of
from arena_server.driver import Driver
from arena_server.errors import ArenaError
from arena_server.listener import connection_cap, raise_descriptor_limit
from arena_server.logs import (
    BotLogLinesDropped,
    ConnectionsLimited,
    ContestTakenUp,
    Log,
    PowerCut,
    ServerFault,
    ServerStopping,
)
from arena_server.store.database import ContestHeader, Database, damaged
from arena_server.store.writer import Writer

if TYPE_CHECKING:
    from arena_server.store.reader import UnfinishedContest


#: What the database may take to make the last results durable before the server gives up on it.
SETTLE_S = 30.0
#: What connections may take to read their BYE; a little more than they linger by themselves.
DRAIN_S = 2.5

STOPPED = "stopped"

#: Nearly all that a contest makes is freed by its last reference. A full collection would look
#: at every running game for nothing, 0.1 s with a thousand of them; so one in a thousand is full.
COLLECT = (5_000, 10, 1000)

#: While the writer encodes a record, the loop may have to wait for the interpreter so long;
#: Python's own 5 ms would be seen in every bot's turn-round.
SWITCH_S = 0.0005


class ServerObserver:
    """Base class of what observes a server: every method is called on the loop's thread."""

    def started(self, contest: Contest, driver: Driver) -> None:
        """The contest exists; connections are accepted from now on."""

    def recorded(self, record: GameRecord) -> None:
        """A record is durable."""

    def happened(self, event: LogEvent) -> None:
        """Something that is logged happened."""

    def replied(self, number: int, problem: str | None) -> None:
        """The organiser's command of this number is done, or `problem` says why not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """What a server serves. `until_finished`: it leaves after the last game.

    An unfinished contest of the same name in the database goes on, unless a `new` one is
    wanted; `seeded` tells that its seed has to be that of the config. `cipher` makes the server's
    end of an encrypted connection, if connections are to be encrypted. `reserved` descriptors
    are kept for the web server. `bot_logs` is the folder of private logs of bots, None without.
    """

    config: ContestConfig
    entrants: Sequence[Entrant]
    database: Database
    max_connections: int
    until_finished: bool = False
    new: bool = False
    seeded: bool = True
    cipher: Callable[[], Cipher | None] = lambda: None
    reserved: int = 0
    bot_logs: Path | None = None


class Server:
    """One contest on one listening socket; `run` is its life."""

    def __init__(
        self, setup: Setup, sock: socket.socket, log: Log, observers: Sequence[ServerObserver] = ()
    ) -> None:
        self._setup = setup
        self._observers = list(observers)
        self._sock = sock
        self._log = log
        self._failure: ArenaError | None = None
        self._reason: str | None = None
        #: Set when the server is to end.
        self._leave = asyncio.Event()
        #: Set when every result has been sent, or none will be.
        self._settled = asyncio.Event()

    def observe(self, observer: ServerObserver) -> None:
        """Add an observer; call it before `run`."""
        self._observers.append(observer)

    @property
    def leaving(self) -> bool:
        """Whether the server is about to end."""
        return self._leave.is_set()

    async def run(self) -> str:
        """Serve to the end, and return how the contest ended: `finished`, `incomplete` or `stopped`.

        Raises StoreError if the database failed, and ArenaError for a fault of our own.
        """
        sys.setswitchinterval(SWITCH_S)
        gc.set_threshold(*COLLECT)
        self._loop = loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        loop.set_exception_handler(self._crashed)
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self.stop, number.name)
        self._writer = self._open_store(loop)
        self._writer.start()
        try:
            if await self._opened():
                await self._serve(self._contest(), loop)
        finally:
            self._sock.close()
            # Not on the loop's own thread: the writer may still have something to report to the loop.
            await asyncio.to_thread(self._writer.close)
        if self._failure is not None:
            raise self._failure
        return self._reason or STOPPED

    async def _opened(self) -> bool:
        """Wait for the database. Returns False if the server is to leave before it has begun."""
        leaving = asyncio.ensure_future(self._leave.wait())
        self._past.add_done_callback(lambda _: leaving.cancel())
        await asyncio.wait([leaving])
        return self._past.done() and not self._leave.is_set()

    def _contest(self) -> Contest:
        """Begin the contest, or go on with the one found. Raises StoreError for a damaged journal."""
        found, config = self._past.result(), self._setup.config
        if found is not None:
            config = replace(config, seed=found.seed)
            self.log(ContestTakenUp(found.contest, len(found.past.results)))
            if found.lost_rows:
                self.log(PowerCut(found.lost_rows))
        past = None if found is None else found.past
        try:
            contest = Contest(
                config,
                self._setup.entrants,
                secrets.token_hex,
                time.monotonic_ns(),
                past,
                logs=self._setup.bot_logs is not None,
            )
        except JournalError as error:
            raise damaged(self._setup.database, str(error)) from error
        self._writer.enter(config)
        return contest

    async def _serve(self, contest: Contest, loop: asyncio.AbstractEventLoop) -> None:
        wanted, descriptors = self._setup.max_connections, raise_descriptor_limit()
        cap = connection_cap(wanted, descriptors, self._setup.reserved)
        if cap < wanted:
            self.log(ConnectionsLimited(cap, wanted, descriptors))
        self._driver = self._make_driver(contest, cap)
        listener = self._driver.pool.listen(self._sock)
        self._driver.start()
        for observer in self._observers:
            observer.started(contest, self._driver)
        gc.collect()
        gc.freeze()  # what is loaded now stays; the collector need not look at it again
        try:
            await self._leave.wait()
        finally:
            listener.close()
            await self._wind_up()
            self._driver.stop()
            if self._logs is not None:
                self._logs.close()
                if self._logs.dropped:
                    self.log(BotLogLinesDropped(self._logs.dropped))

    def _make_driver(self, contest: Contest, cap: int) -> Driver:
        """Return the driver; raises ArenaError if the folder of the logs cannot be used."""
        folder, cipher = self._setup.bot_logs, self._setup.cipher
        self._logs: BotLogs | None = None
        if folder is None:
            return Driver(contest, self._writer, self, self._loop, cap, cipher)
        self._logs = BotLogs(folder / self._setup.config.name)
        self._logs.begin(self._loop, fresh=self._past.result() is None)
        return LoggedDriver(contest, self._writer, self, self._loop, cap, cipher, self._logs)

    def stop(self, why: str = "asked") -> None:
        """End the contest: running games are void, results so far are kept."""
        if not self._leave.is_set():
            self.log(ServerStopping(why))
            self._leave.set()

    async def _wind_up(self) -> None:
        if not self._settled.is_set():
            self._driver.feed(Stop())
            with suppress(TimeoutError):
                await asyncio.wait_for(self._settled.wait(), SETTLE_S)
        self._driver.pool.close()
        await self._driver.pool.drained(DRAIN_S)

    def _open_store(self, loop: asyncio.AbstractEventLoop) -> Writer:
        setup, config = self._setup, self._setup.config
        names = [entrant.name for entrant in setup.entrants]
        game = make_game(config.game, config.options)
        games = schedule_of(config, names, game.seats).total
        self._past: asyncio.Future[UnfinishedContest | None] = loop.create_future()
        return Writer(
            setup.database,
            ContestHeader(config, game.options(), names, games, setup.new, setup.seeded),
            found=lambda found: _later(loop, self._past.set_result, found),
            committed=self._written,
            failed=lambda error: _later(loop, self._fail, error),
        )

    def _written(self, groups: int, game_ids: list[str]) -> None:
        """A commit is reported, on any thread."""
        if threading.get_ident() == self._thread:
            self._driver.committed(groups, game_ids)
        else:
            _later(self._loop, self._driver.committed, groups, game_ids)

    def _fail(self, error: ArenaError) -> None:
        """Nothing more can be promised: stop, with this error."""
        if self._failure is None:
            self._failure = error
        self._settled.set()
        self._leave.set()

    def _crashed(self, _loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Stop at an exception in a callback: a fault of our own, after which no verdict could be trusted."""
        error = context.get("exception")
        for line in traceback.format_exception(error) if error else [str(context.get("message"))]:
            for part in line.rstrip().splitlines():
                self._log.write(ServerFault(part))
        self._fail(ArenaError("the server stopped at a fault of its own; the log above tells where"))

    # -- what the driver needs (driver.Environment)

    def recorded(self, record: GameRecord) -> None:
        for observer in self._observers:
            observer.recorded(record)

    def reply(self, number: int, problem: str | None) -> None:
        for observer in self._observers:
            observer.replied(number, problem)

    def log(self, event: LogEvent) -> None:
        for observer in self._observers:
            observer.happened(event)
        self._log.write(event)

    def finished(self, reason: str) -> None:
        """Nothing more will be played."""
        self._reason = reason
        self._writer.end(reason)
        self._settled.set()
        if self._setup.until_finished:
            self._leave.set()


def _later(loop: asyncio.AbstractEventLoop, call: Callable[..., None], *arguments: object) -> None:
    """Call on the loop's thread, unless the loop has ended."""
    if not loop.is_closed():
        loop.call_soon_threadsafe(call, *arguments)
