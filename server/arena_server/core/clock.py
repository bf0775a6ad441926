"""The time of a game: what a move is charged, when a flag falls, and how far away a client is.

Clocks are whole milliseconds, moments integer nanoseconds of one monotonic clock. A move is
charged the whole milliseconds from the moment TURN reached the socket to the moment its line
arrived, less the credit for lag. Reference: shared clock rules of PROTOCOL.md, section Clocks.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from arena_server.terms.terms import GameTerms

NS_PER_MS = 1_000_000


@dataclass(frozen=True, slots=True)
class TimeControl:
    """The clock rules of a game, in milliseconds.

    A ply may take the clock plus `byoyomi`, but never more than `move_limit` (0 disables the
    limit). Beyond that and `margin` the flag falls; the margin counts at the flag only, and
    neither of the two gives time to the clock. `increment` is added after each ply that its
    seat made in time.
    """

    bank: int
    increment: int = 0
    margin: int = 0
    byoyomi: int = 0
    move_limit: int = 0

    @classmethod
    def of(cls, terms: GameTerms, *, first: bool = False) -> TimeControl:
        """The rules of `terms` for the `first` ply of a seat, or for all others."""
        limit = (first and terms.first_move_limit_ms) or terms.move_limit_ms
        return cls(terms.clock_ms, terms.increment_ms, terms.margin_ms, terms.byoyomi_ms, limit)

    def allowance(self, clock: int) -> int:
        """The longest charge, in ms, at which the flag of a seat with `clock` ms left does not fall."""
        return self.flag_at(clock, 0) // NS_PER_MS - 1

    def flag_at(self, clock: int, sent: int, credit: int = 0) -> int:
        """The first moment (ns) that is too late if TURN reached the socket at `sent`."""
        most, limit = clock + self.byoyomi, self.move_limit
        if limit and most > limit:
            most = limit
        # The margin comes last: it forgives a late line, whichever limit it is late for. One more: charges
        # are whole milliseconds rounded down, so the last one in time ends before the next.
        return sent + (most + self.margin + credit + 1) * NS_PER_MS

    def after(self, clock: int, charge: int) -> int:
        """The clock after a ply that was charged `charge` ms and came in time."""
        # A ply in byoyomi, or by the margin, is charged more than the clock has.
        return max(0, clock - charge) + self.increment


def elapsed_ms(sent: int, arrived: int) -> int:
    """Whole milliseconds from `sent` to `arrived`, never negative: two clocks stamped them."""
    return max(0, (arrived - sent) // NS_PER_MS)


class TurnTimer:
    """The turn in progress: whose it is, since when its clock runs, and the next deadline.

        begin --TURN reached the socket: run--> clock runs --answer or flag--> begin of the next
          |---- the seat is disconnected -----> clock runs
          '---- after a restart: the clock stands until the seat is back or the grace ends

    `seat` is 0 while no turn is open; `sent` is since when (ns) the clock runs, None while it
    stands. None of this is kept in the journal: after a restart a begun turn begins again.
    """

    __slots__ = ("asked", "credit", "deadline", "flag", "grace", "lag", "seat", "sent")

    def __init__(self, deadline: int) -> None:
        self.deadline: int | None = deadline
        self.seat = self.lag = self.credit = self.asked = self.flag = 0
        self.sent: int | None = None
        #: Until this moment a seat that has not come back since a restart is not charged.
        self.grace = 0

    def begin(self, seat: int, now: int, lag: int, credit: int, deadline: int) -> None:
        """Open the turn of `seat`; `deadline` is for its TURN to reach the socket."""
        self.seat, self.asked, self.lag, self.credit, self.deadline = seat, now, lag, credit, deadline
        self.sent = None

    def run(self, sent: int, flag: int) -> None:
        """Start the clock at `sent`; the flag falls at `flag`."""
        self.sent = sent
        self.deadline = self.flag = flag

    def hand(self, seat: int, sent: int, flag: int) -> None:
        """Open the turn of a seat without lag, whose clock runs at once: `begin` and `run` in one call."""
        self.seat, self.sent = seat, sent
        self.deadline = self.flag = flag

    def stop(self) -> None:
        """Close the turn."""
        self.seat = 0
        self.sent = self.deadline = None


#: The lag is the shortest of this many round trips: one slow answer does not make a client distant.
SAMPLES = 8
#: At most one PING in this time, in nanoseconds.
INTERVAL = 500_000_000
#: The token of the server's own PINGs.
WORD = "lag"


class LagEstimate:
    """The lag of one connection, `ms` milliseconds: 0 until it is measured.

    `ask` gives the number of a PING that is due; call `sent` when it reached the socket and
    `answered` for each PONG.
    """

    __slots__ = ("_asked", "_number", "_samples", "_since", "ms")

    def __init__(self) -> None:
        self.ms = 0
        self._samples: deque[int] = deque(maxlen=SAMPLES)
        self._number = 0
        self._asked: int | None = None
        self._since: int | None = None

    def ask(self, now: int) -> int | None:
        """The number of the PING that is due now; None if the last one is too recent."""
        if self._asked is not None and now < self._asked + INTERVAL:
            return None
        self._asked = now
        self._number += 1
        self._since = None
        return self._number

    def sent(self, number: int, at: int) -> None:
        """PING `number` reached the socket at `at`."""
        if number == self._number and self._since is None:
            self._since = at

    def answered(self, token: str, arrived: int) -> bool:
        """Count a PONG. Returns whether it answers the PING that is under way."""
        if self._since is None or token != f"{WORD}{self._number}":
            return False
        self._samples.append(max(0, arrived - self._since) // NS_PER_MS)
        self._since = None
        self.ms = min(self._samples)
        return True
