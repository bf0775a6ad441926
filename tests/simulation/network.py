"""Virtual time: what is to happen, and when. It must not know: what happens.

The network between bots and referee: bytes in order on each connection, and nothing else certain.

Each direction of each connection has a latency of its own, so that connections overtake each
other. Segments are split and merged, connections are reset, or go silent without a word.
It must not know: lines, what bytes mean, the contest.

    client.push --Pipe up--> server.arrived       server.push --Pipe down--> client.arrived

The server's end of one simulated connection: what kernel and shell keep of it, in both directions.

It must not know: what a line means, the contest, the disk.
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
from arena_server.core.events import Event, Lost, Received
from arena_server.core.events import Overlong as TooLong

#: One millisecond in nanoseconds, the unit of every moment here.
MS = 1_000_000
SECOND = 1000 * MS


def dice(seed: int) -> Random:
    """A source of chance that a seed fixes."""
    return Random(seed)


def one_in(rng: Random, number: int) -> bool:
    """Whether chance has it, once in `number` times; 0 is never."""
    return number > 0 and rng.randrange(number) == 0


class Agenda:
    """Actions in the order of their moments, and for one moment in the order they were entered."""

    def __init__(self) -> None:
        self.now = 0
        self._queue: list[tuple[int, int, Callable[[], object]]] = []
        self._entered = 0

    @property
    def next(self) -> int | None:
        """The moment of the next action; None: there is none."""
        return self._queue[0][0] if self._queue else None

    def after(self, delay: int, action: Callable[[], object]) -> None:
        """Do `action` in `delay` nanoseconds."""
        self._entered += 1
        heappush(self._queue, (self.now + delay, self._entered, action))

    def step(self) -> None:
        """Let time pass to the next action, and do it."""
        self.now, _, action = heappop(self._queue)
        action()

    def wait_until(self, moment: int) -> None:
        """Let time pass to `moment`, if it is not past."""
        self.now = max(self.now, moment)


@dataclass(frozen=True, slots=True, kw_only=True)
class Weather:
    """What network, disk and machine may do; `..._one_in` of n is a chance of 1/n, 0 is never.

    Times are nanoseconds. `split` is per segment; `reset` and `vanish` per segment of a
    client's; `stall` per event of the referee's, `long_stall` how many of them are 300 times
    as long; `crash` per boundary of its disk, `power` how many of those are power cuts.
    `window` is what the socket takes of what nobody reads; `dead_link` is when a silent link
    is given up.
    """

    latency: tuple[int, int] = (100_000, 2 * MS)
    split_one_in: int = 0
    reset_one_in: int = 0
    vanish_one_in: int = 0
    stall_one_in: int = 400
    long_stall_one_in: int = 0
    longest_stall: int = 20 * MS
    longest_commit: int = 5 * MS
    crash_one_in: int = 0
    power_one_in: int = 0
    window: int = 64 * 1024
    dead_link: int = 10 * SECOND + 400 * MS


#: No chance at all: for scenes in which every moment counts.
CALM = Weather(latency=(0, 1), stall_one_in=0, longest_commit=1)
#: What a local network and a busy machine do.
BREEZE = Weather()
#: Everything that is simulated.
ROUGH = Weather(
    latency=(100_000, 12 * MS),
    split_one_in=6,
    reset_one_in=900,
    vanish_one_in=4000,
    stall_one_in=300,
    long_stall_one_in=40,
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

    def __init__(self, agenda: Agenda, weather: Weather, rng: Random) -> None:
        self._agenda = agenda
        self._weather = weather
        self._rng = rng
        self._last = 0
        #: What is under way, with the moment it arrives; None is the end of the stream.
        self._flight: deque[tuple[int, bytes | None]] = deque()
        self.to: End | None = None

    def push(self, data: bytes) -> None:
        """Send `data`, in one segment or in two."""
        if one_in(self._rng, self._weather.split_one_in):
            cut = self._rng.randrange(len(data) + 1)
            self._send(data[:cut])
            data = data[cut:]
        self._send(data)

    def finish(self) -> None:
        """Send nothing more."""
        self._send(None)

    def cut(self) -> None:
        """Lose what is under way and what is sent from now on."""
        self.to = None
        self._flight.clear()

    def _send(self, piece: bytes | None) -> None:
        if self.to is None or piece == b"":
            return
        self._last = max(self._last, self._agenda.now + self._rng.randrange(*self._weather.latency))
        self._flight.append((self._last, piece))
        self._agenda.after(self._last - self._agenda.now, self._arrive)

    def _arrive(self) -> None:
        """Hand over all that has come by now: segments of one moment come as one."""
        pieces = []
        while self._flight and self._flight[0][0] <= self._agenda.now:
            pieces.append(self._flight.popleft()[1])
        data = b"".join(piece for piece in pieces if piece is not None)
        if data and self.to is not None:
            self.to.arrived(data)
        if None in pieces and self.to is not None:
            self.to.ended()


class Link:
    """One connection: a pipe each way, until it breaks."""

    def __init__(self, agenda: Agenda, weather: Weather, rng: Random, client: End) -> None:
        self._agenda = agenda
        self._weather = weather
        self._rng = rng
        self._client = client
        self._server: End | None = None
        self.up = Pipe(agenda, weather, rng)
        self.down = Pipe(agenda, weather, rng)
        self.down.to = client

    def accept(self, server: End) -> None:
        """The server's end is there."""
        self._server = server
        self.up.to = server

    def say(self, data: bytes) -> None:
        """Bytes of the client's; now and then the connection does not survive them."""
        if one_in(self._rng, self._weather.reset_one_in):
            self.reset()
        elif one_in(self._rng, self._weather.vanish_one_in):
            self.vanish()
        else:
            self.up.push(data)

    def reset(self, reason: str = "reset") -> None:
        """Break the connection; each end learns of it a little later."""
        self._break(self._client, reason)
        if self._server is not None:
            self._break(self._server, reason)

    def vanish(self) -> None:
        """Swallow everything from now on; the server gives the link up in the end."""
        self._silence()
        if self._server is not None:
            self._agenda.after(self._weather.dead_link, _breaking(self._server, "dead-link"))
        self._agenda.after(self._rng.randrange(SECOND, 3 * SECOND), _breaking(self._client, "dead-link"))

    def _break(self, end: End, reason: str) -> None:
        self._silence()
        self._agenda.after(self._rng.randrange(*self._weather.latency), _breaking(end, reason))

    def _silence(self) -> None:
        self.up.cut()
        self.down.cut()


def _breaking(end: End, reason: str) -> Callable[[], None]:
    return lambda: end.broken(reason)


#: As the real connection: read by so much, and keep so much for a client that does not read.
READ_BYTES = 4096
OUTPUT_LIMIT = 64 * 1024


class Loop(Protocol):
    """What a socket needs of the shell that it belongs to."""

    agenda: Agenda

    def soon(self, action: Callable[[], None]) -> None:
        """Act when the loop comes to it."""

    def feed(self, event: Event) -> None:
        """Let the contest judge an event."""

    def flushed(self, socket: Socket, marker: Marker) -> None:
        """All data up to `marker` has reached the socket."""

    def released(self, socket: Socket) -> None:
        """Nothing more comes from the socket."""


class Socket:
    """The server's end of one connection, with the buffers of kernel and shell."""

    def __init__(self, number: int, link: Link, shell: Loop, window: int) -> None:
        self.number = number
        self.muted = False
        self.gone = False
        self._link = link
        self._shell = shell
        self._lines = LineReader(CLIENT_LINE_LIMIT)
        self._kernel: deque[tuple[bytes, int]] = deque()
        self._held: deque[tuple[bytes | Overlong, int]] = deque()
        self._room = window
        self._out = bytearray()
        self._marks: deque[tuple[int, Marker]] = deque()

    # -- what the network tells (network.End)

    def arrived(self, data: bytes) -> None:
        """Bytes lie in the kernel, stamped; the loop reads them when it can."""
        self._kernel.append((data, self._shell.agenda.now))
        self._shell.soon(self.read)

    def ended(self) -> None:
        """The client sends nothing more: to the real shell, too, it is gone then."""
        self._shell.soon(lambda: self._lose("closed"))

    def broken(self, reason: str) -> None:
        """The connection is dead."""
        self._shell.soon(lambda: self._lose(reason))

    def _lose(self, reason: str) -> None:
        if not self.gone:
            self.drop()
            self._shell.feed(Lost(self.number, reason))

    # -- bytes in

    def read(self) -> None:
        """Read what has come, and hand over its lines; a mute connection is left alone."""
        while self._kernel and not self.muted and not self.gone:
            data, arrived = self._kernel.popleft()
            while self._kernel and len(data) + len(self._kernel[0][0]) <= READ_BYTES:
                more, arrived = self._kernel.popleft()  # the stamp is that of the last segment read
                data += more
            self._held.extend((line, arrived) for line in self._lines.feed(data))
            self._deliver()

    def _deliver(self) -> None:
        while self._held and not self.muted and not self.gone:
            line, arrived = self._held.popleft()
            if isinstance(line, Overlong):
                self._shell.feed(TooLong(self.number, arrived, line.head))
            else:
                self._shell.feed(Received(self.number, line, arrived))

    def unmute(self) -> None:
        """Read again, after the lines that wait."""
        self.muted = False
        self._shell.soon(self._deliver)
        self._shell.soon(self.read)

    # -- bytes out

    @property
    def backlog(self) -> int:
        """The bytes that the socket does not take."""
        return len(self._out)

    def send(self, data: bytes, marker: Marker | None) -> None:
        """Hand `data` to the socket as far as it takes it, and keep the rest."""
        taken = 0 if self._out else self._push(data)
        rest = data[taken:]
        if not rest:
            if marker is not None:
                self._shell.flushed(self, marker)
        elif len(self._out) + len(rest) > OUTPUT_LIMIT:
            self._lose("backed-up")
        else:
            self._out += rest
            if marker is not None:
                self._marks.append((len(self._out), marker))

    def _push(self, data: bytes | bytearray) -> int:
        taken = min(len(data), self._room)
        self._room -= taken
        self._link.down.push(bytes(data[:taken]))
        return taken

    def taken(self, number: int) -> None:
        """The client has read `number` bytes: there is room for as many."""
        self._room += number
        if self._out:
            self._shell.soon(self._flush)

    def _flush(self) -> None:
        taken = self._push(self._out)
        del self._out[:taken]
        marks, self._marks = self._marks, deque()
        for end, marker in marks:
            if end > taken:
                self._marks.append((end - taken, marker))
            else:
                self._shell.flushed(self, marker)

    # -- the end

    def close(self) -> None:
        """Send what is left, then end."""
        self._link.down.push(bytes(self._out))
        self._link.down.finish()
        self.drop()

    def die(self) -> None:
        """The whole machine of the server is gone."""
        self.drop()
        self._link.reset()

    def drop(self) -> None:
        """Forget the connection."""
        self.gone = True
        self._out.clear()
        self._kernel.clear()
        self._held.clear()
        self._shell.released(self)
