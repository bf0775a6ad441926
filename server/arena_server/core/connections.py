"""Which players are away, and for how long they are waited for.

It must not know: connections, games.

Who is connected, and the ways in which a connection ends.

It must not know: what a line means, who may log in, when a contest is over.
"""

from __future__ import annotations

from arena_protocol import messages as wire
from arena_protocol.errors import ByeReason, ErrorCode, ProtocolError
from arena_protocol.session import BEFORE_LOGIN
from arena_server.core.clock import NS_PER_MS
from arena_server.core.config import ContestPlan
from arena_server.core.deadlines import Deadlines, Kind
from arena_server.core.games import Hall
from arena_server.core.login import DENIED
from arena_server.core.peers import Outbox, Peer, Player


class Absence:
    """A player away for longer than `limit_ms` is `gone`; None: whoever is away is waited for."""

    def __init__(self, limit_ms: int | None, out: Outbox, deadlines: Deadlines) -> None:
        self._limit = None if limit_ms is None else limit_ms * NS_PER_MS
        self._out = out
        self._deadlines = deadlines

    def begin(self, player: Player, now: int) -> None:
        """`player` is away from now on."""
        if self._limit is not None:
            self._deadlines.set((Kind.ABSENCE, player.number), now + self._limit)

    def end(self, player: Player) -> None:
        """`player` is there."""
        player.gone = False
        self._deadlines.set((Kind.ABSENCE, player.number), None)

    def quit(self, player: Player) -> None:
        """`player` went in good order: it is not waited for, unless the contest waits for ever."""
        if self._limit is not None:
            self.give_up(player)

    def give_up(self, player: Player) -> None:
        """Nobody waits for `player` any more."""
        self._deadlines.set((Kind.ABSENCE, player.number), None)
        player.gone = True
        self._out.note("warning", "absent", bot=player.name)


class Connections:
    """All open connections; the games and the spectators of `hall` hear when one is gone."""

    def __init__(
        self, plan: ContestPlan, hall: Hall, absence: Absence, out: Outbox, deadlines: Deadlines
    ) -> None:
        self._plan = plan
        self._hall = hall
        self._absence = absence
        self._out = out
        self._deadlines = deadlines
        self._peers: dict[int, Peer] = {}

    def get(self, conn: int) -> Peer | None:
        """The connection of this number, if it is open."""
        return self._peers.get(conn)

    @property
    def all(self) -> list[Peer]:
        """Every connection, the oldest first."""
        return list(self._peers.values())

    def open(self, conn: int, address: str, now: int) -> None:
        """A connection was accepted: it is greeted, and has to log in."""
        peer = self._peers[conn] = Peer(conn, address)
        self._out.say(peer, wire.Arena(wire.VERSION, self._plan.software))
        self._deadlines.set((Kind.LOGIN, conn), now + self._plan.login_ms * NS_PER_MS)

    def settle(self, peer: Peer) -> None:
        """It has said what it is here for."""
        self._deadlines.set((Kind.LOGIN, peer.conn), None)

    def note(self, peer: Peer, level: str, event: str, **fields: object) -> None:
        """Tell the log something about a connection."""
        name = peer.player.name if peer.player is not None else None
        self._out.note(level, event, conn=peer.conn, peer=peer.address, bot=name, **fields)

    def away(self, player: Player, now: int) -> None:
        """`player` has no connection any more, or watches instead of playing."""
        self._absence.begin(player, now)
        self._hall.depart(player, now)

    # -- how a connection ends

    def lost(self, conn: int, reason: str, now: int) -> None:
        """It is gone by itself."""
        if peer := self._peers.get(conn):
            self.note(peer, "info", "lost", reason=reason)
            self._forget(peer, now)

    def hang_up(self, peer: Peer, reason: ByeReason, now: int) -> None:
        """Say BYE and close."""
        self._out.say(peer, wire.Bye(reason))
        self._out.close(peer)
        self._forget(peer, now)

    def dismiss(self, player: Player, now: int) -> None:
        """The organiser has sent `player` away."""
        if player.peer is not None:
            self.hang_up(player.peer, ByeReason.KICKED, now)

    def turn_away(self, peer: Peer, problem: ProtocolError, now: int) -> None:
        """Close after an ERROR that the session, too, counts as the end."""
        self._out.error(peer, problem)
        self._out.close(peer)
        self.note(peer, "warning", "refused", code=str(problem.code))
        self._forget(peer, now)

    def login_expired(self, conn: int, now: int) -> None:
        """Too long a wait for HELLO, or for WATCH from one who may only watch."""
        peer = self._peers[conn]
        problem = ProtocolError(ErrorCode.TOKEN, f"{DENIED}; a guest says WATCH")
        if peer.session.state in BEFORE_LOGIN:
            text = f"the first line did not come within {self._plan.login_ms} ms"
            problem = ProtocolError(ErrorCode.LOGIN, text)
        self.turn_away(peer, problem, now)

    def too_slow(self, peer: Peer, now: int) -> None:
        """It does not take what it is sent."""
        self.hang_up(peer, ByeReason.SLOW, now)

    def _forget(self, peer: Peer, now: int) -> None:
        """The connection is gone; its player may come back on another."""
        del self._peers[peer.conn]
        self.settle(peer)
        self._hall.forget(peer)
        if peer.player is not None:
            peer.player.peer = None
            self.away(peer.player, now)
