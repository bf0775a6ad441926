"""What has happened since the server started, in plain numbers.

Counted on the loop's thread, where it has to cost next to nothing: so no library is needed
here. It must not know: how the numbers are shown, who asks for them.
"""

from __future__ import annotations

import time
from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from arena_server.core.effects import Note
from arena_server.server import ServerObserver

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
        """The same numbers, which do not change any more."""
        return Histogram(self.counts.copy(), self.total)


@dataclass(frozen=True, slots=True)
class Counts:
    """All that has been counted so far, as it was at one moment."""

    plies: Histogram
    journal: Histogram
    store: Histogram
    endings: dict[str, int]
    faults: dict[str, int]
    refused: dict[str, int]
    orders: dict[str, int]
    stalls: int
    stalled_ms: int


class Monitor(ServerObserver):
    """Counts what a service does. Every method is for the loop's thread."""

    def __init__(self, clock: Callable[[], int] = time.monotonic_ns) -> None:
        self._clock = clock
        self._plies = Histogram()
        self._journal = Histogram()
        self._store = Histogram()
        self._endings: Counter[str] = Counter()
        self._faults: Counter[str] = Counter()
        self._refused: Counter[str] = Counter()
        self._orders: Counter[str] = Counter()
        self._stalls = self._stalled_ms = 0
        #: When the groups that are not durable yet were handed over, and how many are.
        self._groups: deque[int] = deque()
        self._groups_durable = 0
        self._records: dict[str, int] = {}

    def counts(self) -> Counts:
        """What has been counted so far."""
        return Counts(
            self._plies.copy(),
            self._journal.copy(),
            self._store.copy(),
            dict(self._endings),
            dict(self._faults),
            dict(self._refused),
            dict(self._orders),
            self._stalls,
            self._stalled_ms,
        )

    # -- what the service tells

    def turn_sent(self, ns: int) -> None:
        """Count the referee's own share of a ply."""
        self._plies.observe(ns)

    def appended(self) -> None:
        """A group of entries waits for the disk from now on."""
        self._groups.append(self._clock())

    def record_queued(self, game_id: str) -> None:
        """A record waits for the disk from now on."""
        self._records[game_id] = self._clock()

    def durable(self, groups: int, game_ids: Sequence[str]) -> None:
        """The disk has all groups up to this number, and these records."""
        now = self._clock()
        while self._groups and self._groups_durable < groups:
            self._groups_durable += 1
            self._journal.observe(now - self._groups.popleft())
        for game_id in game_ids:
            self._store.observe(now - self._records.pop(game_id, now))

    def noted(self, note: Note) -> None:
        """Count the notes that tell of something worth counting."""
        if note.event == "over":
            self._over(str(note.fields["end"]), str(note.fields["faults"]))
        elif note.event == "stall":
            self._stalls += 1
            self._stalled_ms += int(str(note.fields["ms"]))
        elif note.event == "refused":
            self._refused[str(note.fields["code"])] += 1
        elif note.event == "command":
            self._orders[str(note.fields["verb"])] += 1

    def _over(self, end: str, faults: str) -> None:
        """`faults` is `name:kind,name:kind`; a name has no colon."""
        self._endings[end] += 1
        for fault in faults.split(",") if faults else ():
            self._faults[fault.rpartition(":")[2]] += 1
