"""Keeping the bots of a tournament running. It must not know: engines, the wire, who wins.

The course of a tournament: server, bots, the end of them all.

    start the server -> it says where it listens -> start the bots -> pass its reports on
    -> it ends after the last game -> the bots leave -> nothing is left running

It must not know: engines, how progress is shown.
"""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from arena_server.errors import MISUSED, ArenaError, ConfigError
from arena_server.tournament.process import Child

#: Seconds before each further try to start a bot that ended; then its games go on without it.
RESTARTS_S = (0.5, 1.0, 2.0, 4.0)
#: What a bot may take to leave after the server's BYE.
LEAVE_S = 2.0
#: How many of a crashed bot's last lines are shown.
LAST_LINES = 5


@dataclass(frozen=True, slots=True)
class LocalBot:
    """A bot that the tournament starts; {host} {port} {name} {token} in `command` are filled in."""

    name: str
    command: Sequence[str]
    token: str

    def filled(self, host: str, port: int) -> list[str]:
        """The command line, filled in."""
        values = {"{host}": host, "{port}": str(port), "{name}": self.name, "{token}": self.token}
        return [_fill(word, values) for word in self.command]

    def environment(self, host: str, port: int) -> dict[str, str]:
        """Where the bot finds the contest."""
        return {
            "ARENA_HOST": host,
            "ARENA_PORT": str(port),
            "ARENA_NAME": self.name,
            "ARENA_TOKEN": self.token,
        }


def _fill(word: str, values: dict[str, str]) -> str:
    for key, value in values.items():
        word = word.replace(key, value)
    return word


@dataclass
class Keeper:
    """Starts one bot, and again if it ends before the contest does."""

    bot: LocalBot
    host: str
    port: int
    logs: Path | None
    say: Callable[[str], None]
    _over: asyncio.Event = field(default_factory=asyncio.Event)

    async def keep(self) -> None:
        """Keep the bot running until `contest_over`, or until it has ended too often."""
        for wait in (*RESTARTS_S, None):
            status, last_words = await self._one_life()
            if self._over.is_set() or wait is None:
                break
            # BYE reaches the bots just before the server's own end reaches us.
            try:
                await asyncio.wait_for(self._over.wait(), wait)
            except TimeoutError:
                self._complain(f"ended {_how(status)}; starting it again", last_words)
            else:
                break
        if not self._over.is_set():
            self._complain("has ended too often; its games go on without it", last_words)
        elif status:
            # A crash may be what the contest ended by, and the author wants to know why.
            self._complain(f"ended {_how(status)}", last_words)

    def contest_over(self) -> None:
        """The bot may leave now and is not started again."""
        self._over.set()

    async def _one_life(self) -> tuple[int | None, list[str]]:
        log = None if self.logs is None else self.logs / f"{self.bot.name}.log"
        try:
            child = await Child.start(
                self.bot.filled(self.host, self.port), self.bot.environment(self.host, self.port), log=log
            )
        except OSError as error:
            return None, [str(error)]
        try:
            await self._wait(child)
            return child.process.returncode, child.last_lines(LAST_LINES)
        finally:
            await child.end()

    async def _wait(self, child: Child) -> None:
        """Wait for the bot's end; once the contest is over, not for long."""
        ended, over = asyncio.ensure_future(child.wait()), asyncio.ensure_future(self._over.wait())
        try:
            await asyncio.wait([ended, over], return_when=asyncio.FIRST_COMPLETED)
            await asyncio.wait([ended], timeout=LEAVE_S)
        finally:
            ended.cancel()
            over.cancel()

    def _complain(self, what: str, last_words: list[str]) -> None:
        self.say(f"bot {self.bot.name} {what}")
        for line in last_words:
            self.say(f"  {self.bot.name}: {line}")


def _how(status: int | None) -> str:
    if status is None:
        return "before it began"
    return f"with status {status}" if status >= 0 else f"by signal {-status}"


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
