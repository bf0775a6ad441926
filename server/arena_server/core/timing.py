"""The turn under way: whose it is, since when its clock runs, and by when something has to happen.

    asked --TURN is with the socket--> the clock runs --answer, flag--> asked, of the next
      |---- the seat is away --------> the clock runs
      '---- the seat is awaited after a restart: the clock stands for the grace, then it runs

It must not know: rules, records, what is said.
"""

from __future__ import annotations

from dataclasses import dataclass

from arena_server.core.clock import NS_PER_MS, Ledger, charged
from arena_server.core.plan import ContestPlan
from arena_server.core.seat import Seat


@dataclass(frozen=True, slots=True)
class Took:
    """What a ply took: `time` is the charge in milliseconds, from `handed` to `arrived` less `credit`."""

    time: int
    handed: int
    arrived: int
    lag: int = 0
    credit: int = 0


class Timing:
    """The clocks of a game of so many seats that was offered at `offered`.

    `mover` is the seat whose turn it is, 0 if it is nobody's; `handed` since when its clock runs,
    None while it stands; `lag` and `credit` are those of its turn. `deadline` is the next
    moment at which somebody's time is up, or None.
    """

    def __init__(self, plan: ContestPlan, seats: int, offered: int) -> None:
        self._ready = plan.ready_ms * NS_PER_MS
        self._handover = plan.handover_ms * NS_PER_MS
        self._ledger = Ledger(
            seats,
            plan.clock_ms,
            plan.increment_ms,
            plan.margin_ms,
            plan.byoyomi_ms,
            plan.move_limit_ms,
        )
        self.deadline: int | None = offered + self._ready
        self.mover = self.lag = self.credit = 0
        self.handed: int | None = None
        self._asked = 0
        self._grace = offered

    @property
    def clocks(self) -> tuple[int, ...]:
        """The clocks as they stood when the turn began."""
        return self._ledger.clocks

    def ask(self, seat: Seat, now: int) -> None:
        """It is the turn of `seat`; if it is away its clock runs at once, but for a restart's sake."""
        self.mover = seat.number
        self._asked = now
        self.lag, self.credit = seat.lag, min(seat.lag, seat.quota)
        if seat.present:
            self.deadline = now + self._handover
        elif seat.awaited and now < self._grace:
            self.deadline = self._grace
        else:
            self.run(now)

    def run(self, handed: int) -> None:
        """The clock of the mover runs since `handed`."""
        self.handed = handed
        self.deadline = self._flag_at(handed)

    def run_unheard(self) -> None:
        """The clock of the mover runs since it was asked, though it never heard of that."""
        self.run(self._asked)

    def stop(self) -> None:
        """It is nobody's turn."""
        self.mover = 0
        self.handed = self.deadline = None

    def begin_grace(self, now: int) -> None:
        """The server was down until `now`: the clock stands, and as long as for READY seats are awaited."""
        self.handed = None
        self.deadline = self._grace = now + self._ready

    # -- while a clock runs, which `handed` says

    def _flag_at(self, handed: int) -> int:
        return self._ledger.flag_at(self.mover, handed, self.credit)

    def is_late(self, handed: int, arrived: int) -> bool:
        """Whether the flag of the mover fell before `arrived`."""
        return arrived >= self._flag_at(handed)

    def spend(self, seat: Seat, handed: int, arrived: int) -> Took:
        """Charge `seat`, the mover, for an answer that was not late."""
        charge = self._ledger.spend(self.mover, handed, arrived, self.credit)
        return self._took(seat, charge, handed, max(handed, arrived))

    def fall(self, seat: Seat, handed: int) -> Took:
        """The flag of `seat`, the mover, falls."""
        flag = self._flag_at(handed)
        return self._took(seat, self._ledger.fall(self.mover), handed, flag)

    def _took(self, seat: Seat, charge: int, handed: int, arrived: int) -> Took:
        """What the ply needed of its credit comes off the quota."""
        seat.quota -= min(self.credit, charged(handed, arrived))
        return Took(charge, handed, arrived, self.lag, self.credit)

    def reading(self, handed: int, now: int) -> tuple[int, ...]:
        """The clocks as they stand at `now`."""
        return self._ledger.reading(self.mover, handed, now, self.credit)
