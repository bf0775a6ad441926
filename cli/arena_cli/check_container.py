"""`arena check` for bots in containers: what a bot meets in a contest, and one deal of games there."""

from __future__ import annotations

import asyncio
import secrets
import socket
from collections.abc import Coroutine
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, Self, TypeVar

from arena_cli.sandboxes import player_sandbox
from arena_server.errors import ConfigError
from arena_server.host.loop_link import LoopLink
from arena_server.places.base import (
    BotEnded,
    LaunchError,
    LocalBot,
    Running,
)
from arena_server.places.docker_launcher import ContainerLauncher
from arena_server.terms.sandbox import DEFAULT_LIMITS, ContainerLimits

if TYPE_CHECKING:
    from arena_server.terms.schema import ContestFile

T = TypeVar("T")


def contest_limits(path: Path | None, name: str | None) -> tuple[ContestFile | None, ContainerLimits]:
    """The contest of a file, and what its bot of this name may use, if there is one. Raises ConfigError."""
    from arena_server.terms.stages import load_whole

    if path is None:
        return None, DEFAULT_LIMITS
    file = load_whole(path)
    shared = file.container.limits()
    return file, next((bot.limits(shared) for bot in file.bot if bot.name == name), shared)


class ContainedBot:
    """A bot in a container (`arena_check.bot.process.BotUnderTest`), in a `with` statement.

    `exited` is readable once it has ended by itself.
    """

    def __init__(self, player: str, limits: ContainerLimits) -> None:
        """Raises ConfigError for an image that cannot be had."""
        self._sandbox = player_sandbox(player, limits)
        self._loop = asyncio.new_event_loop()
        self._link = LoopLink(self._loop)
        self._thread = Thread(target=self._loop.run_forever, name="containers", daemon=True)
        self._stack = AsyncExitStack()
        self._launcher: ContainerLauncher | None = None
        self._running: Running | None = None
        self._waiting: asyncio.Task[None] | None = None
        self._starting: asyncio.Task[object] | None = None
        self._stopping: asyncio.Task[object] | None = None
        self._ended: BotEnded | None = None
        self.exited: socket.socket | None = None

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Remove its containers."""
        try:
            self._call(self._close())
        finally:
            self._link.post(self._loop.stop)
            self._thread.join()
            self._loop.close()

    async def _close(self) -> None:
        """End what Ctrl-C has left: a start is given up, an end goes on; then the place is closed."""
        for task, is_start in ((self._starting, True), (self._stopping, False)):
            if task is not None and not task.done():
                if is_start:
                    task.cancel()
                await asyncio.wait([task])
        if self._running is not None:
            await self._stop(self._running)
        await self._stack.aclose()

    def _call(self, work: Coroutine[Any, Any, T]) -> T:
        return self._link.run(work).result()

    def start(self, host: str, port: int, name: str, token: str) -> None:
        """Start its container. Raises ConfigError, with what the engine says."""
        self.exited, end = socket.socketpair()
        bot = replace(LocalBot(name, (), token), sandbox=self._sandbox)
        try:
            self._call(self._start(bot, (host, port), end))
        except LaunchError as error:
            raise ConfigError(f"check: {error}") from None

    async def _start(self, bot: LocalBot, address: tuple[str, int], end: socket.socket) -> None:
        self._starting = asyncio.current_task()
        if self._launcher is None:  # all cases of a run have one port
            launcher = ContainerLauncher(*address, secrets.token_hex(8))
            self._launcher = await self._stack.enter_async_context(launcher)
        self._ended = None
        running = self._running = await self._launcher.start(bot)
        self._waiting = asyncio.create_task(self._wait(running, end))

    async def _wait(self, running: Running, end: socket.socket) -> None:
        try:
            self._ended = await running.wait()
        finally:
            end.close()

    def status(self) -> int | None:
        return None if self._ended is None else self._ended.status

    def printed(self) -> str:
        """Unknown: what a container prints is not at hand while it runs."""
        return ""

    def stop(self) -> str:
        """Remove its container, and return its last lines."""
        if self._running is None:
            return ""
        lines = self._call(self._stop(self._running))
        if self.exited is not None:
            self.exited.close()
        self.exited = None
        return "\n".join(lines)

    async def _stop(self, running: Running) -> list[str]:
        self._stopping = asyncio.current_task()
        await running.end()
        self._running = None
        if self._waiting is not None:
            await asyncio.gather(self._waiting, return_exceptions=True)
        ended = self._ended
        if ended is None:
            return []
        # Of a container that did not begin its own words say why, and not the last ones.
        return [ended.error] if ended.status is None else list(ended.trace or ended.lines)


def check_games(player: str, path: Path, name: str | None) -> list[str]:
    """Play one deal as in the contest of a file, from every seat, against bots that move at random.

    The player has the limits of the bot of this `name`, and its name.
    Returns a line for each fault of the player. Raises ArenaError for games that could not be played.
    """
    from arena_cli.match_run import MatchPlan, MatchRun
    from arena_server.terms.file import config_of, game_of

    file, limits = contest_limits(path, name)
    assert file is not None
    like = config_of(file)
    plan = MatchPlan(
        game=like.game,
        options=like.options,
        deals=1,
        clock_ms=like.clock_ms,
        seed=secrets.randbits(64),
        like=like,
        limits=limits,
        first=name,
    )
    players = [player, *["random"] * (game_of(file).seats - 1)]
    run = MatchRun(plan, players)
    run.play_processes(None, None)
    run.check_complete()
    return run.faults_of(0)
