"""The seat of a program in a contest, without I/O: log-in, PING, and lost connections are kept from it.

After a lost connection the server sends the game again from its start. The program gets only what it has
not had; an answer that the old connection may have lost is sent again. So a program sees one unbroken
stream: GAME, STATE, NEXT, START, TURN, PLAYED, ..., OVER, and the next GAME.

The verbs, in the order in which a shell uses them: `opened`, then for every chunk `receive_data`,
`lines_for_program`, `answer`, `data_to_send`; at the end of a connection `lost`, and `opened` again.
"""

from __future__ import annotations

from collections.abc import Callable

from arena_client.errors import ClientError
from arena_protocol import messages as wire
from arena_protocol.errors import ByeReason, ErrorCode, LocalProtocolError, ProtocolError
from arena_protocol.framing import SERVER_LINE_LIMIT, LineReader, Overlong

AGENT = "arena-bridge/1"

#: ERRORs before WELCOME after which another try may succeed.
_PASSING = frozenset({ErrorCode.FULL, ErrorCode.RATE})

#: Called with `<` or `>` and each line of the connection.
Trace = Callable[[str, bytes], None]


class Seat:
    """A bot's seat. Raises ClientError for a name or token that cannot stand in HELLO."""

    def __init__(
        self,
        name: str,
        token: str | None = None,
        games: tuple[str, ...] = (),
        trace: Trace | None = None,
        slot: int | None = None,
        contest: str | None = None,
    ) -> None:
        #: The reason of BYE, once the contest is over for this bot.
        self.bye: str | None = None
        #: Whether this connection is logged in, why it was refused, and for how many seconds.
        self.welcomed = False
        self.refusal: str | None = None
        self.retry_after_s = 0.0
        #: The game at hand, or None; and whether the program left its TURN or GAME unanswered as it ended.
        self.game_id: str | None = None
        self.unanswered = False
        self._hello = wire.Hello(wire.VERSION, name, games, agent=AGENT, slot=slot, contest=contest)
        self._token = token
        self._trace = trace
        self._key: str | None = None
        self._known = False
        self._leaving = False
        self._connected = False
        self._lines = LineReader(SERVER_LINE_LIMIT)
        self._out = bytearray()
        self._for_program: list[bytes] = []
        self._forget()
        self._encode(wire.Hello(wire.VERSION, name, games, token, agent=AGENT, slot=slot, contest=contest))

    @property
    def name(self) -> str:
        return self._hello.name

    @property
    def ply(self) -> int:
        """The number of plies of the game at hand that have been played."""
        return self._ply

    def _forget(self) -> None:
        """Have no game."""
        self.game_id = None
        self._ply = self._turn = 0
        self._started = self._zombie = self._again = False
        self._ready: bytes | None = None
        self._move: bytes | None = None

    def opened(self) -> None:
        """Begin a connection; the server sends first."""
        self._lines = LineReader(SERVER_LINE_LIMIT)
        self._out.clear()
        self._connected = True
        self.welcomed = False
        self.refusal = None
        self.retry_after_s = 0.0

    def lost(self) -> None:
        """Note the end of the connection."""
        self._connected = self.welcomed = False
        self._out.clear()

    def leave_game(self) -> None:
        """Give the game at hand up by QUIT; the next connection logs in for the next game."""
        self._forget()
        self._leaving = True
        self._send_quit()

    def _send_quit(self) -> None:
        if self.welcomed and self._leaving:
            self._send(b"QUIT")

    def data_to_send(self) -> bytes:
        """Take the bytes that are to be sent now."""
        data = bytes(self._out)
        self._out.clear()
        return data

    def lines_for_program(self) -> list[bytes]:
        """Take the lines that the program is to get now, without their line ends."""
        lines, self._for_program = self._for_program, []
        return lines

    def answer(self, line: bytes) -> None:
        """Take a line of the program, without its line end.

        READY and MOVE are kept until they are superseded, so that a connection that is lost loses neither.
        HELLO, PONG and blank lines are dropped; other lines are sent as they are, for the server to judge.
        """
        verb = line.split(b" ")[0]
        if verb in (b"", b"HELLO", b"PONG") or self._leaving:
            return
        if verb == b"READY" and self.game_id is not None:
            self._ready = line
        if verb == b"MOVE" and self._awaits_move:
            self._move = line
        if self.welcomed:
            self._send(line)

    @property
    def _awaits_move(self) -> bool:
        """Whether a TURN is open that the program has not answered."""
        return self._turn > self._ply and self._move is None

    def receive_data(self, data: bytes) -> None:
        """Act on bytes of the server. Raises ClientError if another connection would not help."""
        for line in self._lines.feed(data):
            if isinstance(line, Overlong):
                raise ClientError(f"the server sent a line of more than {SERVER_LINE_LIMIT} bytes")
            if self._trace is not None:
                self._trace("<", line)
            if line and self.bye is None:
                self._receive(line)

    def _receive(self, line: bytes) -> None:
        try:
            message = wire.parse_server(line)
        except ProtocolError as error:
            if self.welcomed and error.code is ErrorCode.UNKNOWN_VERB:
                self._for_program.append(line)  # a newer server's; the program may know it
                return
            hint = "" if self.welcomed else "; is it an arena server, and do both sides use TLS or neither?"
            raise ClientError(
                f"the server sent what is no line of the protocol: {line[:80]!r}{hint}"
            ) from error
        match message:
            case wire.Arena(version):
                self._greet(version)
            case wire.Welcome(_, _, key):
                self.welcomed = self._known = True
                self._key = key
                self._send_quit()
            case wire.Ping(token):
                self._send(b"PONG " + token.encode())
            case wire.Bye(reason):
                self._end(reason)
            case wire.Error() if not self.welcomed:
                self._refused(message)
            case _ if self._is_new(message):
                self._for_program.append(line)

    def _greet(self, version: int) -> None:
        if version != wire.VERSION:
            raise ClientError(
                f"the server speaks version {version} of the protocol, this bridge {wire.VERSION}",
                code=ErrorCode.VERSION,
            )
        hello = wire.Hello(
            wire.VERSION,
            self.name,
            self._hello.games,
            token=None if self._key else self._token,
            resume=self._key,
            agent=AGENT,
            slot=self._hello.slot,
            contest=self._hello.contest,
        )
        self._send(self._encode(hello))

    def _end(self, reason: str) -> None:
        """Take BYE: slow and the answer to our own QUIT end the connection, not the contest."""
        if reason == ByeReason.SLOW:
            self.refusal = f"BYE reason={reason}"
        elif reason == ByeReason.QUIT and self._leaving:
            self._leaving, self._key = False, None
            self.refusal = f"BYE reason={reason}"
        else:
            self.bye = reason

    def _refused(self, error: wire.Error) -> None:
        """Take an ERROR before WELCOME. Raises ClientError if another try would not help."""
        self.refusal = f"{error.code}: {error.text}"
        self.retry_after_s = (error.retry_after or 0) / 1000
        if self._key is not None and error.code == ErrorCode.TOKEN:
            self._key = None  # spent or forgotten: log in by name and token
        elif error.code not in _PASSING and not (self._known and error.code == ErrorCode.NAME_TAKEN):
            raise ClientError(f"the server refuses {self.name}: {self.refusal}", code=error.code)

    def _is_new(self, message: wire.ServerMessage | None) -> bool:
        """Whether the program has not had this line yet; keeps what is needed to tell."""
        if self._leaving:
            return False
        match message:
            case wire.Game():
                self._begin(message)
                return not self._again
            case wire.State() | wire.Next():
                return not self._again
            case wire.Start():
                new, self._started = not self._started, True
                return new
            case wire.Played():
                new = message.ply > self._ply
                self._ply = max(self._ply, message.ply)
                return new
            case wire.Turn():
                return self._is_new_turn(message.ply)
            case wire.Zombie(seat=None):
                new, self._zombie = not self._zombie, True
                return new
            case wire.Over():
                self.unanswered = self._zombie and (self._awaits_move or self._ready is None)
                self._forget()
        return True

    def _begin(self, game: wire.Game) -> None:
        """Begin a game, or one that is sent again: then the answers may have been lost."""
        self._again = game.game_id == self.game_id
        if not self._again:
            self._forget()
            self.game_id = game.game_id
        elif self._ready is not None:
            self._send(self._ready)  # START may not follow; a second READY changes nothing

    def _is_new_turn(self, ply: int) -> bool:
        if ply != self._turn:
            self._turn, self._move = ply, None
            return True
        if self._move is not None:
            self._send(self._move)
        return False

    def _send(self, line: bytes) -> None:
        if self._trace is not None:
            self._trace(">", line)
        self._out += line + b"\n"

    def _encode(self, hello: wire.Hello) -> bytes:
        try:
            return wire.encode(hello).removesuffix(b"\n")
        except LocalProtocolError as error:
            raise ClientError(f"the server could not read this log-in: {error}") from error
