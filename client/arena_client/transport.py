"""What both shells do to a connected socket, and how they tell people of a failed one.

It must not know: event loops, the wire.

What lies over the lines on an encrypted connection, and nothing at all on a plain one.

Both shells pass every byte through it, so that they are the same with TLS and without. It
must not know: sockets, event loops, lines.
"""

from __future__ import annotations

import os
import socket
import ssl
from typing import Protocol

from arena_client.errors import ClientError
from arena_protocol.errors import TlsError
from arena_protocol.tls import TlsStream

#: Bytes read at once: a few lines. Larger reads cost the allocator more than they save.
READ_SIZE = 4096

#: A silent peer is noticed in about 10 s, whether we wait for it or it owes us an acknowledgement:
#: keepalive sees only the first case, TCP_USER_TIMEOUT (ms) only the second.
_OPTIONS = (
    ("TCP_NODELAY", 1),
    ("TCP_KEEPIDLE", 5),
    ("TCP_KEEPINTVL", 2),
    ("TCP_KEEPCNT", 3),
    ("TCP_USER_TIMEOUT", 10_000),
)


class Options(Protocol):
    """The part of a socket that `tune` needs; asyncio's and trio's both have it."""

    def setsockopt(self, level: int, option: int, value: int, /) -> object:
        """Set a number."""
        ...


def tune(sock: Options) -> None:
    """Send small lines at once and notice a dead peer, as far as the system knows how."""
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in _OPTIONS:
        if (option := getattr(socket, name, None)) is not None:
            sock.setsockopt(socket.IPPROTO_TCP, option, value)


class LinkError(Exception):
    """A connection failed or was closed; another one may do better. The text says how."""


def where(host: str, port: int) -> str:
    """Name the server for people. Raises ClientError for a port that cannot be one."""
    if not 0 < port < 65536:
        raise ClientError(f"a port is a number from 1 to 65535, not {port}")
    return f"{host}:{port}"


def describe(error: BaseException) -> str:
    """Say in a few words why a connection failed, from the system's own error where it is the cause."""
    if isinstance(error, BaseExceptionGroup):
        return describe(cause(error))
    if isinstance(error.__cause__, OSError | BaseExceptionGroup):
        return describe(error.__cause__)
    if isinstance(error, OSError) and not isinstance(error, socket.gaierror) and error.errno:
        return os.strerror(error.errno)  # the loops put texts of their own in its place
    # Only the errors of the two loops' time limits have no text at all.
    return (error.strerror if isinstance(error, OSError) else None) or str(error) or "no answer in time"


def cause(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """Return the one exception of a connection's tasks that is worth telling.

    When a connection breaks, several tasks may fail at once: a fault of the bot or of the
    server explains more than a cancellation, and that more than a lost connection.
    """
    return min(_leaves(group), key=_rank)


def _leaves(error: BaseException) -> list[BaseException]:
    if not isinstance(error, BaseExceptionGroup):
        return [error]
    return [leaf for part in error.exceptions for leaf in _leaves(part)]


def _rank(error: BaseException) -> int:
    if isinstance(error, LinkError):
        return 2
    return 0 if isinstance(error, Exception) else 1


class Veil:
    """Encrypts for the server `host` if there is a `context`; `begin` before each connection."""

    def __init__(self, context: ssl.SSLContext | None, host: str) -> None:
        self._context = context
        self._host = host
        self._stream: TlsStream | None = None

    def begin(self) -> None:
        """Begin a new connection; then `send` gives the first bytes, even of nothing."""
        if self._context is not None:
            self._stream = TlsStream(self._context, server=self._host)

    def receive(self, data: bytes) -> bytes:
        """What the server's bytes say. Raises ClientError: another try would not help."""
        if self._stream is None:
            return data
        try:
            return self._stream.receive(data)
        except TlsError as error:
            trusted = not isinstance(error.__cause__, ssl.SSLCertVerificationError)
            hint = "; is it an arena server, and does it want TLS?" * trusted
            raise ClientError(f"cannot speak TLS with {self._host}: {error}{hint}") from error

    def send(self, data: bytes) -> bytes:
        """What is to be sent so that the server reads `data`, and answers to the handshake."""
        if self._stream is None:
            return data
        self._stream.send(data)
        return self._stream.data_to_send()
