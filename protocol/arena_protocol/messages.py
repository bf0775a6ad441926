"""Every message of the wire, and the one table that reads and prints them all.

The error contract: any bytes, given to `parse_client` or `parse_server` as one line, give a
message, None (a blank line: a keep-alive) or ProtocolError; nothing else.
It must not know: sockets, the order in which messages may come, nor what they lead to.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from arena_protocol.codec import (
    COUNT,
    COUNTS,
    HEX,
    INTEGER,
    INTEGERS,
    NAME,
    NAMES,
    TEXT,
    WORD,
    WORDS,
    Direction,
    Kind,
    Printer,
    Reader,
    Shape,
    compile_printer,
    shown,
    tokens_of,
    valid_name,
)
from arena_protocol.errors import ErrorCode, ProtocolError
from arena_protocol.framing import CLIENT_LINE_LIMIT, SERVER_LINE_LIMIT

__all__ = [
    "TABLE",
    "VERSION",
    "Arena",
    "Bye",
    "ClientMessage",
    "Direction",
    "Error",
    "Game",
    "Hello",
    "Message",
    "Move",
    "Next",
    "Over",
    "Ping",
    "Played",
    "Pong",
    "Quit",
    "Ready",
    "ServerMessage",
    "Shape",
    "Start",
    "State",
    "Turn",
    "Watch",
    "Welcome",
    "Zombie",
    "encode",
    "of_another_version",
    "parse_client",
    "parse_server",
    "printer",
    "valid_name",
]

#: The version of the protocol that this file is.
VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class Hello:
    """The client's first line: who it is, and by what right (`token` or `resume`)."""

    version: int
    name: str
    games: tuple[str, ...] = ()
    token: str | None = None
    resume: str | None = None
    agent: str | None = None


@dataclass(frozen=True, slots=True)
class Ready:
    """The client is warm and may be put on the clock in this game."""

    game_id: str


@dataclass(frozen=True, slots=True)
class Move:
    """The answer to TURN, in the game's own notation."""

    move: str


@dataclass(frozen=True, slots=True)
class Quit:
    """The client leaves in good order."""


@dataclass(frozen=True, slots=True)
class Watch:
    """The client wants to see the game of this id, or every game (`*`)."""

    target: str


@dataclass(frozen=True, slots=True)
class Ping:
    """Either side asks for a PONG with the same token."""

    token: str


@dataclass(frozen=True, slots=True)
class Pong:
    """The answer to PING."""

    token: str


@dataclass(frozen=True, slots=True)
class Arena:
    """The server's first line: the version of the protocol and the server's own."""

    version: int
    server: str


@dataclass(frozen=True, slots=True)
class Welcome:
    """The client is logged in; `resume` takes its seat up again, once."""

    name: str
    session: str
    resume: str


@dataclass(frozen=True, slots=True)
class Game:
    """A game begins: the client sits at `seat` (0: it watches). Times in ms.

    `zombie` is the move that the server plays for a zombie, None if such a seat forfeits.
    `move_limit`, `byoyomi` and `lag_quota` are None where the contest has none.
    `commit` is the SHA-256 that OVER opens. `options` are the game's own, in order.
    """

    game_id: str
    game: str
    seat: int
    seats: int
    names: tuple[str, ...]
    clock: int
    increment: int
    zombie: str | None = None
    commit: str | None = None
    move_limit: int | None = None
    byoyomi: int | None = None
    lag_quota: int | None = None
    options: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class State:
    """The position before the first ply."""

    text: str
    game: str | None = None


@dataclass(frozen=True, slots=True)
class Next:
    """What is in sight of the hidden sequence before the first ply."""

    text: str
    game: str | None = None


@dataclass(frozen=True, slots=True)
class Start:
    """Every seat is ready; plies follow."""

    game_id: str


@dataclass(frozen=True, slots=True)
class Turn:
    """The client is to move: its clock runs. Times in ms; clocks in the order of the seats."""

    ply: int
    clock: tuple[int, ...]
    lag: int
    credit: int
    game: str | None = None


@dataclass(frozen=True, slots=True)
class Played:
    """A ply was played. `time` is what was charged, `clock` and `total` hold after it."""

    ply: int
    seat: int
    move: str
    time: int
    clock: tuple[int, ...]
    points: int
    total: tuple[int, ...]
    reveal: str | None = None
    game: str | None = None


@dataclass(frozen=True, slots=True)
class Zombie:
    """A seat (None: the reader's own) is played by the server from `ply` on; `line` is why."""

    ply: int
    reason: str
    seat: int | None = None
    line: bytes | None = None
    game: str | None = None


@dataclass(frozen=True, slots=True)
class Over:
    """The game is over and kept; `nonce` and `sequence` open the commit of GAME."""

    game_id: str
    total: tuple[int, ...]
    end: str
    nonce: str | None = None
    sequence: str | None = None


@dataclass(frozen=True, slots=True)
class Bye:
    """The server's last line."""

    reason: str


@dataclass(frozen=True, slots=True)
class Error:
    """The client did what it may not. `code` is an ErrorCode, or one of a newer server."""

    code: str
    text: str
    retry_after: int | None = None


ClientMessage = Hello | Ready | Move | Quit | Watch | Ping | Pong
ServerMessage = (
    Arena | Welcome | Game | State | Next | Start | Turn | Played | Zombie | Over | Bye | Error | Ping | Pong
)
Message = ClientMessage | ServerMessage


_SPECTATED: dict[str, Kind] = {"game": WORD}

TABLE: Final[tuple[Shape, ...]] = (
    Shape(
        "HELLO",
        Hello,
        Direction.CLIENT,
        {"version": COUNT, "name": NAME},
        {"games": WORDS, "token": WORD, "resume": WORD, "agent": WORD},
    ),
    Shape("READY", Ready, Direction.CLIENT, {"game_id": WORD}),
    Shape("MOVE", Move, Direction.CLIENT, {"move": WORD}),
    Shape("WATCH", Watch, Direction.CLIENT, {"target": WORD}),
    Shape("QUIT", Quit, Direction.CLIENT),
    Shape("PING", Ping, Direction.BOTH, {"token": WORD}),
    Shape("PONG", Pong, Direction.BOTH, {"token": WORD}),
    Shape("ARENA", Arena, Direction.SERVER, {"version": COUNT, "server": WORD}),
    Shape("WELCOME", Welcome, Direction.SERVER, {"name": NAME}, {"session": WORD, "resume": WORD}),
    Shape(
        "GAME",
        Game,
        Direction.SERVER,
        {"game_id": WORD, "game": WORD},
        {
            "seat": COUNT,
            "seats": COUNT,
            "names": NAMES,
            "clock": COUNT,
            "increment": COUNT,
            "zombie": WORD,
            "commit": WORD,
            "move_limit": COUNT,
            "byoyomi": COUNT,
            "lag_quota": COUNT,
        },
        own_after="names",
    ),
    Shape("STATE", State, Direction.SERVER, {"text": WORD}, _SPECTATED),
    Shape("NEXT", Next, Direction.SERVER, {"text": WORD}, _SPECTATED),
    Shape("START", Start, Direction.SERVER, {"game_id": WORD}),
    Shape(
        "TURN",
        Turn,
        Direction.SERVER,
        {"ply": COUNT},
        {"clock": COUNTS, "lag": COUNT, "credit": COUNT} | _SPECTATED,
    ),
    Shape(
        "PLAYED",
        Played,
        Direction.SERVER,
        {"ply": COUNT},
        {
            "seat": COUNT,
            "move": WORD,
            "time": COUNT,
            "clock": COUNTS,
            "points": INTEGER,
            "total": INTEGERS,
            "reveal": WORD,
        }
        | _SPECTATED,
    ),
    Shape(
        "ZOMBIE",
        Zombie,
        Direction.SERVER,
        {},
        {"ply": COUNT, "reason": WORD, "seat": COUNT, "line": HEX} | _SPECTATED,
    ),
    Shape(
        "OVER",
        Over,
        Direction.SERVER,
        {"game_id": WORD},
        {"total": INTEGERS, "end": WORD, "nonce": WORD, "sequence": WORD},
    ),
    Shape("BYE", Bye, Direction.SERVER, {}, {"reason": WORD}),
    Shape("ERROR", Error, Direction.SERVER, {"code": WORD, "text": TEXT}, {"retry_after": COUNT}),
)

_READERS: Final = {shape.type: Reader(shape) for shape in TABLE}
_PRINTERS: Final = {shape.type: Printer(shape, _READERS[shape.type]).print for shape in TABLE}
_QUICK_PRINTERS: Final = {shape.type: compile_printer(shape) for shape in TABLE}
_HELLO: Final = re.compile(rf"HELLO ({COUNT.pattern})(?= |\r?\Z)".encode()).match
_CLIENT_VERBS: Final = {s.verb: _READERS[s.type].read for s in TABLE if s.direction is not Direction.SERVER}
_SERVER_VERBS: Final = {s.verb: _READERS[s.type].read for s in TABLE if s.direction is not Direction.CLIENT}


def encode(message: Message) -> bytes:
    """Print a message as its line, with the line end.

    Raises LocalProtocolError if a value has no form on the wire or the line is too long.
    """
    return _PRINTERS[type(message)](message)


def printer(kind: type[Message]) -> Callable[..., bytes]:
    """Give the printer of one type of message, for a caller that knows that its values print.

    `printer(Played)(1, 1, "4", 3, (19997, 20000), 30, (30, 0), "1")` is the line, with its line
    end, of the message with these attributes, in 0.5 us: no message is made, nothing is checked.
    Call `printer` once and keep what it returns.
    """
    return _QUICK_PRINTERS[kind]


def parse_client(line: bytes) -> ClientMessage | None:
    """Read a line of a client's, given without its line end; None is a blank line.

    Any bytes give a message, None or ProtocolError, and nothing else. The codes are
    too-long, syntax, unknown-verb, and name for a name of a wrong form.
    """
    message: ClientMessage | None = _parse(line, CLIENT_LINE_LIMIT, _CLIENT_VERBS)
    return message


def of_another_version(line: bytes) -> bool:
    """Whether this is the HELLO of another version, whose shape beyond `version` nobody here knows."""
    match = _HELLO(line)
    return match is not None and int(match[1]) != VERSION


def parse_server(line: bytes) -> ServerMessage | None:
    """Read a line of the server's, given without its line end; None is a blank line.

    Any bytes give a message, None or ProtocolError, and nothing else. The codes are
    too-long, syntax, unknown-verb, and name for a name of a wrong form.
    """
    message: ServerMessage | None = _parse(line, SERVER_LINE_LIMIT, _SERVER_VERBS)
    return message


def _parse(line: bytes, limit: int, verbs: Mapping[str, Callable[[str], Any]]) -> Any:
    if line.endswith(b"\r"):
        line = line[:-1]
    if len(line) > limit:
        raise ProtocolError(ErrorCode.TOO_LONG, f"a line may have {limit} bytes")
    if not line:
        return None
    # Latin-1 reads any byte; what is not ASCII fits no message and is refused below.
    text = line.decode("latin-1")
    read = verbs.get(text.partition(" ")[0])
    if read is None:
        raise ProtocolError(ErrorCode.UNKNOWN_VERB, f"there is no verb {shown(tokens_of(text)[0])}")
    return read(text)
