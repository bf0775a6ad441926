"""The run of a tournament: one server process and one process per local bot.

start the server -> read its address -> start the bots -> pass its reports to the listener
-> the server ends after the last game -> the bots end -> no process is left
"""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from arena_server.errors import MISUSED, ArenaError, ConfigError
from arena_server.sockets import parse_address
from arena_server.tournament.process import Child

#: Seconds before each restart of a bot that ended; after the last its games are played without it.
RESTARTS_S = (0.5, 1.0, 2.0, 4.0)
#: Seconds for a bot to end after the server's BYE.
LEAVE_S = 2.0
#: How many of a crashed bot's last lines are shown.
LAST_LINES = 5

#: Seconds for the server to listen.
START_S = 60.0
#: Seconds for the server to end after SIGTERM; its own limits add up to less.
STOP_S = 40.0
#: Exit statuses of a server that gets SIGTERM or SIGINT before it listens.
EARLY_ENDS = (0, 128 + signal.SIGINT, -signal.SIGINT, -signal.SIGTERM)

LISTENING = "listening on "
#: The log file of the server; no bot's log has this name, because a bot's name has no blank.
SERVER_LOG = "the server.log"


class ProgressListener(Protocol):
    """What shows the run to a person."""

    def report(self, progress: dict[str, Any]) -> None:
        """Take a report of the server: the fields of `core.standings.Progress`."""

    def say(self, line: str) -> None:
        """Take a message for a person."""


@dataclass(frozen=True, slots=True)
class LocalBot:
    """A bot that the tournament starts; {host} {port} {name} {token} in `command` are replaced."""

    name: str
    command: Sequence[str]
    token: str

    def command_line(self, host: str, port: int) -> list[str]:
        """Return `command` with the values filled in."""
        values = {"{host}": host, "{port}": str(port), "{name}": self.name, "{token}": self.token}
        return [_replace(word, values) for word in self.command]

    def environment(self, host: str, port: int) -> dict[str, str]:
        """Return the variables that tell the bot where and as whom to log in."""
        return {
            "ARENA_HOST": host,
            "ARENA_PORT": str(port),
            "ARENA_NAME": self.name,
            "ARENA_TOKEN": self.token,
        }


def _replace(word: str, values: dict[str, str]) -> str:
    for key, value in values.items():
        word = word.replace(key, value)
    return word


@dataclass(frozen=True, slots=True)
class Tournament:
    """The server's command line and additional environment, and the bots.

    With a folder `logs` the output of every process goes to a file there.
    """

    server: Sequence[str]
    environment: dict[str, str]
    bots: Sequence[LocalBot]
    logs: Path | None = None


@dataclass
class RestartingBot:
    """Runs one bot, and starts it again when it ends before the contest does."""

    bot: LocalBot
    host: str
    port: int
    logs: Path | None
    say: Callable[[str], None]
    _over: asyncio.Event = field(default_factory=asyncio.Event)

    async def run(self) -> None:
        """Keep the bot running until `contest_over`, or until no restart is left."""
        for wait in (*RESTARTS_S, None):
            status, last_lines = await self._run_once()
            if self._over.is_set() or wait is None:
                break
            # The bots get BYE just before the end of the server is seen here.
            try:
                await asyncio.wait_for(self._over.wait(), wait)
            except TimeoutError:
                self._complain(f"ended {_how(status)}; starting it again", last_lines)
            else:
                break
        if not self._over.is_set():
            self._complain("has ended too often; its games go on without it", last_lines)
        elif status:
            # The crash may be why the contest ended, so its author needs the output.
            self._complain(f"ended {_how(status)}", last_lines)

    def contest_over(self) -> None:
        """Let the bot end; it is not started again."""
        self._over.set()

    async def _run_once(self) -> tuple[int | None, list[str]]:
        log = None if self.logs is None else self.logs / f"{self.bot.name}.log"
        try:
            child = await Child.start(
                self.bot.command_line(self.host, self.port),
                self.bot.environment(self.host, self.port),
                log=log,
            )
        except OSError as error:
            return None, [str(error)]
        try:
            await self._wait(child)
            return child.process.returncode, child.last_lines(LAST_LINES)
        finally:
            await child.end()

    async def _wait(self, child: Child) -> None:
        """Wait for the bot's end, at most `LEAVE_S` after the end of the contest."""
        ended, over = asyncio.ensure_future(child.wait()), asyncio.ensure_future(self._over.wait())
        try:
            await asyncio.wait([ended, over], return_when=asyncio.FIRST_COMPLETED)
            await asyncio.wait([ended], timeout=LEAVE_S)
        finally:
            ended.cancel()
            over.cancel()

    def _complain(self, what: str, last_lines: list[str]) -> None:
        self.say(f"bot {self.bot.name} {what}")
        for line in last_lines:
            self.say(f"  {self.bot.name}: {line}")


def _how(status: int | None) -> str:
    if status is None:
        return "before it began"
    return f"with status {status}" if status >= 0 else f"by signal {-status}"


async def run(tournament: Tournament, listener: ProgressListener) -> bool:
    """Run the tournament. Return False if SIGINT or SIGTERM ended it early.

    Raises ArenaError, with the server's last line and exit status, if the server failed. No
    process is left, whatever happens.
    """
    loop = asyncio.get_running_loop()
    interrupted = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, interrupted.set)
    # If this process is killed, the server reads the end of its stdin and stops.
    server = await Child.start(
        tournament.server,
        tournament.environment,
        stdin=asyncio.subprocess.PIPE,
        split=True,
        log=None if tournament.logs is None else tournament.logs / SERVER_LOG,
    )
    try:
        serving = asyncio.ensure_future(_supervise(server, tournament, listener))
        stopping = asyncio.ensure_future(interrupted.wait())
        await asyncio.wait([serving, stopping], return_when=asyncio.FIRST_COMPLETED)
        if not serving.done():
            listener.say("stopping: running games are void, results so far are kept")
            server.terminate()
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


async def _supervise(server: Child, tournament: Tournament, listener: ProgressListener) -> None:
    """Start the bots when the server listens, and pass on its reports until it ends."""
    host, port = await _address(server)
    bots = [RestartingBot(bot, host, port, tournament.logs, listener.say) for bot in tournament.bots]
    running = [asyncio.ensure_future(bot.run()) for bot in bots]
    try:
        async for line in _lines(server):
            with suppress(ValueError):
                listener.report(json.loads(line))
        status = await server.wait()
        for bot in bots:
            bot.contest_over()
        await asyncio.gather(*running)
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
    if status:
        raise _failure(server, status)


async def _address(server: Child) -> tuple[str, int]:
    """Return host and port from the server's line `listening on HOST:PORT`."""
    try:
        async with asyncio.timeout(START_S):
            async for line in _lines(server):
                if line.startswith(LISTENING):
                    host, port = parse_address(line.removeprefix(LISTENING), "the server")
                    return _reachable(host), port
    except TimeoutError:
        raise ArenaError(f"the server did not listen within {START_S:.0f} s") from None
    raise _failure(server, await server.wait())


def _reachable(host: str) -> str:
    """Return the address by which a process on this machine reaches a server that listens on `host`."""
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - compared, not bound


def _failure(server: Child, status: int) -> ArenaError:
    last = [line.removeprefix("arena: ") for line in server.last_lines(1)]
    kind = ConfigError if status == MISUSED else ArenaError
    return kind(last[0] if last else f"the server ended with status {status}")


async def _lines(server: Child) -> AsyncIterator[str]:
    stream = server.process.stdout
    assert stream is not None
    while line := await stream.readline():
        yield line.decode("utf-8", "replace").rstrip("\n")
