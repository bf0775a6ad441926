"""Which version is examined next, and how long the others wait; free of I/O and of clocks.

    enter -> [build] take .. leave -> enter -> [examine] take .. leave

The two lanes go on beside each other: no build waits behind the check of another bot. In a lane the one that
is expected to be done first is next, and each second of waiting counts as a second less of work, so that none
waits for ever.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from statistics import median
from typing import Final

#: Of how many examinations the median is what an unknown bot is expected to take.
RECENT: Final = 20


class Lane(StrEnum):
    BUILD = "build"
    EXAMINE = "check"


@dataclass(frozen=True, slots=True)
class Ticket:
    """A version of a bot that waits for a lane since `since`, in seconds of the caller's clock."""

    key: tuple[str, str]
    number: int
    lane: Lane
    since: float


@dataclass(frozen=True, slots=True)
class QueuePlace:
    """`place` 1 is next; `left_s` is None until one version has been through."""

    lane: Lane
    place: int
    of: int
    left_s: float | None


class AdmissionBoard:
    """The versions that wait, and those in work: at most one a lane."""

    def __init__(self) -> None:
        self._waiting: list[Ticket] = []
        self._working: dict[Lane, tuple[Ticket, float]] = {}
        self._took: dict[tuple[Lane, tuple[str, str]], float] = {}
        self._recent: dict[Lane, deque[float]] = {lane: deque(maxlen=RECENT) for lane in Lane}

    def enter(self, ticket: Ticket) -> None:
        """One more waits."""
        self._waiting.append(ticket)

    def take(self, lane: Lane, now: float) -> Ticket | None:
        """The next one of a lane, which is in work from now on; None: none waits, or one is in work."""
        if lane in self._working:
            return None
        ticket = next(self._order(lane), None)
        if ticket is not None:
            self._waiting.remove(ticket)
            self._working[lane] = ticket, now
        return ticket

    def leave(self, lane: Lane, now: float, *, whole: bool) -> None:
        """The one in work is done; after a `whole` examination others know how long it takes."""
        ticket, began = self._working.pop(lane)
        if whole:
            self._took[lane, ticket.key] = now - began
            self._recent[lane].append(now - began)

    def places(self, now: float) -> Iterator[tuple[Ticket, QueuePlace]]:
        """Who waits where."""
        for lane in Lane:
            order = list(self._order(lane))
            for index, ticket in enumerate(order):
                yield (
                    ticket,
                    QueuePlace(lane, index + 1, len(order), self._left(lane, order[: index + 1], now)),
                )

    def waits(self, now: float) -> Iterator[tuple[Ticket, QueuePlace]]:
        """The same without those whose turn it is."""
        return ((ticket, at) for ticket, at in self.places(now) if at.place > 1 or at.lane in self._working)

    def backlog(self) -> dict[Lane, tuple[int, float | None]]:
        """How many wait for each lane, and since when the one does that has waited longest."""
        waiting = {lane: [each.since for each in self._waiting if each.lane is lane] for lane in Lane}
        return {lane: (len(since), min(since, default=None)) for lane, since in waiting.items()}

    def _left(self, lane: Lane, order: list[Ticket], now: float) -> float | None:
        """Until the last of `order` is admitted, if no other comes."""
        key = order[-1].key
        ahead = [self._expected(lane, each.key) for each in order]
        if lane in self._working:
            ticket, began = self._working[lane]
            expected = self._expected(lane, ticket.key)
            ahead.append(None if expected is None else max(0.0, expected - (now - began)))
        if lane is Lane.BUILD:
            ahead.append(self._expected(Lane.EXAMINE, key))
        return None if None in ahead else sum(each for each in ahead if each is not None)

    def _order(self, lane: Lane) -> Iterator[Ticket]:
        waiting = [each for each in self._waiting if each.lane is lane]
        return iter(sorted(waiting, key=lambda each: (self._expected(lane, each.key) or 0.0) + each.since))

    def _expected(self, lane: Lane, key: tuple[str, str]) -> float | None:
        """What the last version of this bot took, else the median of all."""
        if (took := self._took.get((lane, key))) is not None:
            return took
        recent = self._recent[lane]
        return median(recent) if recent else None
