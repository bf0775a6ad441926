"""Every input that takes bytes of others, each with its error contract in one sentence.

`Target.run` feeds it, and raises what the contract does not allow. A target for streams is fed a
whole session; what it gives must not depend on how the stream was cut.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from itertools import count

from arena_client.bot import Bot
from arena_client.errors import ClientError
from arena_client.protocol import ClientProtocol
from arena_engines.analysis import analyse_file
from arena_engines.engine import EngineError
from arena_engines.registry import create
from arena_protocol.errors import ProtocolError
from arena_protocol.framing import CLIENT_LINE_LIMIT, LineReader
from arena_protocol.games import GAMES, make_game
from arena_protocol.games.base import Deal, GameError
from arena_protocol.messages import encode as print_message
from arena_protocol.messages import parse_client, parse_server
from arena_protocol.record import RecordError
from arena_protocol.record_codec import decode, encode
from arena_protocol.session import ClientSession, ServerSession
from arena_protocol.verify import verify
from arena_server.core.contest import Contest
from arena_server.core.effects import Marker
from arena_server.core.events import Tick
from arena_server.core.journal import Past
from arena_server.errors import ConfigError
from arena_server.store.database import database_of
from arena_server.store.journal import pack, unpack
from arena_server.terms.config import ContestConfig, Entrant
from arena_server.terms.file import parse_contest
from arena_server.terms.tables import parse_duration

from ..protocol.records import a_record
from ..protocol.wire import TRANSCRIPT
from ..server.core.event_script import PROLOGUE, EventScript
from ..server.core.harness import BytesHarness

CLIENT_LINES = [line for side, line, _ in TRANSCRIPT if side == "C"]
SERVER_LINES = [line for side, line, _ in TRANSCRIPT if side == "S"]


@dataclass(frozen=True)
class Target:
    """`feed` takes any bytes and raises nothing but `errors`, whose text is one line."""

    name: str
    promise: str
    seeds: tuple[bytes, ...]
    feed: Callable[[bytes], object]
    errors: tuple[type[Exception], ...]

    def run(self, data: bytes) -> object:
        """Feed it. An error of the contract becomes its text."""
        try:
            return self.feed(data)
        except self.errors as error:
            text = str(error)
            assert text, "an error without a text"
            assert "\n" not in text, text
            return text


# -- lines and sessions ---------------------------------------------------------------------


def client_line(data: bytes) -> object:
    message = parse_client(data)
    assert message is None or parse_client(print_message(message)[:-1]) == message
    return message


def server_line(data: bytes) -> object:
    message = parse_server(data)
    assert message is None or parse_server(print_message(message)[:-1]) == message
    return message


def lines(data: bytes) -> object:
    buffer = LineReader(CLIENT_LINE_LIMIT)
    out = buffer.feed(data)
    assert buffer.pending <= CLIENT_LINE_LIMIT + 1
    return out


def session(kind: type[ServerSession] | type[ClientSession]) -> Callable[[bytes], object]:
    """A session in the lobby gets the lines; what it refuses changes nothing."""

    def feed(data: bytes) -> object:
        server, client = ServerSession(), ClientSession()
        for sender, line in (
            (server, SERVER_LINES[0]),
            (client, b"HELLO 1 mybot"),
            (server, SERVER_LINES[1]),
        ):
            message = parse_server(line) if sender is server else parse_client(line)
            receiver = client if sender is server else server
            receiver.receive(sender.send(message)[:-1])  # type: ignore[arg-type]
        receiver = server if kind is ServerSession else client
        received = []
        for line in data.split(b"\n"):
            before = receiver.state, receiver.game_id, receiver.seat
            try:
                received.append(receiver.receive(line))
            except ProtocolError:
                assert (receiver.state, receiver.game_id, receiver.seat) == before
        return received

    return feed


# -- the contest ----------------------------------------------------------------------------


class ThreeClients(BytesHarness):
    """A contest with three connections open; TURN reaches its socket, and records are stored, at once."""

    def __init__(self, game: str) -> None:
        secrets = count(1)
        options = {"plies": 4, "start": "empty", "lookahead": 2} if game == "insertion" else {}
        config = ContestConfig(name="any", seed=1, game=game, options=options, flood_limit=20, probation=0)
        bots = [Entrant("ann"), Entrant("bob"), Entrant("eye", plays=False)]
        super().__init__(Contest(config, bots, lambda _: f"k{next(secrets)}", 0))
        #: Everything that was sent, in order.
        self.output: list[tuple[int, bytes]] = []
        for conn in (1, 2, 3):
            self.connect(conn)

    def sent(self, conn: int, data: bytes, marker: Marker | None) -> None:
        self.output.append((conn, data))


SCRIPT = [
    (1, b"HELLO 1 ann\n"), (2, b"HELLO 1 bob games=insertion\n"), (3, b"HELLO 1 eye\nWATCH *\n"),
    (1, b"READY g1\nPING a\n"), (2, b"READY g1\n"), (1, b"MOVE 7\n"), (2, b"MOVE 1\n\n"), (1, b"MOVE 15\n"),
    (2, b"PONG x\nMOVE 6\n"), (1, b"READY g2\n"), (2, b"READY g2\n"), (2, b"MOVE 2\n"), (1, b"QUIT\n"),
    (2, b"MOVE 3\n"),
]  # fmt: skip
#: A session as one piece of bytes: each line begins with the number of its connection.
SESSION = b"".join(b"%d%b" % (conn, line) for conn, data in SCRIPT for line in data.splitlines(keepends=True))


def contest(game: str) -> Callable[[bytes], object]:
    def feed(data: bytes) -> object:
        clients = ThreeClients(game)
        for line in data.splitlines(keepends=True):
            clients.receive(line[0] % 3 + 1, line[1:])
        return clients.output

    return feed


#: A script of `tests/server/core/event_script.py` that meets most kinds of event.
EVENTS = b"\n".join(
    (
        *PROLOGUE,
        b"line 1 MOVE 7", b"wait 50", b"line 2 MOVE a1", b"command pause", b"hold", b"line 2 MOVE 9",
        b"stall 400", b"flush 1", b"turn 1 1 2", b"ping 2 1", b"chunk 3", b"overlong 2 MOVE 777", b"release",
        b"lost 1", b"open", b"line 4 HELLO 1 ann resume=s3", b"command resume", b"line 4 READY g2",
        b"command void g2", b"command replay g2", b"command kick bob", b"command lift bob", b"stored g2",
        b"command drain", b"wait 6000", b"tick",
    )
)  # fmt: skip


def any_events(game: str) -> Callable[[bytes], object]:
    def feed(data: bytes) -> object:
        script = EventScript(game).run(data.split(b"\n"))
        script.end()
        return script.effects

    return feed


# -- the bot author's side ------------------------------------------------------------------


class First(Bot):
    """Plays the first legal move."""

    def choose(self, view: object) -> str:
        return "1"


VISIT = b"".join(line + b"\n" for line in SERVER_LINES[:4]) + b"".join(
    b"%b\n" % line
    for line in (
        b"STATE 53351/34233/13552/44215/44526", b"NEXT 61634513435625445315", b"START g42",
        b"TURN 1 clock=20000,20000 lag=0 credit=0",
        b"PLAYED 1 seat=1 move=4 time=3 clock=19997,20000 points=30 total=30,0 reveal=1",
        b"OVER g42 total=970,905 end=complete nonce=5f sequence=6163", b"BYE reason=finished",
    )
)  # fmt: skip


def visit(data: bytes) -> object:
    client = ClientProtocol(First(), "mybot")
    client.connection_made()
    for line in data.splitlines(keepends=True):
        client.receive_data(line)
        while (job := client.next_job()) is not None:
            client.complete(job, "1")
    return client.data_to_send()


# -- files ----------------------------------------------------------------------------------


def sealed(data: bytes) -> object:
    """A payload with a new checksum: read, then verified."""
    record = decode(data + sha256(data).digest())
    verify(record)
    return record


def journal(data: bytes) -> object:
    """A row of the journal with a new checksum: read, then recovered from."""
    entries = unpack(data + sha256(data).digest())
    config = ContestConfig(name="any", seed=1, options={"plies": 4, "start": "empty", "lookahead": 2})
    contest = Contest(config, [Entrant("ann"), Entrant("bob")], lambda _: "key", 0, Past((), tuple(entries)))
    return contest.handle(Tick(), 0)


def a_journal() -> bytes:
    """What a game has written so far that is in the middle of its second ply."""
    clients = ThreeClients("insertion")
    for conn, data in SCRIPT[:7]:
        clients.receive(conn, data)
    return pack(clients.entries)[:-32]


CONFIG = b"""
[contest]
name = "fuzz"
game = "insertion"
games_per_pair = 2
probation = 3
absent = "2m"
[game]
plies = 20
clock = "20s"
[[bot]]
name = "a"
engine = "dummy"
[[bot]]
name = "b"
command = ["python3", "bot.py", "{host}", "{port}"]
"""


def config(data: bytes) -> object:
    return parse_contest(data.decode("utf-8", "replace"), "c.toml")


def positions(path: str) -> Callable[[bytes], object]:
    """`path` is a file that may be written."""

    def feed(data: bytes) -> object:
        with open(path, "wb") as file:
            file.write(data)
        return analyse_file("greedy", 1, path)["positions"]

    return feed


def engine(data: bytes) -> object:
    return create(data.decode("utf-8", "replace"))


def duration(data: bytes) -> object:
    return parse_duration(data.decode("utf-8", "replace"))


def database(data: bytes) -> object:
    return database_of(data.decode("utf-8", "replace"))


def options(data: bytes) -> object:
    """`game key=value key=value`, then a board and a move."""
    game, *rest = data.decode("utf-8", "replace").split(" ")
    made = make_game(game, dict(token.partition("=")[::2] for token in rest if "=" in token))
    texts = [token for token in rest if "=" not in token] or [""]
    position = made.start(Deal(texts[0], "123456"))
    assert isinstance(made.is_legal(position, texts[-1]), bool)
    return made.state_text(position)


LINE_PROMISE = "any line gives a message, None or ProtocolError, and what is read can be printed"


@cache
def targets(scratch: str) -> tuple[Target, ...]:
    """All targets; `scratch` is a file for those that read one."""
    record = encode(a_record(options={"plies": 4, "colours": 3, "lookahead": 3}))
    return (
        Target("client-line", LINE_PROMISE,
               tuple(CLIENT_LINES), client_line, (ProtocolError,)),
        Target("server-line", LINE_PROMISE,
               tuple(SERVER_LINES), server_line, (ProtocolError,)),
        Target("lines", "any bytes give lines and Overlongs, in bounded memory", (SESSION, VISIT), lines, ()),
        Target("server-session", "a refused line leaves the session as it was", (SESSION,),
               session(ServerSession), ()),
        Target("client-session", "a refused line leaves the session as it was", (VISIT,),
               session(ClientSession), ()),
        Target("contest", "the contest raises on no lines, and sends nothing to a closed connection",
               (SESSION,), contest("insertion"), ()),
        Target("contest-xo", "the same where a fault forfeits", (SESSION.replace(b"MOVE 7", b"MOVE a1"),),
               contest("tictactoe"), ()),
        Target("events", "the contest raises on no sequence of events, and ends when it is stopped",
               (EVENTS,), any_events("insertion"), ()),
        Target("events-forfeit", "the same where a fault forfeits", (EVENTS,), any_events("tictactoe"), ()),
        Target("player", "any bytes of a server lead to lines, jobs or ClientError", (VISIT,),
               visit, (ClientError,)),
        Target("record", "any bytes give the record they were written from, or RecordError", (record,),
               decode, (RecordError,)),
        Target("sealed-record", "any payload with a checksum gives a record that verifies, or RecordError",
               (record[:-32],), sealed, (RecordError,)),
        Target("journal-row", "any bytes give the entries they were written from, or ValueError",
               (pack([(1, "offer", ("a", "b"), 1, ()), (0, "key", "ann", None)]),), unpack, (ValueError,)),
        Target("sealed-journal", "any entries with a checksum give a contest that goes on, or ValueError",
               (a_journal(),), journal, (ValueError,)),
        Target("config", "any text gives a checked configuration or ConfigError", (CONFIG,), config,
               (ConfigError,)),
        Target("positions", "any file gives an analysis or EngineError",
               (b"53351/34233/13552/44215/44526 6163\n# remark\n\n...../...../...../...../..... 1\n",),
               positions(scratch), (EngineError,)),
        Target("engine", "any text gives an engine or EngineError", (b"champion:depth=5", b"greedy"), engine,
               (EngineError,)),
        Target("duration", "any text gives milliseconds or ValueError", (b"20s", b"1.5 m", b"500ms"),
               duration, (ValueError,)),
        Target("database", "any text gives a path or ConfigError", (b"sqlite:///arena.db", b"sqlite:////a/b%20c"),
               database, (ConfigError,)),
        Target("game", "any options, position and move give a game and a verdict, or GameError",
               (b"insertion plies=4 colours=3 ...../...../...../...../..... 7", b"xo size=12 a1",
              *(name.encode() for name in GAMES)), options, (GameError,)),
    )  # fmt: skip
