"""The seat of a program in a contest, without I/O: log-in, PING, and lost connections are kept from it.

After a lost connection the server sends the game again from its start. The program gets only what it has
not had; an answer that the old connection may have lost is sent again. So a program sees one unbroken
stream: GAME, STATE, NEXT, START, TURN, PLAYED, ..., OVER, and the next GAME.

A shell calls `link.opened`, then for every chunk `receive_data`, `lines_for_program`, `answer` and
`link.data_to_send`; at the end of a connection `link.closed`, and `link.opened` again.
"""

from __future__ import annotations

from arena_protocol import messages as wire
from arena_protocol.errors import ByeReason, ErrorCode, ProtocolError
from arena_protocol.link import Link, Trace

AGENT = "arena-bridge/1"


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
        hello = wire.Hello(wire.VERSION, name, games, token, agent=AGENT, slot=slot, contest=contest)
        #: The log-in, over all connections. What the program sends is for the server to judge.
        self.link = Link(hello, checked=False, trace=trace)
        #: The game at hand, or None; and whether the program left its TURN or GAME unanswered as it ended.
        self.game_id: str | None = None
        self.unanswered = False
        self._for_program: list[bytes] = []
        self._forget()

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

    def leave_game(self) -> None:
        """Give the game at hand up by QUIT; the next connection logs in for the next game."""
        self._forget()
        self.link.quit()

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
        if verb in (b"", b"HELLO", b"PONG") or self.link.leaving:
            return
        if verb == b"READY" and self.game_id is not None:
            self._ready = line
        if verb == b"MOVE" and self._awaits_move:
            self._move = line
        if self.link.is_logged_in:
            self.link.send_line(line)

    @property
    def _awaits_move(self) -> bool:
        """Whether a TURN is open that the program has not answered."""
        return self._turn > self._ply and self._move is None

    def receive_data(self, data: bytes) -> None:
        """Act on bytes of the server. Raises ClientError if another connection would not help."""
        for line, message in self.link.receive(data):
            if isinstance(message, wire.Bye):
                self._end(message.reason)
            elif message is None and line and self._is_new(line):
                self._for_program.append(line)

    def _end(self, reason: str) -> None:
        """Take BYE: the answer to our own QUIT ends the connection, not the contest."""
        if reason == ByeReason.QUIT and self.link.leaving:
            self.link.begin_again()

    def _is_new(self, line: bytes) -> bool:
        """Whether the program has not had this line yet; keeps what is needed to tell."""
        if self.link.leaving:
            return False
        message = self._parsed(line)
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

    def _parsed(self, line: bytes) -> wire.ServerMessage | None:
        try:
            return wire.parse_server(line)
        except ProtocolError as error:
            if error.code is ErrorCode.UNKNOWN_VERB:
                return None  # a newer server's; the program may know it
            raise self.link.broken(error.text, line) from error

    def _begin(self, game: wire.Game) -> None:
        """Begin a game, or one that is sent again: then the answers may have been lost."""
        self._again = game.game_id == self.game_id
        if not self._again:
            self._forget()
            self.game_id = game.game_id
        elif self._ready is not None:
            self.link.send_line(self._ready)  # START may not follow; a second READY changes nothing

    def _is_new_turn(self, ply: int) -> bool:
        if ply != self._turn:
            self._turn, self._move = ply, None
            return True
        if self._move is not None:
            self.link.send_line(self._move)
        return False
