"""One integer ledger a game: what bots read, what flags fall by and what the record holds.

Clocks are whole milliseconds, moments integer nanoseconds. A move is charged the whole
milliseconds between the moment TURN was handed over and the moment its line arrived, less
the credit for lag.
It must not know: whose turn it is, where stamps come from, sockets.
"""

from __future__ import annotations

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
