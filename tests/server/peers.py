"""Fakes with a script for tests of the shell: a core that records, peers that are bare sockets."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from typing import Any

from arena_protocol.record import GameRecord
from arena_server.core.effects import Effect, Journal, Marker, Send, SetFrozen, Store, TurnMark
from arena_server.core.events import Event, Flushed, Opened, Received
from arena_server.core.journal import Entry
from arena_server.core.log_events import LogEvent
from arena_server.core.peers import Outbox
from arena_server.host.batches import Run
from arena_server.host.driver import Driver
from arena_server.host.interfaces import Core
from arena_server.host.observers import Errand
from arena_server.host.sockets import address_of, bind

#: Nothing here takes long; a test that hangs ends with an error instead.
PATIENCE_S = 150.0


@dataclass(eq=False)
class Scripted:
    """A core that keeps every event and answers it as `answer` says."""

    answer: Callable[[Event], list[Effect]] = lambda event: []
    alarm: int | None = None
    seen: list[tuple[Event, int]] = field(default_factory=list)
    #: The connections that only read.
    readers: Mapping[int, bytes] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._changed = asyncio.Event()
        self.output = Outbox()

    @property
    def deadlines(self) -> Scripted:
        return self

    def feed(self, event: Event, now: int) -> None:
        self.seen.append((event, now))
        self._changed.set()
        for effect in self.answer(event):
            if isinstance(effect, Journal):
                self.output.entries += effect.entries
            else:
                self.output.effects.append(effect)

    def received(self, conn: int, line: bytes, arrived: int, now: int) -> None:
        self.feed(Received(conn, line, arrived), now)

    def flushed(self, conn: int, marker: Marker, at: int, now: int) -> None:
        self.feed(Flushed(conn, marker, at), now)

    def outlives_input(self, conn: int) -> bytes | None:
        return self.readers.get(conn)

    def take(self) -> list[Effect]:
        out = self.output
        first: list[Effect] = [Journal(out.entries)] if out.entries else []
        effects, out.effects, out.entries = first + out.effects, [], []
        return effects

    @property
    def events(self) -> list[Event]:
        return [event for event, _ in self.seen]

    def count(self, kind: type) -> int:
        return sum(isinstance(event, kind) for event in self.events)

    async def until(self, kind: type, number: int = 1) -> Event:
        """Wait until the `number`-th event of a kind, and return it."""
        async with asyncio.timeout(PATIENCE_S):
            while self.count(kind) < number:
                self._changed.clear()
                await self._changed.wait()
        return [event for event in self.events if isinstance(event, kind)][number - 1]


@dataclass(eq=False)
class ScriptedRouter(Scripted):
    """Passes every connection on to `core`, its Opened too."""

    core: Scripted = field(default_factory=Scripted)
    routes: dict[int, Core] = field(default_factory=dict)

    def feed(self, event: Event, now: int) -> None:
        assert isinstance(event, Opened)
        self.routes[event.conn] = self.core
        self.core.feed(event, now)

    def released(self, conn: int) -> None:
        self.routes.pop(conn, None)


@dataclass
class Recorder:
    """Records what the driver hands over; every append is queued, unless `durable`."""

    durable: bool = False
    stored: list[tuple[str, GameRecord]] = field(default_factory=list)
    recorded_games: list[str] = field(default_factory=list)
    logged: list[LogEvent] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    batches: list[list[Entry]] = field(default_factory=list)
    replies: list[tuple[int, str | None]] = field(default_factory=list)
    crashes: list[Exception] = field(default_factory=list)
    frozen: list[SetFrozen] = field(default_factory=list)
    closed: list[int] = field(default_factory=list)

    def append(self, entries: Sequence[Entry]) -> bool:
        self.batches.append(list(entries))
        return self.durable

    def reply(self, number: int, problem: str | None) -> None:
        self.replies.append((number, problem))

    def store(self, game_id: str, record: GameRecord) -> None:
        self.stored.append((game_id, record))

    def complete(self, store: Store) -> bool:
        return False

    def recorded(self, record: GameRecord) -> None:
        self.recorded_games.append(record.game_id)

    def log(self, event: LogEvent) -> None:
        self.logged.append(event)

    def closing(self, conn: int) -> None:
        self.closed.append(conn)

    def carry_out(self, errand: Errand) -> None:
        assert isinstance(errand, SetFrozen), "a contest without draws and workers"
        self.frozen.append(errand)

    def finished(self, reason: str, ago: int) -> None:
        self.reasons.append(reason)

    def crashed(self, error: Exception) -> None:
        self.crashes.append(error)


class Peer:
    """A client that is nothing but a socket."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self._rest = b""

    async def say(self, data: bytes) -> None:
        await asyncio.get_running_loop().sock_sendall(self.sock, data)

    async def line(self) -> bytes:
        """The next line, without its line end; b"" at the end."""
        while b"\n" not in self._rest:
            async with asyncio.timeout(PATIENCE_S):
                data = await asyncio.get_running_loop().sock_recv(self.sock, 65536)
            if not data:
                rest, self._rest = self._rest, b""
                return rest
            self._rest += data
        line, _, self._rest = self._rest.partition(b"\n")
        return line

    async def everything(self, *, or_reset: bool = False) -> bytes:
        """All up to the end, which may be a reset if `or_reset`."""
        data = bytearray(self._rest)
        with suppress(ConnectionResetError) if or_reset else nullcontext():
            async with asyncio.timeout(PATIENCE_S):
                while chunk := await asyncio.get_running_loop().sock_recv(self.sock, 65536):
                    data += chunk
        return bytes(data)


@dataclass
class RunningDriver:
    """A driver listening on loopback."""

    core: Scripted
    recorder: Recorder
    driver: Driver
    run: Run
    sock: socket.socket

    async def visit(self, receive_buffer: int | None = None) -> Peer:
        """Connect one more peer; it is closed with the house."""
        sock = socket.socket()
        self._peers.append(sock)
        if receive_buffer is not None:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        sock.setblocking(False)
        host, _, port = address_of(self.sock).rpartition(":")
        await asyncio.get_running_loop().sock_connect(sock, (host, int(port)))
        return Peer(sock)

    _peers: list[socket.socket] = field(default_factory=list)


@asynccontextmanager
async def running_driver(
    answer: Callable[[Event], list[Effect]] = lambda event: [], cap: int = 100
) -> AsyncIterator[RunningDriver]:
    """A driver on a free port; everything is closed at the end. The test fails by what it raises."""
    core, recorder, loop = Scripted(answer), Recorder(), asyncio.get_running_loop()
    test, raised = asyncio.current_task(), list[BaseException]()
    assert test is not None

    def fail(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        raised.append(context.get("exception") or RuntimeError(context["message"]))
        test.cancel()

    loop.set_exception_handler(fail)
    driver = Driver(ScriptedRouter(core=core), loop, cap, recorder.log)
    run = Run(core, recorder, recorder)
    driver.add(run)
    core.seen.clear()  # the Tick with which a contest begins
    sock = bind("127.0.0.1", 0)
    listener = driver.pool.listen(sock)
    opened = RunningDriver(core, recorder, driver, run, sock)
    try:
        yield opened
    except asyncio.CancelledError:
        if not raised:
            raise
        test.uncancel()
        raise raised[0] from None
    finally:
        loop.set_exception_handler(None)
        listener.close()
        for peer in opened._peers:
            peer.close()
        driver.pool.close()
        await driver.pool.drained(0)
        driver.stop()


def on(kind: type, effects: Callable[[Event], list[Effect]]) -> Callable[[Event], list[Effect]]:
    """A core that answers one kind of event."""
    return lambda event: effects(event) if isinstance(event, kind) else []


def echo(event: Event) -> list[Effect]:
    """Answer every line with the same line, as a TURN."""
    if isinstance(event, Received):
        return [Send(event.conn, event.line + b"\n", TurnMark(1, 1))]
    return []


async def opened(here: RunningDriver, number: int = 1) -> int:
    """Wait for the `number`-th connection and return its own number."""
    event = await here.core.until(Opened, number)
    assert isinstance(event, Opened)
    return event.conn
