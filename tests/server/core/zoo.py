"""Bots for the simulation: honest ones, and one for every way to misbehave.

A bot hears lines and answers by acting on its `Wire` after some time of thought. All its
chance comes from the random source that it is given. `may` says which faults a record may
hold against it.
"""

from __future__ import annotations

from random import Random
from typing import ClassVar, Protocol

MS = 1_000_000


class Wire(Protocol):
    """What a bot can do; every action happens `after` nanoseconds from now."""

    def say(self, line: str, after: int = 0) -> None:
        """Send a line."""

    def overlong(self, after: int = 0) -> None:
        """Send a line that is too long."""

    def drop(self, after: int = 0, back: int | None = None) -> None:
        """Lose the connection; come back `back` nanoseconds later, or never."""


class Honest:
    """Answers every TURN with a legal move, in its time."""

    may: ClassVar[frozenset[str]] = frozenset()
    #: Whether it uses its resume key when it comes back.
    resumes: ClassVar[bool] = True
    reads: ClassVar[bool] = True

    def __init__(self, rng: Random, wire: Wire) -> None:
        self.rng = rng
        self.wire = wire

    def heard(self, verb: str, tokens: list[str]) -> None:
        """Handle one line of the server's."""
        if verb == "GAME" and "seat=0" not in tokens:
            self.offered(tokens[1])
        elif verb == "TURN":
            self.turn(int(tokens[1]))
        elif verb in ("PLAYED", "START", "OVER", "ZOMBIE", "WELCOME"):
            self.event(verb)

    def offered(self, game_id: str) -> None:
        self.wire.say(f"READY {game_id}", self.rng.randrange(20 * MS))

    def turn(self, ply: int) -> None:
        self.answer(self.move())

    def answer(self, line: str) -> None:
        self.wire.say(line, self.rng.randrange(15 * MS))

    def move(self) -> str:
        return f"MOVE {self.rng.randrange(1, 16)}"

    def event(self, verb: str) -> None:
        """Handle what needs no answer."""

    def sometimes(self, one_in: int) -> bool:
        return self.rng.randrange(one_in) == 0


class Pinger(Honest):
    def event(self, verb: str) -> None:
        self.wire.say(f"PING {self.rng.randrange(100)}")
        self.wire.say("")


class ZeroBased(Honest):
    """The seed's bot that counts from 0."""

    may = frozenset({"illegal"})

    def move(self) -> str:
        return f"MOVE {self.rng.randrange(15)}"


class Malformed(Honest):
    may = frozenset({"malformed"})
    LINES = ("MOVE", "MOVE  4", "GO 4", "MOVE 4 5", "\xff\x00", "HELLO 1 -", "READY g1 g2")

    def move(self) -> str:
        return self.rng.choice(self.LINES) if self.sometimes(9) else super().move()

    def event(self, verb: str) -> None:
        if verb == "PLAYED" and self.sometimes(60):
            self.wire.overlong()


class Silent(Honest):
    """Does not answer at some point, and never again in that game."""

    may = frozenset({"timeout"})

    def answer(self, line: str) -> None:
        if not self.sometimes(9):
            super().answer(line)


class Slow(Honest):
    """Thinks too long now and then; its move comes all the same."""

    may = frozenset({"timeout"})

    def answer(self, line: str) -> None:
        self.wire.say(line, self.rng.choice((1, 1, 1, 1500)) * MS)


class NeverReady(Honest):
    may = frozenset({"never-ready"})

    def offered(self, game_id: str) -> None:
        if self.sometimes(2):
            super().offered(game_id)


class Flooder(Honest):
    may = frozenset({"flood"})

    def event(self, verb: str) -> None:
        if verb == "PLAYED" and self.sometimes(12):
            for _ in range(130):
                self.wire.say("READY g1")


class Hasty(Honest):
    """Says a second move at once, again and again."""

    may = frozenset({"out-of-turn"})

    def answer(self, line: str) -> None:
        super().answer(line)
        for _ in range(self.rng.randrange(4)):
            self.wire.say(line, 16 * MS)


class Quitter(Honest):
    may = frozenset({"quit"})

    def event(self, verb: str) -> None:
        if self.sometimes(25):
            self.wire.say("QUIT")
            self.wire.drop(50 * MS, back=100 * MS)


class Shaky(Honest):
    """Loses its connection again and again, and is back well before its flag could fall."""

    def event(self, verb: str) -> None:
        if self.sometimes(12):
            self.wire.drop(self.rng.randrange(20 * MS), back=self.rng.randrange(1, 9) * MS)


class Forgetful(Shaky):
    """Comes back without its resume key, by name."""

    resumes = False


class Away(Honest):
    """Is gone for so long now and then that its flag falls."""

    may = frozenset({"disconnect"})

    def event(self, verb: str) -> None:
        if self.sometimes(30):
            self.wire.drop(back=5000 * MS)


class Gone(Honest):
    """Leaves without a word and never comes back."""

    may = frozenset({"disconnect"})

    def event(self, verb: str) -> None:
        if self.sometimes(40):
            self.wire.drop()


class Deaf(Honest):
    """Does not read: its socket takes no TURN."""

    may = frozenset({"disconnect"})
    reads = False

    def event(self, verb: str) -> None:
        if verb == "WELCOME":
            self.wire.drop(30_000 * MS)


class Onlooker(Honest):
    """Watches everything, and says too much now and then."""

    def event(self, verb: str) -> None:
        if verb == "WELCOME":
            self.wire.say("WATCH *")
        if verb == "OVER" and self.sometimes(20):
            self.wire.say("WATCH g999999")


HONEST = (Honest, Pinger, Shaky, Forgetful)
BAD = (
    ZeroBased,
    Malformed,
    Silent,
    Slow,
    NeverReady,
    Flooder,
    Hasty,
    Quitter,
    Away,
    Gone,
    Deaf,
)
