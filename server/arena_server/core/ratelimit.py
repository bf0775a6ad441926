"""How often one may be wrong at the door: guessing a token is made slow, and costs nobody else.

Counted are denials by address and name together. So a guesser locks out nobody who comes from
elsewhere, and no other name that comes from its own address; and a name that does not exist
is treated like one that does. It must not know: tokens, connections.

How much harmless talk a connection is allowed: PING, PONG and blank lines cost nobody a game.

They cost the referee time, though, and so the others: whoever says them without end is
flooding. It must not know: what a line says, what a flood costs.
"""

from __future__ import annotations

from collections import OrderedDict

from arena_protocol.errors import ErrorCode, ProtocolError

#: So many denials at once, and one more each pause: some 14,000 guesses a day at a token.
TRIES = 10
PAUSE_MS = 6_000

#: Kept are the latest so many names and addresses; to be forgotten costs as many guesses.
KEPT = 10_000

_PAUSE = PAUSE_MS * 1_000_000


class LoginRateLimiter:
    """Denials by address and name, each forgotten after a while."""

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
        """Note a denial."""
        key = address, name
        self._forgotten_at[key] = max(now, self._forgotten_at.get(key, 0)) + _PAUSE
        self._forgotten_at.move_to_end(key)
        if len(self._forgotten_at) > KEPT:
            self._forgotten_at.popitem(last=False)

    def right(self, address: str, name: str) -> None:
        """Forget all denials: whoever knows the key is not guessing."""
        self._forgotten_at.pop((address, name), None)


#: Lines at once, and lines a second for ever. A bot that pings at every ply stays far below.
BURST = 1000
A_SECOND = 100

_NS = 1_000_000_000


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
