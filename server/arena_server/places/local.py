"""A contest of this process: its host on a port of loopback, and its bots by the launcher.

LocalRun -> run: host serves -> bots start -> results go to the listener -> host ends -> bots end
"""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from arena_protocol.record import VOID, GameRecord
from arena_server.core.events import Command, Event
from arena_server.core.log_events import (
    BotSilent,
    GameResumed,
    GameStarted,
    LogEvent,
    LoggedIn,
    WorkerVoided,
)
from arena_server.errors import ArenaError
from arena_server.host.host import (
    Host,
    HostObserver,
    HostSetup,
    ProcessTuning,
)
from arena_server.host.log_events import worker_line
from arena_server.host.logs import LineWriter, Log
from arena_server.host.observers import Attachment
from arena_server.host.run import ContestRun
from arena_server.host.sockets import address_of, bind, parse_address
from arena_server.places.base import Launcher, LocalBot
from arena_server.places.cores import own_cores
from arena_server.places.frozen_bots import StartedBots
from arena_server.places.games import ObservedGames
from arena_server.places.launchers import Place, launcher_of
from arena_server.places.process import Fork
from arena_server.places.reporter import report_of, result_json
from arena_server.places.restarts import STOP_S, BotGroup
from arena_server.places.shared_cores import SharedCores
from arena_server.places.supervisor import SERVER_LOG, STOPPING, STOPPING_UNKEPT, ProgressListener
from arena_server.places.workers.base import Workers
from arena_server.places.workers.dispatch import Dispatcher
from arena_server.store.database import Database
from arena_server.terms.spec import ContestSpec

LOOPBACK = "127.0.0.1"
STDERR = 2
#: The connections beyond those of the bots: one that is replaced is still open.
SPARE_CONNECTIONS = 100
#: The number of an order that awaits no answer.
UNANSWERED = 0
#: Serves pages of the host that has this socket, in a `with` statement.
Page = Callable[[Host, socket.socket, Log], AbstractContextManager[None]]


@dataclass(frozen=True, slots=True)
class LocalRun:
    """A contest, its database, and the bots to start; with a folder `logs` all output goes to files there.

    `fork`: as of `ProcessLauncher`. With `workers` these play its games. When `decided` is set, no game of
    it will be played any more. What `page` returns is entered on the loop, before the host runs. `inside` is
    given what hands events to the contest, from `ProgressListener.listening` on. With `shares_cores` programs
    that compute by turns are bound to cores (`SharedCores`). `is_kept` says whether the database outlives it.
    """

    spec: ContestSpec
    database: Database
    bots: Sequence[LocalBot]
    logs: Path | None = None
    fork: Fork | None = None
    workers: Workers | None = None
    page: Page | None = None
    inside: Callable[[HostedBots], None] | None = None
    shares_cores: bool = False
    is_kept: bool = True
    decided: asyncio.Event = field(default_factory=asyncio.Event)


async def run_local(local: LocalRun, listener: ProgressListener, interrupted: asyncio.Event) -> bool:
    """Run the contest to its end. Return False if `interrupted` was set and ended it early.

    Raises ArenaError if the host failed, and BotError if a bot cannot start. No bot is left in any case.
    """
    setup = HostSetup(
        database=local.database,
        max_connections=2 * len(local.spec.entrants) + len(local.bots) + SPARE_CONNECTIONS,
        software=local.spec.config.software,
        until_finished=True,
        elsewhere=None if local.workers is None else partial(Dispatcher, local.workers),
    )
    with _log(local.logs) as log, ExitStack() as pages:
        sock = bind(LOOPBACK, 0)
        host = Host(setup, sock, log, [ProcessTuning()])
        if local.page is not None:
            pages.enter_context(local.page(host, sock, log))
        bots = HostedBots(
            host,
            address_of(sock),
            local.bots,
            listener,
            local.logs,
            local.fork,
            shares_cores=local.shares_cores,
        )
        if local.inside is not None:
            local.inside(bots)
        playing = asyncio.ensure_future(bots.run([local.spec]))
        stopping = asyncio.ensure_future(interrupted.wait())
        deciding = asyncio.ensure_future(bots.abort_when(local.decided))
        try:
            await asyncio.wait([playing, stopping], return_when=asyncio.FIRST_COMPLETED)
            if not playing.done():
                listener.say(STOPPING if local.is_kept else STOPPING_UNKEPT)
                host.stop()
                await asyncio.wait([playing], timeout=STOP_S)
            if not playing.done():
                raise ArenaError(f"the contest did not stop within {STOP_S:.0f} s")
            await playing
        finally:
            for task in (stopping, deciding, playing):
                task.cancel()
            await asyncio.gather(stopping, deciding, playing, return_exceptions=True)
    return not interrupted.is_set()


class HostedBots(HostObserver, Attachment):
    """The bots of the first contest of a host, started here.

    HostedBots.run: the host serves -> the bots start ... the contest is over -> the bots end; the host ends
    """

    def __init__(
        self,
        host: Host,
        address: str,
        bots: Sequence[LocalBot],
        listener: ProgressListener,
        logs: Path | None = None,
        fork: Fork | None = None,
        *,
        shares_cores: bool = False,
    ) -> None:
        """`address` is that of the host; with a folder `logs` the output of each bot goes to a file there."""
        self._host = host
        self._address = address
        # A program that is started again gets all cores, though this thread may be bound to one.
        self._bots = [replace(bot, cores=bot.cores or own_cores()) for bot in bots] if shares_cores else bots
        self._shares_cores = shares_cores
        self._cores: SharedCores | None = None
        self._listener = listener
        self._logs = logs
        self._fork = fork
        self._hosted: ContestRun | None = None
        self._launcher: Launcher
        self._group: BotGroup | None = None
        self._serving = asyncio.Event()
        host.observe(self)

    async def run(self, specs: Sequence[ContestSpec]) -> None:
        """Run the host, and the bots from the moment at which they can connect; no bot is left.

        Raises BotError if a bot cannot start, and as `Host.run` does.
        """
        # The mark of a run that is never resumed: no other run may take its containers for its own.
        host, port = parse_address(self._address, "the server")
        place = Place(host, port, secrets.token_hex(8), self._logs, self._fork)
        async with launcher_of(self._bots, place) as self._launcher:
            await self._run(specs)

    async def _run(self, specs: Sequence[ContestSpec]) -> None:
        running = asyncio.ensure_future(self._run_host(specs))
        try:
            ready = asyncio.ensure_future(self._serving.wait())
            await asyncio.wait([running, ready], return_when=asyncio.FIRST_COMPLETED)
            ready.cancel()
            if self._serving.is_set() and self._group is not None:
                await self._group.run_beside(running, self._host.stop)
            await running
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)

    def feed(self, event: Event) -> None:
        """Let the contest handle an event, if it has started."""
        if self._hosted is not None:
            self._hosted.feed(event)

    @property
    def kept(self) -> Mapping[str, bytes]:
        """What the bots have stored in the contest, by their names."""
        contest = None if self._hosted is None else self._hosted.contest
        return {} if contest is None else contest.stored.by_name

    async def abort_when(self, decided: asyncio.Event) -> None:
        """Break the contest off for good when it is `decided`."""
        await decided.wait()
        at = time.time_ns() // 1_000_000
        self.feed(Command(UNANSWERED, "abort", "", "arena", at, "the match is decided"))

    async def _run_host(self, specs: Sequence[ContestSpec]) -> None:
        try:
            await self._host.run(specs)
        finally:
            if self._hosted is not None:
                self._listener.report(report_of(self._hosted))
            if self._cores is not None:
                self._cores.close()
            self.stored()

    def added(self, hosted: ContestRun) -> None:
        if self._hosted is None:
            self._hosted = hosted
            games = ObservedGames(hosted.feed)
            group = self._group = BotGroup(self._bots, self._launcher, games, self._listener.say)
            if self._shares_cores:
                programs = [(bot.name, bot.slot) for bot in self._bots]
                self._cores = SharedCores(programs, group.group_of)
            hosted.attach(games)
            hosted.attach(self)
            if hosted.spec.started:
                started = StartedBots(
                    hosted, hosted.spec.started, lambda order: group.obey(order, started.answered)
                )

    def serving(self) -> None:
        self._listener.listening(self._address)
        self._serving.set()

    def happened(self, event: LogEvent) -> None:
        if isinstance(event, GameStarted | GameResumed):
            if self._cores is not None:
                players = zip(event.names, event.slots or (1,) * len(event.names), strict=True)
                self._cores.begun(event.game, list(players))
        elif isinstance(event, LoggedIn) and event.bot is not None and self._group is not None:
            self._group.logged_in(event.bot, event.slot)
        elif isinstance(event, BotSilent) and self._group is not None:
            self._group.silent(event.bot, event.slot, event.game)
        elif isinstance(event, WorkerVoided):
            if event.void:
                self._listener.voided(event.worker)
        elif (line := worker_line(event)) is not None:
            self._listener.say(line)

    def recorded(self, record: GameRecord) -> None:
        self._listener.record(record)
        result = result_json(record)
        if self._cores is not None:
            core = self._cores.over(record.game_id, result["used_ms"], len(record.plies))
            result |= {} if core is None else {"core": core}
        if record.end != VOID:
            self._listener.result(result)

    def stored(self) -> None:
        if self._group is not None:
            self._group.contest_over()


@contextmanager
def _log(folder: Path | None) -> Iterator[Log]:
    """The log of errors on stderr, or in a private file of `folder`."""
    fd = (
        STDERR
        if folder is None
        else os.open(folder / SERVER_LOG, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
    )
    lines = LineWriter(fd)
    try:
        yield Log(lines, "error")
    finally:
        lines.close()
        if folder is not None:
            os.close(fd)
