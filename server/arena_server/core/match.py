"""The course of one game so far: the position it has come to, its plies and faults as recorded.

It must not know: clocks, who is there, who is told.

One game, from GAME to its result: who is ready, whose turn it is, what every line costs.

A Match is a pure function of the calls made to it: each is an event with its moment, and
what there is to say is fetched from each `seat`. The same calls give the same lines and record:
so those it accepted, kept in its `diary` for the journal, bring it back (`diary.redo`).

    OFFERED --every seat ready or at fault--> PLAYING --last ply, forfeit, void--> OVER

A seat at fault is a zombie: the server plays the game's zombie move for it, at once, to the
end; in a game without such a move the seat forfeits. A seat has one fault a game at most,
the first. Seats and plies count from 1; moments are nanoseconds.
It must not know: connections, players beyond their names, other games, standings.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from arena_protocol import messages as wire
from arena_protocol.messages import Played
from arena_protocol.record import FORFEIT, VOID, FaultKind, FaultRecord, GameRecord, PlyRecord
from arena_server.core.clock import Timing, Took
from arena_server.core.deal import Setting
from arena_server.core.diary import Diary
from arena_server.core.transcript import Feed, Seat, Telling


class Course:
    """The game of `setting`, from its first ply on; the moments of plies count from `started`."""

    def __init__(self, setting: Setting, started: int) -> None:
        self.started = started
        self.plies: list[PlyRecord] = []
        self.faults: list[FaultRecord] = []
        self._setting = setting
        self._game = setting.game
        self._position = setting.game.start(setting.deal)

    @property
    def ply(self) -> int:
        """The ply to be played now."""
        return len(self.plies) + 1

    @property
    def end(self) -> str | None:
        """How the game has ended by its rules; None while it goes on."""
        return self._game.end(self._position)

    @property
    def to_move(self) -> int:
        """The seat that is to move, of a game that goes on."""
        return self._game.to_move(self._position)

    @property
    def totals(self) -> tuple[int, ...]:
        """The points of all seats."""
        return self._game.totals(self._position)

    @property
    def forfeited(self) -> tuple[int, ...]:
        """The points of all seats if whoever is at fault has lost; several at once have all lost."""
        lost = [self._game.forfeit(self._position, fault.seat) for fault in self.faults]
        return tuple(min(totals) for totals in zip(*lost, strict=True))

    def is_legal(self, move: str) -> bool:
        """Whether `move` may be played now."""
        return self._game.is_legal(self._position, move)

    def play(self, seat: int, move: str, took: Took, clocks: tuple[int, ...], zombie: bool) -> Played:
        """Play a legal move for `seat`, after which the clocks stand so. Returns what there is to tell."""
        ply, start = self.ply, self.started
        step = self._game.play(self._position, move)
        self._position = step.position
        total = self.totals
        stamps = took.time, took.handed - start, took.arrived - start
        self.plies.append(
            PlyRecord(seat, move, *stamps, clocks, step.points, total, zombie, took.lag, took.credit)
        )
        reveal = self._game.reveal(self._setting.deal, ply)
        return Played(ply, seat, move, took.time, clocks, step.points, total, reveal)

    def record(self, totals: tuple[int, ...], end: str) -> GameRecord:
        """All that happened, to this end."""
        final = self._game.state_text(self._position)
        return self._setting.record(tuple(self.plies), tuple(self.faults), final, totals, end)


class Phase(Enum):
    """How far a match has come."""

    OFFERED = "offered"
    PLAYING = "playing"
    OVER = "over"


class Match:
    """The game of `setting`, offered to its players at the moment `now`."""

    def __init__(self, setting: Setting, now: int) -> None:
        self.setting = setting
        self.phase = Phase.OFFERED
        self.end = ""
        self.totals: tuple[int, ...] = ()
        self.diary = Diary(setting.number, now)
        self._zombie_move = setting.game.zombie_move
        self._course = Course(setting, now)
        self._timing = Timing(setting.plan, setting.game.seats, now)
        self._telling = Telling(setting, now)

    @property
    def ply(self) -> int:
        """The ply to be played now; before START it is 1."""
        return self._course.ply

    @property
    def plies(self) -> Sequence[PlyRecord]:
        """The plies so far."""
        return self._course.plies

    @property
    def faults(self) -> Sequence[FaultRecord]:
        """The faults so far, in the order in which they happened."""
        return self._course.faults

    @property
    def mover(self) -> int:
        """The seat whose turn it is, 0 if it is nobody's."""
        return self._timing.mover

    @property
    def over(self) -> bool:
        """Whether there is a result, or there will be none."""
        return self.phase is Phase.OVER

    @property
    def deadline(self) -> int | None:
        """The next moment at which `expire` has to be called, or None."""
        return self._timing.deadline

    @property
    def feed(self) -> Feed:
        """What spectators may see."""
        return self._telling.feed

    def turn_of(self, seat: int, ply: int) -> bool:
        """Whether it is the turn of `seat` at `ply`."""
        return 0 < seat == self.mover and ply == self.ply

    def clock_runs(self, at: int) -> bool:
        """Whether the clock of a seat runs, and did so at the moment `at`."""
        handed = self._timing.handed
        return handed is not None and handed < at

    def is_zombie(self, seat: int) -> bool:
        """Whether `seat` is at fault."""
        return self.seat(seat).fault is not None

    def seat(self, number: int) -> Seat:
        """The seat of this number, with what there is to be sent to it."""
        return self._telling.seats[number - 1]

    # -- events

    def ready(self, seat: int, arrived: int, now: int) -> bool:
        """`seat` said READY. Returns False if nothing asked for it; too late counts as not said."""
        place = self.seat(seat)
        if self.phase is not Phase.OFFERED or place.settled:
            return False
        if self.deadline is not None and arrived < self.deadline:
            self.diary.log("ready", seat, arrived - self.diary.offered, now=now)
            place.ready = True
            self._start_if_settled(now)
        return True

    def handed(self, seat: int, ply: int, at: int) -> None:
        """The TURN of `ply` went to the socket of `seat` at `at`: its clock runs, if it does not yet."""
        if self.turn_of(seat, ply) and self._timing.handed is None:
            self.diary.jot("handed", now=at)
            self._timing.run(at)

    def move(self, seat: int, move: str, line: bytes, arrived: int, now: int) -> None:
        """`seat` answered its TURN; `line` is how. An answer to no TURN in its hands changes nothing."""
        handed = self._timing.handed
        if seat != self.mover or handed is None:
            return
        if self._timing.is_late(handed, arrived):
            self._flag(handed, now)
        elif not self._course.is_legal(move):
            self.fault(seat, FaultKind.ILLEGAL, line, now)
        else:
            self.diary.log("move", seat, move, arrived - self.diary.offered, now=now)
            self._play(seat, move, self._timing.spend(self.seat(seat), handed, arrived), now)
            self._go_on(now)

    def fault(self, seat: int, kind: FaultKind, line: bytes, now: int) -> None:
        """`seat` did what makes a zombie; `line` is the offending one, if there is one."""
        if self.over or self.is_zombie(seat):
            return
        self.diary.log("fault", seat, str(kind), line, now=now)
        self._condemn(seat, kind, line, now)
        if self._forfeit():
            return
        if self.phase is Phase.OFFERED:
            self._start_if_settled(now)
        elif seat == self.mover:
            self._go_on(now)

    def leave(self, seat: int, now: int) -> None:
        """The connection of `seat` is gone; its clock goes on, from when its TURN was said if need be."""
        place = self.seat(seat)
        if not place.present:
            return
        if not self.over:
            self.diary.log("leave", seat, now=now)
        place.leave()
        if seat == self.mover and self._timing.handed is None:
            self._timing.run_unheard()

    def back(self, seat: int, now: int) -> None:
        """`seat` has a new connection: it is to hear all it was told so far, and its TURN."""
        if not self.over:
            self.diary.log("back", seat, now=now)
        place = self.seat(seat)
        place.back()
        if seat == self.mover:
            handed = self._timing.handed
            if handed is None:  # since a restart of the server: the clock stood
                self._ask(place, now)
            else:
                place.turn = self._turn(self._timing.reading(handed, now))

    def lag(self, seat: int, lag: int, now: int) -> None:
        """The lag of the connection of `seat` is `lag` milliseconds; it counts from its next TURN on."""
        place = self.seat(seat)
        if place.lag != lag:
            self.diary.jot("lag", seat, lag, now=now)
            place.lag = lag

    def expire(self, now: int) -> int:
        """The deadline has passed. Returns the seat whose connection takes no TURN, 0 if there is none.

        Such a connection has to be given up (`leave`): only then does the clock of the seat run.
        """
        handed = self._timing.handed
        if self.phase is Phase.OFFERED:
            self._expire_ready(now)
        elif handed is not None:
            self._flag(handed, now)
        elif self.seat(self.mover).present:
            return self.mover
        else:  # the mover has not come back since the restart
            self.diary.log("grace", now=now)
            self._timing.run(now)
        return 0

    def void(self, reason: str, now: int) -> None:
        """The platform breaks the game off: nobody's fault, no result. The record keeps the `reason`."""
        self.diary.log("void", reason, now=now)
        self._course.faults.append(FaultRecord(0, self.ply, FaultKind.VOID, reason.encode("ascii")))
        self._finish(VOID, self._course.totals)

    def restart(self, now: int) -> None:
        """The server was down until now: all seats are away, and through no fault of theirs.

        The time it was down is charged to nobody. Each seat is waited for as long as for READY;
        until it is back its clock stands, and a turn that was begun begins anew.
        """
        for place in self._telling.seats:
            place.wait()
        if self.over:
            return
        self.diary.log("restart", now=now)
        self._timing.begin_grace(now)
        if self.phase is Phase.PLAYING:
            self._ask(self.seat(self.mover), now)

    def tell_result(self, now: int) -> None:
        """The record is durable: say OVER. A void game opens no commit, as it may be played again."""
        self._telling.over(self.setting.over(self.totals, self.end, opened=self.end != VOID), now)

    def record(self) -> GameRecord:
        """All that happened; for a match that is over."""
        return self._course.record(self.totals, self.end)

    # -- the course of the game

    def _start_if_settled(self, now: int) -> None:
        if all(place.settled for place in self._telling.seats):
            self.phase = Phase.PLAYING
            self._course.started = now
            self._telling.start(now)
            self._go_on(now)

    def _expire_ready(self, now: int) -> None:
        """The limit for READY: whoever is not ready is at fault, and the game begins without it."""
        self.diary.log("late", now=now)
        for place in self._telling.seats:
            if not place.settled:
                self._condemn_late(place, FaultKind.NEVER_READY, now)
        if not self._forfeit():
            self._start_if_settled(now)

    def _go_on(self, now: int) -> None:
        """Play for zombies until a living seat is to move or the game is over."""
        self._nobody_moves()
        while (end := self._course.end) is None:
            place = self.seat(self._course.to_move)
            if place.fault is None:
                self._ask(place, now)
                return
            self._play_zombie(place.number, Took(0, now, now), now)
        self._finish(end, self._course.totals)

    def _ask(self, place: Seat, now: int) -> None:
        self._timing.ask(place, now)
        if place.present:
            place.turn = self._turn(self._timing.clocks)

    def _turn(self, clocks: tuple[int, ...]) -> wire.Turn:
        return wire.Turn(self.ply, clocks, self._timing.lag, self._timing.credit)

    def _nobody_moves(self) -> None:
        """A TURN not yet taken is not to be sent any more."""
        if self.mover:
            self.seat(self.mover).turn = None
        self._timing.stop()

    def _flag(self, handed: int, now: int) -> None:
        """The time of the mover, whose clock runs, is up."""
        self.diary.log("flag", now=now)
        place = self.seat(self.mover)
        self._condemn_late(place, FaultKind.TIMEOUT, now)
        if not self._forfeit():
            self._play_zombie(place.number, self._timing.fall(place, handed), now)
            self._go_on(now)

    def _play_zombie(self, seat: int, took: Took, now: int) -> None:
        assert self._zombie_move is not None
        self._play(seat, self._zombie_move, took, now)

    def _play(self, seat: int, move: str, took: Took, now: int) -> None:
        """Play a legal move for `seat`, and tell everybody."""
        played = self._course.play(seat, move, took, self._timing.clocks, self.is_zombie(seat))
        self._telling.played(played, now)

    def _condemn_late(self, place: Seat, kind: FaultKind, now: int) -> None:
        """Its time is up, which is a fault of this kind; of one who is away it is another."""
        self._condemn(place.number, kind if place.present else FaultKind.DISCONNECT, b"", now)

    def _condemn(self, seat: int, kind: FaultKind, line: bytes, now: int) -> None:
        """Note the fault, and tell of it."""
        fault = FaultRecord(seat, self.ply, kind, line)
        self.seat(seat).fault = fault
        self._course.faults.append(fault)
        self._telling.fault(fault, now)

    def _forfeit(self) -> bool:
        """End a game without a zombie move: whoever is at fault has lost. Returns whether it did."""
        if self._zombie_move is not None:
            return False
        self._finish(FORFEIT, self._course.forfeited)
        return True

    def _finish(self, end: str, totals: tuple[int, ...]) -> None:
        self._nobody_moves()
        self.phase = Phase.OVER
        self.end = end
        self.totals = totals
