"""The check of a game record: replay the game and compare every number in the record.

Games are used through their plug-in interface. The arithmetic of clocks and credit is written
here a second time, independent of the referee's code: it confirms the referee only while it
shares nothing with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NoReturn

from arena_protocol.games import printed_game
from arena_protocol.games.base import Deal, Game, GameError
from arena_protocol.record import FaultKind, FaultRecord, GameRecord, PlyRecord, RecordError, commitment

_NS_A_MS = 1_000_000
_OWN_TURN = (FaultKind.TIMEOUT, FaultKind.ILLEGAL)
_FLAG = (FaultKind.TIMEOUT, FaultKind.DISCONNECT)
_SETTINGS = (
    "clock_ms",
    "increment_ms",
    "margin_ms",
    "move_limit_ms",
    "byoyomi_ms",
    "lag_quota_ms",
    "first_move_limit_ms",
)
_FORFEIT, _VOID = "forfeit", "void"
_BROKEN_OFF = (_FORFEIT, _VOID)


def verify(record: GameRecord) -> None:
    """Check everything in a record: commit, deal, moves, points, totals, times, clocks, zombies, end.

    Raises RecordError at the first value that is wrong; its text names the game, the place
    (start, a ply or the end), the expected and the found value.
    """
    audit = _RecordAudit(record)
    audit.check_start()
    audit.check_faults()
    for number, ply in enumerate(record.plies, start=1):
        audit.check_ply(number, ply)
    audit.check_end()
    audit.check_infos()


class _RecordAudit:
    """One pass over one record; the methods are called in the order of `verify`."""

    def __init__(self, record: GameRecord) -> None:
        self.record = record
        self.place = "start"
        self.seats = len(record.names)
        self.last_ns = 0
        self.clock = (record.clock_ms,) * self.seats
        self.quota = dict.fromkeys(range(1, self.seats + 1), record.lag_quota_ms)
        self.game: Game[Any] = self._ask(lambda: printed_game(record.game, record.options, self.seats))
        self.position: Any = self._ask(lambda: self.game.start(Deal(record.board, record.sequence)))
        self.faults = [fault for fault in record.faults if fault.kind != FaultKind.VOID]
        self.moved: set[int] = set()
        self.zombie_from: dict[int, int] = {}

    def _ask(self, question: Callable[[], Any]) -> Any:
        try:
            return question()
        except GameError as error:
            raise RecordError(f"game {self.record.game_id}, {self.place}: {error}") from error

    def _fail(self, what: str, expected: object, found: object) -> NoReturn:
        raise RecordError(
            f"game {self.record.game_id}, {self.place}: {what}: "
            f"expected {_show(expected)}, found {_show(found)}"
        )

    def _equal(self, what: str, expected: object, found: object) -> None:
        if expected != found:
            self._fail(what, expected, found)

    def check_start(self) -> None:
        """Check that the seed deals this start, and that the commit is its digest."""
        record = self.record
        deal = self.game.deal(record.seed)
        self._equal("board", deal.board, record.board)
        self._equal("sequence", deal.sequence, record.sequence)
        self._equal("commit", commitment(record.nonce, record.board, record.sequence), record.commit)
        for what in _SETTINGS:
            if getattr(record, what) < 0:
                self._fail(what, "0 or more", getattr(record, what))

    def check_faults(self) -> None:
        """Check kind, seat and ply of every fault; note the ply from which each seat is a zombie."""
        for fault in self.record.faults:
            self._check_fault(fault)
        for fault in self.faults:
            first = self.zombie_from.get(fault.seat, fault.ply)
            self.zombie_from[fault.seat] = min(first, fault.ply)

    def _check_fault(self, fault: FaultRecord) -> None:
        self.place = f"ply {fault.ply}"
        if fault.kind not in list(FaultKind):
            self._fail("fault", f"one of {', '.join(FaultKind)}", fault.kind)
        lowest, highest = (0, 0) if fault.kind == FaultKind.VOID else (1, self.seats)
        if not lowest <= fault.seat <= highest:
            self._fail(f"seat of fault {fault.kind}", f"{lowest} to {highest}", fault.seat)
        last = len(self.record.plies) + (self.record.end in _BROKEN_OFF)
        if not 0 <= fault.ply <= last:
            self._fail(f"ply of fault {fault.kind}", f"0 to {last}", fault.ply)

    def check_ply(self, number: int, ply: PlyRecord) -> None:
        """Check one ply, then play it."""
        self.place = f"ply {number}"
        self._check_mover(number, ply)
        self._check_move(number, ply)
        self._check_time(number, ply)
        self.moved.add(ply.seat)
        step = self._ask(lambda: self.game.play(self.position, ply.move))
        self.position = step.position
        self._equal("points", step.points, ply.points)
        self._equal("total", self.game.totals(self.position), ply.total)

    def _check_mover(self, number: int, ply: PlyRecord) -> None:
        end = self.game.end(self.position)
        if end is not None:
            self._fail("plies", f"none after the end ({end})", f"move {ply.move}")
        if self.game.zombie_move is None and any(fault.ply <= number for fault in self.faults):
            self._fail("plies", "none after a forfeit", f"move {ply.move}")
        self._equal("seat", self.game.to_move(self.position), ply.seat)
        for fault in self._faults_at(number, _OWN_TURN):
            self._equal(f"seat of fault {fault.kind}", ply.seat, fault.seat)

    def _faults_at(self, number: int, kinds: Iterable[str]) -> list[FaultRecord]:
        return [fault for fault in self.faults if fault.ply == number and fault.kind in kinds]

    def _check_move(self, number: int, ply: PlyRecord) -> None:
        zombie = number >= self.zombie_from.get(ply.seat, number + 1)
        self._equal("zombie", zombie, ply.zombie)
        if zombie:
            self._equal("move of a zombie", self.game.zombie_move, ply.move)
        if not self.game.is_legal(self.position, ply.move):
            self._fail("move", "a legal move", ply.move)

    def _check_time(self, number: int, ply: PlyRecord) -> None:
        """Check the order of the times, the charge computed from them, and the clocks after it."""
        for what in ("handed_ns", "arrived_ns"):
            at = getattr(ply, what)
            if at < self.last_ns:
                self._fail(what, f"{self.last_ns} or later", at)
            self.last_ns = at
        elapsed = (ply.arrived_ns - ply.handed_ns) // _NS_A_MS
        flag = self._flag_fell(number, ply, elapsed)
        before = self.clock[ply.seat - 1]
        if not ply.zombie or flag:
            self._check_credit(ply, elapsed)
            charge = max(0, elapsed - ply.credit_ms)
            self._equal("time", charge, ply.time_ms)
            self._check_flag(flag, charge, self._allowance(before, first=ply.seat not in self.moved))
        else:
            self._equal("time of a zombie", 0, ply.time_ms)
            self._equal("lag and credit of a zombie", (0, 0), (ply.lag_ms, ply.credit_ms))
        self._move_clock(ply, flag, before)
        self._equal("clock", self.clock, ply.clock)

    def _check_credit(self, ply: PlyRecord, elapsed: int) -> None:
        """Check the credit: the lag, but at most the rest of the quota."""
        if ply.lag_ms < 0:
            self._fail("lag", "0 or more", ply.lag_ms)
        expected = min(ply.lag_ms, self.quota[ply.seat])
        self._equal("credit", expected, ply.credit_ms)
        self.quota[ply.seat] -= min(ply.credit_ms, elapsed)

    def _allowance(self, clock: int, *, first: bool) -> int:
        """The largest charge at which the flag does not fall, given the clock before the ply."""
        record = self.record
        most = clock + record.byoyomi_ms
        limit = (first and record.first_move_limit_ms) or record.move_limit_ms
        return (min(most, limit) if limit else most) + record.margin_ms

    def _flag_fell(self, number: int, ply: PlyRecord, charge: int) -> bool:
        """Whether the flag fell on this ply. A seat that was away at START has a fault without a charge."""
        kinds = {fault.kind for fault in self._faults_at(number, _FLAG) if fault.seat == ply.seat}
        return FaultKind.TIMEOUT in kinds or (FaultKind.DISCONNECT in kinds and charge > 0)

    def _check_flag(self, flag: bool, charge: int, limit: int) -> None:
        if flag and charge <= limit:
            self._fail("time on which the flag fell", f"more than {limit}", charge)
        if not flag and charge > limit:
            self._fail("time without a fault", f"at most {limit}", charge)

    def _move_clock(self, ply: PlyRecord, flag: bool, before: int) -> None:
        after = before
        if flag:
            after = 0
        elif not ply.zombie:
            after = max(0, before - ply.time_ms) + self.record.increment_ms
        self.clock = (*self.clock[: ply.seat - 1], after, *self.clock[ply.seat :])

    def check_end(self) -> None:
        """Check the last position, the end and the totals."""
        self.place = "end"
        self._equal("final position", self.game.state_text(self.position), self.record.final)
        end, totals = self._outcome()
        self._equal("end", end, self.record.end)
        self._equal("totals", totals, self.record.totals)

    def check_infos(self) -> None:
        """Check seat and ply of every note."""
        last = len(self.record.plies) + 1
        for info in self.record.infos:
            self.place = f"note of ply {info.ply}"
            if not 1 <= info.seat <= self.seats:
                self._fail("seat", f"1 to {self.seats}", info.seat)
            if not 1 <= info.ply <= last:
                self._fail("ply", f"1 to {last}", info.ply)

    def _outcome(self) -> tuple[str, tuple[int, ...]]:
        totals = self.game.totals(self.position)
        if self.record.end == _VOID:
            return _VOID, totals
        if self.faults and self.game.zombie_move is None:
            return _FORFEIT, self._forfeited()
        return self.game.end(self.position) or "void (the game is not over)", totals

    def _forfeited(self) -> tuple[int, ...]:
        """The totals after a forfeit; several seats that forfeit together (no seat was ready) all lose."""
        lost = [self.game.forfeit(self.position, fault.seat) for fault in self.faults]
        return tuple(min(points) for points in zip(*lost, strict=True))


def _show(value: object) -> str:
    """Return a value as one line of bounded length."""
    text = value if isinstance(value, str) else repr(value)
    text = text if text.isprintable() else repr(text)
    return text if len(text) <= 80 else text[:80] + "..."
