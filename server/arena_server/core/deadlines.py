"""All deadlines of a contest in one heap."""

from __future__ import annotations

from enum import IntEnum
from heapq import heappop, heappush
from typing import Final


class DeadlineKind(IntEnum):
    """What may have a deadline; deadlines of one moment fall in this order."""

    LOGIN = 1
    GAME = 2
    ABSENCE = 3
    FEED = 4
    CHUNK = 5
    REST = 6
    PROBATION = 7
    VALIDATION = 8
    LEASE = 9
    THAW = 10
    END = 11


#: What has the deadline: the number of a connection, a game, a bot, a slot, a validation game, or a feed;
#: 0 is what spectators learn of the end.
Key = tuple[DeadlineKind, int]


#: After all moments.
NEVER: Final = 1 << 63


class Deadline:
    """When it is, None for never; `queued` is its first entry in the heap (`NEVER`: none)."""

    __slots__ = ("at", "key", "queued")

    def __init__(self, key: Key) -> None:
        self.key = key
        self.at: int | None = None
        self.queued = NEVER


class Deadlines:
    """At most one deadline a key, easily moved.

    A clock's deadline moves at every ply and nearly always later, so a key's entry in the
    heap may be too early: it is corrected when it comes to the top, not at every move.
    """

    __slots__ = ("_heap", "_queued", "alarm")

    def __init__(self) -> None:
        #: Those that have an entry in the heap.
        self._queued: dict[Key, Deadline] = {}
        self._heap: list[tuple[int, Key]] = []
        #: A moment that is not after the earliest deadline, None if there is none: when to call `pop`.
        self.alarm: int | None = None

    def set(self, key: Key, at: int | None) -> None:
        """Move the deadline of `key`; None takes it away."""
        self.move(self._queued.get(key) or Deadline(key), at)

    def move(self, deadline: Deadline, at: int | None) -> None:
        """Move a deadline, the only one of its key; None takes it away."""
        deadline.at = at
        # A later one waits in `at`: nearly every ply would else add an entry to the heap.
        if at is not None and at < deadline.queued:
            self._push(deadline, at)

    def clear(self) -> None:
        """Take every deadline away."""
        for deadline in self._queued.values():
            deadline.at, deadline.queued = None, NEVER
        self._queued.clear()
        self._heap.clear()
        self.alarm = None

    def _push(self, deadline: Deadline, at: int) -> None:
        deadline.queued = at
        self._queued[deadline.key] = deadline
        heappush(self._heap, (at, deadline.key))
        self.alarm = self._heap[0][0]

    @property
    def next(self) -> int | None:
        """The earliest deadline; None if there is none."""
        while self._heap:
            at, key = self._heap[0]
            deadline = self._queued.get(key)
            if deadline is not None and deadline.at == at:
                return at
            self._correct(at, deadline)
        return None

    def _correct(self, at: int, deadline: Deadline | None) -> None:
        """The entry on top is not the deadline of its key: drop it or put the true one in."""
        heappop(self._heap)
        self.alarm = self._heap[0][0] if self._heap else None
        if deadline is None or deadline.queued != at:
            return  # an earlier entry of this key has taken over
        del self._queued[deadline.key]
        deadline.queued = NEVER
        if deadline.at is not None:
            self._push(deadline, deadline.at)

    def pop(self, now: int) -> Key | None:
        """Take away the earliest deadline, if it is not after `now`, and return its key."""
        at = self.next
        if at is None or at > now:
            return None
        _, key = heappop(self._heap)
        self.alarm = self._heap[0][0] if self._heap else None
        deadline = self._queued.pop(key)
        deadline.at, deadline.queued = None, NEVER
        return key
