"""The sockets of a driver behind one selector of their own: the loop calls back once for all that are ready.

`selectors.select` makes an object of each ready socket in four calls, which costs as much as to receive its
line. So epoll is asked itself where the system has it; elsewhere a selector answers in the same form.
"""

from __future__ import annotations

import select
import selectors
import socket
from collections.abc import Callable
from typing import Any, Final

from arena_server.host.interfaces import Watched

#: The events of a socket that can be read, and no more: nearly all there are.
READABLE: Final[int] = getattr(select, "EPOLLIN", selectors.EVENT_READ)
_WRITABLE: Final[int] = getattr(select, "EPOLLOUT", selectors.EVENT_WRITE)


class Poller:
    """Who of the watched sockets is ready: `poll(seconds)` returns descriptors and events of those.

    `watched` has the connection of each descriptor, with the events of `selectors` that it asks for.
    """

    def __init__(self) -> None:
        self.closed = False
        self.watched: dict[int, tuple[Watched, int]] = {}
        self._selector: Any = select.epoll() if hasattr(select, "epoll") else selectors.DefaultSelector()
        self.poll: Callable[[float], list[tuple[int, int]]] = getattr(self._selector, "poll", self._select)

    def _select(self, seconds: float) -> list[tuple[int, int]]:
        return [(key.fd, events) for key, events in self._selector.select(seconds)]

    def fileno(self) -> int:
        """It is readable while a socket is ready."""
        number: int = self._selector.fileno()
        return number

    def watch(self, sock: socket.socket, events: int, connection: Watched) -> None:
        """Call `connection.readable` and `writable` when `sock` is ready for `events` (0: never)."""
        fd = sock.fileno()
        if not events:
            if self.watched.pop(fd, None) is not None:
                self._selector.unregister(fd)
            return
        known = fd in self.watched
        self.watched[fd] = connection, events
        mask = (READABLE if events & selectors.EVENT_READ else 0) | (
            _WRITABLE if events & selectors.EVENT_WRITE else 0
        )
        (self._selector.modify if known else self._selector.register)(fd, mask)

    def notify(self, fd: int, events: int) -> None:
        """Tell a connection that its socket is ready, also for an error, unless it is closed."""
        connection, watched = self.watched.get(fd, (None, 0))
        if connection is None:
            return
        if events & ~READABLE and watched & selectors.EVENT_WRITE:
            connection.writable()
        if events & ~_WRITABLE and watched & selectors.EVENT_READ:
            connection.readable()

    def close(self) -> None:
        """Watch nothing any more."""
        self.closed = True
        self._selector.close()
