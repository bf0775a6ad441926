r"""Network faults between any client and any server: delay, jitter, split and joined segments, resets.

`FaultPlan` decides, without I/O, when which bytes of one direction of one connection are passed on:

    bytes in        |TURN 1 clock=20000,20000 lag=0 credit=0\n|
    split           |TURN 1 clo|ck=20000,2|0000 lag=0 cr|...      at drawn places of the stream
    join            all that falls due within a window goes at its end, as one piece where nothing cuts it
    delay, jitter   each piece is due DELAY plus a drawn part of JITTER after it came, never out of order

All draws are made from the seed, the number of the connection and the direction; cuts are drawn by the place
in the stream, so the same lines are cut at the same places, however the network groups them. `Proxy` is the
asyncio shell around it. Bytes are passed on unread, so TLS goes through as well.
"""

from __future__ import annotations

import asyncio
import random
import socket
import struct
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from time import monotonic_ns

#: A piece between two cuts has up to this many bytes: a line is cut once or several times.
PIECE_BYTES = 32
#: Pieces go this far apart, so that a reader sees them apart.
GAP_NS = 1_000_000
#: What falls due in one window goes together.
WINDOW_NS = 20_000_000
#: Bytes that are read at once, and pieces of one direction that may be under way: then no more are read.
CHUNK_BYTES = 4096
UNDER_WAY = 1024
CONNECT_S = 10.0

_MS = 1_000_000
#: SO_LINGER on with no time: close() sends RST instead of FIN.
_RESET = struct.pack("ii", 1, 0)


@dataclass(frozen=True, slots=True)
class Faults:
    """What goes wrong. Times in milliseconds; `reset_after_ms` None resets no connection."""

    delay_ms: int = 0
    jitter_ms: int = 0
    split: bool = False
    join: bool = False
    reset_after_ms: int | None = None
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Piece:
    """Bytes to be passed on in one segment at a time in nanoseconds."""

    at: int
    data: bytes


class FaultPlan:
    """When the bytes of one direction of a connection are passed on.

    `feed` gives the pieces of what has come; all of them together are the same bytes in the same order, and
    no piece is due before an earlier one.
    """

    def __init__(self, faults: Faults, connection: int, direction: str) -> None:
        self._faults = faults
        self._random = random.Random(f"{faults.seed}:{connection}:{direction}")  # noqa: S311 - no secret
        self._left = 0
        self._lag = 0
        self._last = 0

    def feed(self, data: bytes, now: int) -> list[Piece]:
        """Return the pieces of `data`, which came at `now` (nanoseconds)."""
        pieces: list[Piece] = []
        while data:
            begins = self._left == 0
            if begins:
                self._draw()
            head, data = (data[: self._left], data[self._left :]) if self._faults.split else (data, b"")
            self._left = self._left - len(head) if self._faults.split else 0
            self._add(pieces, Piece(self._due(now, apart=begins), head))
        return pieces

    def _draw(self) -> None:
        """Begin a piece: how long it is, and what is added to its delay."""
        self._left = self._random.randint(1, PIECE_BYTES)
        self._lag = self._random.randint(0, self._faults.jitter_ms * _MS)

    def _due(self, now: int, *, apart: bool) -> int:
        due = now + self._faults.delay_ms * _MS + self._lag
        if self._faults.join:
            due += -due % WINDOW_NS
        gap = GAP_NS if apart and self._faults.split else 0
        # A stream has an order: a piece with less jitter waits for the one before it.
        self._last = max(due, self._last + gap)
        return self._last

    def _add(self, pieces: list[Piece], piece: Piece) -> None:
        # What is due at the same moment goes in one segment.
        if pieces and pieces[-1].at == piece.at:
            piece = Piece(piece.at, pieces.pop().data + piece.data)
        pieces.append(piece)


class Proxy:
    """Passes connections on to `target`, a host and a port, with these faults.

    `report` gets one line for each connection when it ends.
    """

    def __init__(self, target: tuple[str, int], faults: Faults, report: Callable[[str], None]) -> None:
        self._target = target
        self._faults = faults
        self._report = report
        self._numbers = count(1)
        self._tasks: set[asyncio.Task[None]] = set()

    async def serve(self, listener: socket.socket) -> None:
        """Accept connections until cancelled, which cuts all of them."""
        listener.setblocking(False)
        loop = asyncio.get_running_loop()
        try:
            while True:
                client = (await loop.sock_accept(listener))[0]
                task = asyncio.create_task(self._pass_on(client, next(self._numbers)))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
        finally:
            for task in tuple(self._tasks):
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _pass_on(self, client: socket.socket, number: int) -> None:
        """Pass one connection on to its end."""
        host, port = self._target
        with client:
            try:
                # In a thread: a slow resolver would hold up the other connections.
                server = await asyncio.to_thread(socket.create_connection, self._target, CONNECT_S)
            except OSError as error:
                self._report(f"connection {number}: cannot reach {host}:{port}: {error.strerror or error}")
                return
            with server:
                passed = {"to the server": 0, "back": 0}
                end = await self._relay(client, server, number, passed)
                sizes = ", ".join(f"{size} bytes {way}" for way, size in passed.items())
                self._report(f"connection {number}: {end}, {sizes}")

    async def _relay(
        self, client: socket.socket, server: socket.socket, number: int, passed: dict[str, int]
    ) -> str:
        """Pass both directions on until both have ended; return how that came about."""
        after = self._faults.reset_after_ms
        try:
            async with asyncio.timeout(None if after is None else after / 1000), asyncio.TaskGroup() as group:
                for source, sink, way in ((client, server, "to the server"), (server, client, "back")):
                    source.setblocking(False)
                    source.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    queue: asyncio.Queue[Piece | None] = asyncio.Queue(UNDER_WAY)
                    plan = FaultPlan(self._faults, number, way)
                    group.create_task(_read(source, plan, queue))
                    group.create_task(_write(sink, queue, way, passed))
        except TimeoutError:
            end = "reset by the proxy"
        except ExceptionGroup as broken:
            # Any other error is a fault of the proxy's own.
            if broken.split(OSError)[1] is not None:
                raise
            end = "broken by a peer"
        else:
            return "closed"
        # Both ends see a reset, as of a network that has lost the connection.
        for sock in (client, server):
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        return end


async def _read(source: socket.socket, plan: FaultPlan, queue: asyncio.Queue[Piece | None]) -> None:
    """Plan what comes up to the end. Raises OSError if the connection breaks."""
    loop = asyncio.get_running_loop()
    while data := await loop.sock_recv(source, CHUNK_BYTES):
        for piece in plan.feed(data, monotonic_ns()):
            await queue.put(piece)
    await queue.put(None)


async def _write(
    sink: socket.socket, queue: asyncio.Queue[Piece | None], way: str, passed: dict[str, int]
) -> None:
    """Send each piece when it is due, then end this direction. Raises OSError if the connection breaks."""
    loop = asyncio.get_running_loop()
    while (piece := await queue.get()) is not None:
        wait = piece.at - monotonic_ns()
        if wait > 0:
            await asyncio.sleep(wait / 1_000_000_000)
        await loop.sock_sendall(sink, piece.data)
        passed[way] += len(piece.data)
    sink.shutdown(socket.SHUT_WR)
