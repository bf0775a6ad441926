"""Rate limits: failed logins by address and name, and lines that ask for nothing.

Only failures of a login are counted, and a right token or key is accepted at any time: so a guesser
locks no bot out, not even on its own address. A name that does not exist is treated like one that
does. PING, PONG and blank lines are free up to a rate; beyond it they are a flood.
"""

from __future__ import annotations

from collections import OrderedDict

from arena_protocol.errors import ErrorCode, ProtocolError

#: Denials in a row before `rate` is answered, and the pause after which one more is allowed.
TRIES = 10
PAUSE_MS = 6_000

#: The number of names with their addresses that are kept, the latest.
KEPT = 10_000

_PAUSE = PAUSE_MS * 1_000_000


class LoginRateLimiter:
    """Denials by address and name, each forgotten after a pause."""

    __slots__ = ("_forgotten_at",)

    def __init__(self) -> None:
        #: When the last of the denials is forgotten, if none comes in addition.
        self._forgotten_at: OrderedDict[tuple[str, str], int] = OrderedDict()

    def check(self, address: str, name: str, now: int) -> None:
        """Raise ProtocolError, code `rate`, if `name` has been denied to `address` too often by `now`."""
        excess = self._forgotten_at.get((address, name), 0) - now - (TRIES - 1) * _PAUSE
        if excess > 0:
            wait = -(-excess // 1_000_000)
            raise ProtocolError(ErrorCode.RATE, "too many wrong log-ins; wait, then try again", wait)

    def wrong(self, address: str, name: str, now: int) -> None:
        """Count a denial."""
        key = address, name
        self._forgotten_at[key] = max(now, self._forgotten_at.get(key, 0)) + _PAUSE
        self._forgotten_at.move_to_end(key)
        # A guesser that changes names must not fill the memory; the oldest denial is the least of
        # use.
        if len(self._forgotten_at) > KEPT:
            self._forgotten_at.popitem(last=False)

    def right(self, address: str, name: str) -> None:
        """Forget all denials: a client that knows the key is not guessing."""
        self._forgotten_at.pop((address, name), None)


#: Lines in a burst, and lines a second in the long run. A bot that pings at every ply stays far below.
BURST = 1000
A_SECOND = 100

_NS = 1_000_000_000


#: Notes of a seat: lines between two plies of the game, and bytes in a game.
INFO_LINES, INFO_BYTES = 32, 65_536


class InfoBudget:
    """Bounds the notes (INFO) of one seat in one game; more of them are dropped."""

    __slots__ = ("_bytes", "_lines", "_ply")

    def __init__(self) -> None:
        self._bytes = self._lines = self._ply = 0

    def admits(self, ply: int, size: int) -> bool:
        """Whether a note of `size` bytes may come while `ply` is due; counts it if so."""
        # The bound is per ply: a long game may have more notes than a short one.
        if ply != self._ply:
            self._ply, self._lines = ply, 0
        if self._lines == INFO_LINES or self._bytes + size > INFO_BYTES:
            return False
        self._lines += 1
        self._bytes += size
        return True


class LeakyBucket:
    """Fills by one with each line and drains steadily; it overflows at more than `BURST`."""

    __slots__ = ("_at", "_level")

    def __init__(self) -> None:
        self._level = 0
        self._at = 0

    def overflows(self, now: int) -> bool:
        """Count one line at the moment `now` (nanoseconds); whether it was one too many."""
        drained = (now - self._at) * A_SECOND // _NS
        if drained > 0:
            self._level = max(0, self._level - drained)
            self._at += drained * (_NS // A_SECOND)
        self._level += 1
        return self._level > BURST
