"""The machine of a bot in the simulation: connections, reading, connecting again.

`Client` holds the server to the protocol: a line that the server may not send at that moment is an
error of the simulation.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Protocol

from tests.simulation.bots import Honest
from tests.simulation.network import MS, EventQueue, Link

from arena_client.script import Act, Close, Raw, Say, StopReading, Wait
from arena_protocol.errors import LocalProtocolError, ProtocolError
from arena_protocol.framing import SERVER_LINE_LIMIT, LineReader, Overlong
from arena_protocol.messages import Game, ServerMessage, parse_client, parse_server
from arena_protocol.session import ClientSession, State
from arena_protocol.view import GameView

#: How long a client waits before it connects again.
PAUSE = 50 * MS
#: After these it does not connect again; after anything else it does.
FINAL = tuple(
    f"BYE reason={reason}".encode("ascii")
    for reason in ("finished", "incomplete", "short", "aborted", "stopped", "replaced")
)


class Server(Protocol):
    """The server's end of a connection; `number` is the server's number of it."""

    number: int

    def taken(self, number: int) -> None:
        """`number` bytes more have been read."""


class Connection:
    """One connection of a bot, as its machine sees it. `lines` is all that came."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.session = ClientSession()
        self.lines: list[bytes] = []
        #: The client has sent what it may not, so its own view of the order is off.
        self.unruly = False
        self.open = True
        #: Until then the bot is in the middle of a line.
        self.busy_until = 0
        self.link: Link
        self.server: Server | None = None
        self._reader = LineReader(SERVER_LINE_LIMIT)
        self._unread = bytearray()

    # -- what the network reports (network.End)

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
        for line in self._reader.feed(data):
            assert not isinstance(line, Overlong), f"the server sent a line too long: {line.head!r}"
            self.client.received(self, line)

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
            self.client.disconnected(self)

    def broken(self, _reason: str) -> None:
        """The connection is dead."""
        if self.open:
            self.open = False
            self.client.disconnected(self)


class Client:
    """The machine of the bot `name`. `dial` opens a connection for it; None: the server is not running.

    `refused(name)` is called when the key of the last WELCOME that it has read is refused, `kept_out(name,
    line)` when it gave its token and was refused.
    """

    def __init__(
        self,
        name: str,
        kind: type[Honest],
        queue: EventQueue,
        rng: Random,
        dial: Callable[[Client, Connection], Server | None],
        refused: Callable[[str], None] = lambda _: None,
        kept_out: Callable[[str, str], None] = lambda name, line: None,
    ) -> None:
        self.name = name
        #: Which of the bot's simultaneous games this machine plays.
        self.slot = 1
        self.token: str | None = None
        #: The contest that its HELLO names; None: it names none.
        self.contest: str | None = None
        self.rivals: tuple[str, ...] = ()
        #: Its HELLO asks for what it has stored; the last WELCOME had it.
        self.asks = self.stores = False
        self.rng = rng
        self.clock_ms = 0
        self.view: GameView | None = None
        self.bot = kind(rng, self)
        self.connection: Connection | None = None
        self.resume: str | None = None
        self.connections: list[Connection] = []
        self._queue = queue
        self._dial = dial
        self._refused = refused
        self._kept_out = kept_out
        #: The last log-in was by the key, or by its own token.
        self._by_key = self._by_token = False
        #: False: the bot has stopped reading, for good.
        self.reads = True

    def connect(self) -> None:
        """Connect, unless it is connected."""
        if self.connection is not None:
            return
        connection = Connection(self)
        connection.server = self._dial(self, connection)
        if connection.server is None:
            self._queue.after(self.pause(), self.connect)
            return
        self.connection = connection
        self.connections.append(connection)

    def pause(self) -> int:
        """How long it waits before it connects again."""
        return PAUSE

    # -- bytes and lines in

    def readable(self, connection: Connection) -> None:
        """There is something to read: at once, a little at a time, or not at all."""
        if connection is not self.connection:
            return
        pace = self.bot.reads_at_once
        if pace is None:
            if self.reads:
                connection.read(connection.unread)
        elif connection.unread:
            self._queue.after(self.rng.randrange(1, 5 * MS), lambda: self._read_some(connection, pace))

    def _read_some(self, connection: Connection, pace: int) -> None:
        if connection is self.connection:
            connection.read(pace)
            self.readable(connection)

    def received(self, connection: Connection, text: bytes) -> None:
        """A line of the server has been read."""
        if connection is not self.connection:
            return
        connection.lines.append(text)
        # The session raises if the server may not send this now.
        message = parse_server(text) if connection.unruly else connection.session.receive(text)
        tokens = text.decode("ascii").split()
        self._follow(message, tokens)
        if tokens[0] == "ARENA":
            key = self.resume if self.bot.resumes else None
            if (hello := self.bot.hello(self.name, self.token, key, self.rivals)) is not None:
                self._by_key = " resume=" in hello
                self._by_token = hello == f"HELLO 1 {self.name} token={self.token}"
                slot = "" if self.slot == 1 or key is not None else f" slot={self.slot}"
                contest = "" if self.contest is None else f" contest={self.contest}"
                storage = " storage=1" if self.asks else ""
                self.say(f"{hello}{slot}{contest}{storage}" if hello.startswith("HELLO ") else hello)
        elif tokens[0] == "ERROR" and connection.session.state is State.CLOSED:
            if self._by_token and not any(line.startswith(b"WELCOME") for line in connection.lines):
                self._kept_out(self.name, text.decode("ascii"))
        elif tokens[0] == "WELCOME":
            self.resume = tokens[3].partition("=")[2]
            self.stores = tokens[-1].startswith("stored=")
        elif tokens[0] == "PING":
            self.say(f"PONG {tokens[1]}")
        self.bot.received(tokens[0], tokens)

    def _follow(self, message: ServerMessage | None, tokens: list[str]) -> None:
        """Keep the view of the own game; a line with `game=` is for spectators."""
        if isinstance(message, Game):
            self.view = GameView.of(message) if message.seat else None
        elif message is not None and self.view is not None and not tokens[-1].startswith("game="):
            self.view = self.view.after(message)

    def disconnected(self, connection: Connection) -> None:
        """The connection is gone: connect again, unless the server's last line was final."""
        if connection is not self.connection:
            return
        self.connection = None
        last = connection.lines[-1] if connection.lines else b""
        if last.startswith((b"ERROR token", b"ERROR contest")):
            if self._by_key:
                self._refused(self.name)
            self.resume = None
        if last.startswith(b"BYE ") and b" again=" in last:
            # For the next contest, in which its key is worth nothing.
            self.resume = None
            self._queue.after(int(last.rpartition(b" again=")[2]) * MS, self.connect)
        elif self.reads and self.bot.returns and not last.startswith(FINAL):
            wait = int(last.rpartition(b"retry_after=")[2]) * MS if b" retry_after=" in last else 0
            self._queue.after(self.pause() + wait, self.connect)

    # -- what the bot can do (Wire)

    @property
    def conn(self) -> int:
        """The server's number of the connection that is open, or was open last."""
        server = self.connections[-1].server
        return 0 if server is None else server.number

    def act(self, *acts: Act, after: int = 0, back: int | None = None) -> None:
        here = self.connection
        for act in acts:
            match act:
                case Say(line, times):
                    for _ in range(times):
                        self.say(line, after)
                case Raw(data):
                    self._send_bytes(here, data, after)
                case Wait(ms):
                    after += ms * MS
                case StopReading():
                    self._queue.after(after, self._stop_reading)
                case Close(reset):
                    self._leave((lambda each: each.link.reset()) if reset else _finish, after, back)
        raw = b"".join(act.data for act in acts if isinstance(act, Raw))
        if here is not None and raw.endswith(b"\n"):
            self._note_sent(here, raw[:-1])
            here.busy_until = self._queue.now + after

    def say(self, line: str, after: int = 0) -> None:
        here = self.connection
        self._queue.after(after, lambda: self._send_line(here, line))

    def _send_line(self, connection: Connection | None, text: str) -> None:
        if connection is not None and connection.busy_until > self._queue.now:
            wait = connection.busy_until - self._queue.now
            self._queue.after(wait, lambda: self._send_line(connection, text))
        elif connection is not None and connection is self.connection:
            data = text.encode("latin-1")
            self._note_sent(connection, data)
            connection.link.send(data + b"\n")

    def _send_bytes(self, connection: Connection | None, data: bytes, after: int) -> None:
        def send() -> None:
            if connection is not None and connection is self.connection:
                connection.link.send(data)

        self._queue.after(after, send)

    def _note_sent(self, connection: Connection, data: bytes) -> None:
        """Advance our own session; what it does not allow leaves it behind."""
        try:
            message = parse_client(data)
            if message is not None:
                connection.session.send(message)
        except ProtocolError:
            pass  # the bot misbehaves; the server will answer that
        except LocalProtocolError:
            connection.unruly = True

    def vanish(self, after: int = 0, back: int | None = None) -> None:
        self._leave(lambda each: each.link.vanish(), after, back)

    def _leave(self, how: Callable[[Connection], None], after: int, back: int | None) -> None:
        here = self.connection

        def leave() -> None:
            if here is self.connection:
                self.connection = None
                if here is not None:
                    here.open = False
                    how(here)
                if back is not None:
                    self._queue.after(back, self.connect)

        self._queue.after(after, leave)

    def _stop_reading(self) -> None:
        """Read nothing more, on any connection."""
        self.reads = False


def _finish(connection: Connection) -> None:
    connection.link.up.finish()
