"""The turns of the running games: a MOVE in, its facts to the journal, its lines to every seat, a TURN out.

    move -> Match.execute -> advance: journal, transcript, lines and TURN -> turn_sent: the clock runs

Each seat has a cursor in the transcript of its game, and gets the lines from there on; the seat to move
also gets TURN behind them, once it has all lines, and its program is not frozen (`parts/places.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from arena_protocol import messages as wire
from arena_protocol.messages import printer
from arena_protocol.record import PlyRecord
from arena_protocol.text import numbers_text
from arena_server.core.deadlines import DeadlineKind, Deadlines
from arena_server.core.delivery import CHUNK, ChunkedSender, Spectators
from arena_server.core.effects import Send, Store, TurnMark
from arena_server.core.game_facts import Ended, GameFact, Leased, Offered
from arena_server.core.journal import KIND_OF
from arena_server.core.news import Moved, Notes
from arena_server.core.peers import LiveGame, NotFree, Outbox, Peer, Slot

_print_turn = printer(wire.Turn, "clock")
#: What is journaled of a running game whose plies are not: it begins again.
_BEGUN: Final = frozenset({Offered, Leased})
_PLY: Final = KIND_OF[PlyRecord]
#: A named tuple without its Python constructor, at half the cost.
_new = tuple.__new__
#: The place of `TurnMark.ply`: the name of a value takes three times as long.
_PLY_OF_MARK: Final = 1


class Turns:
    """The turns of all games of one contest. It writes the cursors of seats."""

    def __init__(
        self,
        chunks: ChunkedSender,
        spectators: Spectators,
        notes: Notes,
        out: Outbox,
        deadlines: Deadlines,
    ) -> None:
        self._chunks = chunks
        self._spectators = spectators
        self._out = out
        self._deadlines = deadlines
        self._notes = notes

    def move(self, peer: Peer, move: str, line: bytes, arrived: int, now: int) -> None:
        """MOVE, for which the session of `peer` had an open TURN."""
        slot = peer.slot
        assert slot is not None
        live = slot.game
        assert live is not None
        # Only the first MOVE after a log-in costs more than this test.
        if slot.keys.former is not None:
            self.key_arrived(slot)
        facts = live.match.answer(slot.seat, move, line, arrived, now)
        if isinstance(facts, PlyRecord):
            self._played(live, facts, now)
        else:
            self.advance(live, facts, now)

    def key_arrived(self, slot: Slot) -> None:
        """The bot has answered what followed its WELCOME, so it has that: the key before is void."""
        if slot.keys.former is not None:
            slot.drop_former()
            self._out.fact(slot.bot.former_keys)

    def advance(self, live: LiveGame, facts: Sequence[GameFact], now: int) -> None:
        """After all that may have changed a match: journal its facts, send their lines, set its deadline."""
        match = live.match
        if facts:
            number, transcript, entries = live.number, live.transcript, self._out.entries
            keeps = self._out.keeps_plies
            for fact in facts:
                if keeps or type(fact) in _BEGUN:
                    entries.append((number, KIND_OF[type(fact)], *fact))  # `entry_of`, at a third of the cost
                transcript.write(fact, now)
        busy = self._chunks.busy
        for slot in live.seated:
            peer = slot.peer
            if peer is not None and slot.game is live and peer.conn not in busy:
                self._deliver(live, slot, peer, now)
        if live.freezing:
            self._notes.add(Moved(live))
        # A game without spectators costs them nothing, but is to be forgotten once it is over.
        if self._spectators.watchers or live.transcript.closed:
            self._spectators.update(live.number, now)
        self._deadlines.move(live.due, match.timer.deadline)
        if facts and type(facts[-1]) is Ended:
            self.store(live, now)

    def _played(self, live: LiveGame, ply: PlyRecord, now: int) -> None:
        """`advance` for one ply, after which the game goes on: most seats have all lines but this one."""
        out, match = self._out, live.match
        if out.keeps_plies:
            out.entries.append((live.number, _PLY, *ply))
        transcript, timer = live.transcript, match.timer
        data, end = transcript.played(ply, now)
        busy, effects, mover, last = self._chunks.busy, out.effects, timer.seat, end - 1
        for slot, cursor in live.places:
            peer = slot.peer
            if peer is None or slot.game is not live or (busy and peer.conn in busy):
                continue
            if slot.seat != mover and cursor.line == last:
                cursor.line = end
                effects.append(_new(Send, (peer.conn, data, None)))
            elif cursor.line != last or slot.not_free or timer.sent is not None:
                self._deliver(live, slot, peer, now)
            else:  # `_deliver`, without its other cases: the clocks are those of PLAYED
                cursor.line = end
                number = len(match.plies) + 1
                mark = cursor.turn = _new(TurnMark, (live.number, number))
                turn = _print_turn(number, transcript.clock_text, timer.lag, timer.credit)
                effects.append(_new(Send, (peer.conn, data + turn, mark)))
        if live.freezing:
            self._notes.add(Moved(live))
        if self._spectators.watchers:
            self._spectators.update(live.number, now)
        self._deadlines.move(live.due, timer.deadline)

    def store(self, live: LiveGame, now: int) -> None:
        """The game is over: its result counts once its record is durable."""
        if live.counts:
            self._out.effects.append(Store(live.game_id, live.match.record()))
        else:  # its record is a fact: the next Tick makes it, when all of this event has been judged
            self._deadlines.set((DeadlineKind.VALIDATION, -live.number), now)

    def _deliver(self, live: LiveGame, slot: Slot, peer: Peer, now: int) -> None:
        """Send a seat the lines from its cursor on, and its TURN behind them, in one piece."""
        seat, transcript = slot.seat, live.transcript
        cursor = live.cursors[seat - 1]
        data, cursor.line, verbs = transcript.read(cursor.line, 1 << seat, CHUNK)
        peer.session.sent_lines(verbs, live.game_id, seat)
        # More than a chunk: TURN has to wait until its seat has all lines.
        if cursor.line < len(transcript.lines):
            self._chunks.send(peer, data, now)
            return
        match = live.match
        timer, ply = match.timer, len(match.plies) + 1
        # Most slots have no such reason: an empty set is asked for none.
        is_frozen = slot.not_free and NotFree.FROZEN in slot.not_free
        if (
            timer.seat == seat
            and not is_frozen
            and cursor.turn != (mark := _new(TurnMark, (live.number, ply)))
        ):
            cursor.turn = mark
            # The clock runs already if the seat came back in its turn: TURN has what is left of it.
            clocks = match.clocks if timer.sent is None else match.reading(now)
            turn = _print_turn(ply, numbers_text(clocks), timer.lag, timer.credit)
            self._out.effects.append(_new(Send, (peer.conn, data + turn, mark)))
        elif data:
            self._out.effects.append(_new(Send, (peer.conn, data, None)))

    def turn_sent(self, peer: Peer, mark: TurnMark, at: int) -> None:
        """A TURN reached the socket of `peer`: from now on it may be answered, and its clock runs."""
        slot = peer.slot
        if slot is None or slot.game is None:
            return
        live, seat = slot.game, slot.seat
        match = live.match
        # The seat has a new connection, which gets a TURN of its own.
        if mark != live.cursors[seat - 1].turn:
            return
        timer = match.timer
        if timer.seat == seat and mark[_PLY_OF_MARK] == len(match.plies) + 1:
            peer.session.opened_turn()
            # It runs already since the begin of the turn if the seat was away.
            if timer.sent is None:
                match.run(at)
            self._deadlines.move(live.due, timer.deadline)

    def pending(self, peer: Peer) -> bool:
        """Whether a TURN of `peer`, which is in a game, has not reached its socket yet."""
        assert peer.slot is not None
        assert peer.slot.game is not None
        timer = peer.slot.game.match.timer
        return timer.seat == peer.slot.seat and timer.sent is None

    def spare(self, slot: Slot, now: int) -> LiveGame | None:
        """Let the turn of `slot` begin now, if its TURN has not been sent: so far it has taken thawing alone.

        Returns the game, which waits for it.
        """
        live = slot.game
        if slot.peer is None or live is None or not self.pending(slot.peer):
            return None
        live.match.begin_turn(slot.seat, now)
        return live

    def begin_again(self, live: LiveGame, seat: int) -> None:
        """The seat has a new connection, which gets the transcript from its first line on."""
        cursor = live.cursors[seat - 1]
        cursor.line, cursor.turn = 0, None
