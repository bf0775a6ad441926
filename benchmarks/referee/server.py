"""The measured process of `arena bench referee`: the server, or a bare echo on the same transport.

Each prints `listening on HOST:PORT`, and after the measurement a `Figures` as one line of JSON.
The measurement begins when the whole load is connected, so it contains nothing of the start.
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

#: The interval of the check whether the load is complete.
CHECK_S = 0.05
#: One pair needs enough games for the whole run; many bots have enough opponents.
GAMES_OF_TWO = 100_000
#: The limit for the load to be complete.
CONNECT_S = 120.0


@dataclass(frozen=True, slots=True)
class Figures:
    """One measurement: lines handled, seconds, microseconds of CPU per line and of the spans."""

    lines: int
    seconds: float
    cpu_us: float
    p50_us: float | None = None
    p99_us: float | None = None

    @property
    def rate(self) -> float:
        """Lines per second."""
        return self.lines / self.seconds


class Window:
    """Counts lines and collects spans during the measurement."""

    def __init__(self) -> None:
        self.spans = array("q")
        self.lines = 0
        self._open = False

    def span(self, nanoseconds: int) -> None:
        """Count a line that led to a TURN, and the time it took."""
        if self._open:
            self.lines += 1
            self.spans.append(nanoseconds)

    def count(self) -> None:
        """Count a line."""
        self.lines += self._open

    async def measure(self, ready: Callable[[], bool], seconds: float) -> Figures:
        """Measure for `seconds` once `ready` is true. Raises TimeoutError if it never becomes true."""
        async with asyncio.timeout(CONNECT_S):
            while not ready():
                await asyncio.sleep(CHECK_S)
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
    """Run the `referee` for simultaneous games, or the `echo` for as many connections."""
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

        async def watch(contest: Contest) -> Figures:
            try:
                return await window.measure(lambda: contest.progress().running >= games, seconds)
            finally:
                service.stop("measured")

        def begin(contest: Contest, host: Host) -> None:
            host.probe = window.span
            measuring.append(asyncio.ensure_future(watch(contest)))

        service.on_start = begin
        await service.run()
        writer.close()
        return await measuring[0]


class _Echo:
    """Sends every line back: the cost of the transport alone."""

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
        """The load sends no long lines."""

    def handed(self, number: int, turn: Turn) -> None:
        """The echo sends no TURN."""

    def lost(self, number: int, reason: str) -> None:
        """The load may close at any time."""

    def released(self, number: int) -> None:
        """The echo keeps nothing of a connection."""


async def _echo(connections: int, seconds: float) -> Figures:
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
    figures = await window.measure(lambda: len(echo.connections) >= connections, seconds)
    listener.close()
    for connection in echo.connections.values():
        connection.abort()
    return figures
