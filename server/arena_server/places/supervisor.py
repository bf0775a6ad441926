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
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from arena_protocol.record import GameRecord
from arena_server.errors import MISUSED, ArenaError, ConfigError
from arena_server.host.interrupts import stop_signals
from arena_server.host.sockets import local_host, parse_address
from arena_server.places.base import ORDERS, Answer, LocalBot
from arena_server.places.launchers import Place, launcher_of
from arena_server.places.process import Child
from arena_server.places.restarts import STOP_S, BotGroup

#: Seconds for the server to listen.
START_S = 60.0
#: Exit statuses of a server that gets a stop signal before it listens.
EARLY_ENDS = (0, 128 + signal.SIGINT, -signal.SIGINT, -signal.SIGTERM)

LISTENING = "listening on "
#: The log file of the server; no bot's log has this name, because no name begins with `_`.
SERVER_LOG = "_server.log"
STOPPING = "stopping: running games are void, results so far are kept"
#: Of a run whose database ends with it.
STOPPING_UNKEPT = "stopping: running games are void"
LEAVING = "stopping: results are kept, and running games go on with --resume"


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

    def voided(self, worker: str) -> None:
        """No result of this worker counts any more."""

    def record(self, record: GameRecord) -> None:
        """Take the record of a game, void or not, before its result."""

    def page_kept(self) -> None:
        """The contest is over; the server stays for its page until the run is interrupted."""

    def say(self, line: str) -> None:
        """Take a message for a person."""


@dataclass(frozen=True, slots=True)
class Tournament:
    """The server's command line and whole environment, and the bots.

    With a folder `logs` the output of every process goes to a file there.
    """

    server: Sequence[str]
    environment: dict[str, str]
    bots: Sequence[LocalBot]
    logs: Path | None = None
    #: Unlike that of any other run of this machine: it marks the containers of the bots.
    place: str = ""


class PipedGames:
    """Asks the server about the games of bots (`base.BotGames`).

    `write` sends it a line, `answered` takes its answer.
    """

    def __init__(self, write: Callable[[bytes], None]) -> None:
        self._write = write
        self._answers: dict[tuple[str, int], asyncio.Future[str | None]] = {}

    async def game_of(self, name: str, slot: int) -> str | None:
        """Return the game that a bot plays in this slot, None between two games."""
        return await self._ask(name, slot, {"crashed": name, "slot": slot})

    async def abandon(self, name: str, slot: int, game: str, exceeded: str) -> None:
        """Have the referee play for a bot in its game, and wait for the end of the game."""
        await self._ask(name, slot, {"abandoned": name, "slot": slot, "game": game, "exceeded": exceeded})

    async def _ask(self, name: str, slot: int, question: dict[str, Any]) -> str | None:
        answer: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()
        self._answers[name, slot] = answer
        self._write(json.dumps(question).encode() + b"\n")
        return await answer

    def answered(self, name: str, slot: int, game: str | None) -> None:
        """The answer to the last question about a bot has come."""
        if (answer := self._answers.pop((name, slot), None)) is not None and not answer.done():
            answer.set_result(game)


def interrupt_event() -> asyncio.Event:
    """Return an event that the stop signals set from now on."""
    loop = asyncio.get_running_loop()
    event = asyncio.Event()
    for number in stop_signals():
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
                listener.say(LEAVING)
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
    games = PipedGames(partial(_tell, server))
    place = Place(local_host(host), port, tournament.place, tournament.logs, measures=True)
    async with launcher_of(tournament.bots, place) as launcher:
        bots = BotGroup(tournament.bots, launcher, games, listener.say)
        reading = asyncio.ensure_future(_pass_reports(server, bots, games, listener, over))
        status = await bots.run_beside(reading, server.terminate)
    if status:
        raise _failure(server, status)


async def _pass_reports(
    server: Child,
    bots: BotGroup,
    games: PipedGames,
    listener: ProgressListener,
    over: asyncio.Event,
) -> int:
    """Pass the server's reports to the listener and the bots until it ends; return its exit status."""
    async for line in _lines(server):
        with suppress(ValueError):
            match json.loads(line):
                case {"login": str(name), "slot": int(slot)}:
                    bots.logged_in(name, slot)
                case {"silent": str(name), "slot": int(slot), "game": str(game)}:
                    bots.silent(name, slot, game)
                case {"crashed": str(name), "slot": int(slot), "game": str() | None as game}:
                    games.answered(name, slot, game)
                case {"over": str(name), "slot": int(slot)}:
                    games.answered(name, slot, None)
                case dict() as order if any(verb in order for verb in ORDERS):
                    bots.obey(order, partial(_write, server))
                case {"result": result}:
                    listener.result(result)
                case {"says": str(line)}:
                    listener.say(line)
                case {"play": seat, "url": url}:
                    listener.play_link(seat, url)
                case {"web": url}:
                    listener.web(url)
                case {"page": "kept"}:
                    over.set()
                    bots.contest_over()
                    listener.page_kept()
                case {"done": _} as progress:
                    if progress.get("ended") is not None:  # bots end by their BYE; none is started again
                        bots.contest_over()
                    listener.report(progress)
    status = await server.wait()
    bots.contest_over()
    return status


def _write(server: Child, answer: Answer) -> None:
    _tell(server, json.dumps(answer).encode() + b"\n")


def _tell(server: Child, line: bytes) -> None:
    """Write a line to a server. One that has ended reads none: asyncio would print a warning for each."""
    stdin = server.process.stdin
    assert stdin is not None
    if not stdin.is_closing():
        stdin.write(line)


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
    if status < 0:  # its last line is one of its log
        killed = f"the server was killed ({signal.Signals(-status).name})"
        return ArenaError(f"{killed}; all results are kept, and --resume continues the contest")
    last = [line.removeprefix("arena: ") for line in server.last_lines(1)]
    kind = ConfigError if status == MISUSED else ArenaError
    return kind(last[0] if last else f"the server ended with status {status}")


async def _lines(server: Child) -> AsyncIterator[str]:
    stream = server.process.stdout
    assert stream is not None
    while line := await stream.readline():
        yield line.decode("utf-8", "replace").rstrip("\n")
