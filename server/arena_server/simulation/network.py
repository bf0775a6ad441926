"""The network between bots and referee: bytes in order on each connection, and nothing else certain.

Each direction of each connection has a latency of its own, so that connections overtake each
other. Segments are split and merged, connections are reset, or go silent without a word.
It must not know: lines, what bytes mean, the contest.

    client.push --Pipe up--> server.arrived       server.push --Pipe down--> client.arrived
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Protocol

from arena_server.simulation.agenda import MS, SECOND, Agenda, one_in


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
