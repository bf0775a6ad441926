"""The course of a tournament: server, bots, the end of them all.

    start the server -> it says where it listens -> start the bots -> pass its reports on
    -> it ends after the last game -> the bots leave -> nothing is left running

It must not know: engines, how progress is shown.
"""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from arena_server.errors import MISUSED, ArenaError, ConfigError
from arena_server.tournament.bots import Keeper, LocalBot
from arena_server.tournament.child import Child

#: What the server may take to say that it listens.
START_S = 60.0
#: What it may take to end in good order once asked to: its own limits, and a little more.
STOP_S = 40.0

#: How a server ends that is told to before it could listen.
EARLY_ENDS = (0, 128 + signal.SIGINT, -signal.SIGINT, -signal.SIGTERM)

LISTENING = "listening on "
#: No bot can be called so: a name has no blank.
SERVER_LOG = "the server.log"


class Audience(Protocol):
    """Who looks on."""

    def report(self, progress: dict[str, Any]) -> None:
        """How far the contest is."""

    def say(self, line: str) -> None:
        """Something a person should know."""


@dataclass(frozen=True, slots=True)
class Tournament:
    """What is to be run: the server's command line and environment, and the bots."""

    server: Sequence[str]
    environment: dict[str, str]
    bots: Sequence[LocalBot]
    #: A folder for what server and bots say on stdout and stderr; without it only their last words are kept.
    logs: Path | None = None


async def run(tournament: Tournament, audience: Audience) -> bool:
    """Run it to its end. Returns False if a signal (SIGINT, SIGTERM) ended it early.

    Raises ArenaError, with the server's own last line and status, if the server failed. Whatever
    happens, no process is left behind.
    """
    loop = asyncio.get_running_loop()
    interrupted = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, interrupted.set)
    # The server's stdin is its lifeline: if we die, it sees the end of it and stops by itself.
    server = await Child.start(
        tournament.server,
        tournament.environment,
        stdin=asyncio.subprocess.PIPE,
        split=True,
        log=None if tournament.logs is None else tournament.logs / SERVER_LOG,
    )
    try:
        serving = asyncio.ensure_future(_attend(server, tournament, audience))
        stopping = asyncio.ensure_future(interrupted.wait())
        await asyncio.wait([serving, stopping], return_when=asyncio.FIRST_COMPLETED)
        if not serving.done():
            audience.say("stopping: running games are void, results so far are kept")
            server.ask_to_end()
            await asyncio.wait([serving], timeout=STOP_S)
        stopping.cancel()
        if not serving.done():
            serving.cancel()
            raise ArenaError(f"the server did not stop within {STOP_S:.0f} s and was killed")
        try:
            await serving
        except ArenaError:
            if not interrupted.is_set() or await server.wait() not in EARLY_ENDS:
                raise
        return not interrupted.is_set()
    finally:
        await server.end()


async def _attend(server: Child, tournament: Tournament, audience: Audience) -> None:
    """Start the bots once the server listens, and pass on what it reports, to its end."""
    host, port = await _address(server)
    keepers = [Keeper(bot, host, port, tournament.logs, audience.say) for bot in tournament.bots]
    keeping = [asyncio.ensure_future(keeper.keep()) for keeper in keepers]
    try:
        async for line in _lines(server):
            with suppress(ValueError):
                audience.report(json.loads(line))
        status = await server.wait()
        for keeper in keepers:
            keeper.contest_over()
        await asyncio.gather(*keeping)
    finally:
        for task in keeping:
            task.cancel()
        await asyncio.gather(*keeping, return_exceptions=True)
    if status:
        raise _failed(server, status)


async def _address(server: Child) -> tuple[str, int]:
    try:
        async with asyncio.timeout(START_S):
            async for line in _lines(server):
                if line.startswith(LISTENING):
                    host, _, port = line.removeprefix(LISTENING).rpartition(":")
                    return _reachable(host.strip("[]")), int(port)
    except TimeoutError:
        raise ArenaError(f"the server did not listen within {START_S:.0f} s") from None
    raise _failed(server, await server.wait())


def _reachable(host: str) -> str:
    """Where a bot on this machine reaches a server that listens on `host`."""
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - read, not bound


def _failed(server: Child, status: int) -> ArenaError:
    last = [line.removeprefix("arena: ") for line in server.last_lines(1)]
    kind = ConfigError if status == MISUSED else ArenaError
    return kind(last[0] if last else f"the server ended with status {status}")


async def _lines(server: Child) -> Any:
    stream = server.process.stdout
    assert stream is not None
    while line := await stream.readline():
        yield line.decode("utf-8", "replace").rstrip("\n")
