"""The run of a tournament: one server process and one process per local bot.

start the server -> read its address -> start the bots -> pass its reports to the listener
-> the server ends after the last game -> the bots end -> no process is left
"""

from __future__ import annotations

import asyncio
import errno
import json
import os
import re
import signal
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain, repeat
from pathlib import Path
from typing import Any, TypeVar

from arena_server.errors import MISUSED, ArenaError, ConfigError
from arena_server.sockets import local_host, parse_address
from arena_server.tournament.process import Child

#: Seconds before each restart of a bot that ended; the last one repeats.
RESTARTS_S = (0.5, 1.0, 2.0, 4.0, 8.0)
#: Seconds for the report of a log-in to arrive.
REPORT_S = 1.5
#: Seconds for a bot to end after the server's BYE.
LEAVE_S = 2.0
#: How many of a crashed bot's last lines are shown if it left no traceback.
LAST_LINES = 5
#: How many causes of crashes of a bot are remembered.
MOST_CAUSES = 16

#: What a bot inherits of this process's environment. Everything else may be a secret of the
#: organiser, such as ARENA_ADMIN_TOKEN or a password of the database.
INHERITED = ("PATH", "HOME", "LANG", "TMPDIR", "XDG_CACHE_HOME", "ARENA_DEBUG")

#: Seconds for the server to listen.
START_S = 60.0
#: Seconds for the server to end after SIGTERM; its own limits add up to less.
STOP_S = 40.0
#: Exit statuses of a server that gets SIGTERM or SIGINT before it listens.
EARLY_ENDS = (0, 128 + signal.SIGINT, -signal.SIGINT, -signal.SIGTERM)

Cause = tuple[object, ...]
T = TypeVar("T")

_ADDRESS = re.compile(r"0x[0-9a-fA-F]+")
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

    def page_kept(self) -> None:
        """The contest is over; the server stays for its page until the run is interrupted."""

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
        """Return its whole environment: what it inherits of `own`, the server's address, name and token."""
        return inherited(own) | {
            "ARENA_HOST": host,
            "ARENA_PORT": str(port),
            "ARENA_NAME": self.name,
            "ARENA_TOKEN": self.token,
            **({"ARENA_SLOT": str(self.slot)} if self.slot > 1 else {}),
        }


def inherited(own: Mapping[str, str]) -> dict[str, str]:
    """What a process that needs no secret of ours inherits of our environment `own`."""
    return {name: own[name] for name in INHERITED if name in own}


def _replace(word: str, values: dict[str, str]) -> str:
    for key, value in values.items():
        word = word.replace(key, value)
    return word


@dataclass(frozen=True, slots=True)
class Tournament:
    """The server's command line and whole environment, and the bots.

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
    error: str = ""
    trace: Sequence[str] = ()
    lines: Sequence[str] = ()

    @property
    def cause(self) -> Cause:
        """Equal for equal crashes, wherever their objects lie in memory."""
        return self.status, *(_ADDRESS.sub("0x0", line) for line in self.trace or [self.error])

    def __str__(self) -> str:
        if self.status is None:
            return "before it began"
        return f"with status {self.status}" if self.status >= 0 else f"by signal {-self.status}"


class GameQuestions:
    """Asks the server about the games of bots: `write` sends it a line, `answered` takes its answer."""

    def __init__(self, write: Callable[[bytes], None]) -> None:
        self._write = write
        self._answers: dict[tuple[str, int], asyncio.Future[str | None]] = {}

    async def game_of(self, bot: LocalBot) -> str | None:
        """Return the game that `bot` plays, None between two games."""
        return await self._ask({"crashed": bot.name, "slot": bot.slot}, bot)

    async def abandon(self, bot: LocalBot, game: str) -> None:
        """Have the referee play for `bot` in its game, and wait for the end of the game."""
        await self._ask({"abandoned": bot.name, "slot": bot.slot, "game": game}, bot)

    async def _ask(self, question: dict[str, Any], bot: LocalBot) -> str | None:
        answer: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()
        self._answers[bot.name, bot.slot] = answer
        self._write(json.dumps(question).encode() + b"\n")
        return await answer

    def answered(self, name: str, slot: int, game: str | None) -> None:
        """The answer to the last question about a bot has come."""
        if (answer := self._answers.pop((name, slot), None)) is not None and not answer.done():
            answer.set_result(game)


@dataclass
class RestartingBot:
    """Runs one bot, and starts it again when it ends before the contest does.

    `logged_in` has to be set after its first log-in: a process that ends without one is not started again.
    After two equal crashes in one game it is started again when that game is over.
    """

    bot: LocalBot
    host: str
    port: int
    logs: Path | None
    say: Callable[[str], None]
    games: GameQuestions
    logged_in: asyncio.Event = field(default_factory=asyncio.Event)
    _over: asyncio.Event = field(default_factory=asyncio.Event)
    #: The causes of the last crashes, whose traces have been printed.
    _printed: deque[Cause] = field(default_factory=lambda: deque(maxlen=MOST_CAUSES))

    async def run(self) -> None:
        """Keep the bot running until `contest_over`. Raises BotError if it ended without a log-in."""
        waits, last = chain(RESTARTS_S, repeat(RESTARTS_S[-1])), None
        while True:
            ended = await self._run_once()
            if self._over.is_set():
                break
            game = await self._before_the_end(self._game())
            if game is not None and last == (game, ended.cause):
                self._complain(f"ended {ended} again; starting it again when {game} is over", ended)
                waits, last = chain(RESTARTS_S, repeat(RESTARTS_S[-1])), None
                await self._before_the_end(self.games.abandon(self.bot, game))
                await self._before_the_end(asyncio.sleep(next(waits)))
                if self._over.is_set():
                    return
                continue
            last = game, ended.cause
            # The bots get BYE just before the end of the server is seen here.
            await self._before_the_end(asyncio.sleep(next(waits)))
            if self._over.is_set():
                break
            if not await self._has_logged_in():
                what = ended.error or f"it ended {ended} before it logged in"
                raise BotError(f"bot {self.bot.label} cannot start: {what}")
            self._complain(f"ended {ended}; starting it again", ended)
        if ended.status:
            # The crash may be why the contest ended, so its author needs the output.
            self._complain(f"ended {ended}", ended)

    async def _game(self) -> str | None:
        """The game that its process left; None between two games."""
        with suppress(TimeoutError):
            return await asyncio.wait_for(self.games.game_of(self.bot), REPORT_S)
        return None

    async def _before_the_end(self, work: Coroutine[Any, Any, T]) -> T | None:
        """Return the result of `work`, None if the contest ends before."""
        working, over = asyncio.ensure_future(work), asyncio.ensure_future(self._over.wait())
        try:
            await asyncio.wait([working, over], return_when=asyncio.FIRST_COMPLETED)
            return working.result() if working.done() else None
        finally:
            working.cancel()
            over.cancel()

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
            return _Ended(None, why_not_started(command[0], error))
        try:
            await self._wait(child)
            status = child.process.returncode
            return _Ended(status, child.last_error(), child.trace(), child.last_lines(LAST_LINES))
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

    def _complain(self, what: str, ended: _Ended) -> None:
        """Say that the process ended; the cause is printed with its first crash only."""
        self.say(f"bot {self.bot.label} {what}")
        if ended.cause not in self._printed:
            self._printed.append(ended.cause)
            for line in ended.trace or ended.lines:
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

    A server that keeps its page after the contest serves it until `interrupted` is set.

    Raises ArenaError, with the server's last line and exit status, if the server failed, and
    BotError if a bot cannot start. No process is left, whatever happens.
    """
    # If this process is killed, the server reads the end of its stdin and stops.
    server = await Child.start(
        tournament.server,
        tournament.environment,
        stdin=asyncio.subprocess.PIPE,
        split=True,
        log=None if tournament.logs is None else tournament.logs / SERVER_LOG,
    )
    try:
        over = asyncio.Event()
        serving = asyncio.ensure_future(_supervise(server, tournament, listener, over))
        stopping = asyncio.ensure_future(interrupted.wait())
        await asyncio.wait([serving, stopping], return_when=asyncio.FIRST_COMPLETED)
        if not serving.done():
            if not over.is_set():
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
        return over.is_set() or not interrupted.is_set()
    finally:
        await server.end()


async def _supervise(
    server: Child, tournament: Tournament, listener: ProgressListener, over: asyncio.Event
) -> None:
    """Start the bots when the server listens, and pass on its reports until it ends.

    `over` is set when the contest is over and the server stays.

    Raises BotError, when the server has stopped, for a bot that cannot start.
    """
    address = await _address(server)
    listener.listening(address)
    host, port = parse_address(address, "the server")
    assert server.process.stdin is not None
    games = GameQuestions(server.process.stdin.write)
    bots = {
        (bot.name, bot.slot): RestartingBot(bot, local_host(host), port, tournament.logs, listener.say, games)
        for bot in tournament.bots
    }
    running = [asyncio.ensure_future(bot.run()) for bot in bots.values()]
    reading = asyncio.ensure_future(_pass_reports(server, bots, games, listener, over))
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
    server: Child,
    bots: Mapping[tuple[str, int], RestartingBot],
    games: GameQuestions,
    listener: ProgressListener,
    over: asyncio.Event,
) -> int:
    """Pass the server's reports to the listener and the bots until it ends; return its exit status."""
    async for line in _lines(server):
        with suppress(ValueError):
            match json.loads(line):
                case {"login": str(name), "slot": int(slot)} if (name, slot) in bots:
                    bots[name, slot].logged_in.set()
                case {"crashed": str(name), "slot": int(slot), "game": str() | None as game}:
                    games.answered(name, slot, game)
                case {"over": str(name), "slot": int(slot)}:
                    games.answered(name, slot, None)
                case {"result": result}:
                    listener.result(result)
                case {"play": seat, "url": url}:
                    listener.play_link(seat, url)
                case {"web": url}:
                    listener.web(url)
                case {"page": "kept"}:
                    over.set()
                    for bot in bots.values():
                        bot.contest_over()
                    listener.page_kept()
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


def _failure(server: Child, status: int) -> ArenaError:
    last = [line.removeprefix("arena: ") for line in server.last_lines(1)]
    kind = ConfigError if status == MISUSED else ArenaError
    return kind(last[0] if last else f"the server ended with status {status}")


async def _lines(server: Child) -> AsyncIterator[str]:
    stream = server.process.stdout
    assert stream is not None
    while line := await stream.readline():
        yield line.decode("utf-8", "replace").rstrip("\n")
