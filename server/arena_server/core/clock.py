"""One integer ledger a game: what bots read, what flags fall by and what the record holds.

Clocks are whole milliseconds, moments integer nanoseconds. A move is charged the whole
milliseconds between the moment TURN was handed over and the moment its line arrived.
It must not know: whose turn it is, where stamps come from, sockets.
"""

from __future__ import annotations

NS_PER_MS = 1_000_000


class Ledger:
    """The clocks of all seats.

    A flag falls once a charge exceeds the clock plus `margin`; the margin counts at the flag
    only and gives no time. `increment` is added after each ply that its seat made in time.
    """

    __slots__ = ("_clocks", "increment", "margin")

    def __init__(self, seats: int, bank: int, increment: int, margin: int) -> None:
        self._clocks = [bank] * seats
        self.increment = increment
        self.margin = margin

    @property
    def clocks(self) -> tuple[int, ...]:
        """The milliseconds left to each seat, in the order of the seats."""
        return tuple(self._clocks)

    def flag_at(self, seat: int, handed: int) -> int:
        """The first moment that is too late for `seat` (1, 2, ...) if TURN was handed over at `handed`."""
        return handed + (self._clocks[seat - 1] + self.margin + 1) * NS_PER_MS

    def spend(self, seat: int, handed: int, arrived: int) -> int:
        """Charge an answer that came in time, before `flag_at`. Returns the charge in milliseconds."""
        charge = charged(handed, arrived)
        self._clocks[seat - 1] = max(0, self._clocks[seat - 1] - charge) + self.increment
        return charge

    def fall(self, seat: int) -> int:
        """The flag of `seat` falls: its clock is 0 from now on. Returns the charge in milliseconds."""
        charge = self._clocks[seat - 1] + self.margin + 1
        self._clocks[seat - 1] = 0
        return charge

    def reading(self, seat: int, handed: int, now: int) -> tuple[int, ...]:
        """The clocks as they stand at `now`, while the clock of `seat` has run since `handed`."""
        left = max(0, self._clocks[seat - 1] - charged(handed, now))
        return (*self._clocks[: seat - 1], left, *self._clocks[seat:])


def charged(handed: int, arrived: int) -> int:
    """Whole milliseconds from `handed` to `arrived`, never negative: two clocks stamped them."""
    return max(0, (arrived - handed) // NS_PER_MS)
