"""A match and those who sit at it: who hears what, and what their lines lead to.

    a line that cannot be read            -> ERROR, and the seat is a zombie (malformed)
    a MOVE without an open TURN           -> ERROR, counted; too many: a zombie (out-of-turn)
    any other line that nothing asked for -> counted
    too many lines counted                -> ERROR, a zombie (flood), and mute till OVER

It must not know: log-in, other tables, schedule, standings.
"""

from __future__ import annotations

from dataclasses import dataclass

from arena_protocol.errors import ErrorCode, ProtocolError
from arena_protocol.messages import Turn, encode
from arena_protocol.record import FaultKind
from arena_server.core.effects import Send
from arena_server.core.match import Match
from arena_server.core.peer import FLOODED, Outbox, Peer, Player
from arena_server.core.plan import ContestPlan
from arena_server.core.portions import PORTION, Portions

#: Lines that are well-formed, and tell of a wrong moment only.
_UNASKED = frozenset({ErrorCode.UNEXPECTED, ErrorCode.NO_SUCH_GAME})


@dataclass(slots=True)
class _Conduct:
    """What a seat has sent unasked in this game, on whatever connection."""

    unasked: int = 0
    out_of_turn: int = 0


class Table:
    """Game `number` of the contest and its players, in the order of the seats.

    `kept` tells that the record has been given away to be stored, `told` that the result may be told.
    """

    def __init__(
        self, number: int, match: Match, players: tuple[Player, ...], out: Outbox, portions: Portions
    ) -> None:
        self.number = number
        self.match = match
        self.players = players
        self.kept = self.told = False
        self._plan: ContestPlan = match.setting.plan
        self._out = out
        self._portions = portions
        self._conduct = [_Conduct() for _ in players]
        for seat, player in enumerate(players, start=1):
            player.table, player.seat = self, seat

    def ready(self, peer: Peer, player: Player, line: bytes, arrived: int, now: int) -> None:
        """READY for this game."""
        if not self.match.ready(player.seat, arrived, now):
            self._unasked(peer, player, line, now)

    def refuse(self, peer: Peer, player: Player, problem: ProtocolError, line: bytes, now: int) -> None:
        """The session refused a line of `player`'s. A zombie is told nothing any more."""
        if not self.match.is_zombie(player.seat) and problem.code is not ErrorCode.UNEXPECTED:
            self._out.error(peer, problem)
        if problem.code is ErrorCode.NOT_YOUR_TURN:
            self._out_of_turn(player, line, now)
        elif problem.code not in _UNASKED:
            self.match.fault(player.seat, FaultKind.MALFORMED, line, now)
        self._unasked(peer, player, line, now)

    def _out_of_turn(self, player: Player, line: bytes, now: int) -> None:
        conduct = self._conduct[player.seat - 1]
        conduct.out_of_turn += 1
        if conduct.out_of_turn > self._plan.out_of_turn_limit:
            self.match.fault(player.seat, FaultKind.OUT_OF_TURN, line, now)

    def _unasked(self, peer: Peer, player: Player, line: bytes, now: int) -> None:
        conduct = self._conduct[player.seat - 1]
        conduct.unasked += 1
        if conduct.unasked >= self._plan.flood_limit and not peer.muted:
            self.flood(peer, player, line, now)

    def flood(self, peer: Peer, player: Player, line: bytes, now: int) -> None:
        """`player` said too much: nothing more is read of it till OVER."""
        self.match.fault(player.seat, FaultKind.FLOOD, line, now)
        self._out.error(peer, FLOODED)
        self._out.mute(peer)

    def quit(self, player: Player, now: int) -> None:
        """`player` said QUIT: its connection is gone, and the game goes on without it."""
        self.match.leave(player.seat, now)
        self.match.fault(player.seat, FaultKind.QUIT, b"QUIT", now)

    def handed(self, peer: Peer, player: Player, ply: int, at: int) -> None:
        """A TURN went to the socket: now it is open, and its clock runs."""
        said = peer.turn
        if said is not None and said[0].ply == ply and self.match.turn_of(player.seat, ply):
            peer.turn = None
            peer.session.send(*said)
            self.match.handed(player.seat, ply, at)

    def expire(self, now: int) -> Player | None:
        """The deadline of the match has passed. Returns the player whose connection takes no TURN."""
        seat = self.match.expire(now)
        return self.players[seat - 1] if seat else None

    def journal(self) -> None:
        """What the match has accepted comes before what it has to say."""
        if entries := self.match.diary.take():
            self._out.journal(*entries)

    def flush(self, now: int) -> None:
        """Send what the match has to say, to nobody more at once than it can be expected to take."""
        for player in self.players:
            peer = player.peer
            if peer is None or player.table is not self or peer.busy:
                continue
            seat = self.match.seat(player.seat)
            lines, turn = seat.take(PORTION)
            data = b"".join([peer.session.send(message, line) for message, line in lines])
            if seat.behind:
                self._portions.send(peer, data, now)
            elif turn is not None:
                self._send_turn(peer, data, turn)
            elif data:
                self._out.add(Send(peer.conn, data))

    def _send_turn(self, peer: Peer, data: bytes, turn: Turn) -> None:
        # The session opens the TURN when the socket has it: an earlier MOVE cannot be its answer.
        line = encode(turn)
        peer.turn = turn, line
        self._out.add(Send(peer.conn, data + line, (self.match.setting.game_id, turn.ply)))

    def dissolve(self) -> list[Player]:
        """The result is told: whoever has heard it gets up, and if it was mute is heard again."""
        free = [
            player
            for player in self.players
            if player.table is self and not self.match.seat(player.seat).behind
        ]
        for player in free:
            player.table, player.seat = None, 0
            if player.peer is not None:
                player.peer.unasked = 0
                self._out.unmute(player.peer)
        return free

    @property
    def empty(self) -> bool:
        """Whether nobody sits here any more."""
        return all(player.table is not self for player in self.players)
