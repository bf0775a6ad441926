"""Misbehaviour on the wire as data: what a raw client does when which line comes.

A `Rascal` follows a `Script` below the level of a bot: it may say anything at any moment. It is
sans-I/O, so the same script serves a test in virtual time and, by `raw_socket.py`, a
real connection. It must not know: sockets, time, any particular game.
"""

from __future__ import annotations

from dataclasses import dataclass

from arena_protocol import messages as wire


@dataclass(frozen=True, slots=True)
class Say:
    """Send a line `times` times; `{hello}`, `{game}`, `{ply}` and `{move}` stand for what they name."""

    text: str
    times: int = 1


@dataclass(frozen=True, slots=True)
class Raw:
    """Send these bytes, whatever they are."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Wait:
    """Do nothing for this many milliseconds, not even read."""

    ms: int


@dataclass(frozen=True, slots=True)
class Deaf:
    """Read nothing any more, and keep the connection."""


@dataclass(frozen=True, slots=True)
class Close:
    """Close the connection without a word; `reset` throws away what is under way (RST)."""

    reset: bool = False


Act = Say | Raw | Wait | Deaf | Close

#: The pseudo-verb of the moment when a connection has been opened and nothing was said.
OPEN = "OPEN"

#: A PLAYED of the rascal's own seat: from here on it is somebody else's turn.
MINE = "MINE"


@dataclass(frozen=True, slots=True)
class On:
    """What to do when a line with `verb` comes.

    With `ply`, only at the first such line of a game whose ply is `ply` or later, and once a game.
    """

    verb: str
    acts: tuple[Act, ...]
    ply: int | None = None


@dataclass(frozen=True, slots=True)
class Script:
    """Rules for every line; of several that match, the last one is followed."""

    rules: tuple[On, ...]

    def but(self, *rules: On) -> Script:
        """Return the same script with exceptions."""
        return Script(self.rules + rules)


#: A client that does nothing wrong: it plays the zombie's move from start to end.
HONEST = Script(
    (
        On("ARENA", (Say("{hello}"),)),
        On("GAME", (Say("READY {game}"),)),
        On("TURN", (Say("MOVE {move}"),)),
        On("PING", (Say("PONG {ply}"),)),
    )
)


def drip(text: str, gap_ms: int) -> tuple[Act, ...]:
    """Return the acts that send a line byte by byte with `gap_ms` before each."""
    return tuple(act for byte in f"{text}\n".encode() for act in (Wait(gap_ms), Raw(bytes([byte]))))


class Rascal:
    """One connection's run of a script: lines in, acts out.

    `{move}` is the move that GAME says a zombie makes, else `1`; `{ply}` is the first value of the
    line at hand, which for PING is its token.
    """

    def __init__(self, script: Script, name: str, token: str | None = None) -> None:
        self.name = name
        self._script = script
        self._fields = {
            "hello": wire.encode(wire.Hello(wire.VERSION, name, token=token)).decode().rstrip(),
            "game": "-",
            "ply": "-",
            "move": "1",
        }
        self._seat: str | None = None
        self._spent: set[On] = set()

    def opened(self) -> tuple[Act, ...]:
        """Return what to do first, before the server speaks."""
        return self._follow(OPEN)

    def receive(self, line: bytes) -> tuple[Act, ...]:
        """Return what to do about a line of the server, the fields of `Say` filled in."""
        verb, *values = line.decode("ascii", "replace").split() or [""]
        self._fields["ply"] = values[0] if values else "-"
        options = dict(value.split("=", 1) for value in values if "=" in value)
        if verb == "GAME":
            self._sit_down(options)
        if verb == "PLAYED" and options.get("seat") == self._seat:
            verb = MINE
        return self._follow(verb)

    def _sit_down(self, options: dict[str, str]) -> None:
        """Begin a new game: what was done once a game may be done again."""
        self._fields["game"] = self._fields["ply"]
        self._fields["move"] = options.get("zombie", "1")
        self._seat = options.get("seat")
        self._spent.clear()

    def _follow(self, verb: str) -> tuple[Act, ...]:
        for rule in reversed(self._script.rules):
            if rule.verb == verb and self._timely(rule):
                return tuple(self._filled(act) for act in rule.acts)
        return ()

    def _timely(self, rule: On) -> bool:
        """Whether a rule that may wait for a ply has its moment, which is then spent."""
        if rule.ply is None:
            return True
        ply = self._fields["ply"]
        if rule in self._spent or not ply.isdigit() or int(ply) < rule.ply:
            return False
        self._spent.add(rule)
        return True

    def _filled(self, act: Act) -> Act:
        return Say(act.text.format(**self._fields), act.times) if isinstance(act, Say) else act
