"""What each line of a client leads to.

    cannot be read, or not now   -> its price depends on where the client is: `_refuse`
    asks for nothing             -> free, up to a limit: `_chat`
    HELLO READY MOVE WATCH QUIT  -> lobby, table, spectators

It must not know: how games are paired and played, when a contest is over.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from arena_protocol import messages as wire
from arena_protocol.errors import ByeReason, ErrorCode, ProtocolError
from arena_protocol.framing import CLIENT_LINE_LIMIT
from arena_protocol.session import BEFORE_LOGIN, IN_GAME
from arena_server.core.clock import WORD as LAG_WORD
from arena_server.core.config import ContestPlan
from arena_server.core.connections import Absence, Connections
from arena_server.core.effects import PING_TAKEN, Send
from arena_server.core.events import Overlong, Received
from arena_server.core.games import Hall, Table
from arena_server.core.journal import CONTEST, KEY
from arena_server.core.login import Lobby
from arena_server.core.peers import FLOODED, Outbox, Peer, Player


class Hearing:
    """Hears all clients of one contest."""

    def __init__(
        self,
        plan: ContestPlan,
        connections: Connections,
        lobby: Lobby,
        hall: Hall,
        absence: Absence,
        out: Outbox,
    ) -> None:
        self._plan = plan
        self._connections = connections
        self._lobby = lobby
        self._hall = hall
        self._absence = absence
        self._out = out

    def received(self, event: Received, now: int) -> None:
        """A line came."""
        peer = self._connections.get(event.conn)
        if peer is None:
            return
        try:
            message = peer.session.receive(event.line)
        except ProtocolError as problem:
            self._refuse(peer, problem, event.line, now)
        else:
            self._MESSAGES[type(message)](self, peer, message, event, now)

    def overlong(self, event: Overlong, now: int) -> None:
        """A line came that is too long."""
        if peer := self._connections.get(event.conn):
            text = f"a line may have {CLIENT_LINE_LIMIT} bytes at most"
            self._refuse(peer, ProtocolError(ErrorCode.TOO_LONG, text), event.head, now)

    # -- what may not be said

    def _refuse(self, peer: Peer, problem: ProtocolError, line: bytes, now: int) -> None:
        """A line that may not come now: its price depends on where the peer is."""
        if peer.session.state in BEFORE_LOGIN:
            self._connections.turn_away(peer, problem, now)
        elif peer.seated is not None:
            player, table = peer.seated
            table.refuse(peer, player, problem, line, now)
            self._hall.settle(table, now)
        else:
            self._refuse_idle(peer, problem, now)

    def _refuse_idle(self, peer: Peer, problem: ProtocolError, now: int) -> None:
        """Outside a game lines are counted; what merely came late, as after OVER, is not answered."""
        peer.unasked += 1
        if peer.unasked >= self._plan.flood_limit:
            self._connections.turn_away(peer, FLOODED, now)
        elif problem.code not in (ErrorCode.UNEXPECTED, ErrorCode.NOT_YOUR_TURN):
            self._out.error(peer, problem)

    # -- log-in, and leave

    def _hello(self, peer: Peer, hello: wire.Hello, _: Received, now: int) -> None:
        try:
            player = self._lobby.admit(hello, peer.address, now)
        except ProtocolError as problem:
            self._connections.turn_away(peer, problem, now)
            return
        if player.peer is not None:
            self._connections.hang_up(player.peer, ByeReason.REPLACED, now)
        self._out.say(peer, self._lobby.welcome(player, peer))
        self._connections.note(peer, "info", "login", agent=hello.agent, resumed=hello.resume is not None)
        # Who may only watch has until the same deadline to say so: a bot that mistyped its
        # name is not to wait for games for ever.
        if player.plays:
            self._out.journal((CONTEST, KEY, player.name, player.resume))
            self._connections.settle(peer)
            self._absence.end(player)
            self._hall.arrive(player, now)

    def _watch(self, peer: Peer, watch: wire.Watch, event: Received, now: int) -> None:
        """Watching is instead of playing: a bot that does so is away."""
        if peer.player is not None:
            self._connections.away(peer.player, now)
        try:
            self._hall.spectators.watch(peer, watch.target, now)
        except ProtocolError as problem:
            self._refuse_idle(peer, problem, now)
        else:
            self._connections.settle(peer)
            self._chat(peer, None, event, now)

    def _quit(self, peer: Peer, _: wire.Quit, _event: Received, now: int) -> None:
        """Leave in good order: nobody waits for who said so, unless the contest waits for ever."""
        self._connections.hang_up(peer, ByeReason.QUIT, now)
        if peer.player is not None:
            peer.player.resume = None
            self._out.journal((CONTEST, KEY, peer.player.name, None))
            self._absence.quit(peer.player)
            self._hall.quit(peer.player, now)

    # -- in a game

    def _ready(self, peer: Peer, _: wire.Ready, event: Received, now: int) -> None:
        player, table = _seated(peer)
        table.ready(peer, player, event.line, event.arrived, now)
        self._hall.settle(table, now)
        self._measure(peer, now)

    def _move(self, peer: Peer, move: wire.Move, event: Received, now: int) -> None:
        player, table = _seated(peer)
        table.match.move(player.seat, move.move, event.line, event.arrived, now)
        self._hall.settle(table, now)
        self._measure(peer, now)

    def _measure(self, peer: Peer, now: int) -> None:
        """Ask for a PONG at a quiet moment: the client has just said what it had to say."""
        if not self._plan.lag_quota_ms or peer.turn is not None or peer.session.state not in IN_GAME:
            return
        if (number := peer.lag.ask(now)) is not None:
            line = peer.session.send(wire.Ping(f"{LAG_WORD}{number}"))
            self._out.add(Send(peer.conn, line, (PING_TAKEN, number)))

    def _pong(self, peer: Peer, pong: wire.Pong, event: Received, now: int) -> None:
        if peer.lag.heard(pong.token, event.arrived) and peer.seated is not None:
            player, table = peer.seated
            table.match.lag(player.seat, peer.lag.ms, now)
        self._chat(peer, pong, event, now)

    # -- at any time

    def _ping(self, peer: Peer, ping: wire.Ping, event: Received, now: int) -> None:
        self._out.say(peer, wire.Pong(ping.token))
        self._chat(peer, ping, event, now)

    def _chat(self, peer: Peer, _: wire.Ping | wire.Pong | None, event: Received, now: int) -> None:
        """A line that asks for nothing, as PONG or a blank one: free, up to a limit."""
        if peer.chatter.overflows(now):
            self._flood(peer, event.line, now)

    def _flood(self, peer: Peer, line: bytes, now: int) -> None:
        if peer.seated is None:
            self._connections.turn_away(peer, FLOODED, now)
        elif not peer.muted:
            player, table = peer.seated
            table.flood(peer, player, line, now)
            self._hall.settle(table, now)

    _MESSAGES: Final[dict[type, Callable[[Hearing, Peer, Any, Received, int], None]]] = {
        wire.Hello: _hello,
        wire.Ready: _ready,
        wire.Move: _move,
        wire.Quit: _quit,
        wire.Ping: _ping,
        wire.Pong: _pong,
        type(None): _chat,
        wire.Watch: _watch,
    }


def _seated(peer: Peer) -> tuple[Player, Table]:
    """The player and the table of a peer that, as its session says, is in a game."""
    assert peer.seated is not None
    return peer.seated
