"""What both shells share below the protocol: socket options, TLS, error texts, the debug trace."""

from __future__ import annotations

import os
import socket
import ssl
import sys
import time
from collections.abc import Callable, Mapping
from typing import Protocol

from arena_client.errors import ClientError
from arena_protocol.errors import TlsError
from arena_protocol.tls import TlsStream

#: Bytes per read: a few lines. Larger buffers cost more to allocate than they save.
READ_SIZE = 4096

#: A dead peer is noticed in about 10 s: keepalive (s) covers a silent one, TCP_USER_TIMEOUT (ms) one that
#: owes an acknowledgement. See tcp(7).
_OPTIONS = (
    ("TCP_NODELAY", 1),
    ("TCP_KEEPIDLE", 5),
    ("TCP_KEEPINTVL", 2),
    ("TCP_KEEPCNT", 3),
    ("TCP_USER_TIMEOUT", 10_000),
)


class Options(Protocol):
    """The part of a socket that `tune` uses; sockets of asyncio and of trio have it."""

    def setsockopt(self, level: int, option: int, value: int, /) -> object: ...


def tune(sock: Options) -> None:
    """Send small lines at once and notice a dead peer, with the options that the system has."""
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in _OPTIONS:
        if (option := getattr(socket, name, None)) is not None:
            sock.setsockopt(socket.IPPROTO_TCP, option, value)


class LinkError(Exception):
    """A connection failed or was closed; another one may succeed. The text is the reason."""


def server_name(host: str, port: int) -> str:
    """Return HOST:PORT. Raises ClientError for a port out of range, and a host that no system looks up."""
    if not 0 < port < 65536:
        raise ClientError(f"a port is a number from 1 to 65535, not {port}")
    try:
        host.encode("idna")
    except UnicodeError as error:
        raise ClientError(f"no host has the name {host!r:.80}: {error.__cause__ or error}") from None
    return f"{host}:{port}"


def describe(error: BaseException) -> str:
    """Return in a few words why a connection failed: the error of the system if there is one."""
    if isinstance(error, BaseExceptionGroup):
        return describe(cause(error))
    if isinstance(error.__cause__, OSError | BaseExceptionGroup):
        return describe(error.__cause__)
    if isinstance(error, OSError) and not isinstance(error, socket.gaierror) and error.errno:
        return os.strerror(error.errno)  # the event loops replace the text by their own
    # Only the errors of the event loops' time limits have no text.
    return (error.strerror if isinstance(error, OSError) else None) or str(error) or "no answer in time"


def cause(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """Return the most significant exception of a connection's tasks.

    Several tasks may fail when a connection breaks. An error of the bot or of the server comes
    before a cancellation, and that before a lost connection.
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


#: None or False: plain; True: trust the authorities of the system; a path: trust the PEM file; or a context.
TlsLike = ssl.SSLContext | str | os.PathLike[str] | bool | None


def tls_context(tls: TlsLike) -> ssl.SSLContext | None:
    """Return the context for `tls`, None without encryption. Raises ClientError for a bad file."""
    if tls is None or tls is False:
        return None
    if isinstance(tls, ssl.SSLContext):
        return tls
    try:
        return ssl.create_default_context(cafile=None if tls is True else os.fspath(tls))
    except OSError as error:  # ssl.SSLError is one
        why = (error.strerror or str(error)) if not isinstance(error, ssl.SSLError) else "no PEM certificates"
        raise ClientError(f"cannot trust the certificates in {tls}: {why}") from None


class TlsTransport:
    """Encrypts for the server `host`; without a context it passes the bytes through.

    Call `start` before each connection and send what `send(b"")` returns: the handshake.
    """

    def __init__(self, context: ssl.SSLContext | None, host: str) -> None:
        self._context = context
        self._host = host
        self._stream: TlsStream | None = None

    def start(self) -> None:
        if self._context is not None:
            self._stream = TlsStream(self._context, server=self._host)

    def receive(self, data: bytes) -> bytes:
        """Decrypt bytes of the server. Raises ClientError: another try would not help."""
        if self._stream is None:
            return data
        try:
            return self._stream.receive(data)
        except TlsError as error:
            refused = isinstance(error.__cause__, ssl.SSLCertVerificationError)
            hint = "" if refused else "; is it an arena server, and does it use TLS?"
            raise ClientError(f"cannot speak TLS with {self._host}: {error}{hint}") from error

    def send(self, data: bytes) -> bytes:
        """Encrypt `data`; the result also has the pending answers of the handshake."""
        if self._stream is None:
            return data
        self._stream.send(data)
        return self._stream.data_to_send()


#: Options whose values open a seat: a trace hides them.
_SECRETS = (b"token=", b"resume=")


def debug_trace(environment: Mapping[str, str] = os.environ) -> Callable[[str, bytes], None] | None:
    """Return `print_line` if ARENA_DEBUG is set and not 0, else None."""
    return print_line if environment.get("ARENA_DEBUG", "0") not in ("", "0") else None


def print_line(direction: str, line: bytes, now: float | None = None) -> None:
    """Print `HH:MM:SS.mmm < LINE` on stderr, local time, without tokens and resume keys."""
    seconds = time.time() if now is None else now
    clock = time.strftime("%H:%M:%S", time.localtime(seconds))
    words = [_masked(word) for word in line.split(b" ")]
    text = b" ".join(words).decode("ascii", "backslashreplace")
    print(f"{clock}.{int(seconds % 1 * 1000):03d} {direction} {text}", file=sys.stderr, flush=True)  # noqa: T201


def _masked(word: bytes) -> bytes:
    return next((secret + b"***" for secret in _SECRETS if word.startswith(secret)), word)
