"""How much harmless talk a connection is allowed: PING, PONG and blank lines cost nobody a game.

They cost the referee time, though, and so the others: whoever says them without end is
flooding. It must not know: what a line says, what a flood costs.
"""

from __future__ import annotations

#: Lines at once, and lines a second for ever. A bot that pings at every ply stays far below.
BURST = 1000
A_SECOND = 100

_NS = 1_000_000_000


class Bucket:
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
