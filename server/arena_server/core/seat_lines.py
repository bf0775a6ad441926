"""The lines of seated bots that are not moves, and what a line out of place costs.

a line that cannot be read              -> ERROR, and the seat is a zombie (malformed)
a MOVE without an open TURN             -> ERROR, counted; too many: a zombie (out-of-turn)
any other line that was not asked for   -> counted
too many lines counted                  -> ERROR, a zombie (flood), and mute until OVER
"""

from __future__ import annotations

from arena_protocol import messages as wire
from arena_protocol.errors import ErrorCode, ProtocolError
from arena_protocol.record import FaultKind, InfoRecord
from arena_server.core.cut import recorded_line
from arena_server.core.events import Abandoned
from arena_server.core.game_state import Phase
from arena_server.core.match import Annotate, Blame, SayReady
from arena_server.core.peers import FLOODED, LiveGame, Outbox, Peer, Slot
from arena_server.core.turns import Turns
from arena_server.terms.terms import GameTerms

#: Lines that are well-formed, and merely come at the wrong moment.
_UNASKED = frozenset({ErrorCode.UNEXPECTED, ErrorCode.NO_SUCH_GAME})


class SeatLines:
    """Judges the lines of all seats of one contest. It writes their counts."""

    def __init__(self, terms: GameTerms, turns: Turns, out: Outbox) -> None:
        self._terms = terms
        self._turns = turns
        self._out = out

    def ready(self, peer: Peer, line: bytes, arrived: int, now: int) -> None:
        """READY for the game of `peer`."""
        live, seat = _seat_of(peer)
        self._turns.key_arrived(live.seated[seat - 1])
        counts = live.lines[seat - 1]
        again, counts.ready = counts.ready == peer.conn, peer.conn
        if live.match.phase is not Phase.OFFERED or not live.match.awaits(seat):
            # A bot whose connection is lost often answers each GAME that is sent again.
            if again:
                self._count(live, seat, peer, line, now)
            return
        self._turns.advance(live, live.match.execute(SayReady(seat, arrived), now), now)

    def admits_info(self, peer: Peer, size: int) -> bool:
        """Whether a note of `size` bytes is within the bounds of the seat; counts it if so."""
        live, seat = _seat_of(peer)
        return not live.match.zombies[seat - 1] and live.lines[seat - 1].notes.admits(live.match.ply, size)

    def info(self, peer: Peer, info: wire.Info, now: int) -> None:
        """A note about the game of `peer`; one about another game is dropped, as it came late."""
        live, seat = _seat_of(peer)
        if info.game == live.game_id:
            record = InfoRecord(seat, info.ply, info.depth, info.eval, info.nodes, info.line, info.text)
            self._turns.advance(live, live.match.execute(Annotate(record), now), now)

    def refuse(self, peer: Peer, problem: ProtocolError, line: bytes, now: int) -> None:
        """The session refused a line of a seated bot. A zombie gets no answer."""
        live, seat = _seat_of(peer)
        if not live.match.zombies[seat - 1] and problem.code is not ErrorCode.UNEXPECTED:
            self._out.error(peer, problem)
        if problem.code is ErrorCode.NOT_YOUR_TURN:
            counts = live.lines[seat - 1]
            counts.out_of_turn += 1
            if counts.out_of_turn > self._terms.out_of_turn_limit:
                self._blame(live, seat, FaultKind.OUT_OF_TURN, line, now)
        elif problem.code not in _UNASKED:
            self._blame(live, seat, FaultKind.MALFORMED, line, now)
        self._count(live, seat, peer, line, now)

    def _count(self, live: LiveGame, seat: int, peer: Peer, line: bytes, now: int) -> None:
        """Count a line that was not asked for; too many are a flood."""
        counts = live.lines[seat - 1]
        counts.unasked += 1
        if counts.unasked >= self._terms.flood_limit and not peer.muted:
            self.flood(peer, line, now)

    def flood(self, peer: Peer, line: bytes, now: int) -> None:
        """Too many lines: nothing more is read of this seat until OVER."""
        live, seat = _seat_of(peer)
        self._out.error(peer, FLOODED)
        self._out.mute(peer)
        self._blame(live, seat, FaultKind.FLOOD, line, now)

    def quit(self, slot: Slot, now: int) -> None:
        """`slot` has departed by QUIT: its game goes on without it."""
        if slot.game is not None:
            self._blame(slot.game, slot.seat, FaultKind.QUIT, b"QUIT", now)

    def abandon(self, live: LiveGame | None, event: Abandoned, now: int) -> None:
        """The program of a slot is not started again in this game: its clock is not waited for.

        None: the game is over meanwhile.
        """
        kind = FaultKind.RESOURCE if event.exceeded else FaultKind.DISCONNECT
        for seat, slot in enumerate(() if live is None else live.seated, start=1):
            if live is not None and (slot.name, slot.number) == (event.bot, event.slot):
                self._blame(live, seat, kind, event.exceeded.encode("ascii"), now)

    def _blame(self, live: LiveGame, seat: int, kind: FaultKind, line: bytes, now: int) -> None:
        self._turns.advance(live, live.match.execute(Blame(seat, kind, recorded_line(line)), now), now)


def _seat_of(peer: Peer) -> tuple[LiveGame, int]:
    """The game and the seat of a peer that, as its session says, is in a game."""
    slot = peer.slot
    assert slot is not None
    assert slot.game is not None
    return slot.game, slot.seat
