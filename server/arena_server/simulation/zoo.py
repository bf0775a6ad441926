"""Bots for the simulation: honest ones, and one for every way to misbehave.

A bot hears lines and answers by acting on its `Wire` after some time of thought. All its
chance comes from the random source that it is given. `may` says which faults a record may
hold against it: none at all for an honest one, whatever network and referee do to it.
"""

from __future__ import annotations

from random import Random
from typing import ClassVar, Protocol

from arena_server.simulation.agenda import MS, one_in


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
