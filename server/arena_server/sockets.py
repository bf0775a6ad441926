"""The options of our sockets, each with the reason for it. It must not know: lines, games, the loop."""

from __future__ import annotations

import errno
import socket
import sys
from contextlib import suppress

from arena_server.errors import ArenaError
from arena_server.stamps import SO_TIMESTAMPNS

BACKLOG = 1024

#: Probe an idle peer after 5 s, every 2 s, 3 times: a dead one is noticed after 11 s.
KEEPALIVE_IDLE_S, KEEPALIVE_INTERVAL_S, KEEPALIVE_COUNT = 5, 2, 3
#: Keepalive does not probe while a line is in flight; this limit sees that dead link (10.4 s).
USER_TIMEOUT_MS = 10_000


def bind(host: str, port: int, option: str = "--port") -> socket.socket:
    """A non-blocking socket listening on `host`:`port` (0 picks one).

    Raises ArenaError with one line if the address is not ours, unknown, or taken; `option` is
    what chooses the port on the command line.
    """
    # Plain bytes where they will do: for a text Python would load its tables of Unicode names.
    name = host.encode("ascii") if host.isascii() else host
    try:
        family, kind, proto, _, address = socket.getaddrinfo(
            name, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except OSError as error:
        raise ArenaError(f"cannot listen on {host}:{port}: {error.strerror}") from None
    listener = socket.socket(family, kind, proto)
    try:
        # Without it a server that was just stopped could not start again for a minute.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        raise ArenaError(_why(host, port, option, error)) from None
    # Linux gives an accepted connection the options of its listener, which spares ten calls for each;
    # and the kernel takes a moment to begin with stamps: the first bot comes later than that.
    set_up(listener)
    return listener


def _why(host: str, port: int, option: str, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"cannot listen on {host}:{port}: the port is in use; choose another by {option} (0 picks one)"
    return f"cannot listen on {host}:{port}: {error.strerror}"


def address_of(listener: socket.socket) -> str:
    """`HOST:PORT` as a client would write it."""
    host, port = listener.getsockname()[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def set_up_accepted(connection: socket.socket) -> None:
    """Set the options of a connection accepted from a listener of `bind`'s, where it has not got them yet."""
    if sys.platform == "linux":
        connection.setblocking(False)
    else:
        set_up(connection)


def set_up(connection: socket.socket) -> None:
    """Set the options of a connection; a system without one of them goes without it."""
    connection.setblocking(False)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    # A TURN is one small segment; Nagle would hold it back for the acknowledgement of PLAYED.
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for name, value in (
        ("TCP_KEEPIDLE", KEEPALIVE_IDLE_S),
        ("TCP_KEEPINTVL", KEEPALIVE_INTERVAL_S),
        ("TCP_KEEPCNT", KEEPALIVE_COUNT),
        ("TCP_USER_TIMEOUT", USER_TIMEOUT_MS),
    ):
        if hasattr(socket, name):
            connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
    _ask_for_stamps(connection)


def _ask_for_stamps(sock: socket.socket) -> None:
    if sys.platform == "linux":
        with suppress(OSError):
            sock.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)


def reason_of(error: OSError) -> str:
    """Why a connection was lost, in one word.

    `dead-link` is the system giving up on a silent peer (errno 110): the same exception
    class as a time-out of asyncio's, but nobody's clock.
    """
    return "dead-link" if error.errno == errno.ETIMEDOUT else "reset"
