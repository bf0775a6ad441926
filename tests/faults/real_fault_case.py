"""The scene of the fault table over real sockets: the same bots, against a real `arena serve`.

What the simulation has for agenda and network is here the loop and the system's TCP. All limits
are a tenth of the published ones, and so are the bots' times; only where a link goes dead they
are the published ones, for the system's patience with it is. Nothing is timed: the scene waits
for what the simulation says will happen, and then stops the server.
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

from tests.simulation.bots import Client, Connection, Honest
from tests.simulation.network import MS, SECOND, EventQueue

from arena_protocol.record import decode
from arena_server.store.reader import Results

from ..server.programs import Server, contest
from .fault_case import Ann, Bob, Outcome, ordered, remark

#: A scene in which nothing happens any more ends with an error instead.
PATIENCE_S = 60.0
CLOCK_MS, READY_MS, LOGIN_MS = 20_000, 30_000, 10_000
#: The scene runs so many times as fast as the published limits have it.
TENTH = 10
#: Real time that nobody is charged for: the flag falls so much after the clock stands at 0.
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


class RealAgenda(EventQueue):
    """The agenda of the simulation, driven by the loop's time, which here runs `scale` times as fast."""

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
        """Do what is due, as at `moment` at least; then it is now."""
        now = max(self._clock(), moment)
        while self.next is not None and self.next <= now:
            self.step()
        self.wait_until(now)


class RealLink:
    """A TCP connection of one bot's; what the simulation has for network.Link and socket.Socket."""

    def __init__(self, line: Connection, port: int, agenda: RealAgenda, heard: Callable[[], object]) -> None:
        self._line = line
        self._agenda = agenda
        self._heard = heard
        self.sock = socket.create_connection(("127.0.0.1", port))
        self.number = self.sock.getsockname()[1]
        self.up = SimpleNamespace(finish=lambda: self.sock.shutdown(socket.SHUT_WR))
        self.sock.setblocking(False)
        agenda.loop.add_reader(self.sock, self._readable)

    def _readable(self) -> None:
        self._heard()
        self._agenda.catch_up()
        if not self._line.client.reads:
            self._agenda.loop.remove_reader(self.sock)
            return
        try:
            data = self.sock.recv(65536)
        except OSError:
            data = b""
        if data:
            self._line.arrived(data)
        else:
            self.close()
            self._line.ended()

    def say(self, data: bytes) -> None:
        with suppress(OSError):  # the server has closed, and the end of the stream is on its way
            assert self.sock.send(data) == len(data)

    def taken(self, number: int) -> None:
        """The system has counted itself."""

    def reset(self) -> None:
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close()

    def vanish(self) -> None:
        """From now on our system drops, unseen, whatever comes for this socket."""
        nothing = ctypes.create_string_buffer(struct.pack("HBBI", _BPF_RETURN, 0, 0, 0))
        program = struct.pack("HL", 1, ctypes.addressof(nothing))
        self.sock.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, program)
        self._agenda.loop.remove_reader(self.sock)

    def close(self) -> None:
        if self.sock.fileno() >= 0:
            self._agenda.loop.remove_reader(self.sock)
            self.sock.close()


class TimedBob(Bob):
    """Bob, who notes when he was offered a game and when the first one began."""

    def __init__(self, rng: Random, wire: Client) -> None:
        super().__init__(rng, wire)
        self.overs = 0
        self.moments: dict[str, int] = {}

    def heard(self, verb: str, tokens: list[str]) -> None:
        self.overs += verb == "OVER"
        self.moments.setdefault(verb, self.wire._agenda.now)  # type: ignore[attr-defined]
        super().lines(verb, tokens)


def in_time(moment: str) -> dict[str, int]:
    """Who comes back after its clock stood at 0 comes too late, also where there is a margin."""
    return {"back": 2 * MARGIN_MS * MS * TENTH} if moment == "at the last millisecond" else {}


def patience_with(fault: str, moment: str) -> dict[str, int]:
    """The lines of a flood are heard one after the other: bob lets them be heard before he answers."""
    return {"thinking": 5 * SECOND} if (fault, moment) == ("flood", "other's turn") else {}


class RealOutcome(Outcome):
    """An outcome on a machine that is never quite still: its milliseconds are nobody's fault."""

    scale: int
    was_back: bool

    @property
    def waited(self) -> float:
        """The clock if it ran out; the tenth of a second of a bot that was away; else nothing."""
        plies = self.record.plies if self.record is not None else ()
        times = [ply.time_ms for ply in plies if plies and self.record.names[ply.seat - 1] == "ann"]
        if max(times, default=0) >= CLOCK_MS // self.scale:
            return CLOCK_MS / 1000
        return 0.1 if self.was_back and sum(times) * self.scale >= 80 else 0


class Scene:
    """One cell over real sockets; `foretold` is what came of it in the simulation."""

    def __init__(self, fault: str, moment: str, foretold: Outcome, server: Server, scale: int) -> None:
        self._loop = asyncio.get_running_loop()
        self._fault, self._moment = fault, moment
        self._foretold = foretold
        self._server = server
        self._scale = scale
        self._agenda = RealAgenda(self._loop, scale)
        self._links: list[RealLink] = []
        self._notes: list[dict[str, str]] = []
        self._changed = asyncio.Event()
        kind = {"fault": fault, "moment": moment}
        self.ann = self._client("ann", type("RealAnn", (Ann,), kind | in_time(moment)))
        self.bob = self._client("bob", type("RealBob", (TimedBob,), patience_with(fault, moment)))
        assert server.process.stderr is not None
        self._reader = threading.Thread(target=self._read_log, args=(server.process.stderr,), daemon=True)
        self._reader.start()

    def _client(self, name: str, kind: type[Honest]) -> Client:
        client = Client(name, kind, self._agenda, Random(1), self._dial)  # type: ignore[arg-type]
        client.clock_ms = CLOCK_MS
        return client

    def _dial(self, client: Client, line: Connection) -> RealLink:
        link = RealLink(line, self._server.port, self._agenda, self._changed.set)
        line.link = link  # type: ignore[assignment]
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
            raise AssertionError(f"{what}; told {self.told}, ending {self.ending}") from None

    async def play(self) -> RealOutcome:
        """Play it."""
        try:
            told, ending = await self._course()
            self._server.process.send_signal(signal.SIGTERM)
            assert await asyncio.to_thread(self._server.process.wait, PATIENCE_S) == 0
            await asyncio.to_thread(self._reader.join)
        finally:
            for link in self._links:
                link.close()
        return self._outcome(told, ending)

    async def _course(self) -> tuple[list[str], str]:
        """All up to the moment at which nothing more can come of the deed: what it was told, its ending."""
        self._agenda.catch_up()
        self.ann.connect()
        early = self._moment in ("before login", "waiting for a game")
        await self.until(lambda: self.did or (not early and self.ann.resume is not None), "ann never came")
        if early and "dead-link" not in self._foretold.ending:
            await self.until(self._as_foretold, "the deed has not come to its end")
        self._agenda.catch_up()
        self._agenda.after(SECOND, self.bob.connect)
        await self.until(lambda: self.did, "the moment never came")
        games = sum(record is not None for record in (self._foretold.record, self._foretold.other))
        await self.until(lambda: self.bob.bot.overs == games, f"bob has not heard {games} results")  # type: ignore[attr-defined]
        await self.until(self._as_foretold, "the deed has not come to its end")
        await self._barrier()
        return self.told, self.ending

    async def _barrier(self) -> None:
        """Whatever ann has sent has been judged."""
        line = self.ann.line
        if line is not None and self.ann.reads and not self.ann.bot.dead:  # type: ignore[attr-defined]
            self._agenda.catch_up()
            self.ann.say("PING last")
            await self.until(lambda: b"PONG last" in line.lines or line is not self.ann.line, "no PONG")

    # -- what is seen of the deed

    @property
    def did(self) -> bool:
        return self.ann.bot.did  # type: ignore[attr-defined, no-any-return]

    @property
    def _deed(self) -> Connection | None:
        return self.ann.connections[self.ann.bot.line_of_deed - 1] if self.did else None  # type: ignore[attr-defined]

    def _log(self, event: str) -> dict[str, str] | None:
        """What the server noted about the connection of the deed."""
        line = self._deed
        if line is None or line.server is None:
            return None
        peer = f"127.0.0.1:{line.server.number}"
        return next((note for note in self._notes if note["event"] == event and note["peer"] == peer), None)

    @property
    def told(self) -> list[str]:
        """What its connection was told that is no game; what it did not read is in the server's log."""
        heard = [] if self._deed is None else [text for each in self._deed.lines if (text := remark(each))]
        refused = self._log("refused")
        return list(dict.fromkeys([*heard, *([f"ERROR {refused['code']}"] if refused else [])]))

    @property
    def ending(self) -> str:
        """What became of its connection."""
        lost = self._log("lost")
        if self._log("refused") is not None:
            return "closed"
        return f"lost ({lost['reason']})" if lost is not None else "kept"

    def _as_foretold(self) -> bool:
        return (self.told, self.ending) == (list(dict.fromkeys(self._foretold.told)), self._foretold.ending)

    def _outcome(self, told: list[str], ending: str) -> RealOutcome:
        with Results(self._server.database) as results:
            records = [decode(data) for _, data in results.records(results.contest())]
        record, other = ordered(records, self._moment)
        moments = self.bob.bot.moments  # type: ignore[attr-defined]
        took = moments.get("START", 0) - moments.get("GAME", 0)
        outcome = RealOutcome(
            record, other, told, ending, [line for each in self.bob.connections for line in each.lines], took
        )
        outcome.scale = self._scale
        outcome.was_back = self._fault in ("half a line then close", "reset")
        return outcome


def play_for_real(fault: str, moment: str, foretold: Outcome, folder: Path) -> RealOutcome:
    """Play one cell against a server of its own."""
    scale = 1 if fault == "silent vanish" else TENTH

    async def run() -> RealOutcome:
        return await Scene(fault, moment, foretold, server, scale).play()

    with Server(limits(scale), folder, "--log-level", "info", "--log-format", "json") as server:
        return asyncio.run(run())
