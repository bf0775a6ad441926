"""Listening sockets, the options of connections, and the TLS context."""

from __future__ import annotations

import errno
import os
import socket
import ssl
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial

from arena_protocol.tls import TlsStream
from arena_server.errors import ArenaError, ConfigError

#: Linux (socket(7)): asks for a stamp in nanoseconds, and its message type. Not named in Python 3.11.
SO_TIMESTAMPNS = 35

BACKLOG = 1024
#: The first descriptor of those that systemd hands over.
FIRST_HANDED_OVER = 3

#: The state of a TCP connection that was reset (Linux, `tcp_states.h`).
_TCP_CLOSE = 7

#: Probe an idle peer after 5 s, every 2 s, 3 times: a dead one is noticed after 11 s.
KEEPALIVE_IDLE_S, KEEPALIVE_INTERVAL_S, KEEPALIVE_COUNT = 5, 2, 3
#: Keepalive does not probe while a line is in flight; this limit sees that dead link (10.4 s).
USER_TIMEOUT_MS = 10_000


def bind(host: str, port: int, option: str = "--port") -> socket.socket:
    """A non-blocking socket that listens on `host`:`port` (0 picks one).

    One that systemd has handed over for this port is taken instead. Raises ArenaError with one line if the
    address is foreign, unknown or in use; `option` names the command line's option for the port.
    """
    if (taken := _handed_over(port)) is not None:
        return taken
    # Bytes where possible: for a str Python would load its tables of Unicode names.
    name = host.encode("ascii") if host.isascii() else host
    try:
        family, kind, proto, _, address = socket.getaddrinfo(
            name, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except OSError as error:
        raise ArenaError(f"cannot listen on {host}:{port}: {error.strerror}") from None
    listener = socket.socket(family, kind, proto)
    try:
        # Otherwise the port of a stopped server stays in use for a minute.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        raise ArenaError(_why(host, port, option, error)) from None
    # On Linux an accepted connection inherits them, which saves ten calls each. And the kernel starts to
    # stamp a moment after the first request for it: before the first bot connects.
    set_up(listener)
    return listener


def _handed_over(port: int) -> socket.socket | None:
    """The listening socket of systemd for this port, which it keeps open (sd_listen_fds(3))."""
    if os.environ.get("LISTEN_PID") != str(os.getpid()):
        return None  # without systemd, or the variables are those of a parent
    count = os.environ.get("LISTEN_FDS", "")
    for descriptor in range(FIRST_HANDED_OVER, FIRST_HANDED_OVER + (int(count) if count.isdecimal() else 0)):
        listener = socket.socket(fileno=os.dup(descriptor))
        is_ours = listener.family in (socket.AF_INET, socket.AF_INET6)
        if is_ours and listener.type == socket.SOCK_STREAM and listener.getsockname()[1] == port:
            set_up(listener)
            return listener
        listener.close()
    return None


def _why(host: str, port: int, option: str, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"cannot listen on {host}:{port}: the port is in use; choose another by {option} (0 picks one)"
    return f"cannot listen on {host}:{port}: {error.strerror}"


def address_of(listener: socket.socket) -> str:
    """`HOST:PORT` as a client would write it."""
    host, port = listener.getsockname()[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def local_host(host: str) -> str:
    """The address by which a process of this machine reaches a server that listens on `host`."""
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - compared, not bound


def urls_of(listener: socket.socket) -> tuple[str, str | None]:
    """Where a browser finds an HTTP port: on this machine, and on others if it is on all addresses."""
    host, port = listener.getsockname()[:2]
    local = local_host(host)
    outside = None if local == host else _own_address(listener.family)
    return _url(local, port), None if outside is None else _url(outside, port)


def _url(host: str, port: int) -> str:
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _own_address(family: int) -> str | None:
    """The address of this machine on the way to others; None without one. Nothing is sent."""
    # Of the blocks for documentation: a datagram socket that is connected has chosen a route, no more.
    target = "2001:db8::1" if family == socket.AF_INET6 else "192.0.2.1"
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((target, 9))
        except OSError:
            return None
        return str(probe.getsockname()[0])


def parse_address(text: str, source: str) -> tuple[str, int]:
    """Split `HOST:PORT`, as `address_of` writes it; brackets round an IPv6 address are removed.

    Raises ConfigError that begins with `source`, the option or variable that gave the text.
    """
    host, _, port = text.rpartition(":")
    if not host or "/" in host or not (port.isascii() and port.isdigit() and 0 < int(port[:6]) < 65536):
        raise ConfigError(f"{source}: expected HOST:PORT, got {text!r}")
    return host.removeprefix("[").removesuffix("]"), int(port)


def set_up_accepted(connection: socket.socket) -> None:
    """Set the options of a connection accepted from a socket of `bind`, where they are not inherited."""
    if sys.platform == "linux":
        connection.setblocking(False)
    else:
        set_up(connection)


def set_up(connection: socket.socket) -> None:
    """Set the options that the system has."""
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


def is_reset(sock: socket.socket) -> bool:
    """Whether a socket whose input has ended is gone, as far as the system says."""
    try:
        return sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0] == _TCP_CLOSE
    except (AttributeError, OSError):  # no TCP_INFO on this system, or no TCP socket
        return False


def reason_of(error: OSError) -> str:
    """Why a connection was lost: `reset`, or `dead-link` after keepalive or TCP_USER_TIMEOUT.

    The latter is errno 110, a TimeoutError like that of `asyncio.timeout`.
    """
    return "dead-link" if error.errno == errno.ETIMEDOUT else "reset"


def tls_ends(certificate: str, key: str) -> Callable[[], TlsStream]:
    """Return a factory of TLS streams for accepted connections. Raises ConfigError for unusable files."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        # Otherwise OpenSSL asks for the password of an encrypted key on the terminal.
        context.load_cert_chain(certificate, key, password=lambda: "")
    except ssl.SSLError:
        raise ConfigError(
            f"server.tls_certificate, server.tls_key: {certificate} and {key} are no certificate and its "
            "key (PEM, the key not encrypted)"
        ) from None
    except OSError as error:
        raise ConfigError(
            f"server.tls_certificate, server.tls_key: cannot read {certificate} and {key}: {error.strerror}"
        ) from None
    return partial(TlsStream, context)
