"""Contests of visitors on the server's own host, each with its engines, played from the web thread.

    CasualContests.play   web thread: Host.add, on the host's loop --> begun
                  engines start as processes and connect to the inner port, as the persons do
                  the contest is over --> Host.remove --> the engines end

Processes are started, read and ended on the web thread, so that neither their output nor a fault of
what runs them reaches the loop of the referee.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from time import time_ns
from typing import Protocol

from arena_server.core.clock import NS_PER_MS
from arena_server.core.events import Command, Event
from arena_server.core.log_events import GameOver, GameResumed, GameStarted, LogEvent, LoggedIn
from arena_server.host.host import Host
from arena_server.host.loop_link import LoopLink
from arena_server.host.observers import Attachment
from arena_server.host.run import ContestRun
from arena_server.places.base import Launcher, LocalBot
from arena_server.places.games import ObservedGames
from arena_server.places.process import ProcessLauncher
from arena_server.places.restarts import BotGroup
from arena_server.terms.spec import ContestSpec

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
#: Has a running game broken off, and played again on its deal: its id, who wants that, and why.
Replay = Callable[[str, str, str], None]


class CasualHost(Protocol):
    """Where the games of visitors are played."""

    async def play(
        self, spec: ContestSpec, bots: Sequence[LocalBot], begun: Callable[[Replay], None]
    ) -> None:
        """Play a contest to its end with these bots; `begun` is called when clients can log in.

        If it is cancelled, the contest is stopped. No bot is left. Raises ArenaError if the contest cannot
        be played.
        """

    async def connect(self) -> Streams:
        """A connection for a person. Raises OSError."""


class CasualContests:
    """The host of this process (`CasualHost`), with contests in `database`; for the web thread's loop."""

    def __init__(
        self, host: Host, loop: asyncio.AbstractEventLoop, address: tuple[str, int], database: Path
    ) -> None:
        """`loop` is that of the host, `address` its inner port."""
        self._host = host
        self._to_host = LoopLink(loop)
        self._address = address
        self._database = database

    async def connect(self) -> Streams:
        return await asyncio.open_connection(*self._address)

    async def play(
        self, spec: ContestSpec, bots: Sequence[LocalBot], begun: Callable[[Replay], None]
    ) -> None:
        relay = _ContestRelay(self._to_host, bots, ProcessLauncher(*self._address))
        life = self._to_host.run(self._live(spec, relay))
        # `shield`: what is cancelled here goes on there until the contest has been stopped in order.
        over = asyncio.shield(asyncio.wrap_future(life))
        over.add_done_callback(lambda _: relay.over())
        try:
            await relay.entered.wait()
            if not over.done():
                begun(relay.replay)
                await relay.bots.run_beside(over, relay.stop)
            await over
        finally:
            relay.stop()
            over.cancel()

    async def _live(self, spec: ContestSpec, relay: _ContestRelay) -> None:
        """Add the contest, and remove it when it is over. Runs on the host's loop."""
        hosted = await self._host.add(spec, self._database)
        relay.enter(hosted)
        await hosted.over.wait()
        await self._host.remove(spec.name)
        if hosted.failure is not None:
            raise hosted.failure


class _ContestRelay(Attachment):
    """Between a contest on the host's loop and its bots on the web thread's."""

    def __init__(self, to_host: LoopLink, bots: Sequence[LocalBot], launcher: Launcher) -> None:
        self._to_host, self._to_web = to_host, LoopLink(asyncio.get_running_loop())
        self._games = ObservedGames(lambda event: to_host.post(self._feed, event))
        self._hosted: ContestRun | None = None
        self._stopped = False
        #: For the web thread: the group of bots, and whether the contest has begun or never will.
        self.bots = BotGroup(bots, launcher, self._games, lambda _: None)
        self.entered = asyncio.Event()

    def over(self) -> None:
        """The contest has ended, or cannot begin. Runs on the web thread."""
        self.entered.set()
        self.bots.contest_over()

    def stop(self) -> None:
        """End the contest, if it is not over. Runs on the web thread."""
        self._to_host.post(self._stop)

    def replay(self, game_id: str, who: str, reason: str) -> None:
        """Give the order; a game that is over by then stays as it is. Runs on the web thread."""
        command = Command(0, "replay", game_id, who, time_ns() // NS_PER_MS, reason)
        self._to_host.post(self._feed, command)

    def _take(self, event: LogEvent) -> None:
        self._games.happened(event)
        if isinstance(event, LoggedIn) and event.bot is not None:
            self.bots.logged_in(event.bot, event.slot)

    # -- on the host's loop

    def enter(self, hosted: ContestRun) -> None:
        """The contest has begun."""
        self._hosted = hosted
        hosted.attach(self)
        self._to_web.post(self.entered.set)
        if self._stopped:
            hosted.stop()

    def happened(self, event: LogEvent) -> None:
        if isinstance(event, LoggedIn | GameStarted | GameResumed | GameOver):
            self._to_web.post(self._take, event)

    def _feed(self, event: Event) -> None:
        if self._hosted is not None and not self._hosted.over.is_set():
            self._hosted.feed(event)

    def _stop(self) -> None:
        self._stopped = True
        if self._hosted is not None:
            self._hosted.stop()
