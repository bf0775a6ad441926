"""How far away a client is: the shortest way there and back of the last few PINGs.

It must not know: connections, what the lag is good for.
"""

from __future__ import annotations

from collections import deque

from arena_server.core.clock import NS_PER_MS

#: The shortest of so many: a client that was busy once does not count as far away.
SAMPLES = 8
#: At most one PING in this time, in nanoseconds.
INTERVAL = 500_000_000
#: What our own PINGs are called; a client may use the same words without harm.
WORD = "lag"


class Lag:
    """The lag of one connection, `ms` milliseconds: 0 until it is measured.

    `ask` gives the number of a PING that is to be sent, `handed` tells when the socket took
    it, and `heard` what came back.
    """

    __slots__ = ("_asked", "_number", "_samples", "_since", "ms")

    def __init__(self) -> None:
        self.ms = 0
        self._samples: deque[int] = deque(maxlen=SAMPLES)
        self._number = 0
        self._asked: int | None = None
        self._since: int | None = None

    def ask(self, now: int) -> int | None:
        """The number of the PING that is due now; None if there was one just before."""
        if self._asked is not None and now < self._asked + INTERVAL:
            return None
        self._asked = now
        self._number += 1
        self._since = None
        return self._number

    def handed(self, number: int, at: int) -> None:
        """The socket took PING `number`."""
        if number == self._number and self._since is None:
            self._since = at

    def heard(self, token: str, arrived: int) -> bool:
        """A PONG came. Returns whether it is the answer to the PING that is out."""
        if self._since is None or token != f"{WORD}{self._number}":
            return False
        self._samples.append(max(0, arrived - self._since) // NS_PER_MS)
        self._since = None
        self.ms = min(self._samples)
        return True
