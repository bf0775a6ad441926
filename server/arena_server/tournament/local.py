"""A contest of this process: its host on a port of loopback, and its bots by the launcher.

LocalRun -> run: host serves -> bots start -> results go to the listener -> host ends -> bots end
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from arena_protocol.record import VOID, GameRecord
from arena_server.core.log_events import LogEvent, LoggedIn
from arena_server.errors import ArenaError
from arena_server.host import Host, HostObserver, HostSetup, ProcessTuning
from arena_server.hosted import ContestObserver, HostedContest
from arena_server.launch.base import LocalBot
from arena_server.launch.games import ObservedGames
from arena_server.launch.process import ProcessLauncher
from arena_server.launch.restarts import STOP_S, BotGroup
from arena_server.logs import LineWriter, Log
from arena_server.sockets import address_of, bind, parse_address
from arena_server.spec import ContestSpec
from arena_server.store.database import Database
from arena_server.tournament.reporter import plain_result, report_of
from arena_server.tournament.supervisor import SERVER_LOG, STOPPING, ProgressListener

LOOPBACK = "127.0.0.1"
STDERR = 2
#: The connections beyond those of the bots: one that is replaced is still open.
SPARE_CONNECTIONS = 100


@dataclass(frozen=True, slots=True)
class LocalRun:
    """A contest, its database, and the bots to start; with a folder `logs` all output goes to files there."""

    spec: ContestSpec
    database: Database
    bots: Sequence[LocalBot]
    logs: Path | None = None


async def run_local(local: LocalRun, listener: ProgressListener, interrupted: asyncio.Event) -> bool:
    """Run the contest to its end. Return False if `interrupted` was set and ended it early.

    Raises ArenaError if the host failed, and BotError if a bot cannot start. No bot is left in any case.
    """
    setup = HostSetup(
        database=local.database,
        max_connections=2 * len(local.spec.entrants) + len(local.bots) + SPARE_CONNECTIONS,
        software=local.spec.config.software,
        until_finished=True,
    )
    with _log(local.logs) as log:
        sock = bind(LOOPBACK, 0)
        address = address_of(sock)
        host = Host(setup, sock, log, [ProcessTuning()])
        observer = _Observer(local, listener, address)
        host.observe(observer)
        playing = asyncio.ensure_future(_play(host, observer, local.spec))
        stopping = asyncio.ensure_future(interrupted.wait())
        try:
            await asyncio.wait([playing, stopping], return_when=asyncio.FIRST_COMPLETED)
            if not playing.done():
                listener.say(STOPPING)
                host.stop()
                await asyncio.wait([playing], timeout=STOP_S)
            if not playing.done():
                raise ArenaError(f"the contest did not stop within {STOP_S:.0f} s")
            await playing
        finally:
            stopping.cancel()
            playing.cancel()
            await asyncio.gather(stopping, playing, return_exceptions=True)
    return not interrupted.is_set()


async def _play(host: Host, observer: _Observer, spec: ContestSpec) -> None:
    """Serve the contest, and run the bots from the moment at which they can connect."""

    async def serve() -> None:
        try:
            await host.run([spec])
        finally:
            observer.over()

    serving = asyncio.ensure_future(serve())
    try:
        ready = asyncio.ensure_future(observer.ready.wait())
        await asyncio.wait([serving, ready], return_when=asyncio.FIRST_COMPLETED)
        ready.cancel()
        if observer.ready.is_set():
            await observer.bots.run_beside(serving, host.stop)
        await serving
    finally:
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)


class _Observer(HostObserver, ContestObserver):
    """Passes what happens to the listener and to the bots. `ready`: bots can connect."""

    bots: BotGroup

    def __init__(self, local: LocalRun, listener: ProgressListener, address: str) -> None:
        self._local = local
        self._listener = listener
        self._address = address
        self._hosted: HostedContest | None = None
        self.ready = asyncio.Event()

    def added(self, hosted: HostedContest) -> None:
        self._hosted = hosted
        launcher = ProcessLauncher(*parse_address(self._address, "the server"), self._local.logs)
        games = ObservedGames(hosted.feed)
        self.bots = BotGroup(self._local.bots, launcher, games, self._listener.say)
        hosted.observe(games)
        hosted.observe(self)

    def serving(self) -> None:
        self._listener.listening(self._address)
        self.ready.set()

    def happened(self, event: LogEvent) -> None:
        if isinstance(event, LoggedIn) and event.bot is not None:
            self.bots.logged_in(event.bot, event.slot)

    def recorded(self, record: GameRecord) -> None:
        if record.end != VOID:
            self._listener.result(plain_result(record))

    def over(self) -> None:
        """The host has ended: report how, and let the bots end."""
        if self._hosted is not None:
            self._listener.report(report_of(self._hosted))
            self.bots.contest_over()


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
