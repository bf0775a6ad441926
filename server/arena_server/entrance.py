"""Who is connected, who is being turned away, and how both come to an end.

It must not know: lines, the contest.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from contextlib import suppress

from arena_server.connection import Cipher, Connection, Sink
from arena_server.listener import FULL, Listener
from arena_server.stamps import ArrivalClock

#: Refused clients that are still being told so; beyond that they are cut off unheard.
REFUSALS = 16


class Entrance:
    """The connections of one server, `cap` at most; all of them tell `sink`.

    `opened(number, peer)` hears of each that is let in, `exhausted` that the system gave no
    descriptor. Whoever hears that a connection is `released` says so here.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        cap: int,
        cipher: Callable[[], Cipher | None],
        sink: Sink,
        opened: Callable[[int, str], None],
        exhausted: Callable[[OSError], None],
    ) -> None:
        self.cap = cap
        self._loop = loop
        self._cipher = cipher
        self._sink = sink
        self._opened = opened
        self._exhausted = exhausted
        self._clock = ArrivalClock()
        self._connections: dict[int, Connection] = {}
        self._refusals: dict[int, Connection] = {}
        self._last_number = 0
        self._empty = asyncio.Event()
        self._empty.set()

    def __len__(self) -> int:
        return len(self._connections)

    def get(self, number: int) -> Connection | None:
        """The connection of this number, if it is there and not being turned away."""
        return self._connections.get(number)

    def listen(self, sock: socket.socket) -> Listener:
        """Accept connections from `sock`; close the listener first when the contest is to end."""
        listener = Listener(
            sock,
            self._loop,
            has_room=lambda: len(self._connections) < self.cap,
            welcome=self._welcome,
            refuse=self._refuse,
            exhausted=self._exhausted,
        )
        listener.start()
        return listener

    def _accepted(self, sock: socket.socket) -> Connection:
        self._last_number += 1
        self._empty.clear()
        return Connection(self._last_number, sock, self._loop, self._clock, self._sink, self._cipher())

    def _welcome(self, sock: socket.socket, peer: str) -> None:
        connection = self._accepted(sock)
        self._connections[connection.number] = connection
        connection.start()
        self._opened(connection.number, peer)

    def _refuse(self, sock: socket.socket) -> None:
        connection = self._accepted(sock)
        self._refusals[connection.number] = connection
        connection.start()
        connection.send(FULL)
        connection.close()
        if len(self._refusals) > REFUSALS:
            next(iter(self._refusals.values())).abort()

    def released(self, number: int) -> None:
        """A descriptor is free again."""
        self._connections.pop(number, None)
        self._refusals.pop(number, None)
        if not self._connections and not self._refusals:
            self._empty.set()

    def close(self) -> None:
        """Close every connection that is still open, once it has been told what it was sent."""
        for connection in list(self._connections.values()):
            connection.close()

    async def drained(self, timeout: float) -> None:
        """Wait until every connection is gone; after `timeout` seconds cut those that are left."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._empty.wait(), timeout)
        for connection in [*self._connections.values(), *self._refusals.values()]:
            connection.abort()
