"""One connection of the checker's to a server, and a game as it has seen it."""

from __future__ import annotations

from dataclasses import replace
from time import monotonic, sleep
from typing import Any, Protocol

from arena_check.cases import Finding, failed
from arena_check.wire import ReceiveTimeoutError, Stream, Wire
from arena_protocol import messages as wire
from arena_protocol.errors import ClientError, ErrorCode, ProtocolError
from arena_protocol.framing import SERVER_LINE_LIMIT, Overlong
from arena_protocol.games.base import Game
from arena_protocol.view import GameView


class Patience(Protocol):
    """Seconds: `patience` for what must come, `quiet` for what must not."""

    @property
    def patience(self) -> float: ...

    @property
    def quiet(self) -> float: ...


class Bench(Protocol):
    """What a client needs of the bench (`bench.ServerBench`): `keys` are resume keys by name."""

    keys: dict[str, str]

    @property
    def settings(self) -> Patience: ...

    @property
    def token_option(self) -> str: ...

    def open(self) -> Wire: ...

    def next_token(self) -> str: ...


#: Between two tries to log in under a name that is still taken.
RETRY_S = 0.05


def is_fresh(game: GameView) -> bool:
    """Whether the game is on offer, with no seat at fault."""
    return bool(game.state) and not (game.started or game.zombie or game.over)


def rules_of(game: GameView) -> Game[Any]:
    """The rules of a game whose position they accept. Raises Finding."""
    expected = "a game and a position by RULES.md"
    try:
        rules = game.rules
        if rules is None:
            raise failed(expected, f"the game {game.game}")
        _ = game.position
    except ClientError as error:
        raise failed(expected, str(error)) from error
    return rules


def any_move(game: GameView) -> str:
    """A legal move. Raises Finding for a position that is none of the game."""
    return rules_of(game).legal_moves(game.position)[0]


class Client:
    """One connection of the checker's, as a bot or a spectator."""

    def __init__(self, bench: Bench, name: str) -> None:
        self.bench = bench
        self.name = name
        self.game: GameView | None = None
        #: The TURN that waits for an answer.
        self.turn: wire.Turn | None = None
        #: The key of its WELCOME.
        self.key = ""
        self.closed = False
        self._wire = bench.open()

    def send(self, *lines: str) -> None:
        """Send lines in one piece."""
        self.send_bytes("".join(f"{line}\n" for line in lines).encode("ascii"))

    def send_bytes(self, data: bytes) -> None:
        self._wire.send(data)

    @property
    def socket(self) -> Stream:
        """What to wait on together with other connections; every line that has come has been taken."""
        return self._wire.socket

    def close(self, *, reset: bool = False) -> None:
        """Cut the connection."""
        if not self.closed:
            self.closed = True
            self._wire.close(reset=reset)

    def receive(self, expected: str, patience: float | None = None) -> wire.ServerMessage | None:
        """Return the next message that this version knows, None at the end; PINGs are answered here.

        Raises Finding if nothing comes in time or a line cannot be read.
        """
        patience = self.bench.settings.patience if patience is None else patience
        while True:
            try:
                line = self._wire.receive(patience)
            except ReceiveTimeoutError:
                raise failed(expected, f"nothing for {patience:g} s") from None
            if line is None:
                return None
            if isinstance(line, Overlong):
                raise failed(f"a line of at most {SERVER_LINE_LIMIT} bytes", f"{shown(line.head)}...")
            try:
                message = wire.parse_server(line)
            except ProtocolError as problem:
                # A later version of the protocol may have more messages.
                if problem.code is ErrorCode.UNKNOWN_VERB:
                    continue
                raise failed("a line of PROTOCOL.md", f"{shown(line)} ({problem.text})") from problem
            if isinstance(message, wire.Ping):
                self.send(f"PONG {message.token}")
            elif message is not None:
                self._take(message)
                return message

    def _take(self, message: wire.ServerMessage) -> None:
        """Keep what a message means for the game at hand."""
        match message:
            case wire.Game():
                # A view belongs to a seat; a spectator uses that of the first one.
                self.game, self.turn = GameView(replace(message, seat=message.seat or 1)), None
            case wire.Turn():
                self.turn = message  # whether its ply is due is a case of its own
            # A ZOMBIE without seat= is our own: the server moves from now on.
            case wire.Played() | wire.Over() | wire.Zombie(seat=None):
                self.turn = None
                self._fold(message)
            case wire.State() | wire.Next() | wire.Start():
                self._fold(message)

    def _fold(self, message: wire.ServerMessage) -> None:
        """Take a message over into the game at hand. Raises Finding if it does not follow."""
        if self.game is None:
            return
        try:
            self.game = self.game.after(message)
            # The position is made when it is asked for: here, so that a wrong PLAYED is found at its line.
            if isinstance(message, wire.Played):
                _ = self.game.position
        except ClientError as error:
            raise failed("what follows by the rules", str(error)) from error

    def expect(self, kind: type[Any], patience: float | None = None) -> Any:
        """Return the next message, which must be of this type."""
        verb = kind.__name__.upper()
        message = self.receive(verb, patience)
        if message is None:
            raise failed(verb, "the end of the connection")
        if not isinstance(message, kind):
            raise failed(verb, shown(wire.encode(message)))
        return message

    def expect_error(self, code: str, patience: float | None = None) -> wire.Error:
        """Return the next message, which must be ERROR of this code."""
        error = self.expect(wire.Error, patience)
        if error.code != code:
            raise failed(f"ERROR {code}", f"ERROR {error.code} {error.text}")
        assert isinstance(error, wire.Error)
        return error

    def expect_end(self) -> None:
        """Wait for the server to close the connection, without another line."""
        message = self.receive("the end of the connection")
        if message is not None:
            raise failed("the end of the connection", shown(wire.encode(message)))

    def expect_silence(self, forbidden: str) -> None:
        """Check that no line comes for as long as the settings call quiet."""
        try:
            message = self.receive(f"no {forbidden}", self.bench.settings.quiet)
        except Finding as finding:
            if finding.actual.startswith("nothing for"):
                return
            raise
        raise failed(
            f"no {forbidden}", "the end of the connection" if message is None else shown(wire.encode(message))
        )

    def until(self, kind: type[Any], patience: float | None = None) -> Any:
        """Pass over messages up to one of this type."""
        while not isinstance(message := self.receive(kind.__name__.upper(), patience), kind):
            if message is None:
                raise failed(kind.__name__.upper(), "the end of the connection")
            if isinstance(message, wire.Bye):
                raise failed(kind.__name__.upper(), f"BYE reason={message.reason}")
        return message

    def sync(self) -> list[wire.ServerMessage]:
        """Return everything that was sent so far: up to the answer to a PING."""
        token = self.bench.next_token()
        self.send(f"PING {token}")
        seen: list[wire.ServerMessage] = []
        while True:
            message = self.receive(f"PONG {token}")
            if message is None:
                raise failed(f"PONG {token}", "the end of the connection")
            if message == wire.Pong(token):
                return seen
            seen.append(message)

    def expect_refusal(self, line: bytes, code: str) -> None:
        """Send a line that cannot be read to this logged-in connection: one ERROR, and it goes on."""
        self.sync()
        self.send_bytes(line + b"\n")
        self.expect_error(code)
        self.sync()

    def expect_zombie(self, reason: str, patience: float | None = None) -> wire.Zombie:
        """Take the own ZOMBIE with this reason; an ERROR may come before it."""
        message = self.until(wire.Zombie, patience)
        assert isinstance(message, wire.Zombie)
        if message.seat is not None or message.reason != reason:
            raise failed(f"ZOMBIE reason={reason}", f"ZOMBIE reason={message.reason} seat={message.seat}")
        return message

    def play_out(self) -> wire.Over:
        """Play this seat to the end of the game; the other one is the server's, or plays by itself."""
        while not isinstance(message := self.receive("OVER"), wire.Over):
            if message is None or isinstance(message, wire.Bye):
                raise failed("OVER", "the end of the connection")
            if isinstance(message, wire.Turn) and self.game is not None:
                self.send(f"MOVE {any_move(self.game)}")
        return message

    def hello(self, extra: str = "") -> None:
        """Take ARENA and send HELLO, with this text behind the name."""
        self.expect(wire.Arena)
        self.send(f"HELLO {wire.VERSION} {self.name}{extra}")

    def log_in(self) -> wire.Welcome:
        """Log in as a bot, by the key of its last WELCOME if there is one, else by its token.

        With a token it is tried again while the name is taken: the server may not have noticed the end of
        the connection of the case before.
        """
        deadline = monotonic() + self.bench.settings.patience
        while True:
            credentials = self.credentials()
            self.hello(credentials)
            message = self.receive("WELCOME")
            taken = isinstance(message, wire.Error) and message.code == ErrorCode.NAME_TAKEN
            # A key takes the seat over, so a name that is taken is no chance then.
            if not taken or "resume=" in credentials or monotonic() > deadline:
                return self._welcomed(message)
            self.close()
            sleep(RETRY_S)
            self.closed, self._wire = False, self.bench.open()

    def _welcomed(self, message: wire.ServerMessage | None) -> wire.Welcome:
        """Keep the key of a WELCOME. Raises Finding if the message is another one."""
        if not isinstance(message, wire.Welcome):
            raise failed(
                "WELCOME", "the end of the connection" if message is None else shown(wire.encode(message))
            )
        self.key = self.bench.keys[self.name] = message.resume
        return message

    def credentials(self) -> str:
        """The key of the name's last WELCOME, which is spent by this, or its token, as HELLO has them."""
        key = self.bench.keys.pop(self.name, None)
        return f" resume={key}" if key else self.bench.token_option

    def expect_welcome(self) -> wire.Welcome:
        """Take WELCOME and keep its key."""
        return self._welcomed(self.receive("WELCOME"))


def shown(line: bytes) -> str:
    """A line of the peer's for people: its first 80 bytes, with escapes for what is not printable."""
    line = line.removesuffix(b"\n")
    return repr(line[:80])[2:-1] + ("..." if len(line) > 80 else "")
