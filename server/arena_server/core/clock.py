"""One integer ledger a game: what bots read, what flags fall by and what the record holds.

Clocks are whole milliseconds, moments integer nanoseconds. A move is charged the whole
milliseconds between the moment TURN was handed over and the moment its line arrived, less
the credit for lag.
It must not know: whose turn it is, where stamps come from, sockets.

The turn under way: whose it is, since when its clock runs, and by when something has to happen.

    asked --TURN is with the socket--> the clock runs --answer, flag--> asked, of the next
      |---- the seat is away --------> the clock runs
      '---- the seat is awaited after a restart: the clock stands for the grace, then it runs

It must not know: rules, records, what is said.

How far away a client is: the shortest way there and back of the last few PINGs.

It must not know: connections, what the lag is good for.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from arena_server.core.config import ContestPlan
from arena_server.core.transcript import Seat

NS_PER_MS = 1_000_000


class Ledger:
    """The clocks of all seats.

    A ply may take the clock plus `byoyomi`, but never more than `move_limit` (0: there is
    none). Beyond that and `margin` the flag falls; the margin counts at the flag only, and
    neither of the two gives time to the clock. `increment` is added after each ply that its
    seat made in time. `credit` is what is forgiven of a ply for lag.
    """

    __slots__ = ("_clocks", "byoyomi", "increment", "margin", "move_limit")

    def __init__(
        self, seats: int, bank: int, increment: int, margin: int, byoyomi: int = 0, move_limit: int = 0
    ) -> None:
        self._clocks = [bank] * seats
        self.increment = increment
        self.margin = margin
        self.byoyomi = byoyomi
        self.move_limit = move_limit

    @property
    def clocks(self) -> tuple[int, ...]:
        """The milliseconds left to each seat, in the order of the seats."""
        return tuple(self._clocks)

    def _allowance(self, seat: int) -> int:
        """The longest charge at which the flag of `seat` does not fall."""
        most = self._clocks[seat - 1] + self.byoyomi
        return (min(most, self.move_limit) if self.move_limit else most) + self.margin

    def flag_at(self, seat: int, handed: int, credit: int = 0) -> int:
        """The first moment that is too late for `seat` (1, 2, ...) if TURN was handed over at `handed`."""
        return handed + (self._allowance(seat) + credit + 1) * NS_PER_MS

    def spend(self, seat: int, handed: int, arrived: int, credit: int = 0) -> int:
        """Charge an answer that came in time, before `flag_at`. Returns the charge in milliseconds."""
        charge = max(0, charged(handed, arrived) - credit)
        self._clocks[seat - 1] = max(0, self._clocks[seat - 1] - charge) + self.increment
        return charge

    def fall(self, seat: int) -> int:
        """The flag of `seat` falls: its clock is 0 from now on. Returns the charge in milliseconds."""
        charge = self._allowance(seat) + 1
        self._clocks[seat - 1] = 0
        return charge

    def reading(self, seat: int, handed: int, now: int, credit: int = 0) -> tuple[int, ...]:
        """The clocks as they stand at `now`, while the clock of `seat` has run since `handed`."""
        left = max(0, self._clocks[seat - 1] - max(0, charged(handed, now) - credit))
        return (*self._clocks[: seat - 1], left, *self._clocks[seat:])


def charged(handed: int, arrived: int) -> int:
    """Whole milliseconds from `handed` to `arrived`, never negative: two clocks stamped them."""
    return max(0, (arrived - handed) // NS_PER_MS)


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


#: The shortest of so many: a client that was busy once does not count as far away.
SAMPLES = 8
#: At most one PING in this time, in nanoseconds.
INTERVAL = 500_000_000
#: What our own PINGs are called; a client may use the same words without harm.
WORD = "lag"


class Lag:
    """The lag of one connection, `ms` milliseconds: 0 until it is measured.

    `ask` gives the number of a PING that is to be sent, `handed` tells when the socket took
    it, and `heard` what came back.
    """

    __slots__ = ("_asked", "_number", "_samples", "_since", "ms")

    def __init__(self) -> None:
        self.ms = 0
        self._samples: deque[int] = deque(maxlen=SAMPLES)
        self._number = 0
        self._asked: int | None = None
        self._since: int | None = None

    def ask(self, now: int) -> int | None:
        """The number of the PING that is due now; None if there was one just before."""
        if self._asked is not None and now < self._asked + INTERVAL:
            return None
        self._asked = now
        self._number += 1
        self._since = None
        return self._number

    def handed(self, number: int, at: int) -> None:
        """The socket took PING `number`."""
        if number == self._number and self._since is None:
            self._since = at

    def heard(self, token: str, arrived: int) -> bool:
        """A PONG came. Returns whether it is the answer to the PING that is out."""
        if self._since is None or token != f"{WORD}{self._number}":
            return False
        self._samples.append(max(0, arrived - self._since) // NS_PER_MS)
        self._since = None
        self.ms = min(self._samples)
        return True
