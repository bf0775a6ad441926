"""When did these bytes arrive? The kernel's stamp of wall time, told in monotonic time.

A stamp makes the clock immune to the referee's own slowness: it says when the bytes reached
this machine, not when the loop came round to read them. It must not know: who sent them.

    stamp (wall)                wall now = mono now + offset
      |----------- age -----------|
    arrived = mono now - age
"""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Iterable

#: Linux: asks for, and tags, a stamp of nanoseconds. Python 3.11 has no name for it.
SO_TIMESTAMPNS = 35

_TIMESPEC = struct.Struct("@qq")
#: Room for one stamp among the ancillary data of `recvmsg`.
ANCILLARY_BYTES = socket.CMSG_SPACE(_TIMESPEC.size) if hasattr(socket, "CMSG_SPACE") else 0

#: Wall and monotonic clock may drift apart by 0.5 ms a second while the wall clock is being
#: slewed (adjtime's 500 ppm); a jump beyond this is a step of the wall clock.
STEP_NS = 5_000_000
#: After a step, stamps taken before it may still wait in a socket for this long.
DISTRUST_NS = 1_000_000_000

Ancillary = Iterable[tuple[int, int, bytes]]


class ArrivalClock:
    """Turns stamps into monotonic nanoseconds, and stands in where there is none.

    `arrived(ancillary)` never returns a time later than now.
    """

    def __init__(self, now_ns: int | None = None, wall_ns: int | None = None) -> None:
        now = time.monotonic_ns() if now_ns is None else now_ns
        self._offset = (time.time_ns() if wall_ns is None else wall_ns) - now
        self._trusted_from = now

    def arrived(self, ancillary: Ancillary) -> int:
        """The arrival of the bytes just read with `ancillary`."""
        return self.at(stamp_of(ancillary), time.monotonic_ns(), time.time_ns())

    def at(self, stamp: int | None, now: int, wall: int) -> int:
        """The arrival stamped `stamp`, read when the two clocks showed `now` and `wall`."""
        offset = wall - now
        if abs(offset - self._offset) > STEP_NS:
            self._trusted_from = now + DISTRUST_NS
        self._offset = offset
        if stamp is None or now < self._trusted_from:
            return now
        return min(now, now - (wall - stamp))


def stamp_of(ancillary: Ancillary) -> int | None:
    """The stamp (wall clock, ns) among `ancillary`, None if the system gave none."""
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == SO_TIMESTAMPNS and len(data) == _TIMESPEC.size:
            seconds, nanoseconds = _TIMESPEC.unpack(data)
            return int(seconds) * 1_000_000_000 + int(nanoseconds)
    return None
