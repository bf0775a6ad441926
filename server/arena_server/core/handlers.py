"""What each line of a client leads to, and what a refused line costs.

HELLO            login                      READY, MOVE   the game of the slot
WATCH            spectators                 QUIT          the end of the connection
PING, PONG, blank line   free, up to a rate limit
INFO             the record and the spectators; beyond the bounds it is dropped. It is never a fault
a refused line   before login: the connection is closed; in a game: see `seat_lines.py`;
in the lobby: counted, and too many close the connection
"""

from __future__ import annotations

from arena_protocol import messages as wire
from arena_protocol.errors import ByeReason, ErrorCode, ProtocolError
from arena_protocol.framing import CLIENT_LINE_LIMIT
from arena_protocol.session import IN_GAME
from arena_server.core.clock import WORD as LAG_WORD
from arena_server.core.connections import Connections
from arena_server.core.effects import PingMark, Send
from arena_server.core.events import Abandoned, LineTooLong
from arena_server.core.games import GameManager
from arena_server.core.log_events import LoggedIn
from arena_server.core.login import Authenticator
from arena_server.core.news import Stores
from arena_server.core.peers import FLOODED, NotFree, Outbox, Peer
from arena_server.core.seat_lines import SeatLines
from arena_server.terms.config import ContestConfig

_TOO_LONG = ProtocolError(ErrorCode.TOO_LONG, f"a line may have {CLIENT_LINE_LIMIT} bytes at most")


class Handlers:
    """Handles the lines of all clients of one contest."""

    def __init__(
        self,
        config: ContestConfig,
        connections: Connections,
        authenticator: Authenticator,
        games: GameManager,
        seat_lines: SeatLines,
        out: Outbox,
    ) -> None:
        self._config = config
        self._peers = connections.peers
        self._connections = connections
        self._authenticator = authenticator
        self._games = games
        self._seat_lines = seat_lines
        self._out = out
        self.measures_lag = config.lag_quota_ms > 0

    def received(self, peer: Peer, line: bytes, arrived: int, now: int) -> None:
        """A whole line came that `session.moved` does not take; it reached this machine at `arrived`."""
        # Before the parser: a note has bounds of its own, and is no fault whatever is in it.
        if _is_info(line) and peer.game is not None:
            self._info(peer, line, now)
            return
        try:
            message = peer.session.receive(line)
        except ProtocolError as problem:
            self._refuse(peer, problem, line, now)
        else:
            self._handle(peer, message, line, arrived, now)

    def overlong(self, event: LineTooLong, now: int) -> None:
        """A line came that is too long."""
        peer = self._peers.get(event.conn)
        if peer is not None:
            if _is_info(event.head) and peer.game is not None:
                if self._seat_lines.admits_info(peer, CLIENT_LINE_LIMIT):
                    self._out.error(peer, _TOO_LONG)
                return
            self._refuse(peer, _TOO_LONG, event.head, now)

    def _handle(
        self, peer: Peer, message: wire.ClientMessage | None, line: bytes, arrived: int, now: int
    ) -> None:
        match message:
            case wire.Move():
                self._games.turns.move(peer, message.move, line, arrived, now)
                self.measure(peer, now)
            case wire.Ready():
                self._seat_lines.ready(peer, line, arrived, now)
                self.measure(peer, now)
            case wire.Pong():
                self._pong(peer, message, line, arrived, now)
            case wire.Ping():
                self._out.send(peer, wire.Pong(message.token))
                self._count_chatter(peer, line, now)
            case wire.Keep():
                self._store(peer, message, line, now)
            case None | wire.Info():  # a note without a game
                self._count_chatter(peer, line, now)
            case wire.Watch():
                self._watch(peer, message, line, now)
            case wire.Quit():
                self._quit(peer, now)

    def _info(self, peer: Peer, line: bytes, now: int) -> None:
        """A note during a game: within the bounds one that cannot be parsed is answered, and no more."""
        if not self._seat_lines.admits_info(peer, len(line)):
            return
        try:
            message = peer.session.receive(line)
        except ProtocolError as problem:
            self._out.error(peer, problem)
        else:
            assert isinstance(message, wire.Info)
            self._seat_lines.info(peer, message, now)

    def _store(self, peer: Peer, message: wire.Keep, line: bytes, now: int) -> None:
        """STORE: a part of the contest takes it, if bots may store anything."""
        if peer.slot is None or not self._authenticator.stored.quota:
            problem = ProtocolError(ErrorCode.UNEXPECTED, "nothing can be stored in this contest")
            self._refuse(peer, problem, line, now)
            return
        self._games.notes.add(Stores(peer.slot, message))
        self._count_chatter(peer, line, now)

    def abandoned(self, event: Abandoned, now: int) -> None:
        """Who runs the bots says so of a program."""
        self._seat_lines.abandon(self._games.find(event.game_id), event, now)

    # -- refused lines

    def _refuse(self, peer: Peer, problem: ProtocolError, line: bytes, now: int) -> None:
        if peer.game is not None:
            self._seat_lines.refuse(peer, problem, line, now)
        else:
            self._refuse_idle(peer, problem, now)

    def _refuse_idle(self, peer: Peer, problem: ProtocolError, now: int) -> None:
        """Outside a game lines are counted; what merely came late, as after OVER, is not answered."""
        # No game is at stake: the connection itself ends.
        if peer.count_unasked() >= self._config.flood_limit:
            self._connections.refuse(peer, FLOODED, now)
        elif problem.code not in (ErrorCode.UNEXPECTED, ErrorCode.NOT_YOUR_TURN):
            self._out.error(peer, problem)

    # -- login and leave

    def hello(self, peer: Peer, hello: wire.Hello, now: int) -> None:
        """The first line of a client, which its session has taken."""
        try:
            slot = self._authenticator.admit(hello, peer.address, now)
        except ProtocolError as problem:
            self._connections.refuse(peer, problem, now)
            return
        # Only a resume key leads here: the client has lost that connection, and the server has not
        # noticed.
        if slot.peer is not None:
            self._connections.close(slot.peer, ByeReason.REPLACED, now)
        self._out.send(peer, self._authenticator.welcome(slot, peer, hello))
        if hello.role == wire.LOG_READER:
            self._connections.show_log(peer, slot.name, now)
            return
        resumed = hello.resume is not None
        login = LoggedIn(peer.conn, peer.address, peer.bot_name, hello.agent, resumed, slot.number)
        self._out.effects.append(login)
        # A spectator has until the login deadline to send WATCH: a bot that mistyped its name is
        # not to wait for games that never come.
        if slot.bot.plays:
            self._connections.keep_keys(slot.bot)
            self._connections.drop_login_deadline(peer)
            self._connections.arrived(slot.bot)
            self._games.arrive(slot, now)

    def _watch(self, peer: Peer, watch: wire.Watch, line: bytes, now: int) -> None:
        """WATCH; a bot that watches does not play any more."""
        # A spectator has no slot.
        if peer.slot is not None:
            peer.slot.hold(NotFree.WATCHES)
            self._connections.departed(peer.slot, now)
        try:
            self._games.spectators.watch(peer, watch.target, now)
        except ProtocolError as problem:
            self._refuse_idle(peer, problem, now)
        else:
            self._connections.drop_login_deadline(peer)
            self._count_chatter(peer, line, now)

    def _quit(self, peer: Peer, now: int) -> None:
        """QUIT: the bot is gone at once, unless the contest waits for absent bots for ever."""
        slot = peer.slot
        self._connections.close(peer, ByeReason.QUIT, now)
        if slot is not None:
            slot.drop_keys()
            self._connections.keep_keys(slot.bot)
            self._connections.quit(slot.bot)
            self._seat_lines.quit(slot, now)

    # -- lag, and lines that ask for nothing

    def measure(self, peer: Peer, now: int) -> None:
        """Send a PING at a quiet moment: the client has just answered."""
        # A PING in front of a TURN would be answered at the cost of the bot's own clock.
        if not self.measures_lag or peer.session.state not in IN_GAME or self._games.turns.pending(peer):
            return
        # A bot that is frozen now would answer when it is thawed.
        if peer.slot is not None and not peer.slot.bot.entrant.ponders:
            return
        if (number := peer.lag.ask(now)) is not None:
            line = peer.session.send(wire.Ping(f"{LAG_WORD}{number}"))
            self._out.effects.append(Send(peer.conn, line, PingMark(number)))

    def _pong(self, peer: Peer, pong: wire.Pong, line: bytes, arrived: int, now: int) -> None:
        slot = peer.slot
        if peer.lag.answered(pong.token, arrived) and slot is not None and slot.game is not None:
            slot.game.match.set_lag(slot.seat, peer.lag.ms)
        self._count_chatter(peer, line, now)

    def _count_chatter(self, peer: Peer, line: bytes, now: int) -> None:
        """PING, PONG and blank lines are free up to a rate limit; beyond it they are a flood."""
        if peer.chatter.admits(None, now):
            return
        if peer.game is None:
            self._connections.refuse(peer, FLOODED, now)
        # What was sent before it was muted may still arrive.
        elif not peer.muted:
            self._seat_lines.flood(peer, line, now)


def _is_info(line: bytes) -> bool:
    return line[:4] == b"INFO" and line[4:5] in b" \r"
