"""The run of a tournament: one server process and one process per local bot.

start the server -> read its address -> start the bots -> pass its reports to the listener
-> the server ends after the last game -> the bots end -> no process is left
"""

from __future__ import annotations

import asyncio
import errno
import json
import os
import signal
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain, repeat
from pathlib import Path
from typing import Any

from arena_server.errors import MISUSED, ArenaError, ConfigError
from arena_server.sockets import parse_address
from arena_server.tournament.process import Child

#: Seconds before each restart of a bot that ended; the last one repeats. A bot that always crashes in
#: one position is then back for the next game, after its clock has run out in this one.
RESTARTS_S = (0.5, 1.0, 2.0, 4.0, 8.0)
#: Seconds for the report of a log-in to arrive.
REPORT_S = 1.5
#: Seconds for a bot to end after the server's BYE.
LEAVE_S = 2.0
#: How many of a crashed bot's last lines are shown.
LAST_LINES = 5

#: What a bot inherits of this process's environment. Everything else may be a secret of the
#: organiser, such as ARENA_ADMIN_TOKEN or a password of the database.
INHERITED = ("PATH", "HOME", "LANG", "TMPDIR", "XDG_CACHE_HOME", "ARENA_DEBUG")

#: Seconds for the server to listen.
START_S = 60.0
#: Seconds for the server to end after SIGTERM; its own limits add up to less.
STOP_S = 40.0
#: Exit statuses of a server that gets SIGTERM or SIGINT before it listens.
EARLY_ENDS = (0, 128 + signal.SIGINT, -signal.SIGINT, -signal.SIGTERM)

LISTENING = "listening on "
#: The log file of the server; no bot's log has this name, because no name begins with `_`.
SERVER_LOG = "_server.log"


class ProgressListener:
    """Base class of what shows a run to a person; every method may be overridden."""

    def listening(self, address: str) -> None:
        """Take HOST:PORT of the server."""

    def web(self, url: str) -> None:
        """Take the address of the web page."""

    def play_link(self, name: str, url: str) -> None:
        """Take the link by which a person plays as `name`."""

    def report(self, progress: dict[str, Any]) -> None:
        """Take a progress report, see `reporter`."""

    def result(self, result: dict[str, Any]) -> None:
        """Take the result of a game, see `reporter`."""

    def say(self, line: str) -> None:
        """Take a message for a person."""


@dataclass(frozen=True, slots=True)
class LocalBot:
    """A process of a bot that the tournament starts.

    {host} {port} {name} {token} {slot} in `command` are replaced. A bot that plays several games at once
    has a process for each, in `slot` 1, 2, ...
    """

    name: str
    command: Sequence[str]
    token: str
    slot: int = 1

    @property
    def label(self) -> str:
        """The name for messages; no bot's name has a blank."""
        return self.name if self.slot == 1 else f"{self.name} slot {self.slot}"

    @property
    def log_name(self) -> str:
        """The name of its log file; no bot's name has a `@`."""
        return f"{self.name}.log" if self.slot == 1 else f"{self.name}@{self.slot}.log"

    def command_line(self, host: str, port: int) -> list[str]:
        """Return `command` with the values filled in."""
        values = {
            "{host}": host,
            "{port}": str(port),
            "{name}": self.name,
            "{token}": self.token,
            "{slot}": str(self.slot),
        }
        return [_replace(word, values) for word in self.command]

    def environment(self, host: str, port: int, own: Mapping[str, str]) -> dict[str, str]:
        """Return its whole environment: `INHERITED` from `own`, the server's address, name and token."""
        return {name: own[name] for name in INHERITED if name in own} | {
            "ARENA_HOST": host,
            "ARENA_PORT": str(port),
            "ARENA_NAME": self.name,
            "ARENA_TOKEN": self.token,
            **({"ARENA_SLOT": str(self.slot)} if self.slot > 1 else {}),
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


class BotError(ArenaError):
    """A bot's program that cannot play."""


@dataclass(frozen=True, slots=True)
class _Ended:
    """How a bot's process ended; `status` is None if it did not start."""

    status: int | None
    lines: list[str]
    error: str

    def __str__(self) -> str:
        if self.status is None:
            return "before it began"
        return f"with status {self.status}" if self.status >= 0 else f"by signal {-self.status}"


@dataclass
class RestartingBot:
    """Runs one bot, and starts it again when it ends before the contest does.

    `logged_in` has to be set after its first log-in: a process that ends without one is not started again.
    """

    bot: LocalBot
    host: str
    port: int
    logs: Path | None
    say: Callable[[str], None]
    logged_in: asyncio.Event = field(default_factory=asyncio.Event)
    _over: asyncio.Event = field(default_factory=asyncio.Event)

    async def run(self) -> None:
        """Keep the bot running until `contest_over`. Raises BotError if it ended without a log-in."""
        for wait in chain(RESTARTS_S, repeat(RESTARTS_S[-1])):
            ended = await self._run_once()
            if self._over.is_set():
                break
            # The bots get BYE just before the end of the server is seen here.
            try:
                await asyncio.wait_for(self._over.wait(), wait)
            except TimeoutError:
                if not await self._has_logged_in():
                    what = ended.error or f"it ended {ended} before it logged in"
                    raise BotError(f"bot {self.bot.label} cannot start: {what}") from None
                self._complain(f"ended {ended}; starting it again", ended.lines)
            else:
                break
        if ended.status:
            # The crash may be why the contest ended, so its author needs the output.
            self._complain(f"ended {ended}", ended.lines)

    async def _has_logged_in(self) -> bool:
        # The server's report of the log-in may arrive after the bot's end.
        with suppress(TimeoutError):
            await asyncio.wait_for(self.logged_in.wait(), REPORT_S)
        return self.logged_in.is_set()

    def contest_over(self) -> None:
        """Let the bot end; it is not started again."""
        self._over.set()

    async def _run_once(self) -> _Ended:
        log = None if self.logs is None else self.logs / self.bot.log_name
        command = self.bot.command_line(self.host, self.port)
        environment = self.bot.environment(self.host, self.port, os.environ)
        try:
            child = await Child.start(command, environment, log=log)
        except OSError as error:
            return _Ended(None, [], why_not_started(command[0], error))
        try:
            await self._wait(child)
            return _Ended(child.process.returncode, child.last_lines(LAST_LINES), child.last_error())
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
        self.say(f"bot {self.bot.label} {what}")
        for line in last_lines:
            self.say(f"  {self.bot.label}: {line}")


def why_not_started(program: str, error: OSError) -> str:
    """Return one line on an executable file that the system does not run."""
    if isinstance(error, FileNotFoundError) and Path(program).exists():
        return f"{program}: the interpreter that its first line names does not exist"
    if error.errno == errno.ENOEXEC:
        return f"{program}: not a program: its first line names no interpreter (#!)"
    return f"{program}: {error.strerror}"


def interrupt_event() -> asyncio.Event:
    """Return an event that SIGINT and SIGTERM set from now on."""
    loop = asyncio.get_running_loop()
    event = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, event.set)
    return event


async def run(tournament: Tournament, listener: ProgressListener, interrupted: asyncio.Event) -> bool:
    """Run the tournament. Return False if `interrupted` was set and ended it early.

    Raises ArenaError, with the server's last line and exit status, if the server failed, and
    BotError if a bot cannot start. No process is left, whatever happens.
    """
    # If this process is killed, the server reads the end of its stdin and stops.
    server = await Child.start(
        tournament.server,
        {**os.environ, **tournament.environment},
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
    """Start the bots when the server listens, and pass on its reports until it ends.

    Raises BotError, when the server has stopped, for a bot that cannot start.
    """
    address = await _address(server)
    listener.listening(address)
    host, port = parse_address(address, "the server")
    bots = {
        (bot.name, bot.slot): RestartingBot(bot, _reachable(host), port, tournament.logs, listener.say)
        for bot in tournament.bots
    }
    running = [asyncio.ensure_future(bot.run()) for bot in bots.values()]
    reading = asyncio.ensure_future(_pass_reports(server, bots, listener))
    try:
        await asyncio.wait([reading, *running], return_when=asyncio.FIRST_EXCEPTION)
        failed = [task.exception() for task in running if task.done()]
        for error in failed:
            if error is not None:
                server.terminate()
                await asyncio.wait([reading], timeout=STOP_S)
                raise error
        status = await reading
    finally:
        for task in (reading, *running):
            task.cancel()
        await asyncio.gather(reading, *running, return_exceptions=True)
    if status:
        raise _failure(server, status)


async def _pass_reports(
    server: Child, bots: Mapping[tuple[str, int], RestartingBot], listener: ProgressListener
) -> int:
    """Pass the server's reports to the listener and the bots until it ends; return its exit status."""
    async for line in _lines(server):
        with suppress(ValueError):
            match json.loads(line):
                case {"login": str(name), "slot": int(slot)} if (name, slot) in bots:
                    bots[name, slot].logged_in.set()
                case {"result": result}:
                    listener.result(result)
                case {"play": seat, "url": url}:
                    listener.play_link(seat, url)
                case {"web": url}:
                    listener.web(url)
                case {"done": _} as progress:
                    listener.report(progress)
    status = await server.wait()
    for bot in bots.values():
        bot.contest_over()
    return status


async def _address(server: Child) -> str:
    """Return HOST:PORT from the server's line `listening on HOST:PORT`."""
    try:
        async with asyncio.timeout(START_S):
            async for line in _lines(server):
                if line.startswith(LISTENING):
                    return line.removeprefix(LISTENING)
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
