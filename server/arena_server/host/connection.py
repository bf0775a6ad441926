"""One accepted connection: bytes in as stamped lines, lines out through a bounded buffer.

A socket of our own instead of asyncio's transport: that one reads by 256 KiB, which costs an mmap
a line (3.6 times the CPU of a turn), and gives no arrival stamps.

    OPEN --mute--> MUTED --unmute--> OPEN
    OPEN | MUTED --close()--> CLOSING (flush, half-close, discard) --> GONE
    any --error, output backed up--> GONE
    OPEN | MUTED --end of input--> GONE, but for a client that only reads: it gets its lines to the end
    CLOSING --end of input--> GONE once all is flushed

A stamp is the wall time at which bytes reached this machine, so that a slow event loop costs no bot
any time. It is converted into monotonic time:

    stamp (wall)                wall now = mono now + offset
      |----------- age -----------|
    arrived = mono now - age
"""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Iterable
from enum import Enum, auto
from selectors import EVENT_READ, EVENT_WRITE

from arena_protocol.errors import TlsError
from arena_protocol.framing import CLIENT_LINE_LIMIT, LineReader, Overlong
from arena_server.core.effects import Marker
from arena_server.host.interfaces import Cipher, Sink
from arena_server.host.output_buffer import OutputBuffer
from arena_server.host.sockets import SO_TIMESTAMPNS, is_reset, reason_of

#: Small reads: a bigger buffer is mapped and unmapped by the allocator at every call.
READ_BYTES = 4096
#: Lines of one client handled before all others get their turn: a read may bring 2,000.
LINES_PER_WAKEUP = 8
#: A client that still has lines after this many wakeups in a row pauses after each: 400 lines a
#: second are more than any bot has to send, and a flood gets no more of the loop than that.
BUSY_WAKEUPS = 4
THROTTLE_S = 0.02
#: How long a closed connection is kept so that its last lines can be read; closing at once with
#: unread input would make the system discard them.
LINGER_S = 2.0
#: When a connection that has ended its input is looked at for the first time, and at the longest: one that is
#: closed wholly looks the same, and answers the next line, or the keepalive of the system, by a reset.
PROBE_S, LONGEST_PROBE_S = 0.01, 5.0

_NEWLINE, _RETURN = b"\n\r"
_TIMESPEC = struct.Struct("@qq")
_STAMP_BYTES = _TIMESPEC.size
_SOL_SOCKET = socket.SOL_SOCKET
#: Room for one stamp among the ancillary data of `recvmsg`.
ANCILLARY_BYTES = socket.CMSG_SPACE(_TIMESPEC.size) if hasattr(socket, "CMSG_SPACE") else 0

#: A slewed wall clock drifts by 0.5 ms a second at most (adjtime's 500 ppm); a greater difference is a step.
STEP_NS = 5_000_000
#: After a step, stamps taken before it may still wait in a socket for this long.
DISTRUST_NS = 1_000_000_000

Ancillary = Iterable[tuple[int, int, bytes]]


class ArrivalClock:
    """Converts kernel stamps (wall clock) into monotonic nanoseconds.

    Call `read` with both clocks before a batch of sockets is read. `arrived` never returns a time
    later than that; without a stamp, or after a step of the wall clock, it returns that time.
    """

    __slots__ = ("_now", "_offset", "_trusted_from")

    def __init__(self, now_ns: int | None = None, wall_ns: int | None = None) -> None:
        self._now = time.monotonic_ns() if now_ns is None else now_ns
        self._offset = (time.time_ns() if wall_ns is None else wall_ns) - self._now
        self._trusted_from = self._now

    def read(self, now: int, wall: int) -> None:
        """The two clocks show `now` and `wall`."""
        offset = wall - now
        if not -STEP_NS <= offset - self._offset <= STEP_NS:
            self._trusted_from = now + DISTRUST_NS
        self._offset = offset
        self._now = now

    def arrived(self, ancillary: Ancillary) -> int:
        """The arrival (monotonic ns) of the bytes just read with `ancillary`."""
        if self._now < self._trusted_from:
            return self._now
        for level, kind, data in ancillary:
            if kind == SO_TIMESTAMPNS and level == _SOL_SOCKET and len(data) == _STAMP_BYTES:
                seconds, nanoseconds = _TIMESPEC.unpack(data)
                at: int = seconds * 1_000_000_000 + nanoseconds - self._offset
                return at if at < self._now else self._now  # `min`, without a call
        return self._now


class _Phase(Enum):
    OPEN = auto()
    MUTED = auto()
    CLOSING = auto()
    GONE = auto()


#: A member by its class costs as much as a call, each time.
_OPEN, _CLOSING, _GONE = _Phase.OPEN, _Phase.CLOSING, _Phase.GONE


class Connection:
    """Moves lines between one non-blocking socket and a sink. Call `start` once, then anything."""

    __slots__ = (
        "_cipher",
        "_clock",
        "_deferred",
        "_ended",
        "_events",
        "_lines",
        "_out",
        "_pending",
        "_sink",
        "_sock",
        "_state",
        "_wakeups",
        "number",
    )

    def __init__(
        self,
        number: int,
        sock: socket.socket,
        clock: ArrivalClock,
        sink: Sink,
        cipher: Cipher | None = None,
    ) -> None:
        self.number = number
        self._sock = sock
        self._clock = clock
        self._sink = sink
        self._cipher = cipher
        self._state = _Phase.OPEN
        self._events = 0
        #: The client sends nothing more.
        self._ended = False
        #: Lines wait for the turn of the other connections to be over; nothing is read meanwhile.
        self._deferred = False
        self._wakeups = 0
        self._lines = LineReader(CLIENT_LINE_LIMIT)
        self._pending: list[tuple[bytes | Overlong, int]] = []
        self._out = OutputBuffer()

    def start(self) -> None:
        """Begin to read."""
        self._watch(EVENT_READ)

    def _watch(self, events: int) -> None:
        if self._ended:
            events &= ~EVENT_READ
        if events != self._events:
            self._events = events
            self._sink.watch(self._sock, events, self)

    @property
    def _gone(self) -> bool:
        return self._state is _Phase.GONE

    # -- bytes in

    def readable(self) -> None:
        """The socket has bytes, an error or the end of input."""
        if self._state is _GONE:
            return
        try:
            data, ancillary, _, _ = self._sock.recvmsg(READ_BYTES, ANCILLARY_BYTES)
        except (BlockingIOError, InterruptedError):
            return
        except OSError as error:
            self._fail(reason_of(error))
            return
        if not data:
            self._end_input()
        elif self._state is _OPEN:
            arrived = self._clock.arrived(ancillary)
            if self._cipher is not None:
                data = self._decrypt(self._cipher, data)
            line = data[:-1]
            # Nearly always exactly one whole line came: it needs no buffer.
            is_whole = data and data[-1] == _NEWLINE and _NEWLINE not in line
            if is_whole and len(line) <= CLIENT_LINE_LIMIT and self._lines.clear:
                if line and line[-1] == _RETURN:
                    line = line[:-1]
                self._sink.received(self.number, line, arrived)
                return
            lines = self._lines.feed(data)
            if len(lines) == 1:
                self._dispatch(lines[0], arrived)
            elif lines:
                self._pending = [(line, arrived) for line in lines]
                self._dispatch_pending()

    def _end_input(self) -> None:
        """The client has closed the connection, or its direction of it, which looks the same here."""
        self._ended = True
        if self._state is _Phase.CLOSING and self._out.data:
            self._watch(self._events)
        elif self._state is not _Phase.CLOSING and (line := self._sink.keeps(self.number)) is not None:
            self._watch(self._events)
            if line:
                self.send(line)
            self._look(PROBE_S)
        else:
            self._fail("closed")

    def _look(self, delay_s: float) -> None:
        """Look now, and later and later, whether the client has closed the connection wholly."""
        if self._state is _Phase.GONE:
            return
        if is_reset(self._sock):
            self._fail("closed")
        else:
            self._sink.later(delay_s, lambda: self._look(min(2 * delay_s, LONGEST_PROBE_S)))

    def _decrypt(self, cipher: Cipher, data: bytes) -> bytes:
        """The plain text of `data`; the answers of the handshake are sent."""
        try:
            plain = cipher.receive(data)
        except TlsError as error:
            self._fail(str(error))
            return b""
        if answer := cipher.data_to_send():
            self.send(answer, raw=True)
        return plain

    def _dispatch_pending(self) -> None:
        """Pass lines on; each of them may close or mute this connection."""
        for _ in range(LINES_PER_WAKEUP):
            if not self._pending or self._state is not _Phase.OPEN:
                break
            self._dispatch(*self._pending.pop(0))
        if self._pending and self._state is _Phase.OPEN:
            self._defer()
        else:
            self._wakeups = 0

    def _dispatch(self, line: bytes | Overlong, arrived: int) -> None:
        if isinstance(line, Overlong):
            self._sink.overlong(self.number, line.head, arrived)
        else:
            self._sink.received(self.number, line, arrived)

    def _defer(self) -> None:
        """Pass the lines that are left on later, and read nothing meanwhile."""
        self._deferred = True
        self._wakeups += 1
        self._watch(self._events & ~EVENT_READ)
        self._sink.later(0 if self._wakeups <= BUSY_WAKEUPS else THROTTLE_S, self._go_on)

    def _go_on(self) -> None:
        """The other connections had their turn."""
        self._deferred = False
        if self._state is _Phase.OPEN:
            self._watch(self._events | EVENT_READ)
            self._dispatch_pending()

    def mute(self) -> None:
        """Read nothing more until `unmute`; what was read already waits."""
        if self._state is _Phase.OPEN:
            self._state = _Phase.MUTED
            self._watch(self._events & ~EVENT_READ)

    def unmute(self) -> None:
        """Read again, after the lines that wait."""
        if self._state is _Phase.MUTED:
            self._state = _Phase.OPEN
            if not self._deferred:
                self._watch(self._events | EVENT_READ)
                if self._pending:
                    self._deferred = True
                    self._sink.later(0, self._go_on)

    # -- bytes out

    def send(self, data: bytes, marker: Marker | None = None, *, raw: bool = False) -> bool:
        """Hand `data` to the socket, or keep it until the socket takes it; never waits.

        Returns whether all of it is with the socket. If not, the sink gets `flushed` once it is, if there is
        a `marker`, and `lost` if the client has left OUTPUT_LIMIT bytes unread or is gone. `raw` data is
        encrypted already.
        """
        if self._state is _CLOSING or self._state is _GONE:
            return False
        if self._cipher is not None and not raw:
            self._cipher.send(data)
            data = self._cipher.data_to_send()
            if not data and marker is None:
                return False  # it waits for the handshake
        sent = 0
        if not self._out.data:
            try:
                sent = self._sock.send(data)
            except (BlockingIOError, InterruptedError):
                sent = 0
            except OSError as error:
                self._fail(reason_of(error))
                return False
            if sent == len(data):
                return True
        if self._out.add(data[sent:], marker):
            self._watch(self._events | EVENT_WRITE)
        else:
            self._fail("backed-up")
        return False

    def writable(self) -> None:
        """The socket takes bytes again."""
        if self._state is _Phase.GONE:
            return
        try:
            sent = self._sock.send(self._out.data)
        except (BlockingIOError, InterruptedError):
            return
        except OSError as error:
            self._fail(reason_of(error))
            return
        for marker in self._out.sent(sent):
            self._sink.flushed(self.number, marker)
        if not self._out.data:
            self._watch(self._events & ~EVENT_WRITE)
            if self._state is _Phase.CLOSING:
                self._half_close()

    # -- the end

    def close(self) -> None:
        """Flush, half-close, and free the socket LINGER_S later at most."""
        if self._state in (_Phase.CLOSING, _Phase.GONE):
            return
        if self._cipher is not None:
            self._cipher.close()
            if closing := self._cipher.data_to_send():
                self.send(closing, raw=True)
            if self._gone:  # it was broken already
                return
        self._watch(self._events | EVENT_READ)
        self._state = _Phase.CLOSING
        self._pending.clear()
        self._sink.later(LINGER_S, self.abort)
        if not self._out.data:
            self._half_close()

    def _half_close(self) -> None:
        if self._ended:
            self.abort()
            return
        try:
            self._sock.shutdown(socket.SHUT_WR)
        except OSError:
            self.abort()  # the client was faster

    def abort(self) -> None:
        """Free the socket now, whatever is unsent."""
        if self._state is _Phase.GONE:
            return
        self._state = _Phase.GONE
        self._pending.clear()
        self._watch(0)
        self._sock.close()
        self._sink.released(self.number)

    def _fail(self, reason: str) -> None:
        awaited = self._state in (_Phase.OPEN, _Phase.MUTED)
        self.abort()
        if awaited:
            self._sink.lost(self.number, reason)
