"""Rate limits: one class for all that is counted by address, name or connection.

Where there is a secret only failures are counted, and the right one is accepted at any time: so a guesser
locks nothing out, not even on its own address. A name that does not exist is treated like one that does.
docs/operating.md has the table of all limits.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from arena_protocol.errors import ErrorCode, ProtocolError

Key = TypeVar("Key", bound=Hashable)

_MS: Final = 1_000_000
SECOND: Final = 1_000 * _MS

#: The number of keys (addresses, names) that are kept, the latest.
KEPT = 10_000


@dataclass(frozen=True, slots=True)
class Budget:
    """`burst` at once, and one more every `period` (ns) in the long run."""

    burst: int
    period: int


#: Denials of a log-in for one name from one address.
LOG_INS = Budget(10, 6 * SECOND)
#: Lines of a connection that ask for nothing (PING, PONG, blank); a bot that pings at every ply stays below.
LINES = Budget(1_000, SECOND // 100)


class Limit(Generic[Key]):
    """What each key has left of a budget. Times are nanoseconds of any clock that does not go back."""

    __slots__ = ("_budget", "_full_at")

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        #: When each key has its whole budget again, the key that was counted last at the end.
        self._full_at: OrderedDict[Key, int] = OrderedDict()

    def wait(self, key: Key, now: int, cost: int = 1) -> int:
        """How long it takes until `key` has `cost` left; 0 if it has."""
        budget = self._budget
        return max(0, self._full_at.get(key, 0) - now - (budget.burst - cost) * budget.period)

    def count(self, key: Key, now: int, cost: int = 1) -> None:
        """Take `cost` from what `key` has left, also if that is less."""
        full_at = self._full_at
        full_at[key] = max(now, full_at.get(key, 0)) + cost * self._budget.period
        full_at.move_to_end(key)
        # Who changes names or addresses must not fill the memory; the oldest count is the least of use.
        if len(full_at) > KEPT:
            full_at.popitem(last=False)

    def admits(self, key: Key, now: int, cost: int = 1) -> bool:
        """Whether `key` has `cost` left; counts it if so."""
        admitted = not self.wait(key, now, cost)
        if admitted:
            self.count(key, now, cost)
        return admitted

    def forget(self, key: Key) -> None:
        """Give `key` its whole budget."""
        self._full_at.pop(key, None)


class LoginRateLimiter:
    """Denials by address and name."""

    __slots__ = ("_limit",)

    def __init__(self) -> None:
        self._limit = Limit[tuple[str, str]](LOG_INS)

    def deny(self, address: str, name: str, now: int) -> None:
        """Count a denial. Raises ProtocolError, code `rate`, if `address` has had too many for `name`."""
        if wait := self._limit.wait((address, name), now):
            text = "too many wrong log-ins; wait, then try again"
            raise ProtocolError(ErrorCode.RATE, text, -(-wait // _MS))
        self._limit.count((address, name), now)

    def right(self, address: str, name: str) -> None:
        """Forget all denials: a client that knows the key is not guessing."""
        self._limit.forget((address, name))


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
