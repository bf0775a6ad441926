"""One accepted connection: bytes in as stamped lines, lines out through a bounded buffer.

Own socket instead of asyncio's transport: that one reads by 256 KiB, which costs an mmap a
line (3.6 times the CPU of a turn), and shows no arrival stamps. It must not know: what a
line means, who the client is, the contest.

    OPEN --mute--> MUTED --unmute--> OPEN
    OPEN | MUTED --close()--> CLOSING (flush, half-close, discard) --> GONE
    any --error, end of input, output backed up--> GONE
"""

from __future__ import annotations

import asyncio
import socket
from enum import Enum, auto
from typing import Protocol

from arena_protocol.errors import TlsError
from arena_protocol.framing import CLIENT_LINE_LIMIT, LineReader, Overlong
from arena_server.sockets import ANCILLARY_BYTES, ArrivalClock, reason_of

#: Small reads: a bigger buffer is mapped and unmapped by the allocator at every call.
READ_BYTES = 4096
#: Lines of one client acted on before all others get their turn: a read may bring 2,000.
LINES_A_TURN = 8
#: Whoever still has lines to be heard after so many turns on end has a rest after each: 400 lines a
#: second are more than any bot has to say, and a flood gets no more of the loop than that.
TURNS_ON_END = 4
REST_S = 0.02
#: What a client that does not read may keep us holding; then it is dropped.
OUTPUT_LIMIT = 64 * 1024
#: How long a closed connection is kept to let its last lines be read; closing at once with
#: unread input would make the system throw them away.
LINGER_S = 2.0

Turn = tuple[str, int]


class Sink(Protocol):
    """Whom a connection tells; `number` is the connection's own."""

    def received(self, number: int, line: bytes, arrived: int) -> None:
        """A whole line came; it reached this machine at `arrived` (monotonic ns)."""

    def overlong(self, number: int, head: bytes, arrived: int) -> None:
        """A line came that is too long."""

    def handed(self, number: int, turn: Turn) -> None:
        """The last byte of the line marked `turn` has just been handed to the socket."""

    def lost(self, number: int, reason: str) -> None:
        """The connection is gone, and not because of `close`; nothing more comes from it."""

    def released(self, number: int) -> None:
        """The descriptor is free again, for whatever reason."""


class Cipher(Protocol):
    """What stands between socket and lines on an encrypted connection (`arena_protocol.tls`)."""

    def receive(self, data: bytes) -> bytes:
        """Bytes of the peer's, in plain. Raises TlsError."""

    def send(self, data: bytes) -> None:
        """Encrypt bytes for the peer."""

    def data_to_send(self) -> bytes:
        """What is to be sent now."""

    def close(self) -> None:
        """Nothing more will be sent."""


class _State(Enum):
    OPEN = auto()
    MUTED = auto()
    CLOSING = auto()
    GONE = auto()


class Connection:
    """Moves lines between one non-blocking socket and a sink. Call `start` once, then anything."""

    __slots__ = (
        "_cipher",
        "_clock",
        "_deferred",
        "_held",
        "_lines",
        "_linger",
        "_loop",
        "_marks",
        "_out",
        "_sink",
        "_sock",
        "_state",
        "_turns",
        "number",
    )

    def __init__(
        self,
        number: int,
        sock: socket.socket,
        loop: asyncio.AbstractEventLoop,
        clock: ArrivalClock,
        sink: Sink,
        cipher: Cipher | None = None,
    ) -> None:
        self.number = number
        self._sock = sock
        self._loop = loop
        self._clock = clock
        self._sink = sink
        self._cipher = cipher
        self._state = _State.OPEN
        #: Lines wait for the others' turn to be over; nothing is read meanwhile.
        self._deferred = False
        self._turns = 0
        self._lines = LineReader(CLIENT_LINE_LIMIT)
        # Lists: both are nearly always empty, and an empty deque weighs 600 bytes.
        self._held: list[tuple[bytes | Overlong, int]] = []
        self._out = bytearray()
        self._marks: list[tuple[int, Turn]] = []
        self._linger: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Begin to read."""
        self._loop.add_reader(self._sock, self._readable)

    # -- bytes in

    def _readable(self) -> None:
        try:
            data, ancillary, _, _ = self._sock.recvmsg(READ_BYTES, ANCILLARY_BYTES)
        except (BlockingIOError, InterruptedError):
            return
        except OSError as error:
            self._fail(reason_of(error))
            return
        if not data:
            self._fail("closed")
        elif self._state is _State.OPEN:
            arrived = self._clock.arrived(ancillary)
            plain = data if self._cipher is None else self._deciphered(self._cipher, data)
            lines = self._lines.feed(plain)
            if len(lines) == 1:  # nearly always: nothing is read while lines wait
                self._tell(lines[0], arrived)
            elif lines:
                self._held = [(line, arrived) for line in lines]
                self._deliver()

    def _deciphered(self, cipher: Cipher, data: bytes) -> bytes:
        """What `data` says; the handshake's answers go out."""
        try:
            plain = cipher.receive(data)
        except TlsError as error:
            self._fail(str(error))
            return b""
        if answer := cipher.data_to_send():
            self._send(answer, None)
        return plain

    def _deliver(self) -> None:
        """Tell the sink of the lines read; each of them may close or mute this connection."""
        for _ in range(LINES_A_TURN):
            if not self._held or self._state is not _State.OPEN:
                break
            self._tell(*self._held.pop(0))
        if self._held and self._state is _State.OPEN:
            self._defer()
        else:
            self._turns = 0

    def _tell(self, line: bytes | Overlong, arrived: int) -> None:
        if isinstance(line, Overlong):
            self._sink.overlong(self.number, line.head, arrived)
        else:
            self._sink.received(self.number, line, arrived)

    def _defer(self) -> None:
        """Hear the lines that are left later, and read nothing meanwhile."""
        self._deferred = True
        self._turns += 1
        self._loop.remove_reader(self._sock)
        if self._turns <= TURNS_ON_END:
            self._loop.call_soon(self._go_on)
        else:
            self._loop.call_later(REST_S, self._go_on)

    def _go_on(self) -> None:
        """The others have had their turn."""
        self._deferred = False
        if self._state is _State.OPEN:
            self._loop.add_reader(self._sock, self._readable)
            self._deliver()

    def mute(self) -> None:
        """Read nothing more until `unmute`; what was read already waits."""
        if self._state is _State.OPEN:
            self._state = _State.MUTED
            self._loop.remove_reader(self._sock)

    def unmute(self) -> None:
        """Read again, after the lines that wait."""
        if self._state is _State.MUTED:
            self._state = _State.OPEN
            if not self._deferred:
                self._loop.add_reader(self._sock, self._readable)
                self._deliver()

    # -- bytes out

    def send(self, data: bytes, turn: Turn | None = None) -> None:
        """Hand `data` to the socket, or keep it until the socket takes it; never waits.

        The sink hears `handed` once all of it is with the socket, if there is a `turn`, and
        `lost` if the client has left OUTPUT_LIMIT bytes unread or is gone.
        """
        if self._state in (_State.CLOSING, _State.GONE):
            return
        if self._cipher is not None:
            self._cipher.send(data)
            data = self._cipher.data_to_send()
            if not data and turn is None:
                return  # it waits for the handshake
        self._send(data, turn)

    def _send(self, data: bytes, turn: Turn | None) -> None:
        sent = 0 if self._out else self._push(data)
        if sent is None:
            return
        if sent == len(data):
            if turn is not None:
                self._sink.handed(self.number, turn)
            return
        self._keep(data[sent:], turn)

    def _push(self, data: bytes | bytearray) -> int | None:
        """How many bytes the socket took; None if it failed, which the sink has heard then."""
        try:
            return self._sock.send(data)
        except (BlockingIOError, InterruptedError):
            return 0
        except OSError as error:
            self._fail(reason_of(error))
            return None

    def _keep(self, data: bytes, turn: Turn | None) -> None:
        if len(self._out) + len(data) > OUTPUT_LIMIT:
            self._fail("backed-up")
            return
        if not self._out:
            self._loop.add_writer(self._sock, self._writable)
        self._out += data
        if turn is not None:
            self._marks.append((len(self._out), turn))

    def _writable(self) -> None:
        sent = self._push(self._out)
        if sent is None:
            return
        del self._out[:sent]
        if not self._out:
            self._loop.remove_writer(self._sock)
        marks, self._marks = self._marks, []
        for end, turn in marks:
            if end > sent:
                self._marks.append((end - sent, turn))
            else:
                self._sink.handed(self.number, turn)
        if self._state is _State.CLOSING and not self._out:
            self._half_close()

    # -- the end

    def close(self) -> None:
        """Flush, tell the client that nothing more comes, and free the socket LINGER_S later at most."""
        if self._state in (_State.CLOSING, _State.GONE):
            return
        if self._state is _State.MUTED or self._deferred:
            self._loop.add_reader(self._sock, self._readable)
        self._state = _State.CLOSING
        if self._cipher is not None:
            self._cipher.close()
            if farewell := self._cipher.data_to_send():
                self._send(farewell, None)
        self._held.clear()
        self._linger = self._loop.call_later(LINGER_S, self.abort)
        if not self._out:
            self._half_close()

    def _half_close(self) -> None:
        try:
            self._sock.shutdown(socket.SHUT_WR)
        except OSError:
            self.abort()  # the client was faster

    def abort(self) -> None:
        """Free the socket now, whatever is unsent."""
        if self._state is _State.GONE:
            return
        if self._linger is not None:
            self._linger.cancel()
        self._state = _State.GONE
        self._held.clear()
        self._loop.remove_reader(self._sock)
        self._loop.remove_writer(self._sock)
        self._sock.close()
        self._sink.released(self.number)

    def _fail(self, reason: str) -> None:
        awaited = self._state in (_State.OPEN, _State.MUTED)
        self.abort()
        if awaited:
            self._sink.lost(self.number, reason)
