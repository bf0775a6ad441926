"""What the driver needs of contests, router, store and who runs a contest, and a connection of the driver."""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from arena_protocol.record import GameRecord
from arena_server.core.effects import Effect, Marker, Store
from arena_server.core.events import Event
from arena_server.core.journal import Entry
from arena_server.core.log_events import LogEvent
from arena_server.core.peers import Outbox
from arena_server.host.observers import Errand


class Alarm(Protocol):
    """When a core has to be woken."""

    @property
    def alarm(self) -> int | None:
        """When a Tick is due at the latest (monotonic ns); None: not before another event."""


class Core(Protocol):
    """What the driver needs of a contest, and of the router."""

    @property
    def deadlines(self) -> Alarm:
        """When a Tick is due."""

    @property
    def output(self) -> Outbox:
        """What `take` takes."""

    def feed(self, event: Event, now: int) -> None:
        """Take any event."""

    def received(self, conn: int, line: bytes, arrived: int, now: int) -> None:
        """Take the event Received."""

    def flushed(self, conn: int, marker: Marker, at: int, now: int) -> None:
        """Take the event Flushed."""

    def outlives_input(self, conn: int) -> bytes | None:
        """A line for a client that has ended its input and is still to get its lines; None: it is gone."""

    def take(self) -> list[Effect]:
        """The effects of all events since the last call, in order, with at most one Journal, in front."""


class Routing(Core, Protocol):
    """What the driver needs of the router: it takes the events of connections that are not in `routes`."""

    @property
    def routes(self) -> Mapping[int, Core]:
        """The contest of each connection that has logged in."""

    def released(self, conn: int) -> None:
        """No event of this connection follows."""


class RecordStore(Protocol):
    """What the driver needs of the writer."""

    def append(self, entries: Sequence[Entry]) -> bool:
        """Commit a batch of entries. False: it is queued, and `Driver.committed` will report it."""

    def store(self, game_id: str, record: GameRecord) -> None:
        """Make a record durable after all entries appended before; `Driver.committed` reports it."""


class DriverEvents(Protocol):
    """What the driver needs of who runs a contest."""

    def reply(self, number: int, problem: str | None) -> None:
        """Answer a command of the organiser."""

    def complete(self, store: Store) -> bool:
        """Whether something is still to be added to a record: then `Driver.store` is called with it soon."""

    def recorded(self, record: GameRecord) -> None:
        """A record is durable."""

    def log(self, event: LogEvent) -> None:
        """Something for the log and for observers happened."""

    def closing(self, conn: int) -> None:
        """The contest ends a connection; all that it sends there is sent."""

    def carry_out(self, errand: Errand) -> None:
        """Have this done outside of the core of the contest."""

    def finished(self, reason: str, ago: int) -> None:
        """The contest is over, and has been for `ago` ns."""

    def crashed(self, error: Exception) -> None:
        """The contest raised, and has been taken out: nothing of it is carried out any more."""


class Watched(Protocol):
    """What `Sink.watch` calls."""

    def readable(self) -> None:
        """The socket has bytes, an error or the end of input."""

    def writable(self) -> None:
        """The socket takes bytes again."""


class Sink(Protocol):
    """What a connection reports to; `number` is the connection's own."""

    def received(self, number: int, line: bytes, arrived: int) -> None:
        """A whole line came; it reached this machine at `arrived` (monotonic ns)."""

    def overlong(self, number: int, head: bytes, arrived: int) -> None:
        """A line came that is too long."""

    def flushed(self, number: int, marker: Marker) -> None:
        """The last byte of the data sent with `marker` has reached the socket, after `send` had returned."""

    def keeps(self, number: int) -> bytes | None:
        """A line (or b"") for a client that has ended its input and stays, because it only reads; else None.

        One that has closed the connection wholly answers the line by a reset.
        """

    def lost(self, number: int, reason: str) -> None:
        """The connection is gone, and not because of `close`; nothing more comes from it."""

    def released(self, number: int) -> None:
        """The descriptor is free again."""

    def later(self, delay_s: float, action: Callable[[], None]) -> None:
        """Call `action` after all other connections had their turn, and `delay_s` seconds passed."""

    def watch(self, sock: socket.socket, events: int, connection: Watched) -> None:
        """Call `readable` and `writable` when `sock` is ready for `events`; 0 stops that."""


class Cipher(Protocol):
    """The TLS layer of an encrypted connection (`arena_protocol.tls`)."""

    def receive(self, data: bytes) -> bytes:
        """Decrypt bytes of the peer. Raises TlsError."""

    def send(self, data: bytes) -> None:
        """Encrypt bytes for the peer."""

    def data_to_send(self) -> bytes:
        """The bytes to be sent now."""

    def close(self) -> None:
        """Nothing more will be sent."""
