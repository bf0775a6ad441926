"""Misbehaviour on the wire as data: what a raw client does when which line comes.

A `Rascal` follows a `Script` below the level of a bot: it may say anything at any moment. It is
sans-I/O, so the same script serves a test in virtual time and, by `raw_socket.py`, a
real connection. It must not know: sockets, time, any particular game.

A rascal on a real connection: blocking, one process or thread each, as badly as the script says.

It must not know: what the lines mean, which misbehaviour it performs.

Bots that do one thing, well or badly, by name: for tests, trials and `arena bot NAME`.

Those that keep to the wire are Bots; those that break it are scripts for a raw connection,
and every fault can be had at every moment of a contest: `flooder:moment=lobby`.
It must not know: the server, engines, the tournament.
"""

from __future__ import annotations

import select
import socket
import ssl
import struct
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from arena_client import asyncio_client
from arena_client.bot import Bot, GameView
from arena_client.errors import ClientError
from arena_client.retry import PATIENT, Patience
from arena_protocol import messages as wire
from arena_protocol.framing import SERVER_LINE_LIMIT, LineReader, Overlong


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


READ_SIZE = 4096

#: SO_LINGER on with no time: close() then sends RST instead of FIN.
_RESET = struct.pack("ii", 1, 0)


def visit(
    rascal: Rascal,
    host: str,
    port: int,
    *,
    sleep: Callable[[float], None] = time.sleep,
) -> str:
    """Play the script on one connection and return how it ended: `closed`, `deaf` or `gone`.

    `closed`: by the script; `gone`: by the server. A deaf rascal stays until the server closes.
    Raises OSError if there is nobody to connect to.
    """
    with socket.create_connection((host, port)) as sock:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            return _perform(rascal, sock, sleep)
        except OSError:
            return "gone"


def _perform(rascal: Rascal, sock: socket.socket, sleep: Callable[[float], None]) -> str:
    lines = LineReader(SERVER_LINE_LIMIT)
    end = _act(rascal.opened(), sock, sleep)
    while end is None:
        data = sock.recv(READ_SIZE)
        if not data:
            return "gone"
        for line in lines.feed(data):
            if end is None and not isinstance(line, Overlong):
                end = _act(rascal.receive(line), sock, sleep)
    return end


def _act(acts: Iterable[Act], sock: socket.socket, sleep: Callable[[float], None]) -> str | None:
    """Do what the script says; how the connection ended, or None while it goes on."""
    for act in acts:
        match act:
            case Say(text, times):
                sock.sendall(f"{text}\n".encode() * times)
            case Raw(data):
                sock.sendall(data)
            case Wait(ms):
                sleep(ms / 1000)
            case Deaf():
                _await_hang_up(sock)
                return "deaf"
            case Close(reset):
                if reset:
                    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
                return "closed"
    return None


def _await_hang_up(sock: socket.socket) -> None:
    """Wait until the server has closed its side, without reading a byte."""
    poll = select.poll()
    # Not asking for POLLIN keeps unread lines from waking us; POLLRDHUP is Linux's word for FIN.
    poll.register(sock, getattr(select, "POLLRDHUP", 0) | select.POLLHUP | select.POLLERR)
    poll.poll()


class FirstLegal(Bot):
    """Plays the first legal move of any game; `1` where the rules are not known."""

    instant = True

    def choose(self, view: GameView) -> str:
        """Return the first legal move."""
        return view.legal_moves[0] if view.legal_moves else "1"


class Fixed(Bot):
    """Plays one and the same move, legal or not."""

    instant = True

    def __init__(self, move: str = "6") -> None:
        self._move = move

    def choose(self, view: GameView) -> str:
        """Return the move."""
        return self._move


class ZeroBased(Bot):
    """Counts its moves 0, 1, ... 14 and round, from each game's start: the bug of a first evening."""

    instant = True

    def __init__(self) -> None:
        self._count = 0

    def new_game(self, view: GameView) -> None:
        """Begin to count anew."""
        self._count = 0

    def choose(self, view: GameView) -> int:
        """Return the count."""
        self._count += 1
        return (self._count - 1) % 15


class IllegalAt(FirstLegal):
    """Plays well up to a ply, and from there on a move that no game has."""

    def __init__(self, ply: int = 1) -> None:
        self._ply = ply

    def choose(self, view: GameView) -> str:
        """Return the first legal move, and `99` from the fatal ply on."""
        return super().choose(view) if view.ply < self._ply else "99"


#: The moments of a contest: which line begins each.
MOMENTS = {
    "open": OPEN,  # connected, before the server speaks
    "login": "ARENA",  # instead of HELLO
    "lobby": "WELCOME",  # logged in, waiting for a game
    "offer": "GAME",  # instead of READY
    "turn": "TURN",  # instead of the move
    "waiting": MINE,  # the own move is played, another seat's turn
    "over": "OVER",  # the game has ended
}

Made = Bot | Script


@dataclass(frozen=True, slots=True)
class Recipe:
    """How to make one scripted bot: `defaults` are its parameters, all of them whole numbers or words."""

    help: str
    make: Callable[..., Made]
    defaults: Mapping[str, int | str] = field(default_factory=dict)


def _fault(help_: str, acts: Callable[[int], tuple[Act, ...]], size: int = 0, moment: str = "turn") -> Recipe:
    """Make the recipe of a fault on the wire; `size` is what its acts may be scaled by."""

    def make(moment: str, ply: int, size: int = size) -> Script:
        timed = ply if MOMENTS[moment] in ("TURN", MINE) else None
        return HONEST.but(On(MOMENTS[moment], acts(size), timed))

    defaults: dict[str, int | str] = {"moment": moment, "ply": 1}
    return Recipe(help_, make, defaults | ({"size": size} if size else {}))


def _never(verb: str) -> Callable[[], Script]:
    return lambda: HONEST.but(On(verb, ()))


#: Every scripted bot by its name.
SCRIPTED: dict[str, Recipe] = {
    "first-legal": Recipe("plays the first legal move", FirstLegal),
    "fixed": Recipe("plays the same move for ever", lambda move: Fixed(str(move)), {"move": "6"}),
    "zero-based": Recipe("counts its moves from zero", ZeroBased),
    "illegal": Recipe("plays an illegal move from a ply on", IllegalAt, {"ply": 1}),
    "silent": Recipe("answers no TURN", _never("TURN")),
    "never-ready": Recipe("answers no GAME", _never("GAME")),
    "out-of-turn": Recipe(
        "moves again when it has moved", lambda: HONEST.but(On(MINE, (Say("MOVE {move}"),)))
    ),
    "slow-bytes": Recipe(
        "sends its moves byte by byte",
        lambda gap: HONEST.but(On("TURN", drip("MOVE 6", gap))),
        {"gap": 50},
    ),
    "malformed": _fault("sends lines that are no message", lambda _: (Say("MOVE"), Say("MOOVE 6"))),
    "garbage": _fault("sends bytes that are no text", lambda _: (Raw(b"\xff\xfe\x00\x80\r\x07\n"),)),
    "overlong": _fault(
        "sends a line longer than allowed", lambda size: (Raw(b"MOVE " + b"6" * size + b"\n"),), 5000
    ),
    # More than the 100 that a server takes, and not 100 more than that: it stays connected.
    "flooder": _fault("sends lines that nothing asked for", lambda size: (Say("READY {game}", size),), 150),
    "move-flooder": _fault("sends a move many times", lambda size: (Say("MOVE 7", size),), 150),
    "quitter": _fault("says QUIT", lambda _: (Say("QUIT"),)),
    "disconnector": _fault("closes the connection", lambda _: (Close(),)),
    "resetter": _fault("resets the connection", lambda _: (Close(reset=True),)),
    "half-line": _fault("closes in the middle of a line", lambda _: (Raw(b"MOV"), Close())),
    "vanisher": _fault("reads and says nothing any more", lambda _: (Deaf(),)),
    "never-reads": _fault(
        "asks for much and reads nothing", lambda size: (Say("PING unread", size), Deaf()), 20_000, "lobby"
    ),
}


def create(spec: str) -> Made:
    """Make a scripted bot from `name` or `name:parameter=value,...`.

    Raises ClientError, naming what there is, for an unknown name, parameter or value.
    """
    name, _, text = spec.partition(":")
    if name not in SCRIPTED:
        raise ClientError(f"no scripted bot {name!r}; there are: {', '.join(SCRIPTED)}")
    recipe = SCRIPTED[name]
    given = dict(_parameter(name, recipe, part) for part in text.split(",") if part)
    return recipe.make(**{**recipe.defaults, **given})


def _parameter(name: str, recipe: Recipe, text: str) -> tuple[str, int | str]:
    key, _, value = text.partition("=")
    if key not in recipe.defaults:
        known = ", ".join(recipe.defaults) or "none"
        raise ClientError(f"{name} has no parameter {key!r}; it has: {known}")
    if key == "moment" and value not in MOMENTS:
        raise ClientError(f"{name}: moment is one of {', '.join(MOMENTS)}, not {value!r}")
    if not isinstance(recipe.defaults[key], int):
        return key, value
    if not (value.isascii() and value.isdigit() and len(value) < 10):
        raise ClientError(f"{name}: {key} is a whole number, not {value!r}")
    return key, int(value)


def run(
    spec: str,
    host: str,
    port: int,
    *,
    name: str,
    token: str | None = None,
    patience: Patience = PATIENT,
    tls: ssl.SSLContext | None = None,
) -> str:
    """Let a scripted bot play a contest; return the reason of BYE, or how a raw connection ended.

    Raises ClientError as `create` and `asyncio_client.play` do, if nobody answers a raw one, or
    if it is to be encrypted.
    """
    made = create(spec)
    if isinstance(made, Bot):
        return asyncio_client.run(made, host, port, name=name, token=token, patience=patience, tls=tls)
    if tls is not None:
        raise ClientError(f"{spec} speaks on a raw connection, without TLS")
    try:
        return visit(Rascal(made, name, token), host, port)
    except OSError as error:
        raise ClientError(f"cannot reach {host}:{port}: {error.strerror or error}") from error
