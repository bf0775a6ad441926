"""Where each bot of a contest runs: as a process, in a container, or where a plug-in starts it.

A package adds a place by an entry point of `arena.launchers`, a function that opens it:

    @asynccontextmanager
    async def elsewhere(place: Place) -> AsyncIterator[Launcher]: ...

A `[[bot]]` with `launcher = "elsewhere"` is started there. What its `command` means is the launcher's own.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from arena_protocol.plugins import Plugins
from arena_server.places.base import Launcher, LocalBot, Running
from arena_server.places.docker_launcher import ContainerLauncher
from arena_server.places.process import Fork, ProcessLauncher
from arena_server.places.sweeper import Sweeper


@dataclass(frozen=True, slots=True)
class Place:
    """The server that the bots connect to; `contest` is unlike that of any other run of this machine."""

    host: str
    port: int
    contest: str
    #: The folder for the output of each bot; None: it is not kept.
    logs: Path | None = None
    fork: Fork | None = None
    #: Whether it is measured what processes got of the processor: 2 ms for a game.
    measures: bool = False


Opener = Callable[[Place], AbstractAsyncContextManager[Launcher]]


def _opener(_: str, found: object) -> Opener:
    if not callable(found):
        raise TypeError(f"{found!r:.80} is no function")
    return found


#: The launchers of installed packages, by the names that a `[[bot]]` has.
LAUNCHERS: Final[Plugins[Opener]] = Plugins("arena.launchers", {}, _opener)


@asynccontextmanager
async def launcher_of(bots: Sequence[LocalBot], place: Place) -> AsyncIterator[Launcher]:
    """Open the places that `bots` need.

    Raises LaunchError without an engine for those with a sandbox, and PluginError.
    """
    async with AsyncExitStack() as stack:
        sweeper = await stack.enter_async_context(Sweeper())
        places: dict[str, Launcher] = {
            "": ProcessLauncher(place.host, place.port, place.logs, place.fork, sweeper, place.measures),
        }
        for name in sorted({bot.launcher for bot in bots if bot.launcher}):
            places[name] = await stack.enter_async_context(LAUNCHERS[name](place))
        containers = None
        if any(bot.sandbox is not None for bot in bots):
            containers = await stack.enter_async_context(
                ContainerLauncher(place.host, place.port, place.contest, place.logs)
            )
        yield _Places(places, containers)


class _Places:
    """Starts each bot in its place (`base.Launcher`)."""

    def __init__(self, places: Mapping[str, Launcher], containers: ContainerLauncher | None) -> None:
        self._places = places
        self._containers = containers

    async def start(self, bot: LocalBot) -> Running:
        if bot.sandbox is None:
            return await self._places[bot.launcher].start(bot)
        assert self._containers is not None, "it was opened for this bot"
        return await self._containers.start(bot)
