"""Every message of the wire as a dataclass, and the table from which all of them parse and print.

Error contract: any bytes, given to `parse_client` or `parse_server` as one line, give a
message, None (a blank line, which is a keep-alive) or ProtocolError, and nothing else.
Which message is allowed when is the concern of `session.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from arena_protocol.codec import (
    Direction,
    Encoder,
    Parser,
    Schema,
    compile_printer,
    quote,
    split_line,
)
from arena_protocol.errors import ErrorCode, ProtocolError
from arena_protocol.framing import CLIENT_LINE_LIMIT, SERVER_LINE_LIMIT
from arena_protocol.kinds import COUNT, COUNTS, HEX, INTEGER, INTEGERS, NAME, NAMES, TEXT, WORD, WORDS, Kind

#: The version of the protocol that this file defines.
VERSION: Final = 1
#: The values of `role=` in HELLO: a client that only watches, and one that fetches the log of a bot.
SPECTATOR: Final = "spectator"
LOG_READER: Final = "log"


@dataclass(frozen=True, slots=True)
class Hello:
    """The client's first line. `role` is None for a player, else SPECTATOR or LOG_READER.

    `slot` is which of its simultaneous games the connection is for; None: that of the token, else 1.
    `contest` is the one that it logs in to; None: the only one that it can. With a `storage` of 1 it wants
    what it has stored.
    """

    version: int
    name: str
    games: tuple[str, ...] = ()
    token: str | None = None
    resume: str | None = None
    agent: str | None = None
    role: str | None = None
    slot: int | None = None
    contest: str | None = None
    storage: int | None = None


@dataclass(frozen=True, slots=True)
class Ready:
    """The client has warmed up: its clock may start in this game."""

    game_id: str


@dataclass(frozen=True, slots=True)
class Move:
    """The answer to TURN, in the game's own notation."""

    move: str


@dataclass(frozen=True, slots=True)
class Quit:
    """The client leaves the contest; BYE is the answer."""


@dataclass(frozen=True, slots=True)
class Watch:
    """The client watches the game with this id, or every game (`*`)."""

    target: str


@dataclass(frozen=True, slots=True)
class Keep:
    """A part of the `size` bytes that the bot stores, from byte `at` on (None: 0); the last completes them.

    They are kept with the result of `game`; None: at once.
    """

    size: int
    data: bytes
    at: int | None = None
    game: str | None = None


@dataclass(frozen=True, slots=True)
class Ping:
    """A request for PONG with the same token."""

    token: str


@dataclass(frozen=True, slots=True)
class Pong:
    """The answer to PING."""

    token: str


@dataclass(frozen=True, slots=True)
class Info:
    """A note of a bot about the game it plays, as of `ply`; to spectators it names the `seat`.

    `eval` is in the bot's own units, from its point of view; `nodes` counts positions; `line` is the
    expected continuation, moves with commas between them.
    """

    game: str
    ply: int
    seat: int | None = None
    depth: int | None = None
    eval: int | None = None
    nodes: int | None = None
    line: str | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Arena:
    """The server's first line: the version of the protocol, and the server's name and version."""

    version: int
    server: str


@dataclass(frozen=True, slots=True)
class Welcome:
    """The client is logged in; `resume` is the key for one later HELLO of the same seat.

    `epoch` is that of the rules of the contest's game, None for the first one. `storage` is how many bytes
    the bot may store, and `stored` has them; both are None where it did not ask, or nothing can be stored.
    """

    name: str
    session: str
    resume: str
    epoch: int | None = None
    storage: int | None = None
    stored: bytes | None = None


@dataclass(frozen=True, slots=True)
class Game:
    """A game begins and the client has this seat, or 0 if it watches. Times in ms.

    `zombie` is the move that the server plays for a zombie, None if such a seat forfeits.
    `move_limit`, `byoyomi`, `lag_quota` and `first_move_limit` are None where the contest has none.
    `commit` is the SHA-256 of `nonce:board:sequence`. `options` are the game's own, in their order.
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
    first_move_limit: int | None = None
    options: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class State:
    """The position before the first ply."""

    text: str
    game: str | None = None


@dataclass(frozen=True, slots=True)
class Next:
    """The visible part of the hidden sequence before the first ply."""

    text: str
    game: str | None = None


@dataclass(frozen=True, slots=True)
class Start:
    """Every seat is ready; plies follow."""

    game_id: str


@dataclass(frozen=True, slots=True)
class Turn:
    """The client has to move and its clock runs. Times in ms; `clock` in the order of the seats."""

    ply: int
    clock: tuple[int, ...]
    lag: int
    credit: int
    game: str | None = None


@dataclass(frozen=True, slots=True)
class Played:
    """A ply was played. `time` is the charge in ms; `clock` and `total` are those after it."""

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
    """The server plays a seat (None: the receiver's own) from `ply` on; `line` is the offending line."""

    ply: int
    reason: str
    seat: int | None = None
    line: bytes | None = None
    game: str | None = None


@dataclass(frozen=True, slots=True)
class Over:
    """The game is over and its record is durable; `nonce` and `sequence` open the commit of GAME."""

    game_id: str
    total: tuple[int, ...]
    end: str
    nonce: str | None = None
    sequence: str | None = None


@dataclass(frozen=True, slots=True)
class Log:
    """A line of the log that the server keeps of a bot: stamp, direction and text."""

    text: str


@dataclass(frozen=True, slots=True)
class Bye:
    """The server's last line. `again`: in how many ms another contest may have this bot."""

    reason: str
    again: int | None = None


@dataclass(frozen=True, slots=True)
class Error:
    """A line of the client was refused. `code` is an ErrorCode, or one of a newer server."""

    code: str
    text: str
    retry_after: int | None = None


#: What a client sends.
ClientMessage = Hello | Ready | Move | Info | Keep | Quit | Watch | Ping | Pong
#: What a server sends.
ServerMessage = (
    Arena
    | Welcome
    | Game
    | State
    | Next
    | Start
    | Turn
    | Played
    | Info
    | Zombie
    | Over
    | Log
    | Bye
    | Error
    | Ping
    | Pong
)
#: Any message; `encode` prints it.
Message = ClientMessage | ServerMessage


_WATCHED: dict[str, Kind] = {"game": WORD}

#: The verb, direction and values of every message, in the order of PROTOCOL.md.
TABLE: Final[tuple[Schema, ...]] = (
    Schema(
        "HELLO",
        Hello,
        Direction.CLIENT,
        {"version": COUNT, "name": NAME},
        {"games": WORDS, "token": WORD, "resume": WORD, "agent": WORD, "role": WORD, "slot": COUNT}
        | {"contest": NAME, "storage": COUNT},
    ),
    Schema("READY", Ready, Direction.CLIENT, {"game_id": WORD}),
    Schema("MOVE", Move, Direction.CLIENT, {"move": WORD}),
    Schema("WATCH", Watch, Direction.CLIENT, {"target": WORD}),
    Schema("STORE", Keep, Direction.CLIENT, {"size": COUNT}, {"data": HEX, "at": COUNT, "game": WORD}),
    Schema("QUIT", Quit, Direction.CLIENT),
    Schema("PING", Ping, Direction.BOTH, {"token": WORD}),
    Schema("PONG", Pong, Direction.BOTH, {"token": WORD}),
    Schema(
        "INFO",
        Info,
        Direction.BOTH,
        {},
        {"game": WORD, "ply": COUNT, "seat": COUNT, "depth": COUNT, "eval": INTEGER, "nodes": COUNT}
        | {"line": WORD, "text": TEXT},
    ),
    Schema("ARENA", Arena, Direction.SERVER, {"version": COUNT, "server": WORD}),
    Schema(
        "WELCOME",
        Welcome,
        Direction.SERVER,
        {"name": NAME},
        {"session": WORD, "resume": WORD, "epoch": COUNT, "storage": COUNT, "stored": HEX},
    ),
    Schema(
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
            "first_move_limit": COUNT,
        },
        game_options_after="names",
    ),
    Schema("STATE", State, Direction.SERVER, {"text": WORD}, _WATCHED),
    Schema("NEXT", Next, Direction.SERVER, {"text": WORD}, _WATCHED),
    Schema("START", Start, Direction.SERVER, {"game_id": WORD}),
    Schema(
        "TURN",
        Turn,
        Direction.SERVER,
        {"ply": COUNT},
        {"clock": COUNTS, "lag": COUNT, "credit": COUNT} | _WATCHED,
    ),
    Schema(
        "PLAYED",
        Played,
        Direction.SERVER,
        {"ply": COUNT},
        {"seat": COUNT, "move": WORD, "time": COUNT, "clock": COUNTS}
        | {"points": INTEGER, "total": INTEGERS, "reveal": WORD}
        | _WATCHED,
    ),
    Schema(
        "ZOMBIE",
        Zombie,
        Direction.SERVER,
        {},
        {"ply": COUNT, "reason": WORD, "seat": COUNT, "line": HEX} | _WATCHED,
    ),
    Schema(
        "OVER",
        Over,
        Direction.SERVER,
        {"game_id": WORD},
        {"total": INTEGERS, "end": WORD, "nonce": WORD, "sequence": WORD},
    ),
    Schema("LOG", Log, Direction.SERVER, {"text": TEXT}),
    Schema("BYE", Bye, Direction.SERVER, {}, {"reason": WORD, "again": COUNT}),
    Schema("ERROR", Error, Direction.SERVER, {"code": WORD, "text": TEXT}, {"retry_after": COUNT}),
)

_PARSERS: Final = {schema.type: Parser(schema) for schema in TABLE}
_ENCODERS: Final = {schema.type: Encoder(schema, _PARSERS[schema.type]).encode for schema in TABLE}
_PRINTERS: Final = {schema.type: compile_printer(schema) for schema in TABLE}
_HELLO: Final = re.compile(rf"HELLO ({COUNT.pattern})(?= |\r?\Z)".encode()).match
_CLIENT_VERBS: Final = {s.verb: _PARSERS[s.type].parse for s in TABLE if s.direction is not Direction.SERVER}
_SERVER_VERBS: Final = {s.verb: _PARSERS[s.type].parse for s in TABLE if s.direction is not Direction.CLIENT}


def encode(message: Message) -> bytes:
    """Return the line of a message, with its line end.

    Raises LocalProtocolError if a value has no form on the wire or the line is too long.
    """
    return _ENCODERS[type(message)](message)


def printer(kind: type[Message], *texts: str) -> Callable[..., bytes]:
    """Return the unchecked printer of one type of message: values in the order of its attributes.

    `printer(Played)(1, 1, "4", 3, (19997, 20000), 30, (30, 0), "1")` returns the line with its line
    end in 0.5 us. It builds no message and checks nothing: the caller guarantees values that
    `encode` would accept, those of `texts` as `numbers_text` prints them. Call `printer` once and keep
    the result.
    """
    if texts:
        return compile_printer(next(schema for schema in TABLE if schema.type is kind), texts)
    return _PRINTERS[kind]


def parse_client(line: bytes) -> ClientMessage | None:
    """Parse a line of a client, given without its line end; None for a blank line.

    Raises ProtocolError with code too-long, syntax, unknown-verb, or name for a name of a wrong form.
    """
    message: ClientMessage | None = _parse(line, CLIENT_LINE_LIMIT, _CLIENT_VERBS)
    return message


def is_other_version(line: bytes) -> bool:
    """Whether this is a HELLO of another version. Only its first value has a known place."""
    match = _HELLO(line)
    return match is not None and int(match[1]) != VERSION


def parse_server(line: bytes) -> ServerMessage | None:
    """Parse a line of a server, as `parse_client` does."""
    message: ServerMessage | None = _parse(line, SERVER_LINE_LIMIT, _SERVER_VERBS)
    return message


def _parse(line: bytes, limit: int, verbs: Mapping[str, Callable[[str], Any]]) -> Any:
    if len(line) > limit:
        raise ProtocolError(ErrorCode.TOO_LONG, f"a line may have {limit} bytes")
    if not line:
        return None
    # Latin-1 decodes any byte; what is not ASCII fits no message and is refused below.
    text = line.decode("latin-1")
    parse = verbs.get(text.partition(" ")[0])
    if parse is None:
        raise ProtocolError(ErrorCode.UNKNOWN_VERB, f"there is no verb {quote(split_line(text)[0])}")
    return parse(text)
