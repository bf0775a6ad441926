"""One game as a decider: commands in, facts out, which `apply` writes into the state of the game.

`execute(command, now)` decides, applies, and adds what follows by itself (START, the plies of
zombies, the end). Recovery applies the facts of a journal by the same `apply`, then calls `restart`.
The turn in progress and who is connected are not state of the game: they live in `timer` and `present`.

A seat at fault is a zombie: the server plays the game's zombie move for it, at once, to the end;
in a game without such a move the seat forfeits. A seat has one fault a game at most, the first.
Seats and plies count from 1; moments are integer nanoseconds.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from arena_protocol.record import FORFEIT, VOID, FaultKind, FaultRecord, InfoRecord, PlyRecord
from arena_server.core.clock import NS_PER_MS, TimeControl, TurnTimer, elapsed_ms
from arena_server.core.deal import Setting, own_move
from arena_server.core.game_facts import Away, Ended, GameFact, Ready, Started
from arena_server.core.game_state import GameState, Phase
from arena_server.terms.terms import LONGEST_MS


class SayReady(NamedTuple):
    """READY came from `seat`."""

    seat: int
    arrived: int


class PlayMove(NamedTuple):
    """MOVE came from `seat` while its TURN was open; `line` is the raw line."""

    seat: int
    move: str
    line: bytes
    arrived: int


class Blame(NamedTuple):
    """`seat` broke a rule of the protocol; `line` is the offending one, if there is one."""

    seat: int
    kind: FaultKind
    line: bytes


class Annotate(NamedTuple):
    """A note came from a bot."""

    info: InfoRecord


class Expire(NamedTuple):
    """The deadline of `timer` has passed."""


class Disconnect(NamedTuple):
    """The connection of `seat` is gone."""

    seat: int


class Abort(NamedTuple):
    """The platform breaks the game off; `reason` goes to the record."""

    reason: str


Command = SayReady | PlayMove | Annotate | Blame | Expire | Disconnect | Abort


#: A named tuple without its Python constructor, at half the cost.
_new = tuple.__new__


class Match(GameState):
    """Decides the game of `setting`, and times its turns.

    `lag` holds the measured lag of each seat's connection in ms, `present` whether it has one.
    """

    __slots__ = (
        "_control",
        "_first_control",
        "_handover",
        "_is_plain",
        "_is_uniform",
        "_ready_ns",
        "_untimed",
        "_zombie_move",
        "lag",
        "present",
        "timer",
    )

    def __init__(self, setting: Setting, now: int) -> None:
        super().__init__(setting, now)
        terms, seats = setting.terms, setting.game.seats
        self._zombie_move = setting.game.zombie_move
        self._control = TimeControl.of(terms)
        self._first_control = TimeControl.of(terms, first=True)
        self._is_uniform = self._first_control == self._control
        #: The seat of the bot that is debugged, 0 if it has none.
        self._untimed = setting.names.index(terms.debug_bot) + 1 if terms.debug_bot in setting.names else 0
        #: Whether every seat plays for itself, by the clock; `faults` has those that do not any more.
        self._is_plain = not (self._untimed or setting.own_seats)
        self._ready_ns = (LONGEST_MS if self._untimed else terms.ready_ms) * NS_PER_MS
        self._handover = terms.handover_ms * NS_PER_MS
        self.timer = TurnTimer(now + self._ready_ns)
        self.present = [True] * seats
        self.lag = [0] * seats

    # -- commands in, facts out

    def execute(self, command: Command, now: int) -> list[GameFact]:
        """Decide, apply, and apply what follows. The facts are to be journaled together."""
        facts = self.decide(command, now)
        if facts:
            for fact in facts:
                self.apply(fact, now)
            self._follow_up(facts, now)
        return facts

    def answer(self, seat: int, move: str, line: bytes, arrived: int, now: int) -> PlyRecord | list[GameFact]:
        """`execute(PlayMove(...))`; the ply alone, in one frame, where the next turn is all that follows.

        It is `_decide_move`, `_ply` and `apply` without their other cases: a test compares the records.
        """
        game, timer, position = self._game, self.timer, self.position
        sent, credit = timer.sent, timer.credit
        plain = seat == timer.seat and arrived < timer.flag and self._is_plain and not self.faults
        if sent is None or not plain or not game.is_legal(position, move):
            return self.execute(PlayMove(seat, move, line, arrived), now)
        if arrived < sent:
            arrived = sent
        clocks, control, origin = self.clocks, self._control, self._origin
        charge = (arrived - sent) // NS_PER_MS
        if credit:
            # A ply that took less than its credit uses up only what it took.
            self._quota[seat - 1] -= min(credit, charge)
            charge = max(0, charge - credit)
        if charge or control.increment:
            left = control.after(clocks[seat - 1], charge)
            self.clocks = clocks = (*clocks[: seat - 1], left, *clocks[seat:])
        self.position, points, total, following = game.advance(position, move)
        begun, ended = sent - origin, arrived - origin
        values = seat, move, charge, begun, ended, clocks, points, total, False, timer.lag, credit
        ply: PlyRecord = _new(PlyRecord, values)
        self.plies.append(ply)
        if following:
            self.begin_turn(following, now)
            return ply
        facts: list[GameFact] = [ply]
        self._advance(facts, now)
        return facts

    def decide(self, command: Command, now: int) -> list[GameFact]:
        """The facts that `command` leads to; no state changes. Empty: it has no effect."""
        match command:
            case PlayMove():
                return self._decide_move(command)
            case SayReady(seat, arrived):
                # A READY after the limit counts as not sent: the Expire that is due will blame the seat.
                in_time = self.timer.deadline is not None and arrived < self.timer.deadline
                awaited = self.phase is Phase.OFFERED and self.awaits(seat)
                return [Ready(seat)] if awaited and in_time else []
            case Blame(seat, kind, line):
                return self._decide_fault(seat, kind, line)
            case Annotate(info):
                playing = self.phase is Phase.PLAYING and not self.zombies[info.seat - 1]
                return [info] if playing and 1 <= info.ply <= self.ply else []
            case Expire():
                return self._decide_expiry()
            case Disconnect(seat):
                return [Away(seat)] if self.phase is Phase.OFFERED and self.ready[seat - 1] else []
            case Abort(reason):
                void = FaultRecord(0, self.ply, str(FaultKind.VOID), reason.encode("ascii"))
                return [] if self.over else [void, Ended(self._game.totals(self.position), VOID)]

    def _decide_move(self, command: PlayMove) -> list[GameFact]:
        seat, move, line, arrived = command
        timer = self.timer
        sent = timer.sent
        # Its TURN has not reached the socket: the line cannot be an answer to it.
        if seat != timer.seat or sent is None:
            return []
        # Before the move is looked at: a late illegal move is late.
        if arrived >= timer.flag:
            return self._decide_flag(sent)
        if not self._game.is_legal(self.position, move):
            return self._decide_fault(seat, FaultKind.ILLEGAL, line)
        # The kernel stamps arrivals and the loop stamps sends: a quick answer may seem to come
        # first.
        arrived = max(sent, arrived)
        if seat == self._untimed:
            sent = arrived
        charge = max(0, (arrived - sent) // NS_PER_MS - timer.credit)
        left = self._control.after(self.clocks[seat - 1], charge)
        return [self._ply(seat, move, charge, sent, arrived, left, False)]

    def _ply(
        self, seat: int, move: str, charge: int, sent: int, arrived: int, left: int, zombie: bool
    ) -> PlyRecord:
        """Compute a legal ply of `seat`, after which its clock shows `left` ms."""
        position, points = self._game.play(self.position, move)
        clocks = (*self.clocks[: seat - 1], left, *self.clocks[seat:])
        total = self._game.totals(position)
        timer, origin = self.timer, self._origin
        lag, credit = (timer.lag, timer.credit) if timer.seat == seat else (0, 0)
        moments = sent - origin, arrived - origin
        ply = _new(PlyRecord, (seat, move, charge, *moments, clocks, points, total, zombie, lag, credit))
        self._computed = ply, position
        return ply

    def _decide_fault(self, seat: int, kind: FaultKind, line: bytes) -> list[GameFact]:
        # A zombie cannot fall lower, and its first fault is the one that counts.
        if self.over or self.zombies[seat - 1]:
            return []
        return [FaultRecord(seat, self.ply, str(kind), line), *self._forfeit([seat])]

    def _decide_expiry(self) -> list[GameFact]:
        if self.phase is Phase.OFFERED:
            late = [seat for seat in range(1, len(self.ready) + 1) if self.awaits(seat)]
            faults = [self._late(seat, FaultKind.NEVER_READY) for seat in late]
            return [*faults, *self._forfeit(late)]
        return [] if self.timer.sent is None else self._decide_flag(self.timer.sent)

    def _decide_flag(self, sent: int) -> list[GameFact]:
        """The flag of the seat to move has fallen: its clock is 0, and it was charged all it had."""
        seat = self.timer.seat
        forfeit = self._forfeit([seat])
        fault = self._late(seat, FaultKind.TIMEOUT)
        # A game without a zombie move ends here: the ply is not played.
        if forfeit or self._zombie_move is None:
            return [fault, *forfeit]
        # What a move would have been charged that came at the moment of the flag.
        charge = self._control_of(seat).allowance(self.clocks[seat - 1]) + 1
        return [fault, self._ply(seat, self._zombie_move, charge, sent, self.timer.flag, 0, True)]

    def _late(self, seat: int, kind: FaultKind) -> FaultRecord:
        """A time limit has passed: of a seat without a connection that is another fault."""
        # Its author looks for a lost connection then, not for slow code.
        kind = kind if self.present[seat - 1] else FaultKind.DISCONNECT
        return FaultRecord(seat, self.ply, str(kind), b"")

    def _forfeit(self, seats: Iterable[int]) -> list[GameFact]:
        """End a game without a zombie move: the seats at fault lose."""
        return [] if self._zombie_move is not None else [Ended(self.forfeited(seats), FORFEIT)]

    def _follow_up(self, facts: list[GameFact], now: int) -> None:
        """Apply what follows by itself, up to the turn of a seat that plays for itself."""
        last = facts[-1]
        if self.phase is Phase.OFFERED:
            # START waits for the others; a zombie is not awaited.
            if any(map(self.awaits, range(1, len(self.ready) + 1))):
                return
            facts.append(last := Started())
            self.apply(last, now)
        elif type(last) is FaultRecord and last.seat != self.timer.seat:
            return  # the turn in progress is another seat's, and goes on
        elif type(last) is InfoRecord:
            return
        self._advance(facts, now)

    def _advance(self, facts: list[GameFact], now: int) -> None:
        """Play for zombies and the server's own seats until another is to move or the game is over."""
        # A loop: all seats may be zombies, and then the game ends here.
        while self.phase is Phase.PLAYING:
            if (end := self._game.end(self.position)) is not None:
                facts.append(fact := Ended(self._game.totals(self.position), end))
                self.apply(fact, now)
                break
            seat, clocks = self._game.to_move(self.position), self.clocks
            if seat in self.setting.own_seats:
                setting, moves = self.setting, self._game.legal_moves(self.position)
                move = own_move(setting.secret, setting.game_id, self.ply, moves)
                left = self._control.after(clocks[seat - 1], 0)
            elif self.zombies[seat - 1]:
                assert self._zombie_move is not None
                move, left = self._zombie_move, clocks[seat - 1]
            else:
                self.begin_turn(seat, now)
                return
            self.timer.stop()
            ply = self._ply(seat, move, 0, now, now, left, self.zombies[seat - 1])
            facts.append(ply)
            self.apply(ply, now)
        self.timer.stop()

    # -- the turn in progress

    def begin_turn(self, seat: int, now: int) -> None:
        """Open the turn of `seat`. Without a connection its clock runs at once, but for the grace period."""
        timer, lag = self.timer, self.lag[seat - 1]
        credit = min(lag, self._quota[seat - 1]) if lag else 0
        timer.begin(seat, now, lag, credit, now + self._handover)
        if self.present[seat - 1]:
            return
        # The server was down: the seat could not answer, so its clock stands for a while.
        if now < timer.grace:
            timer.deadline = timer.grace
        else:
            self.run(now)

    def run(self, sent: int) -> None:
        """The clock of the seat to move runs since `sent`."""
        timer = self.timer
        if timer.seat == self._untimed:
            # A bot at a breakpoint: its clock runs so long that it never falls.
            timer.run(sent, sent + LONGEST_MS * NS_PER_MS)
            return
        control = self._control if self._is_uniform else self._control_of(timer.seat)
        flag = control.flag_at(self.clocks[timer.seat - 1], sent, timer.credit)
        timer.sent, timer.deadline, timer.flag = sent, flag, flag  # `timer.run`, without a call

    def _control_of(self, seat: int) -> TimeControl:
        """The time control of the next ply of `seat`."""
        return self._control if any(ply.seat == seat for ply in self.plies) else self._first_control

    def set_lag(self, seat: int, ms: int) -> None:
        """The lag of the connection of `seat` has been measured."""
        self.lag[seat - 1] = ms

    def depart(self, seat: int, now: int) -> list[GameFact]:
        """The connection of `seat` is gone; its clock goes on, at the latest from the begin of its turn."""
        if not self.present[seat - 1]:
            return []
        facts = self.execute(Disconnect(seat), now)
        self.present[seat - 1] = False
        if seat == self.timer.seat and self.timer.sent is None:
            self.run(self.timer.asked)
        return facts

    def arrive(self, seat: int, now: int) -> None:
        """`seat` has a new connection, whose lag is unknown; send it the transcript, then its TURN."""
        self.present[seat - 1] = True
        self.lag[seat - 1] = 0
        if seat == self.timer.seat and self.timer.sent is None:
            self.begin_turn(seat, now)

    def clock_ran(self, at: int) -> bool:
        """Whether the clock of a seat runs now and did so at the moment `at`."""
        sent = self.timer.sent
        return sent is not None and sent < at

    def reading(self, now: int) -> tuple[int, ...]:
        """The clocks as they stand at `now`, in the order of the seats."""
        timer = self.timer
        if timer.sent is None or timer.seat == self._untimed:
            return self.clocks
        spent = max(0, elapsed_ms(timer.sent, now) - timer.credit)
        left = max(0, self.clocks[timer.seat - 1] - spent)
        return (*self.clocks[: timer.seat - 1], left, *self.clocks[timer.seat :])

    def expire(self, now: int) -> tuple[int, list[GameFact]]:
        """The deadline has passed. Returns the facts, or the seat whose connection does not take its TURN.

        That connection has to be closed (`depart`): only then does the clock of the seat run.
        """
        timer = self.timer
        if self.phase is Phase.PLAYING and timer.sent is None:
            if self.present[timer.seat - 1]:
                return timer.seat, []
            self.run(now)  # the seat has not come back within the grace period
            return 0, []
        return 0, self.execute(Expire(), now)

    # -- after a restart of the server

    def restart(self, now: int) -> list[GameFact]:
        """The server was down until `now`, and every seat is disconnected through no fault of its own.

        The time it was down is charged to no seat. For the limit of READY the clock of a seat stands
        until it is back, and a begun turn begins again.
        """
        last = self.plies[-1].arrived_ns if self.plies else 0
        # The moments of a record never run backwards, and the time that the server was down is not
        # in them.
        self._origin = now - last
        self.present = [False] * len(self.present)
        self.timer.grace = now + self._ready_ns
        facts: list[GameFact] = []
        if self.phase is Phase.OFFERED:
            self.timer.deadline = self.timer.grace
            ready = (seat for seat, ready in enumerate(self.ready, start=1) if ready)
            facts += [Away(seat) for seat in ready if seat not in self.setting.own_seats]
            for fact in facts:
                self.apply(fact, now)
        elif self.phase is Phase.PLAYING:
            self._advance(facts, now)
        return facts
