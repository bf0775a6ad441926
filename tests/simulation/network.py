"""Virtual time, and the network: bytes in order on each connection, nothing else certain.

Each direction of each connection has a latency of its own, so that connections overtake each
other. Segments are split and merged, connections are reset, or go silent without a word.

    Link.send --Pipe up--> ServerSocket.arrived       ServerSocket.send --Pipe down--> End.arrived
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from heapq import heappop, heappush
from random import Random
from typing import Protocol

from arena_protocol.framing import CLIENT_LINE_LIMIT, LineReader, Overlong
from arena_server.core.effects import Marker
from arena_server.host.connection import READ_BYTES
from arena_server.host.output_buffer import OutputBuffer

#: A microsecond and a millisecond in nanoseconds, the unit of every moment here.
US = 1_000
MS = 1_000_000
SECOND = 1000 * MS


def seeded(seed: int) -> Random:
    """A source of chance that a seed fixes."""
    return Random(seed)


def one_in(rng: Random, number: int) -> bool:
    """True with a chance of 1 in `number`; 0 is never."""
    return number > 0 and rng.randrange(number) == 0


class EventQueue:
    """Actions in the order of their moments, and for one moment in the order in which they were added."""

    def __init__(self) -> None:
        self.now = 0
        self._queue: list[tuple[int, int, Callable[[], object]]] = []
        self._added = 0

    @property
    def next(self) -> int | None:
        """The moment of the next action; None if there is none."""
        return self._queue[0][0] if self._queue else None

    def after(self, delay: int, action: Callable[[], object]) -> None:
        """Run `action` in `delay` nanoseconds."""
        self._added += 1
        heappush(self._queue, (self.now + delay, self._added, action))

    def step(self) -> None:
        """Let time pass to the next action, and run it."""
        self.now, _, action = heappop(self._queue)
        action()

    def wait_until(self, moment: int) -> None:
        """Let time pass to `moment`, if it is not past."""
        self.now = max(self.now, moment)


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultProfile:
    """What network, disk and machine may do; `..._one_in` of n is a chance of 1/n, 0 is never.

    Times are nanoseconds. `split` is per segment; `reset` and `vanish` per segment of a client;
    `stall` per event of the server, `long_stall` how many of them are 300 times as long; `crash` per
    boundary of its disk, `power` how many of those are power cuts; `direct` per batch of entries:
    such a batch is durable at once, as with SQLite. The loop takes less than `longest_wakeup` to read
    a socket that is ready. `window` is what a socket takes of what the client does not read;
    `dead_link` is when a silent link is given up.
    """

    latency: tuple[int, int] = (100_000, 2 * MS)
    split_one_in: int = 0
    reset_one_in: int = 0
    vanish_one_in: int = 0
    stall_one_in: int = 400
    long_stall_one_in: int = 0
    longest_stall: int = 20 * MS
    longest_commit: int = 5 * MS
    direct_one_in: int = 2
    longest_wakeup: int = 200_000
    longest_draw: int = 2 * SECOND
    longest_thaw: int = 30 * MS
    #: Such a thaw takes so long that a game does not wait for it.
    endless_thaw_one_in: int = 0
    crash_one_in: int = 0
    power_one_in: int = 0
    window: int = 64 * 1024
    dead_link: int = 10 * SECOND + 400 * MS


#: No chance at all: for tests in which every moment counts.
CALM = FaultProfile(
    latency=(0, 1),
    stall_one_in=0,
    longest_commit=1,
    direct_one_in=0,
    longest_wakeup=1,
    longest_draw=1,
    longest_thaw=1,
)
#: What a local network and a busy machine do.
LOCAL = FaultProfile()
#: Everything that is simulated.
ROUGH = FaultProfile(
    latency=(100_000, 12 * MS),
    endless_thaw_one_in=100,
    split_one_in=6,
    reset_one_in=900,
    vanish_one_in=4000,
    stall_one_in=300,
    long_stall_one_in=40,
    longest_wakeup=3 * MS,
    crash_one_in=400,
    power_one_in=4,
)


class End(Protocol):
    """One end of a connection, as the network sees it."""

    def arrived(self, data: bytes) -> None:
        """Bytes have come."""

    def ended(self) -> None:
        """The other end sends nothing more."""

    def broken(self, reason: str) -> None:
        """The connection is dead, in both directions."""


class Pipe:
    """One direction of a connection."""

    def __init__(self, queue: EventQueue, faults: FaultProfile, rng: Random) -> None:
        self._queue = queue
        self._faults = faults
        self._rng = rng
        self._last = 0
        #: What is under way, with the moment it arrives; None is the end of the stream.
        self._in_transit: deque[tuple[int, bytes | None]] = deque()
        self.to: End | None = None

    def push(self, data: bytes) -> None:
        """Send `data`, in one segment or in two."""
        if one_in(self._rng, self._faults.split_one_in):
            cut = self._rng.randrange(len(data) + 1)
            self._send(data[:cut])
            data = data[cut:]
        self._send(data)

    def finish(self) -> None:
        """Send nothing more."""
        self._send(None)

    def cut(self) -> None:
        """Lose what is in transit and what is sent from now on."""
        self.to = None
        self._in_transit.clear()

    def _send(self, piece: bytes | None) -> None:
        if self.to is None or piece == b"":
            return
        self._last = max(self._last, self._queue.now + self._rng.randrange(*self._faults.latency))
        self._in_transit.append((self._last, piece))
        self._queue.after(self._last - self._queue.now, self._arrive)

    def _arrive(self) -> None:
        """Deliver all that has come by now: segments of one moment come as one."""
        pieces = []
        while self._in_transit and self._in_transit[0][0] <= self._queue.now:
            pieces.append(self._in_transit.popleft()[1])
        data = b"".join(piece for piece in pieces if piece is not None)
        if data and self.to is not None:
            self.to.arrived(data)
        if None in pieces and self.to is not None:
            self.to.ended()


class Link:
    """One connection: a pipe each way, until it breaks."""

    def __init__(self, queue: EventQueue, faults: FaultProfile, rng: Random, client: End) -> None:
        self._queue = queue
        self._faults = faults
        self._rng = rng
        self._client = client
        self._server: End | None = None
        self.up = Pipe(queue, faults, rng)
        self.down = Pipe(queue, faults, rng)
        self.down.to = client

    def accept(self, server: End) -> None:
        """The server has accepted the connection."""
        self._server = server
        self.up.to = server

    def send(self, data: bytes) -> None:
        """Bytes of the client; the connection may break instead of carrying them."""
        if one_in(self._rng, self._faults.reset_one_in):
            self.reset()
        elif one_in(self._rng, self._faults.vanish_one_in):
            self.vanish()
        else:
            self.up.push(data)

    def reset(self, reason: str = "reset") -> None:
        """Break the connection; each end learns of it a little later."""
        self._break(self._client, reason)
        if self._server is not None:
            self._break(self._server, reason)

    def vanish(self) -> None:
        """Drop everything from now on; the server gives the link up after `dead_link`."""
        self._silence()
        if self._server is not None:
            self._queue.after(self._faults.dead_link, _breaking(self._server, "dead-link"))
        self._queue.after(self._rng.randrange(SECOND, 3 * SECOND), _breaking(self._client, "dead-link"))

    def _break(self, end: End, reason: str) -> None:
        self._silence()
        self._queue.after(self._rng.randrange(*self._faults.latency), _breaking(end, reason))

    def _silence(self) -> None:
        self.up.cut()
        self.down.cut()


def _breaking(end: End, reason: str) -> Callable[[], None]:
    return lambda: end.broken(reason)


class Loop(Protocol):
    """What a socket needs of the server's loop; see `arena_server.host.connection.Sink`."""

    queue: EventQueue

    def ready(self, socket: ServerSocket) -> None:
        """Call `socket.readable` in the next batch."""

    def writable(self, socket: ServerSocket) -> None:
        """Call `socket.flush` in the next batch."""

    def received(self, number: int, line: bytes, arrived: int) -> None: ...

    def overlong(self, number: int, head: bytes, arrived: int) -> None: ...

    def flushed(self, number: int, marker: Marker) -> None: ...

    def lost(self, number: int, reason: str) -> None: ...

    def released(self, number: int) -> None: ...


class ServerSocket:
    """The server's end of one connection: the kernel's buffers, and the real OutputBuffer behind them."""

    def __init__(self, number: int, link: Link, loop: Loop, window: int) -> None:
        self.number = number
        self.muted = False
        self.gone = False
        self._link = link
        self._loop = loop
        self._lines = LineReader(CLIENT_LINE_LIMIT)
        #: Segments that have arrived, with their stamps; why nothing more arrives.
        self._kernel: deque[tuple[bytes, int]] = deque()
        self._end: str | None = None
        self._pending: deque[tuple[bytes | Overlong, int]] = deque()
        self._room = window
        self._out = OutputBuffer()

    # -- what the network reports (network.End)

    def arrived(self, data: bytes) -> None:
        """The kernel stamps bytes as they arrive; the loop reads them when it can."""
        self._kernel.append((data, self._loop.queue.now))
        self._loop.ready(self)

    def ended(self) -> None:
        """The client sends nothing more; for the server it is gone then."""
        self._end = self._end or "closed"
        self._loop.ready(self)

    def broken(self, reason: str) -> None:
        """The connection is dead; what has arrived can still be read."""
        self._end = reason
        self._loop.ready(self)

    # -- bytes in

    def readable(self) -> None:
        """Read once, and pass the lines on; of a muted connection only its end is noticed."""
        if self.gone:
            return
        if self._end is not None and (self.muted or not (self._kernel or self._pending)):
            self._fail(self._end)
            return
        if self._kernel and not self.muted:
            data, arrived = self._kernel.popleft()
            while self._kernel and len(data) + len(self._kernel[0][0]) <= READ_BYTES:
                more, arrived = self._kernel.popleft()  # the stamp is that of the last segment read
                data += more
            self._pending.extend((line, arrived) for line in self._lines.feed(data))
        self._dispatch()
        if not self.muted and (self._kernel or self._end is not None):
            self._loop.ready(self)

    def _dispatch(self) -> None:
        """Pass lines on; each of them may close or mute this connection."""
        while self._pending and not self.muted and not self.gone:
            line, arrived = self._pending.popleft()
            if isinstance(line, Overlong):
                self._loop.overlong(self.number, line.head, arrived)
            else:
                self._loop.received(self.number, line, arrived)

    def unmute(self) -> None:
        """Read again, after the lines that wait."""
        self.muted = False
        self._loop.ready(self)

    # -- bytes out

    @property
    def backlog(self) -> int:
        """The bytes that the socket does not take."""
        return len(self._out.data)

    def send(self, data: bytes, marker: Marker | None) -> None:
        """Hand `data` to the socket as far as it takes it, and keep the rest."""
        sent = 0 if self._out.data else self._push(data)
        if sent == len(data):
            if marker is not None:
                self._loop.flushed(self.number, marker)
        elif not self._out.add(data[sent:], marker):
            self._fail("backed-up")

    def _push(self, data: bytes | bytearray) -> int:
        taken = min(len(data), self._room)
        self._room -= taken
        self._link.down.push(bytes(data[:taken]))
        return taken

    def taken(self, number: int) -> None:
        """The client has read `number` bytes: there is room for as many."""
        self._room += number
        if self._out.data:
            self._loop.writable(self)

    def flush(self) -> None:
        """The socket takes bytes again."""
        if self.gone:
            return
        for marker in self._out.sent(self._push(self._out.data)):
            self._loop.flushed(self.number, marker)

    # -- the end

    def close(self) -> None:
        """Send what is left, then end."""
        self._link.down.push(bytes(self._out.data))
        self._link.down.finish()
        self._drop()

    def die(self) -> None:
        """The whole machine of the server is gone."""
        self._drop()
        self._link.reset()

    def _fail(self, reason: str) -> None:
        if not self.gone:
            self._drop()
            self._loop.lost(self.number, reason)

    def _drop(self) -> None:
        self.gone = True
        self._out = OutputBuffer()
        self._kernel.clear()
        self._pending.clear()
        self._loop.released(self.number)
