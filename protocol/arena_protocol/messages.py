"""Every message of the wire as a dataclass, and the table from which all of them parse and print.

The types of attributes (`kinds.py`) are their forms in a line, in which they have the order of the class.

Error contract: any bytes, given to `parse_client` or `parse_server` as one line, give a
message, None (a blank line, which is a keep-alive) or ProtocolError, and nothing else.
Which message is allowed when is the concern of `session.py`.
"""

# Annotations are values here, of which the table is made; to evaluate their texts takes 4 ms at each start.

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
    schema_of,
    split_line,
)
from arena_protocol.errors import ErrorCode, ProtocolError
from arena_protocol.framing import CLIENT_LINE_LIMIT, SERVER_LINE_LIMIT
from arena_protocol.kinds import COUNT, Count, Counts, Hex, Integer, Integers, Name, Names, Text, Word, Words

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

    version: Count
    name: Name
    games: Words = ()
    token: Word | None = None
    resume: Word | None = None
    agent: Word | None = None
    role: Word | None = None
    slot: Count | None = None
    contest: Name | None = None
    storage: Count | None = None


@dataclass(frozen=True, slots=True)
class Ready:
    """The client has warmed up: its clock may start in this game."""

    game_id: Word


@dataclass(frozen=True, slots=True)
class Move:
    """The answer to TURN, in the game's own notation."""

    move: Word


@dataclass(frozen=True, slots=True)
class Watch:
    """The client watches the game with this id, or every game (`*`)."""

    target: Word


@dataclass(frozen=True, slots=True)
class Keep:
    """A part of the `size` bytes that the bot stores, from byte `at` on (None: 0); the last completes them.

    They are kept with the result of `game`; None: at once.
    """

    size: Count
    data: Hex
    at: Count | None = None
    game: Word | None = None


@dataclass(frozen=True, slots=True)
class Quit:
    """The client leaves the contest; BYE is the answer."""


@dataclass(frozen=True, slots=True)
class Ping:
    """A request for PONG with the same token."""

    token: Word


@dataclass(frozen=True, slots=True)
class Pong:
    """The answer to PING."""

    token: Word


@dataclass(frozen=True, slots=True)
class Info:
    """A note of a bot about the game it plays, as of `ply`; to spectators it names the `seat`.

    `eval` is in the bot's own units, from its point of view; `nodes` counts positions; `line` is the
    expected continuation, moves with commas between them.
    """

    game: Word
    ply: Count
    seat: Count | None = None
    depth: Count | None = None
    eval: Integer | None = None
    nodes: Count | None = None
    line: Word | None = None
    text: Text | None = None


@dataclass(frozen=True, slots=True)
class Arena:
    """The server's first line: the version of the protocol, and the server's name and version."""

    version: Count
    server: Word


@dataclass(frozen=True, slots=True)
class Welcome:
    """The client is logged in; `resume` is the key for one later HELLO of the same seat.

    `epoch` is that of the rules of the contest's game, None for the first one. `storage` is how many bytes
    the bot may store, and `stored` has them; both are None where it did not ask, or nothing can be stored.
    """

    name: Name
    session: Word
    resume: Word
    epoch: Count | None = None
    storage: Count | None = None
    stored: Hex | None = None


@dataclass(frozen=True, slots=True)
class Game:
    """A game begins and the client has this seat, or 0 if it watches. Times in ms.

    `zombie` is the move that the server plays for a zombie, None if such a seat forfeits.
    `move_limit`, `byoyomi`, `lag_quota` and `first_move_limit` are None where the contest has none.
    `commit` is the SHA-256 of `nonce:board:sequence`. `options` are the game's own, in their order.
    """

    game_id: Word
    game: Word
    seat: Count
    seats: Count
    names: Names
    clock: Count
    increment: Count
    zombie: Word | None = None
    commit: Word | None = None
    move_limit: Count | None = None
    byoyomi: Count | None = None
    lag_quota: Count | None = None
    first_move_limit: Count | None = None
    options: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class State:
    """The position before the first ply."""

    text: Word
    game: Word | None = None


@dataclass(frozen=True, slots=True)
class Next:
    """The visible part of the hidden sequence before the first ply."""

    text: Word
    game: Word | None = None


@dataclass(frozen=True, slots=True)
class Start:
    """Every seat is ready; plies follow."""

    game_id: Word


@dataclass(frozen=True, slots=True)
class Turn:
    """The client has to move and its clock runs. Times in ms; `clock` in the order of the seats."""

    ply: Count
    clock: Counts
    lag: Count
    credit: Count
    game: Word | None = None


@dataclass(frozen=True, slots=True)
class Played:
    """A ply was played. `time` is the charge in ms; `clock` and `total` are those after it."""

    ply: Count
    seat: Count
    move: Word
    time: Count
    clock: Counts
    points: Integer
    total: Integers
    reveal: Word | None = None
    game: Word | None = None


@dataclass(frozen=True, slots=True)
class Zombie:
    """The server plays a seat (None: the receiver's own) from `ply` on; `line` is the offending line."""

    ply: Count
    reason: Word
    seat: Count | None = None
    line: Hex | None = None
    game: Word | None = None


@dataclass(frozen=True, slots=True)
class Over:
    """The game is over and its record is durable; `nonce` and `sequence` open the commit of GAME."""

    game_id: Word
    total: Integers
    end: Word
    nonce: Word | None = None
    sequence: Word | None = None


@dataclass(frozen=True, slots=True)
class Log:
    """A line of the log that the server keeps of a bot: stamp, direction and text."""

    text: Text


@dataclass(frozen=True, slots=True)
class Bye:
    """The server's last line. `again`: in how many ms another contest may have this bot."""

    reason: Word
    again: Count | None = None


@dataclass(frozen=True, slots=True)
class Error:
    """A line of the client was refused. `code` is an ErrorCode, or one of a newer server."""

    code: Word
    text: Text
    retry_after: Count | None = None


#: What a client sends.
ClientMessage = Hello | Ready | Move | Watch | Keep | Quit | Ping | Pong | Info
#: What a server sends.
ServerMessage = (
    Arena | Welcome | Game | State | Next | Start | Turn | Played | Zombie | Over | Log | Bye | Error
) | (Ping | Pong | Info)
#: Any message; `encode` prints it.
Message = ClientMessage | ServerMessage


#: Every message with its verb and direction, in the order of PROTOCOL.md.
TABLE: Final[tuple[Schema, ...]] = (
    schema_of("HELLO", Hello, Direction.CLIENT, positionals=2),
    schema_of("READY", Ready, Direction.CLIENT, positionals=1),
    schema_of("MOVE", Move, Direction.CLIENT, positionals=1),
    schema_of("WATCH", Watch, Direction.CLIENT, positionals=1),
    schema_of("STORE", Keep, Direction.CLIENT, positionals=1),
    schema_of("QUIT", Quit, Direction.CLIENT),
    schema_of("PING", Ping, Direction.BOTH, positionals=1),
    schema_of("PONG", Pong, Direction.BOTH, positionals=1),
    schema_of("INFO", Info, Direction.BOTH),
    schema_of("ARENA", Arena, Direction.SERVER, positionals=2),
    schema_of("WELCOME", Welcome, Direction.SERVER, positionals=1),
    schema_of("GAME", Game, Direction.SERVER, positionals=2, game_options_after="names"),
    schema_of("STATE", State, Direction.SERVER, positionals=1),
    schema_of("NEXT", Next, Direction.SERVER, positionals=1),
    schema_of("START", Start, Direction.SERVER, positionals=1),
    schema_of("TURN", Turn, Direction.SERVER, positionals=1),
    schema_of("PLAYED", Played, Direction.SERVER, positionals=1),
    schema_of("ZOMBIE", Zombie, Direction.SERVER),
    schema_of("OVER", Over, Direction.SERVER, positionals=1),
    schema_of("LOG", Log, Direction.SERVER, positionals=1),
    schema_of("BYE", Bye, Direction.SERVER),
    schema_of("ERROR", Error, Direction.SERVER, positionals=2),
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
