"""How long parts of the server's work take: counts by bucket, of which `web/metrics.py` makes a text."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from typing import Final

#: The upper bounds of the buckets in nanoseconds: 50 us to 10 s, three a decade.
BOUNDS: Final = (50_000, *(step * 10**power for power in range(5, 10) for step in (1, 2, 5)), 10**10)


@dataclass(slots=True)
class Histogram:
    """How often a duration fell in each bucket; the last bucket has no bound. `total` is in nanoseconds."""

    counts: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS) + 1))
    total: int = 0

    def observe(self, ns: int) -> None:
        """Count one duration; a bound belongs to its bucket."""
        self.counts[bisect_left(BOUNDS, ns)] += 1
        self.total += ns

    def copy(self) -> Histogram:
        return Histogram(self.counts.copy(), self.total)


class Durations:
    """How long parts of the driver's work took."""

    def __init__(self) -> None:
        #: From a batch read to a TURN of it sent; from entries handed over to their durability; the
        #: same for records.
        self.turns, self.journal, self.store = Histogram(), Histogram(), Histogram()

    def copy(self) -> Durations:
        copied = Durations()
        copied.turns, copied.journal, copied.store = self.turns.copy(), self.journal.copy(), self.store.copy()
        return copied
