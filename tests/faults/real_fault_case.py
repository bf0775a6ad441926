"""The fault table over real sockets: the bots of the simulation against a real `arena serve`.

The event queue of the simulation runs on an asyncio loop here, and its network is the system's TCP.
All limits are a tenth of the published ones, and so are the bots' times; only for a dead link they
are the published ones, because the system's own limits apply. Nothing is timed: the case waits for
what happens in the simulation, and then stops the server.
"""

from __future__ import annotations

import asyncio
import ctypes
import json
import signal
import socket
import struct
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import IO

from tests.simulation.bots import Honest
from tests.simulation.client import Client, Connection
from tests.simulation.network import MS, SECOND, EventQueue

from arena_protocol.record_codec import decode
from arena_server.store.reader import Results

from ..server.programs import Server, contest
from ..server.records import shown
from .fault_case import Ann, Bob, Outcome, ordered, outside_games

#: A case in which nothing happens any more ends with an error after this time.
PATIENCE_S = 150.0
CLOCK_MS, READY_MS, LOGIN_MS = 20_000, 30_000, 10_000
#: The case runs this many times as fast as the published limits have it.
TENTH = 10
#: Real time that is charged to no bot: the flag falls this long after the clock stands at 0.
MARGIN_MS = 500
#: READY after slow bytes comes a second before the limit; a busy machine may need longer.
READY_MORE_MS = 1_000

_SO_ATTACH_FILTER = 26
_BPF_RETURN = 0x06


def limits(scale: int) -> str:
    """The configuration, its limits a `scale`-th of the published ones."""
    return contest(
        "ann", "bob", "eve",
        contest=f'login = "{LOGIN_MS // scale}ms"\nready = "{READY_MS // scale + READY_MORE_MS}ms"\n',
        game=f'plies = 6\nstart = "empty"\nclock = "{CLOCK_MS // scale}ms"\nmargin = "{MARGIN_MS}ms"',
    )  # fmt: skip


class RealQueue(EventQueue):
    """The event queue of the simulation on a loop, whose time runs `scale` times as fast here."""

    def __init__(self, loop: asyncio.AbstractEventLoop, scale: int) -> None:
        super().__init__()
        self.loop = loop
        self._scale = scale

    def _clock(self) -> int:
        return int(self.loop.time() * SECOND * self._scale)

    def after(self, delay: int, action: Callable[[], object]) -> None:
        super().after(delay, action)
        self.loop.call_later(delay / SECOND / self._scale, self.catch_up, self.now + delay)

    def catch_up(self, moment: int = 0) -> None:
        """Run what is due, as of `moment` at least; then it is now."""
        now = max(self._clock(), moment)
        while self.next is not None and self.next <= now:
            self.step()
        self.wait_until(now)


class RealLink:
    """A TCP connection of one bot; it stands in for the simulation's Link and ServerSocket."""

    def __init__(
        self, connection: Connection, port: int, queue: RealQueue, changed: Callable[[], object]
    ) -> None:
        self._connection = connection
        self._queue = queue
        self._changed = changed
        self.sock = socket.create_connection(("127.0.0.1", port))
        self.number = self.sock.getsockname()[1]
        self.up = SimpleNamespace(finish=lambda: self.sock.shutdown(socket.SHUT_WR))
        self.sock.setblocking(False)
        queue.loop.add_reader(self.sock, self._readable)

    def _readable(self) -> None:
        self._changed()
        self._queue.catch_up()
        if not self._connection.client.reads:
            self._queue.loop.remove_reader(self.sock)
            return
        try:
            data = self.sock.recv(65536)
        except OSError:
            data = b""
        if data:
            self._connection.arrived(data)
        else:
            self.close()
            self._connection.ended()

    def send(self, data: bytes) -> None:
        with suppress(OSError):  # the server has closed, and the end of the stream is in transit
            assert self.sock.send(data) == len(data)

    def taken(self, number: int) -> None:
        """The system counts itself."""

    def reset(self) -> None:
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close()

    def vanish(self) -> None:
        """From now on our system drops every packet for this socket."""
        nothing = ctypes.create_string_buffer(struct.pack("HBBI", _BPF_RETURN, 0, 0, 0))
        program = struct.pack("HL", 1, ctypes.addressof(nothing))
        self.sock.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, program)
        self._queue.loop.remove_reader(self.sock)

    def close(self) -> None:
        if self.sock.fileno() >= 0:
            self._queue.loop.remove_reader(self.sock)
            self.sock.close()


class TimedBob(Bob):
    """Bob, who notes when each verb came first."""

    def __init__(self, rng: Random, wire: Client) -> None:
        super().__init__(rng, wire)
        self.overs = 0
        self.moments: dict[str, int] = {}

    def received(self, verb: str, tokens: list[str]) -> None:
        self.overs += verb == "OVER"
        self.moments.setdefault(verb, self.wire._queue.now)  # type: ignore[attr-defined]
        super().received(verb, tokens)


def in_time(moment: str) -> dict[str, int]:
    """A bot that comes back after its clock stood at 0 comes too late, also where there is a margin."""
    return {"back": 2 * MARGIN_MS * MS * TENTH} if moment == "at the last millisecond" else {}


def thinking_time(fault: str, moment: str) -> dict[str, int]:
    """The server reads the lines of a flood slowly: bob waits for them before he answers."""
    return {"thinking": 5 * SECOND} if (fault, moment) == ("flood", "other's turn") else {}


class RealOutcome(Outcome):
    """An outcome on a machine with some delay of its own, which is left out."""

    scale: int
    #: Whether the bot is away for a part of its turn in the simulation.
    was_away: bool

    @property
    def waited(self) -> float:
        """The clock if it ran out; the tenth of a second of a bot that was away; else nothing."""
        plies = self.record.plies if self.record is not None else ()
        names = self.record.names if self.record is not None else ()
        times = [ply.time_ms for ply in plies if names[ply.seat - 1] == "ann"]
        if max(times, default=0) >= CLOCK_MS // self.scale:
            return CLOCK_MS / 1000
        return 0.1 if self.was_away and sum(times) * self.scale >= 80 else 0


class RealCase:
    """One cell over real sockets; `simulated` is its outcome in the simulation."""

    def __init__(self, fault: str, moment: str, simulated: Outcome, server: Server, scale: int) -> None:
        self._loop = asyncio.get_running_loop()
        self._fault, self._moment = fault, moment
        self._simulated = simulated
        self._server = server
        self._scale = scale
        self._queue = RealQueue(self._loop, scale)
        self._links: list[RealLink] = []
        self._notes: list[dict[str, str]] = []
        self._changed = asyncio.Event()
        kind = {"fault": fault, "moment": moment}
        self.ann = self._client("ann", type("RealAnn", (Ann,), kind | in_time(moment)))
        self.bob = self._client("bob", type("RealBob", (TimedBob,), thinking_time(fault, moment)))
        assert server.process.stderr is not None
        self._reader = threading.Thread(target=self._read_log, args=(server.process.stderr,), daemon=True)
        self._reader.start()

    def _client(self, name: str, kind: type[Honest]) -> Client:
        client = Client(name, kind, self._queue, Random(1), self._dial)
        client.clock_ms = CLOCK_MS
        return client

    def _dial(self, client: Client, connection: Connection) -> RealLink:
        link = RealLink(connection, self._server.port, self._queue, self._changed.set)
        connection.link = link  # type: ignore[assignment]
        self._links.append(link)
        return link

    def _read_log(self, stderr: IO[str]) -> None:
        for line in stderr:
            self._notes.append(json.loads(line))
            self._loop.call_soon_threadsafe(self._changed.set)

    async def until(self, holds: Callable[[], bool], what: str) -> None:
        """Let the bots play until it holds."""
        try:
            async with asyncio.timeout(PATIENCE_S):
                while not holds():
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            raise AssertionError(f"{what}; lines {self.lines}, ending {self.ending}") from None

    async def play(self) -> RealOutcome:
        try:
            lines, ending = await self._run()
            self._server.process.send_signal(signal.SIGTERM)
            assert await asyncio.to_thread(self._server.process.wait, PATIENCE_S) == 0
            await asyncio.to_thread(self._reader.join)
        finally:
            for link in self._links:
                link.close()
        return self._outcome(lines, ending)

    async def _run(self) -> tuple[list[str], str]:
        """Play until the fault has no further effects; the lines of its connection, and its ending."""
        self._queue.catch_up()
        self.ann.connect()
        early = self._moment in ("before login", "waiting for a game")
        await self.until(lambda: self.done or (not early and self.ann.resume is not None), "no log-in of ann")
        if early and "dead-link" not in self._simulated.ending:
            await self.until(self._as_simulated, "the connection does not end as in the simulation")
        self._queue.catch_up()
        self._queue.after(SECOND, self.bob.connect)
        await self.until(lambda: self.done, "the moment never came")
        games = sum(record is not None for record in (self._simulated.record, self._simulated.other))
        await self.until(lambda: self.bob.bot.overs == games, f"bob has not received {games} results")  # type: ignore[attr-defined]
        await self.until(self._as_simulated, "the connection does not end as in the simulation")
        await self._barrier()
        return self.lines, self.ending

    async def _barrier(self) -> None:
        """All lines of ann have been handled."""
        here = self.ann.connection
        if here is not None and self.ann.reads and not self.ann.bot.dead:  # type: ignore[attr-defined]
            self._queue.catch_up()
            self.ann.say("PING last")
            await self.until(lambda: b"PONG last" in here.lines or here is not self.ann.connection, "no PONG")

    # -- what is seen of the faulty connection

    @property
    def done(self) -> bool:
        return self.ann.bot.done  # type: ignore[attr-defined, no-any-return]

    @property
    def _faulty(self) -> Connection | None:
        number = self.ann.bot.faulty_connection  # type: ignore[attr-defined]
        return self.ann.connections[number - 1] if self.done else None

    def _log(self, event: str) -> dict[str, str] | None:
        """What the server logged of the connection."""
        here = self._faulty
        if here is None or here.server is None:
            return None
        peer = f"127.0.0.1:{here.server.number}"
        return next((note for note in self._notes if note["event"] == event and note["peer"] == peer), None)

    @property
    def lines(self) -> list[str]:
        """The lines outside games that it was sent; what it did not read is in the server's log."""
        here = self._faulty
        read = [] if here is None else [text for each in here.lines if (text := outside_games(each))]
        refused = self._log("refused")
        return list(dict.fromkeys([*read, *([f"ERROR {refused['code']}"] if refused else [])]))

    @property
    def ending(self) -> str:
        lost = self._log("lost")
        if self._log("refused") is not None:
            return "closed"
        return f"lost ({lost['reason']})" if lost is not None else "kept"

    def _as_simulated(self) -> bool:
        simulated = self._simulated
        return (self.lines, self.ending) == (list(dict.fromkeys(simulated.lines)), simulated.ending)

    def _outcome(self, lines: list[str], ending: str) -> RealOutcome:
        with Results(self._server.database) as results:
            records = [decode(shown(data)) for _, data in results.games.records(results.contest())]
        record, other = ordered(records, self._moment)
        moments = self.bob.bot.moments  # type: ignore[attr-defined]
        took = moments.get("START", 0) - moments.get("GAME", 0)
        bob = [line for connection in self.bob.connections for line in connection.lines]
        outcome = RealOutcome(record, other, lines, ending, bob, took)
        outcome.scale = self._scale
        outcome.was_away = 0 < self._simulated.waited < 1
        return outcome


def play_for_real(fault: str, moment: str, simulated: Outcome, folder: Path) -> RealOutcome:
    """Play one cell against a server of its own."""
    scale = 1 if fault == "silent vanish" else TENTH

    async def run() -> RealOutcome:
        return await RealCase(fault, moment, simulated, server, scale).play()

    with Server(limits(scale), folder, "--log-level", "info", "--log-format", "json") as server:
        return asyncio.run(run())
