"""How many connections the process may hold, and where the system draws the line.

It must not know: sockets, contests. Only systems with `resource` (not Windows) have a limit to raise.

Accept connections, but never more than the process can hold.

Without a cap of its own a server that runs out of descriptors spins: asyncio accepts, fails
and logs 60,000 times a second. Whoever comes over the cap is told so and closed.
It must not know: lines, the contest.

Who is connected, who is being turned away, and how both come to an end.

It must not know: lines, the contest.
"""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import Callable
from contextlib import suppress

from arena_protocol.errors import ErrorCode
from arena_protocol.messages import Error, encode
from arena_server.connection import Connection
from arena_server.sockets import set_up_accepted

#: Descriptors kept for everything but connections: the listener, the database, the loop,
#: standard streams, refused connections still being told so.
RESERVE = 64


def raise_descriptor_limit() -> int | None:
    """Raise the soft limit to the hard one. Returns the soft limit then, None where there is none."""
    try:
        import resource
    except ImportError:  # pragma: no cover - not on this system
        return None
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        # Some systems name a hard limit that they refuse to give (macOS: infinity).
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return None if soft == resource.RLIM_INFINITY else soft


def connection_cap(wanted: int, descriptors: int | None) -> int:
    """The connections to hold: what the contest wants, below what the system gives, at least one."""
    if descriptors is None:
        return wanted
    return max(1, min(wanted, descriptors - RESERVE))


#: Connections accepted in one go, before those that are playing get their turn again.
ACCEPTS_A_TURN = 2
#: So many may come at once, as the bots of a contest do, and so many a second for ever: a flood of
#: them waits in the backlog, where it costs nobody anything.
CROWD = 1_000
ACCEPTS_A_SECOND = 500
#: Who has left again by then is closed unheard, for a tenth of the work of any other: else those
#: who only come and go would fill the backlog, and bots that come back would wait behind them.
LEFT = 0.1
#: How long to leave the backlog alone when the system has no descriptor left.
PAUSE_S = 0.1

FULL = encode(Error(ErrorCode.FULL, "the server holds as many connections as it may; try later"))

_EXHAUSTED = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


class Listener:
    """Passes accepted sockets, set up and non-blocking, to `welcome(sock, peer)` or to `refuse(sock)`.

    `has_room` says which. `exhausted` is told, once a pause, that the system gave no descriptor.
    """

    def __init__(
        self,
        sock: socket.socket,
        loop: asyncio.AbstractEventLoop,
        *,
        has_room: Callable[[], bool],
        welcome: Callable[[socket.socket, str], None],
        refuse: Callable[[socket.socket], None],
        exhausted: Callable[[OSError], None],
    ) -> None:
        self._sock = sock
        self._loop = loop
        self._has_room = has_room
        self._welcome = welcome
        self._refuse = refuse
        self._exhausted = exhausted
        self._resume: asyncio.TimerHandle | None = None
        self._open = True
        self._credit: float = CROWD
        self._credited = loop.time()

    def start(self) -> None:
        """Begin to accept."""
        self._resume = None
        self._loop.add_reader(self._sock, self._accept)

    def close(self) -> None:
        """Accept no more and free the port."""
        if self._resume is not None:
            self._resume.cancel()
        if self._open:
            self._open = False
            self._loop.remove_reader(self._sock)
            self._sock.close()

    def _accept(self) -> None:
        allowed = min(ACCEPTS_A_TURN, self._allowed())
        while allowed >= 1:
            try:
                sock, address = self._sock.accept()
            except (BlockingIOError, InterruptedError):
                return
            except OSError as error:
                if error.errno in _EXHAUSTED:
                    self._pause(PAUSE_S)
                    self._exhausted(error)
                    return
                cost = LEFT  # that client gave up while it waited in the backlog
            else:
                cost = self._admit(sock, address)
            allowed -= cost
            self._credit -= cost
        if self._credit < 1:
            self._pause(ACCEPTS_A_TURN / ACCEPTS_A_SECOND)

    def _allowed(self) -> float:
        """How many connections may be accepted now."""
        now = self._loop.time()
        self._credit = min(CROWD, self._credit + (now - self._credited) * ACCEPTS_A_SECOND)
        self._credited = now
        return self._credit

    def _admit(self, sock: socket.socket, address: tuple[str, int]) -> float:
        """Pass a connection on. Returns what it costs of what may be accepted."""
        try:
            set_up_accepted(sock)
            left = _has_left(sock)
        except OSError:
            left = True
        if left:
            sock.close()
            return LEFT
        if self._has_room():
            self._welcome(sock, f"{address[0]}:{address[1]}")
        else:
            self._refuse(sock)
        return 1

    def _pause(self, seconds: float) -> None:
        self._loop.remove_reader(self._sock)
        self._resume = self._loop.call_later(seconds, self.start)


def _has_left(sock: socket.socket) -> bool:
    """Whether the peer has said nothing, and will not say anything. Raises OSError if it is gone."""
    try:
        return not sock.recv(1, socket.MSG_PEEK)
    except (BlockingIOError, InterruptedError):
        return False


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
        make: Callable[[int, socket.socket], Connection],
        opened: Callable[[int, str], None],
        exhausted: Callable[[OSError], None],
    ) -> None:
        self.cap = cap
        self._loop = loop
        self._make = make
        self._opened = opened
        self._exhausted = exhausted
        #: The connections that are admitted and open, by number.
        self.connections: dict[int, Connection] = {}
        self._refusals: dict[int, Connection] = {}
        self._last_number = 0
        self._empty = asyncio.Event()
        self._empty.set()

    def __len__(self) -> int:
        return len(self.connections)

    def listen(self, sock: socket.socket) -> Listener:
        """Accept connections from `sock`; close the listener first when the contest is to end."""
        listener = Listener(
            sock,
            self._loop,
            has_room=lambda: len(self.connections) < self.cap,
            welcome=self._welcome,
            refuse=self._refuse,
            exhausted=self._exhausted,
        )
        listener.start()
        return listener

    def _accepted(self, sock: socket.socket) -> Connection:
        self._last_number += 1
        self._empty.clear()
        return self._make(self._last_number, sock)

    def _welcome(self, sock: socket.socket, peer: str) -> None:
        connection = self._accepted(sock)
        self.connections[connection.number] = connection
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
        self.connections.pop(number, None)
        self._refusals.pop(number, None)
        if not self.connections and not self._refusals:
            self._empty.set()

    def close(self) -> None:
        """Close every connection that is still open, once it has been told what it was sent."""
        for connection in list(self.connections.values()):
            connection.close()

    async def drained(self, timeout: float) -> None:
        """Wait until every connection is gone; after `timeout` seconds cut those that are left."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._empty.wait(), timeout)
        for connection in [*self.connections.values(), *self._refusals.values()]:
            connection.abort()
