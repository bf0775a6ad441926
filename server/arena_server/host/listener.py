"""Accepting connections, never more than the process can hold, and the pool of those that are open.

A server that runs out of descriptors spins: asyncio accepts, fails and logs 60,000 times a second
(python/cpython#151615). So the number of connections has a cap below the limit of descriptors. At the
cap those that are closed already and only linger, so that their last lines can be read, make room; then a
further connection gets `ERROR full`. Who may have which place is for `core/admission.py`.
"""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import Callable
from contextlib import suppress
from functools import partial

from arena_protocol.errors import ErrorCode
from arena_protocol.messages import Error, encode
from arena_server.host.connection import Connection
from arena_server.host.sockets import set_up_accepted

#: Descriptors kept for everything but connections: the listener, the database, the loop,
#: standard streams, refused connections that are still open.
RESERVE = 64


def raise_descriptor_limit() -> int | None:
    """Raise the soft limit to the hard one. Returns the new soft limit, None without a limit."""
    try:
        import resource
    except ImportError:  # pragma: no cover - not on this system
        return None
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        # macOS reports a hard limit (infinity) that it refuses to set.
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return None if soft == resource.RLIM_INFINITY else soft


def connection_cap(wanted: int, descriptors: int | None, reserved: int = 0) -> int:
    """How many of `wanted` connections to hold with a limit of `descriptors`, at least one.

    RESERVE and `reserved` descriptors are kept for everything else. `None` descriptors are no limit.
    """
    if descriptors is None:
        return wanted
    return max(1, min(wanted, descriptors - RESERVE - reserved))


#: Connections accepted per wake-up, so that running games are not held up.
ACCEPTS_PER_WAKEUP = 2
#: Connections accepted at once, as when all bots of a contest connect, and then per second. The rest of
#: a flood waits in the backlog.
BURST = 1_000
ACCEPTS_PER_SECOND = 500
#: What a connection costs of that budget whose peer has already closed it: it is closed at once, for a
#: tenth of the work. At the full price a flood of them would make returning bots wait in the backlog.
ABANDONED_COST = 0.1
#: Pause after the system had no descriptor left.
PAUSE_S = 0.1

FULL = encode(Error(ErrorCode.FULL, "the server holds as many connections as it may; try later"))

_EXHAUSTED = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


class Listener:
    """Passes accepted sockets, set up and non-blocking, to `welcome(sock, peer)` or to `refuse(sock)`.

    `has_room` decides which. `exhausted(error)` is called once per pause without descriptors.
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
        self._credit: float = BURST
        self._credited = loop.time()

    def start(self) -> None:
        self._resume = None
        self._loop.add_reader(self._sock, self._accept)

    def close(self) -> None:
        """Stop accepting and free the port; may be called again."""
        if self._resume is not None:
            self._resume.cancel()
        if self._open:
            self._open = False
            self._loop.remove_reader(self._sock)
            self._sock.close()

    def _accept(self) -> None:
        allowed = min(ACCEPTS_PER_WAKEUP, self._allowed())
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
                cost = ABANDONED_COST  # the peer closed the connection in the backlog
            else:
                cost = self._admit(sock, address)
            allowed -= cost
            self._credit -= cost
        if self._credit < 1:
            self._pause(ACCEPTS_PER_WAKEUP / ACCEPTS_PER_SECOND)

    def _allowed(self) -> float:
        """The number of connections that the budget allows now."""
        now = self._loop.time()
        self._credit = min(BURST, self._credit + (now - self._credited) * ACCEPTS_PER_SECOND)
        self._credited = now
        return self._credit

    def _admit(self, sock: socket.socket, address: tuple[str, int]) -> float:
        """Pass a connection on. Returns what it costs of the budget."""
        try:
            set_up_accepted(sock)
            abandoned = _is_abandoned(sock)
        except OSError:
            abandoned = True
        if abandoned:
            sock.close()
            return ABANDONED_COST
        if self._has_room():
            self._welcome(sock, f"{address[0]}:{address[1]}")
        else:
            self._refuse(sock)
        return 1

    def _pause(self, seconds: float) -> None:
        self._loop.remove_reader(self._sock)
        self._resume = self._loop.call_later(seconds, self.start)


def _is_abandoned(sock: socket.socket) -> bool:
    """Whether the peer has closed its side without a byte. Raises OSError after a reset."""
    try:
        return not sock.recv(1, socket.MSG_PEEK)
    except (BlockingIOError, InterruptedError):
        return False


#: Refused connections that are open until `ERROR full` is read; beyond that the oldest is aborted.
MAX_REFUSALS = 16


class ConnectionPool:
    """The connections of one server, at most `cap`; `make(number, sock, plain)` builds them.

    `opened(number, peer)` is called for each that is admitted, `exhausted(error)` if the system gave no
    descriptor. Call `released` when the descriptor of a connection is free again.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        cap: int,
        make: Callable[[int, socket.socket, bool], Connection],
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
        #: Those of them that are being closed, the oldest first.
        self._lingering: dict[int, None] = {}
        self._refusals: dict[int, Connection] = {}
        self._last_number = 0
        self._empty = asyncio.Event()
        self._empty.set()

    def __len__(self) -> int:
        return len(self.connections)

    def listen(self, sock: socket.socket, *, plain: bool = False) -> Listener:
        """Accept connections from `sock` until the listener is closed; `plain` ones are never encrypted."""
        listener = Listener(
            sock,
            self._loop,
            has_room=self._has_room,
            welcome=partial(self._welcome, plain),
            refuse=partial(self._refuse, plain),
            exhausted=self._exhausted,
        )
        listener.start()
        return listener

    def _has_room(self) -> bool:
        if len(self.connections) >= self.cap and self._lingering:
            self.connections[next(iter(self._lingering))].abort()
        return len(self.connections) < self.cap

    def _accepted(self, sock: socket.socket, plain: bool) -> Connection:
        self._last_number += 1
        self._empty.clear()
        return self._make(self._last_number, sock, plain)

    def _welcome(self, plain: bool, sock: socket.socket, peer: str) -> None:
        connection = self._accepted(sock, plain)
        self.connections[connection.number] = connection
        connection.start()
        self._opened(connection.number, peer)

    def _refuse(self, plain: bool, sock: socket.socket) -> None:
        connection = self._accepted(sock, plain)
        self._refusals[connection.number] = connection
        connection.start()
        connection.send(FULL)
        connection.close()
        if len(self._refusals) > MAX_REFUSALS:
            next(iter(self._refusals.values())).abort()

    def dismiss(self, number: int) -> None:
        """Close a connection after its output is sent; it lingers as long as there is room."""
        if (connection := self.connections.get(number)) is not None:
            self._lingering[number] = None
            connection.close()

    def released(self, number: int) -> None:
        self.connections.pop(number, None)
        self._lingering.pop(number, None)
        self._refusals.pop(number, None)
        if not self.connections and not self._refusals:
            self._empty.set()

    def close(self) -> None:
        """Close every connection after its output is sent."""
        for connection in list(self.connections.values()):
            connection.close()

    async def drained(self, timeout: float) -> None:
        """Wait until every connection is closed; after `timeout` seconds abort the rest."""
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout):
                await self._empty.wait()
        for connection in [*self.connections.values(), *self._refusals.values()]:
            connection.abort()
