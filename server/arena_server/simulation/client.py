"""The machine that one bot runs on: it connects, reads, writes, loses its connection, comes back.

It holds the server to the protocol: a line that the server may not say at that moment is an
error of the simulation. It must not know: the contest, other bots.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Protocol

from arena_protocol.errors import LocalProtocolError, ProtocolError
from arena_protocol.lines import CLIENT_LINE_LIMIT, SERVER_LINE_LIMIT, LineBuffer, Overlong
from arena_protocol.messages import parse_client
from arena_protocol.session import ClientSession
from arena_server.simulation.agenda import MS, Agenda
from arena_server.simulation.board import Board
from arena_server.simulation.network import Link
from arena_server.simulation.zoo import Honest

#: How long a client waits before it connects again.
PAUSE = 50 * MS
#: After these it stays away; after anything else it comes back.
FAREWELLS = (b"BYE reason=finished", b"BYE reason=stopped", b"BYE reason=replaced")


class Taker(Protocol):
    """The server's end, told what has been read; `number` is the connection's."""

    number: int

    def taken(self, number: int) -> None:
        """So many bytes more have been read."""


class Line:
    """One connection of a bot's, as its machine sees it. `heard` is all that came."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.session = ClientSession()
        self.heard: list[bytes] = []
        #: The client has said what it may not, so that its own view of the order is off.
        self.unruly = False
        self.open = True
        #: Until then the bot is in the middle of a line.
        self.busy_until = 0
        self.link: Link
        self.server: Taker | None = None
        self._buffer = LineBuffer(SERVER_LINE_LIMIT)
        self._unread = bytearray()

    # -- what the network tells (network.End)

    def arrived(self, data: bytes) -> None:
        """Bytes lie in the machine's buffer."""
        self._unread += data
        self.client.readable(self)

    def read(self, limit: int) -> None:
        """The bot reads up to `limit` bytes."""
        data = bytes(self._unread[:limit])
        del self._unread[:limit]
        if self.server is not None:
            self.server.taken(len(data))
        for line in self._buffer.feed(data):
            assert not isinstance(line, Overlong), f"the server said a line too long: {line.head!r}"
            self.client.heard(self, line)

    @property
    def unread(self) -> int:
        """How many bytes wait to be read."""
        return len(self._unread)

    def ended(self) -> None:
        """The server has closed the connection; what came before is read first."""
        if self.open:
            if self.client.reads:
                self.read(len(self._unread))
            self.open = False
            self.client.cut(self)

    def broken(self, _reason: str) -> None:
        """The connection is dead."""
        if self.open:
            self.open = False
            self.client.cut(self)


class Client:
    """The machine of the bot `name`. `dial` opens a connection for it, or gives None if nobody listens."""

    def __init__(
        self,
        name: str,
        kind: type[Honest],
        agenda: Agenda,
        rng: Random,
        dial: Callable[[Client, Line], Taker | None],
    ) -> None:
        self.name = name
        self.token: str | None = None
        self.rivals: tuple[str, ...] = ()
        self.rng = rng
        self.clock_ms = 0
        self.board = Board()
        self.bot = kind(rng, self)
        self.line: Line | None = None
        self.resume: str | None = None
        self.lines: list[Line] = []
        self._agenda = agenda
        self._dial = dial
        #: False: the bot has stopped reading, for good.
        self.reads = True

    def connect(self) -> None:
        """Connect, unless it is connected."""
        if self.line is not None:
            return
        line = Line(self)
        line.server = self._dial(self, line)
        if line.server is None:
            self._agenda.after(PAUSE, self.connect)
            return
        self.line = line
        self.lines.append(line)

    # -- bytes and lines in

    def readable(self, line: Line) -> None:
        """There is something to read: at once, a little at a time, or not at all."""
        if line is not self.line:
            return
        pace = self.bot.reads_at_once
        if pace is None:
            if self.reads:
                line.read(line.unread)
        elif line.unread:
            self._agenda.after(self.rng.randrange(1, 5 * MS), lambda: self._sip(line, pace))

    def _sip(self, line: Line, pace: int) -> None:
        if line is self.line:
            line.read(pace)
            self.readable(line)

    def heard(self, line: Line, text: bytes) -> None:
        """A line of the server's has been read."""
        if line is not self.line:
            return
        line.heard.append(text)
        if not line.unruly:
            line.session.receive(text)  # raises if the server may not say this now
        tokens = text.decode("ascii").split()
        self.board.heard(tokens)
        if tokens[0] == "ARENA":
            key = self.resume if self.bot.resumes else None
            if (hello := self.bot.hello(self.name, self.token, key, self.rivals)) is not None:
                self.say(hello)
        elif tokens[0] == "WELCOME":
            self.resume = tokens[3].partition("=")[2]
        elif tokens[0] == "PING":
            self.say(f"PONG {tokens[1]}")
        self.bot.heard(tokens[0], tokens)

    def cut(self, line: Line) -> None:
        """The connection is gone: come back, unless we were told not to."""
        if line is not self.line:
            return
        self.line = None
        last = line.heard[-1] if line.heard else b""
        if last.startswith(b"ERROR token"):
            self.resume = None
        if self.reads and self.bot.returns and not last.startswith(FAREWELLS):
            wait = int(last.rpartition(b"retry_after=")[2]) * MS if b" retry_after=" in last else 0
            self._agenda.after(PAUSE + wait, self.connect)

    # -- what the bot can do (zoo.Wire)

    @property
    def conn(self) -> int:
        """The number of the connection that is open, or was open last."""
        server = self.lines[-1].server
        return 0 if server is None else server.number

    def say(self, line: str, after: int = 0) -> None:
        """Send a line, on the connection that is open now."""
        here = self.line
        self._agenda.after(after, lambda: self._say(here, line))

    def _say(self, line: Line | None, text: str) -> None:
        if line is not None and line.busy_until > self._agenda.now:
            self._agenda.after(line.busy_until - self._agenda.now, lambda: self._say(line, text))
        elif line is not None and line is self.line:
            data = text.encode("latin-1")
            self._note_said(line, data)
            line.link.say(data + b"\n")

    def _note_said(self, line: Line, data: bytes) -> None:
        """Walk our own session along; what it does not allow leaves it behind."""
        try:
            message = parse_client(data)
            if message is not None:
                line.session.send(message)
        except ProtocolError:
            pass  # the bot misbehaves; the server will say what it thinks of it
        except LocalProtocolError:
            line.unruly = True

    def dribble(self, line: str, gap: int, after: int = 0) -> None:
        """Send a line byte by byte, one every `gap` nanoseconds."""
        here = self.line
        if here is not None:
            data = line.encode("latin-1")
            self._note_said(here, data)
            here.busy_until = self._agenda.now + after + len(data) * gap
            for number, byte in enumerate(data + b"\n"):
                self.bytes(bytes([byte]), after + number * gap, here)

    def bytes(self, data: bytes, after: int = 0, here: Line | None = None) -> None:
        """Send bytes as they are."""
        line = here or self.line

        def send() -> None:
            if line is not None and line is self.line:
                line.link.say(data)

        self._agenda.after(after, send)

    def overlong(self, after: int = 0) -> None:
        """Send a line that is too long."""
        self.bytes(b"MOVE " + b"7" * CLIENT_LINE_LIMIT + b"\n", after)

    def drop(self, after: int = 0, back: int | None = None) -> None:
        """Close the connection; come back `back` nanoseconds later, or never."""
        self._leave(lambda line: line.link.up.finish(), after, back)

    def reset(self, after: int = 0, back: int | None = None) -> None:
        """Break the connection."""
        self._leave(lambda line: line.link.reset(), after, back)

    def vanish(self, after: int = 0, back: int | None = None) -> None:
        """Be gone without a word: the server is left with a connection half open."""
        self._leave(lambda line: line.link.vanish(), after, back)

    def _leave(self, how: Callable[[Line], None], after: int, back: int | None) -> None:
        here = self.line

        def leave() -> None:
            if here is self.line:
                self.line = None
                if here is not None:
                    here.open = False
                    how(here)
                if back is not None:
                    self._agenda.after(back, self.connect)

        self._agenda.after(after, leave)

    def stop_reading(self) -> None:
        """Read nothing more, on any connection."""
        self.reads = False
