"""Bots of the simulation, honest and not; `client.Client` is the machine that each of them runs on.

A bot receives lines and acts on its `Wire` after some time of thought. All its chance comes from the
random source that it is given. `may` has the faults that a record may hold against it: none for an
honest one, whatever network and server do to it. What a bot does is made of the acts of
`arena_client.scripted` (Say, Raw, Wait, StopReading, Close), and every script of that module is a
bot here too.
"""

from __future__ import annotations

from random import Random
from typing import ClassVar, Protocol

from tests.simulation.network import MS, one_in

from arena_client.script import Act, Close, Raw, Say, Script, ScriptedClient, StopReading, drip
from arena_client.scripted import SCRIPTED as RECIPES
from arena_client.scripted import create
from arena_protocol.framing import CLIENT_LINE_LIMIT
from arena_protocol.view import GameView

OVERLONG = Raw(b"MOVE " + b"7" * CLIENT_LINE_LIMIT + b"\n")


class Wire(Protocol):
    """What a bot can do."""

    #: The bank of the game, in milliseconds.
    clock_ms: int
    #: Its game as the client library sees it.
    view: GameView | None
    #: Whether the contest keeps bytes of the bot.
    stores: bool

    def act(self, *acts: Act, after: int = 0, back: int | None = None) -> None:
        """Perform acts, `after` nanoseconds from now; connect again `back` ns after a Close, or never."""

    def say(self, line: str, after: int = 0) -> None:
        """Send a line, `after` nanoseconds from now."""

    def vanish(self, after: int = 0, back: int | None = None) -> None:
        """Be gone without a packet: the server is left with a connection half open."""


class Honest:
    """Answers every TURN with a legal move, in time."""

    may: ClassVar[frozenset[str]] = frozenset()
    #: Whether it uses its resume key when it connects again.
    resumes: ClassVar[bool] = True
    #: Whether it connects again when the server closes its connection.
    returns: bool = True
    #: How many bytes it reads at once; None: all there are.
    reads_at_once: ClassVar[int | None] = None
    #: What its connection takes of what it does not read; None: as usual.
    window: ClassVar[int | None] = None

    def __init__(self, rng: Random, wire: Wire) -> None:
        self.rng = rng
        self.wire = wire
        #: The words of a STORE for the game that was offered last.
        self._of_game = ""

    def hello(self, name: str, token: str | None, resume: str | None, rivals: tuple[str, ...]) -> str | None:
        """The line to log in by; None sends nothing."""
        if resume is not None:
            return f"HELLO 1 {name} resume={resume}"
        return f"HELLO 1 {name}" if token is None else f"HELLO 1 {name} token={token}"

    def received(self, verb: str, tokens: list[str]) -> None:
        """Handle one line of the server."""
        if verb == "GAME" and "seat=0" not in tokens:
            self.offered(tokens[1])
        elif verb == "TURN":
            self.turn()
        elif verb in ("PLAYED", "START", "OVER", "ZOMBIE", "WELCOME"):
            self.event(verb)
        if self.wire.stores:
            self.store(verb, tokens)

    def store(self, verb: str, tokens: list[str]) -> None:
        """Have the contest keep 16 bytes now and then, at once or with its game, perhaps too late for it."""
        if verb == "GAME" and "seat=0" not in tokens:
            self._of_game = f" game={tokens[1]}"
        elif verb in ("START", "PLAYED", "OVER") and self.sometimes(6):
            of_game = self._of_game if self.sometimes(2) else ""
            word = self.rng.randbytes(16).hex()
            self.wire.say(f"STORE 16 data={word}{of_game}", self.rng.randrange(20 * MS))

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
        assert self.wire.view is not None, "TURN before GAME"
        return f"MOVE {self.rng.choice(self.wire.view.legal_moves)}"

    def event(self, verb: str) -> None:
        """Handle what needs no answer."""

    def sometimes(self, number: int) -> bool:
        """True with a chance of 1 in `number`."""
        return one_in(self.rng, number)

    def time_up(self) -> int:
        """Longer than the whole bank, in nanoseconds."""
        return self.wire.clock_ms * 5 // 2 * MS

    def soon(self) -> int:
        """A few milliseconds, in nanoseconds."""
        return self.rng.randrange(1, 9) * MS


class Pinger(Honest):
    """Sends much that needs no answer, and stays below a flood."""

    def event(self, verb: str) -> None:
        if self.sometimes(4):
            self.wire.say(f"PING {self.rng.randrange(100)}")
            self.wire.say("")


class Reconnecter(Honest):
    """Loses its connection again and again, and is back well before its flag could fall."""

    def event(self, verb: str) -> None:
        if self.sometimes(12):
            close = Close(reset=self.sometimes(2))
            self.wire.act(close, after=self.rng.randrange(20 * MS), back=self.soon())


class ReconnectsByName(Reconnecter):
    """Comes back without its resume key, by name."""

    resumes = False


class Vanisher(Honest):
    """Falls silent with its connection half open, and resumes its seat by its key."""

    def event(self, verb: str) -> None:
        if self.sometimes(40):
            self.wire.vanish(self.rng.randrange(20 * MS), back=self.soon())


class HalfLine(Honest):
    """Is cut off in the middle of a line now and then: half a line is no line."""

    def event(self, verb: str) -> None:
        if self.sometimes(25):
            self.wire.act(Raw(b"MOVE"), Close(), back=self.soon())


class SlowWriter(Honest):
    """Writes byte by byte, but in time."""

    def answer(self, line: str) -> None:
        self.wire.act(*drip(line, self.rng.randrange(3)), after=self.rng.randrange(4 * MS))


class SlowReader(Honest):
    """Reads a few bytes at a time, through a narrow window."""

    reads_at_once = 300
    window = 1500


class Guesser(Honest):
    """Tries other names before it logs in by its own."""

    def __init__(self, rng: Random, wire: Wire) -> None:
        super().__init__(rng, wire)
        self.guesses = rng.randrange(1, 15)

    def hello(self, name: str, token: str | None, resume: str | None, rivals: tuple[str, ...]) -> str | None:
        if self.guesses == 0 or not rivals:
            return super().hello(name, token, resume, rivals)
        self.guesses -= 1
        return f"HELLO 1 {rivals[0]} token=guess{self.guesses}"


class ZeroBased(Honest):
    """Counts its moves from 0."""

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
            self.wire.act(OVERLONG)


class Garbage(Honest):
    """Writes bytes without meaning."""

    may = frozenset({"malformed"})

    def event(self, verb: str) -> None:
        if verb == "PLAYED" and self.sometimes(20):
            self.wire.act(Raw(b"\xff" + self.rng.randbytes(self.rng.randrange(200)) + b"\n"))


class Silent(Honest):
    """Does not answer at some point, and never again in that game."""

    may = frozenset({"timeout"})

    def answer(self, line: str) -> None:
        if not self.sometimes(9):
            super().answer(line)


class Slow(Honest):
    """Thinks too long now and then; its move may arrive at the TURN of the next game."""

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
    """Sends many lines that were not asked for."""

    may = frozenset({"flood"})

    def event(self, verb: str) -> None:
        if verb == "PLAYED" and self.sometimes(12):
            self.wire.act(Say("READY g1", 130))


class DoubleMover(Honest):
    """Sends a second move at once, again and again; a late one answers the next TURN."""

    may = frozenset({"out-of-turn", "illegal"})

    def answer(self, line: str) -> None:
        super().answer(line)
        for _ in range(self.rng.randrange(4)):
            self.wire.say(line, 16 * MS)


class Quitter(Honest):
    """Sends QUIT in the middle of games, and is back soon."""

    may = frozenset({"quit"})

    def event(self, verb: str) -> None:
        if self.sometimes(25):
            self.wire.say("QUIT")


class LongAbsent(Honest):
    """Is gone for so long now and then that its flag falls."""

    may = frozenset({"disconnect"})

    def event(self, verb: str) -> None:
        if self.sometimes(30):
            self.wire.act(Close(), back=2 * self.time_up())


class Leaver(Honest):
    """Closes its connection and never comes back."""

    may = frozenset({"disconnect"})

    def event(self, verb: str) -> None:
        if self.sometimes(40):
            self.wire.act(Close())


class ZeroWindow(Honest):
    """Stops reading, and its connection soon takes no TURN: it is closed."""

    may = frozenset({"disconnect", "timeout", "never-ready"})
    window: ClassVar[int | None] = 700

    def event(self, verb: str) -> None:
        if verb == "START":
            self.wire.act(StopReading())


class StopsReading(ZeroWindow):
    """Stops reading, but its connection takes what comes: it loses on time."""

    window = None


class Spectator(Honest):
    """Watches every game, and asks for one that is not there now and then."""

    def event(self, verb: str) -> None:
        if verb == "WELCOME":
            self.wire.say("WATCH *")
        if verb == "OVER" and self.sometimes(20):
            self.wire.say("WATCH g999999")


class Scripted(Honest):
    """Follows a script of the client library on its first connection; `Client` itself answers PING."""

    script: ClassVar[Script]
    returns = False
    may = frozenset(
        ("timeout", "illegal", "malformed", "flood", "out-of-turn", "disconnect", "never-ready", "quit")
    )

    def hello(self, name: str, token: str | None, resume: str | None, rivals: tuple[str, ...]) -> str | None:
        self._client = ScriptedClient(self.script, name, token)
        return None

    def received(self, verb: str, tokens: list[str]) -> None:
        if verb != "PING":
            self.wire.act(*self._client.receive(" ".join(tokens).encode("ascii")))


def scripted(spec: str) -> type[Honest]:
    """The bot that follows the script `spec`, such as `flooder:moment=lobby`."""
    script = create(spec)
    assert isinstance(script, Script)
    return type(spec.split(":")[0].title().replace("-", ""), (Scripted,), {"script": script})


HONEST = (
    Honest, Pinger, Reconnecter, ReconnectsByName, Vanisher, HalfLine, SlowWriter, SlowReader, Guesser,
)  # fmt: skip
BAD = (
    ZeroBased, Malformed, Garbage, Silent, Slow, NeverReady, Flooder, DoubleMover, Quitter, LongAbsent,
    Leaver, ZeroWindow, StopsReading,
)  # fmt: skip
#: Every script of the client library, each at its default moment.
SCRIPTED = tuple(
    scripted("never-reads:size=1500" if name == "never-reads" else name)
    for name in RECIPES
    if isinstance(create(name), Script)
)
