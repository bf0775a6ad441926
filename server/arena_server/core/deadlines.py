"""All deadlines of a contest in one heap."""

from __future__ import annotations

from enum import IntEnum
from heapq import heappop, heappush


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


class Deadlines:
    """At most one deadline a key, easily moved.

    A clock's deadline moves at every ply and nearly always later, so a key's entry in the
    heap may be too early: it is corrected when it comes to the top, not at every move.
    """

    __slots__ = ("_at", "_heap", "_queued", "alarm")

    def __init__(self) -> None:
        self._at: dict[Key, int] = {}
        self._queued: dict[Key, int] = {}
        self._heap: list[tuple[int, Key]] = []
        #: A moment that is not after the earliest deadline, None if there is none: when to call `pop`.
        self.alarm: int | None = None

    def set(self, key: Key, at: int | None) -> None:
        """Move the deadline of `key`; None takes it away."""
        if at is None:
            self._at.pop(key, None)
            return
        self._at[key] = at
        queued = self._queued.get(key)
        # A later one waits in `_at`: nearly every ply would else add an entry to the heap.
        if queued is None or at < queued:
            self._push(key, at)

    def clear(self) -> None:
        """Take every deadline away."""
        self._at.clear()
        self._queued.clear()
        self._heap.clear()
        self.alarm = None

    def _push(self, key: Key, at: int) -> None:
        self._queued[key] = at
        heappush(self._heap, (at, key))
        self.alarm = self._heap[0][0]

    @property
    def next(self) -> int | None:
        """The earliest deadline; None if there is none."""
        while self._heap:
            at, key = self._heap[0]
            if self._at.get(key) == at:
                return at
            self._correct(at, key)
        return None

    def _correct(self, at: int, key: Key) -> None:
        """The entry on top is not the deadline of its key: drop it or put the true one in."""
        heappop(self._heap)
        self.alarm = self._heap[0][0] if self._heap else None
        if self._queued.get(key) != at:
            return  # an earlier entry of this key has taken over
        del self._queued[key]
        if key in self._at:
            self._push(key, self._at[key])

    def pop(self, now: int) -> Key | None:
        """Take away the earliest deadline, if it is not after `now`, and return its key."""
        at = self.next
        if at is None or at > now:
            return None
        _, key = heappop(self._heap)
        self.alarm = self._heap[0][0] if self._heap else None
        del self._at[key], self._queued[key]
        return key
