"""What a simulated bot knows of the game at hand: enough to choose a legal move.

It must not know: connections, clocks, which games there are.

Bots for the simulation: honest ones, and one for every way to misbehave.

A bot hears lines and answers by acting on its `Wire` after some time of thought. All its
chance comes from the random source that it is given. `may` says which faults a record may
hold against it: none at all for an honest one, whatever network and referee do to it.

The machine that one bot runs on: it connects, reads, writes, loses its connection, comes back.

It holds the server to the protocol: a line that the server may not say at that moment is an
error of the simulation. It must not know: the contest, other bots.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, ClassVar, Protocol

from tests.simulation.network import MS, Agenda, Link, one_in

from arena_protocol.errors import LocalProtocolError, ProtocolError
from arena_protocol.framing import CLIENT_LINE_LIMIT, SERVER_LINE_LIMIT, LineReader, Overlong
from arena_protocol.games import make_game
from arena_protocol.games.base import Deal, Game
from arena_protocol.messages import parse_client
from arena_protocol.session import ClientSession


class Board:
    """Follows one game by the server's lines; the position is worked out when it is asked for."""

    def __init__(self) -> None:
        self._game: Game[Any] | None = None
        self._state = ""
        self._position: Any = None
        self._ahead: list[tuple[str, str]] = []

    def heard(self, tokens: list[str]) -> None:
        """Keep what a line of the server's tells of the own game."""
        verb = tokens[0]
        if verb == "GAME" and "seat=0" not in tokens:
            self._game = make_game(tokens[2], dict(token.split("=", 1) for token in tokens[3:]))
            self._ahead = []
        elif verb == "STATE" and self._game is not None:
            self._state = tokens[1]
            self._position = self._game.start(Deal(tokens[1], ""))
        elif verb == "NEXT" and self._game is not None:
            self._position = self._game.start(Deal(self._state, tokens[1]))
        elif verb == "PLAYED" and self._game is not None:
            _, _, reveal = tokens[-1].rpartition("reveal=")
            self._ahead.append((tokens[3][len("move=") :], reveal if "=" not in reveal else ""))

    def legal(self) -> tuple[str, ...]:
        """The legal moves now."""
        game = self._game
        assert game is not None, "asked for a move before GAME"
        for move, revealed in self._ahead:
            self._position = game.play(self._position, move).position
            if revealed:
                self._position = game.extend(self._position, revealed)
        self._ahead = []
        return game.legal_moves(self._position)


class Moves(Protocol):
    """What a bot knows of its game."""

    def legal(self) -> tuple[str, ...]:
        """The legal moves now."""


class Wire(Protocol):
    """What a bot can do; every action happens `after` nanoseconds from now."""

    #: The bank of the game, in milliseconds.
    clock_ms: int

    @property
    def board(self) -> Moves:
        """The game at hand."""

    def say(self, line: str, after: int = 0) -> None:
        """Send a line."""

    def dribble(self, line: str, gap: int, after: int = 0) -> None:
        """Send a line byte by byte, one every `gap` nanoseconds."""

    def bytes(self, data: bytes, after: int = 0) -> None:
        """Send bytes as they are."""

    def overlong(self, after: int = 0) -> None:
        """Send a line that is too long."""

    def drop(self, after: int = 0, back: int | None = None) -> None:
        """Close the connection; come back `back` nanoseconds later, or never."""

    def reset(self, after: int = 0, back: int | None = None) -> None:
        """Break the connection."""

    def vanish(self, after: int = 0, back: int | None = None) -> None:
        """Be gone without a word."""

    def stop_reading(self) -> None:
        """Read nothing more."""


class Honest:
    """Answers every TURN with a legal move, in its time."""

    may: ClassVar[frozenset[str]] = frozenset()
    #: Whether it uses its resume key when it comes back.
    resumes: ClassVar[bool] = True
    #: Whether it comes back when the server closes its connection.
    returns: bool = True
    #: How many bytes it reads at once; None: all there are.
    reads_at_once: ClassVar[int | None] = None
    #: What its connection takes of what it does not read; None: as usual.
    window: ClassVar[int | None] = None

    def __init__(self, rng: Random, wire: Wire) -> None:
        self.rng = rng
        self.wire = wire

    def hello(self, name: str, token: str | None, resume: str | None, rivals: tuple[str, ...]) -> str | None:
        """The line to log in by; None says nothing."""
        if resume is not None:
            return f"HELLO 1 {name} resume={resume}"
        return f"HELLO 1 {name}" if token is None else f"HELLO 1 {name} token={token}"

    def heard(self, verb: str, tokens: list[str]) -> None:
        """Handle one line of the server's."""
        if verb == "GAME" and "seat=0" not in tokens:
            self.offered(tokens[1])
        elif verb == "TURN":
            self.turn()
        elif verb in ("PLAYED", "START", "OVER", "ZOMBIE", "WELCOME"):
            self.event(verb)

    def offered(self, game_id: str) -> None:
        """Handle GAME."""
        self.wire.say(f"READY {game_id}", self.rng.randrange(20 * MS))

    def turn(self) -> None:
        """Handle TURN."""
        self.answer(self.move())

    def answer(self, line: str) -> None:
        """Send the answer to TURN, after some thought."""
        self.wire.say(line, self.rng.randrange(15 * MS))

    def move(self) -> str:
        """Choose the answer to TURN."""
        return f"MOVE {self.rng.choice(self.wire.board.legal())}"

    def event(self, verb: str) -> None:
        """Handle what needs no answer."""

    def sometimes(self, number: int) -> bool:
        """Whether chance has it, once in `number` times."""
        return one_in(self.rng, number)

    def time_up(self) -> int:
        """Longer than the whole bank, in nanoseconds."""
        return self.wire.clock_ms * 5 // 2 * MS


class Pinger(Honest):
    """Talks a lot of what asks for nothing, and stays below what is a flood."""

    def event(self, verb: str) -> None:
        if self.sometimes(4):
            self.wire.say(f"PING {self.rng.randrange(100)}")
            self.wire.say("")


class Shaky(Honest):
    """Loses its connection again and again, and is back well before its flag could fall."""

    def event(self, verb: str) -> None:
        if self.sometimes(12):
            lose = self.wire.reset if self.sometimes(2) else self.wire.drop
            lose(self.rng.randrange(20 * MS), back=self.rng.randrange(1, 9) * MS)


class Forgetful(Shaky):
    """Comes back without its resume key, by name."""

    resumes = False


class Vanisher(Honest):
    """Falls silent with its connection half open, and takes its seat up again by its key."""

    def event(self, verb: str) -> None:
        if self.sometimes(40):
            self.wire.vanish(self.rng.randrange(20 * MS), back=self.rng.randrange(1, 9) * MS)


class HalfLine(Honest):
    """Is cut off in the middle of a line now and then: half a line is no line."""

    def event(self, verb: str) -> None:
        if self.sometimes(25):
            self.wire.bytes(b"MOVE")
            self.wire.drop(back=self.rng.randrange(1, 9) * MS)


class Dribbler(Honest):
    """Writes byte by byte, slowly, but in its time."""

    def answer(self, line: str) -> None:
        self.wire.dribble(line, self.rng.randrange(1, 2 * MS), self.rng.randrange(4 * MS))


class Sipper(Honest):
    """Reads a few bytes at a time, through a narrow window."""

    reads_at_once = 300
    window = 1500


class Guesser(Honest):
    """Tries its luck at other names before it logs in by its own."""

    def __init__(self, rng: Random, wire: Wire) -> None:
        super().__init__(rng, wire)
        self.guesses = rng.randrange(1, 15)

    def hello(self, name: str, token: str | None, resume: str | None, rivals: tuple[str, ...]) -> str | None:
        if self.guesses == 0 or not rivals:
            return super().hello(name, token, resume, rivals)
        self.guesses -= 1
        return f"HELLO 1 {rivals[0]} token=guess{self.guesses}"


class ZeroBased(Honest):
    """The seed's bot that counts from 0."""

    may = frozenset({"illegal"})

    def move(self) -> str:
        return f"MOVE {self.rng.randrange(15)}"


class Malformed(Honest):
    """Writes lines that cannot be read."""

    may = frozenset({"malformed"})
    LINES = ("MOVE", "MOVE  4", "GO 4", "MOVE 4 5", "\xff\x00", "HELLO 1 -", "READY g1 g2")

    def move(self) -> str:
        return self.rng.choice(self.LINES) if self.sometimes(9) else super().move()

    def event(self, verb: str) -> None:
        if verb == "PLAYED" and self.sometimes(60):
            self.wire.overlong()


class Garbler(Honest):
    """Writes bytes that mean nothing."""

    may = frozenset({"malformed"})

    def event(self, verb: str) -> None:
        if verb == "PLAYED" and self.sometimes(20):
            self.wire.bytes(b"\xff" + self.rng.randbytes(self.rng.randrange(200)) + b"\n")


class Silent(Honest):
    """Does not answer at some point, and never again in that game."""

    may = frozenset({"timeout"})

    def answer(self, line: str) -> None:
        if not self.sometimes(9):
            super().answer(line)


class Slow(Honest):
    """Thinks too long now and then; its move comes all the same, to the next game's TURN perhaps."""

    may = frozenset({"timeout", "illegal"})

    def answer(self, line: str) -> None:
        self.wire.say(line, self.rng.choice((MS, MS, MS, self.time_up())))


class NeverReady(Honest):
    """Is not ready in time every other time."""

    may = frozenset({"never-ready"})

    def offered(self, game_id: str) -> None:
        if self.sometimes(2):
            super().offered(game_id)


class Flooder(Honest):
    """Says what nobody asked for, without end."""

    may = frozenset({"flood"})

    def event(self, verb: str) -> None:
        if verb == "PLAYED" and self.sometimes(12):
            for _ in range(130):
                self.wire.say("READY g1")


class Hasty(Honest):
    """Says a second move at once, again and again; where it is late it answers the next TURN."""

    may = frozenset({"out-of-turn", "illegal"})

    def answer(self, line: str) -> None:
        super().answer(line)
        for _ in range(self.rng.randrange(4)):
            self.wire.say(line, 16 * MS)


class Quitter(Honest):
    """Leaves in good order in the middle of games, and is back soon."""

    may = frozenset({"quit"})

    def event(self, verb: str) -> None:
        if self.sometimes(25):
            self.wire.say("QUIT")


class Away(Honest):
    """Is gone for so long now and then that its flag falls."""

    may = frozenset({"disconnect"})

    def event(self, verb: str) -> None:
        if self.sometimes(30):
            self.wire.drop(back=2 * self.time_up())


class Gone(Honest):
    """Leaves without a word and never comes back."""

    may = frozenset({"disconnect"})

    def event(self, verb: str) -> None:
        if self.sometimes(40):
            self.wire.drop()


class Deaf(Honest):
    """Does not read on, and its connection soon takes no TURN: it is given up."""

    may = frozenset({"disconnect", "timeout", "never-ready"})
    window: ClassVar[int | None] = 700

    def event(self, verb: str) -> None:
        if verb == "START":
            self.wire.stop_reading()


class Numb(Deaf):
    """Does not read on, but its connection takes what comes: it is timed out."""

    window = None


class Onlooker(Honest):
    """Watches everything, and says too much now and then."""

    def event(self, verb: str) -> None:
        if verb == "WELCOME":
            self.wire.say("WATCH *")
        if verb == "OVER" and self.sometimes(20):
            self.wire.say("WATCH g999999")


HONEST = (Honest, Pinger, Shaky, Forgetful, Vanisher, HalfLine, Dribbler, Sipper, Guesser)
BAD = (
    ZeroBased,
    Malformed,
    Garbler,
    Silent,
    Slow,
    NeverReady,
    Flooder,
    Hasty,
    Quitter,
    Away,
    Gone,
    Deaf,
    Numb,
)


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
        self._buffer = LineReader(SERVER_LINE_LIMIT)
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
