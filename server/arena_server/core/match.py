"""One game, from GAME to its result: who is ready, whose turn it is, what every line costs.

A Match is a pure function of the calls made to it: each is an event with its moment, and
what there is to say is fetched by `take`. The same calls give the same lines and record: so
the calls it accepted, fetched by `entries` for the journal, bring it back by `redo`.

    OFFERED --every seat ready or at fault--> PLAYING --last ply, forfeit, void--> OVER

A seat at fault is a zombie: the server plays the game's zombie move for it, at once, to the
end; in a game without such a move the seat forfeits. A seat has one fault a game at most,
the first. Seats and plies count from 1; moments are nanoseconds.
It must not know: connections, players beyond their names, other games, standings.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from arena_protocol import messages as wire
from arena_protocol.messages import ServerMessage, encode
from arena_protocol.record import FaultKind, FaultRecord, GameRecord, PlyRecord
from arena_server.core.clock import NS_PER_MS, Ledger, charged
from arena_server.core.feed import Feed
from arena_server.core.journal import Entry
from arena_server.core.setting import Setting

FORFEIT = "forfeit"
VOID = "void"

#: A message and its line: a line that goes to many is printed once.
Said = tuple[ServerMessage, bytes]


class Phase(Enum):
    """How far a match has come."""

    OFFERED = "offered"
    PLAYING = "playing"
    OVER = "over"


@dataclass(slots=True)
class Seat:
    """One seat; `said` holds all it was told but its TURNs, the first `sent` on this connection.

    `lag` is that of its connection, `quota` what may still be forgiven for lag in this game, in
    milliseconds. A seat is `awaited` from a restart of the server until it is back for the
    first time.
    """

    number: int
    said: list[Said]
    sent: int = 0
    turn: wire.Turn | None = None
    present: bool = True
    ready: bool = False
    fault: FaultRecord | None = None
    lag: int = 0
    quota: int = 0
    awaited: bool = False


class Match:
    """The game of `setting`, offered to its players at the moment `now`.

    `deadline` is the next moment at which `expire` has to be called, or None.
    """

    def __init__(self, setting: Setting, now: int) -> None:
        self.setting = setting
        self.phase = Phase.OFFERED
        self.end = ""
        self.totals: tuple[int, ...] = ()
        self.faults: list[FaultRecord] = []
        self.plies: list[PlyRecord] = []
        self.feed = Feed(setting.game_id)
        self.deadline: int | None = now + setting.plan.ready_ms * NS_PER_MS
        self._game = setting.game
        self._zombie_move = setting.game.zombie_move
        self._position = setting.game.start(setting.deal)
        plan = setting.plan
        self._ledger = Ledger(
            setting.game.seats,
            plan.clock_ms,
            plan.increment_ms,
            plan.margin_ms,
            plan.byoyomi_ms,
            plan.move_limit_ms,
        )
        self._offered = now
        self._started = now
        self._grace = now
        self._lag = self._credit = 0
        self._entries: list[Entry] = []
        self._hasty = False
        self._mover = 0
        self._asked = 0
        self._handed: int | None = None
        self.seats = [
            Seat(number, _printed(setting.offer(number)), quota=plan.lag_quota_ms)
            for number in range(1, setting.game.seats + 1)
        ]
        self.feed.say(now, b"".join(line for _, line in _printed(setting.offer(0))))

    @property
    def ply(self) -> int:
        """The ply to be played now; before START it is 1."""
        return len(self.plies) + 1

    def turn_of(self, seat: int, ply: int) -> bool:
        """Whether it is the turn of `seat` at `ply`."""
        return seat == self._mover and ply == self.ply

    # -- events

    def ready(self, seat: int, arrived: int, now: int) -> bool:
        """`seat` said READY. Returns False if nothing asked for it; too late counts as not said."""
        place = self.seats[seat - 1]
        if self.phase is not Phase.OFFERED or place.ready or place.fault is not None:
            return False
        if self.deadline is not None and arrived < self.deadline:
            self._log("ready", seat, arrived - self._offered, now=now)
            place.ready = True
            self._start_if_ready(now)
        return True

    def handed(self, seat: int, ply: int, at: int) -> None:
        """The TURN of `ply` went to the socket of `seat` at `at`: its clock runs, if it does not yet."""
        if self.turn_of(seat, ply) and self._handed is None:
            self._jot("handed", now=at)
            self._run_clock(at)

    def move(self, seat: int, move: str, line: bytes, arrived: int, now: int) -> None:
        """`seat` answered its TURN; `line` is how. An answer to no TURN in its hands changes nothing."""
        handed = self._handed
        if seat != self._mover or handed is None:
            return
        if arrived >= self._ledger.flag_at(seat, handed, self._credit):
            self._flag(now)
        elif not self._game.is_legal(self._position, move):
            self.fault(seat, FaultKind.ILLEGAL, line, now)
        else:
            self._log("move", seat, move, arrived - self._offered, now=now)
            charge = self._ledger.spend(seat, handed, arrived, self._credit)
            self._play(seat, move, charge, handed, max(handed, arrived), now)
            self._go_on(now)

    def fault(self, seat: int, kind: FaultKind, line: bytes, now: int) -> None:
        """`seat` did what makes a zombie; `line` is the offending one, if there is one."""
        if self.phase is Phase.OVER or self.seats[seat - 1].fault is not None:
            return
        self._log("fault", seat, str(kind), line, now=now)
        self._condemn(seat, kind, line, now)
        if self._zombie_move is None:
            self._forfeit()
        elif self.phase is Phase.OFFERED:
            self._start_if_ready(now)
        elif seat == self._mover:
            self._go_on(now)

    def leave(self, seat: int, now: int) -> None:
        """The connection of `seat` is gone; its clock goes on, from when its TURN was said if need be."""
        place = self.seats[seat - 1]
        if not place.present:
            return
        if self.phase is not Phase.OVER:
            self._log("leave", seat, now=now)
        place.present = False
        place.ready = False
        if seat == self._mover and self._handed is None:
            self._run_clock(self._asked)

    def back(self, seat: int, now: int) -> None:
        """`seat` has a new connection: `take` gives it all it was told so far, and its TURN."""
        if self.phase is not Phase.OVER:
            self._log("back", seat, now=now)
        place = self.seats[seat - 1]
        place.present = True
        place.awaited = False
        place.sent = 0
        place.lag = 0
        if seat == self._mover:
            if self._handed is None:  # since a restart of the server: the clock stood
                self._ask(seat, now)
            else:
                place.turn = self._turn(self._ledger.reading(seat, self._handed, now, self._credit))

    def lag(self, seat: int, lag: int, now: int) -> None:
        """The lag of the connection of `seat` is `lag` milliseconds; it counts from its next TURN on."""
        if self.seats[seat - 1].lag != lag:
            self._jot("lag", seat, lag, now=now)
            self.seats[seat - 1].lag = lag

    def expire(self, now: int) -> int:
        """The deadline has passed. Returns the seat whose connection takes no TURN, 0 if there is none.

        Such a connection has to be given up (`leave`): only then does the clock of the seat run.
        """
        if self.phase is Phase.OFFERED:
            self._expire_ready(now)
        elif self._handed is not None:
            self._flag(now)
        elif self.seats[self._mover - 1].present:
            return self._mover
        else:
            self._end_grace(now)
        return 0

    def clock_runs(self, at: int) -> bool:
        """Whether the clock of a seat runs, and did so at the moment `at`."""
        return self._handed is not None and self._handed < at

    def void(self, reason: str, now: int) -> None:
        """The platform breaks the game off: nobody's fault, no result. The record keeps the `reason`."""
        self._log("void", reason, now=now)
        self.faults.append(FaultRecord(0, self.ply, FaultKind.VOID, reason.encode("ascii")))
        self._finish(VOID, self._game.totals(self._position))

    def restart(self, now: int) -> None:
        """The server was down until now: all seats are away, and through no fault of theirs.

        The time it was down is charged to nobody. Each seat is waited for as long as for READY;
        until it is back its clock stands, and a turn that was begun begins anew.
        """
        if self.phase is Phase.OVER:
            return
        self._log("restart", now=now)
        self._grace = now + self.setting.plan.ready_ms * NS_PER_MS
        for place in self.seats:
            place.present = place.ready = False
            place.awaited = True
            place.turn = None
        if self.phase is Phase.OFFERED:
            self.deadline = self._grace
        else:
            self._handed = None
            self._ask(self._mover, now)

    def tell_result(self, now: int) -> None:
        """The record is durable: say OVER. A void game opens no commit, as it may be played again."""
        over = self.setting.over(self.totals, self.end, opened=self.end != VOID)
        line = encode(over)
        self._tell_all(over, line)
        self.feed.close(now, line)

    # -- what comes out

    def take(self, seat: int, portion: int) -> tuple[list[Said], wire.Turn | None]:
        """What is to be sent to `seat` now, each line once a connection: lines, then a TURN.

        It ends with the line that makes it `portion` bytes or more; then `behind` tells that
        there is more to be taken.
        """
        place = self.seats[seat - 1]
        if not place.present:
            return [], None
        begin, size = place.sent, 0
        while place.sent < len(place.said) and size < portion:
            size += len(place.said[place.sent][1])
            place.sent += 1
        lines = place.said[begin : place.sent]
        if self.behind(seat):
            return lines, None
        turn, place.turn = place.turn, None
        return lines, turn

    def behind(self, seat: int) -> bool:
        """Whether there is more to be sent to `seat`, which is there to hear it."""
        place = self.seats[seat - 1]
        return place.present and place.sent < len(place.said)

    def entries(self) -> list[Entry]:
        """Take what has to be durable before anything that `take` gives is told.

        What nobody hears of by itself, as a hand-over, waits for the next entry that matters.
        """
        if not self._hasty:
            return []
        self._hasty = False
        entries, self._entries = self._entries, []
        return entries

    def record(self) -> GameRecord:
        """All that happened; for a match that is over."""
        final = self._game.state_text(self._position)
        return self.setting.record(tuple(self.plies), tuple(self.faults), final, self.totals, self.end)

    # -- the journal

    def _log(self, kind: str, *values: object, now: int) -> None:
        """Keep an accepted call, with all that `redo` needs; moments count from the offer."""
        self._jot(kind, *values, now=now)
        self._hasty = True

    def _jot(self, kind: str, *values: object, now: int) -> None:
        self._entries.append((self.setting.number, kind, *values, now - self._offered))

    def redo(self, entries: list[Entry]) -> None:
        """Make the calls anew that a match of this setting has kept; for a match that is new.

        Raises LookupError, TypeError or ValueError for entries that no match has kept.
        """
        for _, kind, *values, moment in entries:
            self._REDO[kind](self, values, self._offered + moment)
        self.entries()

    def _redo_ready(self, values: list[Any], now: int) -> None:
        seat, arrived = values
        self.ready(seat, self._offered + arrived, now)

    def _redo_move(self, values: list[Any], now: int) -> None:
        seat, move, arrived = values
        self.move(seat, move, b"", self._offered + arrived, now)

    def _redo_fault(self, values: list[Any], now: int) -> None:
        seat, kind, line = values
        self.fault(seat, FaultKind(kind), line, now)

    # -- the course of the game

    def _tell_all(self, message: ServerMessage, line: bytes) -> None:
        said = (message, line)
        for place in self.seats:
            place.said.append(said)

    def _start_if_ready(self, now: int) -> None:
        if all(place.ready or place.fault is not None for place in self.seats):
            self.phase = Phase.PLAYING
            self._started = now
            start = wire.Start(self.setting.game_id)
            line = encode(start)
            self._tell_all(start, line)
            self.feed.say(now, line)
            self._go_on(now)

    def _expire_ready(self, now: int) -> None:
        """The limit for READY: whoever is not ready is at fault, and the game begins without it."""
        self._log("late", now=now)
        for place in self.seats:
            if not place.ready and place.fault is None:
                kind = FaultKind.NEVER_READY if place.present else FaultKind.DISCONNECT
                self._condemn(place.number, kind, b"", now)
        if self._zombie_move is None:
            self._forfeit()
        else:
            self._start_if_ready(now)

    def _go_on(self, now: int) -> None:
        """Play for zombies until a living seat is to move or the game is over."""
        self._stop_clock()
        while (end := self._game.end(self._position)) is None:
            seat = self._game.to_move(self._position)
            if self.seats[seat - 1].fault is None:
                self._ask(seat, now)
                return
            self._play_zombie(seat, 0, now, now, now)
        self._finish(end, self._game.totals(self._position))

    def _ask(self, seat: int, now: int) -> None:
        """It is the turn of `seat`; if it is away its clock runs at once, but for a restart's sake."""
        self._mover = seat
        self._asked = now
        place = self.seats[seat - 1]
        self._lag, self._credit = place.lag, min(place.lag, place.quota)
        if place.present:
            place.turn = self._turn(self._ledger.clocks)
            self.deadline = now + self.setting.plan.handover_ms * NS_PER_MS
        elif place.awaited and now < self._grace:
            self.deadline = self._grace
        else:
            self._run_clock(now)

    def _turn(self, clocks: tuple[int, ...]) -> wire.Turn:
        return wire.Turn(self.ply, clocks, self._lag, self._credit)

    def _end_grace(self, now: int) -> None:
        """The mover has not come back since the restart: from now on its clock runs."""
        self._log("grace", now=now)
        self._run_clock(now)

    def _run_clock(self, handed: int) -> None:
        self._handed = handed
        self.deadline = self._ledger.flag_at(self._mover, handed, self._credit)

    def _stop_clock(self) -> None:
        """Nobody is to move; a TURN not yet taken is not to be sent any more."""
        if self._mover:
            self.seats[self._mover - 1].turn = None
        self._mover = 0
        self._handed = None
        self.deadline = None

    def _flag(self, now: int) -> None:
        """The time of the mover, whose clock runs, is up."""
        self._log("flag", now=now)
        seat, handed = self._mover, self._handed
        assert handed is not None
        kind = FaultKind.TIMEOUT if self.seats[seat - 1].present else FaultKind.DISCONNECT
        self._condemn(seat, kind, b"", now)
        if self._zombie_move is None:
            self._forfeit()
        else:
            flag = self._ledger.flag_at(seat, handed, self._credit)
            self._play_zombie(seat, self._ledger.fall(seat), handed, flag, now)
            self._go_on(now)

    def _play_zombie(self, seat: int, charge: int, handed: int, arrived: int, now: int) -> None:
        assert self._zombie_move is not None
        self._play(seat, self._zombie_move, charge, handed, arrived, now)

    def _play(self, seat: int, move: str, charge: int, handed: int, arrived: int, now: int) -> None:
        """Play a legal move for `seat`, keep it and tell everybody."""
        ply, clocks, start = self.ply, self._ledger.clocks, self._started
        lag, credit = self._forgive(seat, handed, arrived)
        step = self._game.play(self._position, move)
        self._position = step.position
        total = self._game.totals(step.position)
        zombie = self.seats[seat - 1].fault is not None
        handed, arrived = handed - start, arrived - start
        self.plies.append(
            PlyRecord(seat, move, charge, handed, arrived, clocks, step.points, total, zombie, lag, credit)
        )
        reveal = self._game.reveal(self.setting.deal, ply)
        played = wire.Played(ply, seat, move, charge, clocks, step.points, total, reveal)
        line = encode(played)
        self._tell_all(played, line)
        self.feed.share(now, line)

    def _forgive(self, seat: int, handed: int, arrived: int) -> tuple[int, int]:
        """Take what this ply needed of its credit off the quota; returns the lag and the credit given."""
        if seat != self._mover:
            return 0, 0
        self.seats[seat - 1].quota -= min(self._credit, charged(handed, arrived))
        return self._lag, self._credit

    def _condemn(self, seat: int, kind: FaultKind, line: bytes, now: int) -> None:
        """Note the fault; tell the seat, the spectators, and the others only if the contest says so."""
        fault = FaultRecord(seat, self.ply, kind, line)
        self.seats[seat - 1].fault = fault
        self.faults.append(fault)
        for place in self.seats:
            if place.number == seat or self.setting.plan.announce_zombies:
                zombie = wire.Zombie(self.ply, kind, None if place.number == seat else seat)
                place.said.append((zombie, encode(zombie)))
        self.feed.say(now, encode(wire.Zombie(self.ply, kind, seat, line, self.setting.game_id)))

    def _forfeit(self) -> None:
        """Whoever is at fault has lost; several at once have all lost."""
        lost = [self._game.forfeit(self._position, fault.seat) for fault in self.faults]
        self._finish(FORFEIT, tuple(min(totals) for totals in zip(*lost, strict=True)))

    def _finish(self, end: str, totals: tuple[int, ...]) -> None:
        self._stop_clock()
        self.phase = Phase.OVER
        self.end = end
        self.totals = totals

    #: What each kind of entry stands for.
    _REDO: Final[dict[str, Callable[[Match, list[Any], int], None]]] = {
        "offer": lambda match, values, now: None,
        "ready": _redo_ready,
        "handed": lambda match, values, now: match._run_clock(now),
        "move": _redo_move,
        "fault": _redo_fault,
        "flag": lambda match, values, now: match._flag(now),
        "late": lambda match, values, now: match._expire_ready(now),
        "leave": lambda match, values, now: match.leave(values[0], now),
        "back": lambda match, values, now: match.back(values[0], now),
        "lag": lambda match, values, now: match.lag(values[0], values[1], now),
        "grace": lambda match, values, now: match._end_grace(now),
        "restart": lambda match, values, now: match.restart(now),
        "void": lambda match, values, now: match.void(values[0], now),
    }


def _printed(messages: list[ServerMessage]) -> list[Said]:
    return [(message, encode(message)) for message in messages]
