"""Where the bots of one contest run: those with a sandbox in containers, the others as processes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from arena_server.launch.base import Launcher, LocalBot, Running
from arena_server.launch.container import ContainerLauncher
from arena_server.launch.process import ProcessLauncher


@dataclass(frozen=True, slots=True)
class Place:
    """The server that the bots connect to; `contest` is unlike that of any other run of this machine."""

    host: str
    port: int
    contest: str
    logs: Path | None = None


@asynccontextmanager
async def launcher_of(bots: Sequence[LocalBot], place: Place) -> AsyncIterator[Launcher]:
    """Open the places that `bots` need. Raises LaunchError without an engine for those with a sandbox."""
    processes = ProcessLauncher(place.host, place.port, place.logs)
    if all(bot.sandbox is None for bot in bots):
        yield processes
        return
    async with ContainerLauncher(place.host, place.port, place.contest, place.logs) as containers:
        yield _Places(processes, containers)


class _Places:
    """Starts each bot in its place (`base.Launcher`)."""

    def __init__(self, processes: ProcessLauncher, containers: ContainerLauncher) -> None:
        self._processes = processes
        self._containers = containers

    async def start(self, bot: LocalBot) -> Running:
        return await (self._processes if bot.sandbox is None else self._containers).start(bot)
