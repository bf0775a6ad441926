"""The measured half of `arena bench referee`: a referee, or a bare echo on the same transport.

Each prints `listening on HOST:PORT`, and after its measurement one line of JSON, a `Figures`.
It measures in a window that opens once the whole load is there, so that nothing of the start
is in it.
"""

from __future__ import annotations

import asyncio
import gc
import json
import socket
import tempfile
import time
from array import array
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from arena_server.connection import Connection, Turn
from arena_server.core.config import ContestPlan, Entrant
from arena_server.core.contest import Contest
from arena_server.driver import Host
from arena_server.listener import Listener, raise_descriptor_limit
from arena_server.logs import LineWriter, Log
from arena_server.server import Service, Setup
from arena_server.sockets import ArrivalClock, address_of, bind

#: How often it is asked whether the load is complete.
LOOK_S = 0.05
#: Two bots alone have to play on and on; of many, everybody against everybody is enough.
GAMES_OF_TWO = 100_000
#: A load that has not come together by then never will.
COME_TOGETHER_S = 120.0


@dataclass(frozen=True, slots=True)
class Figures:
    """What one window showed: lines acted on, seconds, and the microseconds of CPU and of spans."""

    lines: int
    seconds: float
    cpu_us: float
    p50_us: float | None = None
    p99_us: float | None = None

    @property
    def rate(self) -> float:
        """Lines a second."""
        return self.lines / self.seconds


class Window:
    """Counts and times between its opening and its end; `count` is called once a line."""

    def __init__(self) -> None:
        self.spans = array("q")
        self.lines = 0
        self._open = False

    def span(self, nanoseconds: int) -> None:
        """A line that led to a TURN, and what it took."""
        if self._open:
            self.lines += 1
            self.spans.append(nanoseconds)

    def count(self) -> None:
        """A line."""
        self.lines += self._open

    async def measure(self, ready: Callable[[], bool], seconds: float) -> Figures:
        """Wait for the load, then look on for so long. Raises TimeoutError if the load never comes."""
        async with asyncio.timeout(COME_TOGETHER_S):
            while not ready():
                await asyncio.sleep(LOOK_S)
        self._open = True
        began, cpu = time.perf_counter(), time.process_time()
        await asyncio.sleep(seconds)
        self._open = False
        took, used = time.perf_counter() - began, time.process_time() - cpu
        spans = sorted(self.spans)
        return Figures(
            lines=self.lines,
            seconds=took,
            cpu_us=used / max(1, self.lines) * 1e6,
            p50_us=spans[len(spans) // 2] / 1000 if spans else None,
            p99_us=spans[len(spans) * 99 // 100] / 1000 if spans else None,
        )


def bench_server(kind: str, games: int, seconds: float) -> None:
    """Run the `referee` or the `echo` for `games` games, or as many talking connections, at once."""
    serve = _referee if kind == "referee" else _echo
    print(json.dumps(asdict(asyncio.run(serve(games, seconds)))), flush=True)


def _listen() -> socket.socket:
    sock = bind("127.0.0.1", 0)
    print(f"listening on {address_of(sock)}", flush=True)
    return sock


async def _referee(games: int, seconds: float) -> Figures:
    """The whole server: contest, clocks, sockets, and results to a database."""
    window = Window()
    plan = ContestPlan(
        name="bench",
        seed=2006,
        games_per_pair=GAMES_OF_TWO if games == 1 else 2,
        probation=0,
        ready_ms=600_000,
    )
    entrants = [Entrant(f"b{number}") for number in range(2 * games)]
    writer = LineWriter(2)
    with tempfile.TemporaryDirectory() as folder:
        setup = Setup(
            plan=plan, entrants=entrants, database=Path(folder) / "bench.db", max_connections=4 * games + 10
        )
        service = Service(setup, _listen(), Log(writer, "error"))
        measuring: list[asyncio.Future[Figures]] = []

        async def look_on(contest: Contest) -> Figures:
            try:
                return await window.measure(lambda: contest.progress().running >= games, seconds)
            finally:
                service.stop("measured")

        def begin(contest: Contest, host: Host) -> None:
            host.probe = window.span
            measuring.append(asyncio.ensure_future(look_on(contest)))

        service.on_start = begin
        await service.run()
        writer.close()
        return await measuring[0]


class _Echo:
    """Says every line back, and nothing else: what the transport alone costs."""

    def __init__(self, window: Window) -> None:
        self._window = window
        self.connections: dict[int, Connection] = {}
        self._loop = asyncio.get_running_loop()
        self._clock = ArrivalClock()

    def welcome(self, sock: socket.socket, _peer: str) -> None:
        number = len(self.connections)
        connection = Connection(number, sock, self._loop, self._clock, self)
        self.connections[number] = connection
        connection.start()

    def received(self, number: int, line: bytes, arrived: int) -> None:
        self.connections[number].send(line + b"\n")
        self._window.count()

    def overlong(self, number: int, head: bytes, arrived: int) -> None:
        """Nobody sends one here."""

    def handed(self, number: int, turn: Turn) -> None:
        """No line is a TURN here."""

    def lost(self, number: int, reason: str) -> None:
        """The load ends when it likes."""

    def released(self, number: int) -> None:
        """Nothing is kept of it."""


async def _echo(talkers: int, seconds: float) -> Figures:
    raise_descriptor_limit()
    window = Window()
    echo = _Echo(window)
    listener = Listener(
        _listen(),
        asyncio.get_running_loop(),
        has_room=lambda: True,
        welcome=echo.welcome,
        refuse=lambda sock: sock.close(),
        exhausted=lambda error: None,
    )
    listener.start()
    gc.collect()
    gc.freeze()
    figures = await window.measure(lambda: len(echo.connections) >= talkers, seconds)
    listener.close()
    for connection in echo.connections.values():
        connection.abort()
    return figures
