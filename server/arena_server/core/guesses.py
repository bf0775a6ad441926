"""How often one may be wrong at the door: guessing a token is made slow, and costs nobody else.

Counted are denials by address and name together. So a guesser locks out nobody who comes from
elsewhere, and no other name that comes from its own address; and a name that does not exist
is treated like one that does. It must not know: tokens, connections.
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


class Guesses:
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
