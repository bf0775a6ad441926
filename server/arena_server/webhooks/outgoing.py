"""Calls to HTTP servers of others, each with one deadline and one bound for its answer.

    status = HttpConnection("https", "example.org", None).call("POST", "/hook", headers, body, 10.0)

The deadline is that of all steps together: name, connection, TLS, request, answer. http.client has a limit
for each read alone, and reads interim answers (100 Continue) for ever. HTTP itself is h11's.
"""

from __future__ import annotations

import socket
import ssl
import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any, Final

import h11

#: All bytes of an answer: of its head, interim answers and, where it is read, its body.
MOST_BYTES: Final = 64 * 1024
#: A body that is read.
MOST_BODY: Final = 64 << 20
#: How long the rest of an answer is waited for, so that the connection can be kept.
REST_S: Final = 0.1


class CallError(Exception):
    """The server was reached, and gave no answer; the text is one line without its address."""


@dataclass(frozen=True, slots=True)
class _Deadline:
    """`at` is in monotonic seconds."""

    at: float

    def left(self) -> float:
        """The seconds that are left. Raises TimeoutError."""
        if (left := self.at - time.monotonic()) <= 0:
            raise TimeoutError
        return left


class HttpConnection:
    """A connection to one server, made by the first call and kept for the next one where the server keeps it.

    For one thread.
    """

    def __init__(self, scheme: str, host: str, port: int | None) -> None:
        self._host = host
        self._port = port or (443 if scheme == "https" else 80)
        self._tls = ssl.create_default_context() if scheme == "https" else None
        bracketed = f"[{host}]" if ":" in host else host
        self._name = bracketed if port is None else f"{bracketed}:{port}"
        self._socket: socket.socket | None = None
        self._http = h11.Connection(h11.CLIENT)

    def call(
        self, method: str, target: str, headers: Iterable[tuple[str, str]], body: bytes, limit_s: float
    ) -> int:
        """Send a request and return the status of its answer, whose body is not looked at.

        Raises TimeoutError after `limit_s`, OSError for a server that cannot be reached, and CallError.
        """
        return self._exchange(method, target, headers, body, limit_s, 0)[0]

    def fetch(
        self, method: str, target: str, headers: Iterable[tuple[str, str]], body: bytes, limit_s: float
    ) -> tuple[int, bytes]:
        """As `call`, with the body of the answer; the connection is not kept."""
        try:
            return self._exchange(method, target, headers, body, limit_s, MOST_BODY)
        finally:
            self.close()

    def _exchange(
        self,
        method: str,
        target: str,
        headers: Iterable[tuple[str, str]],
        body: bytes,
        limit_s: float,
        most: int,
    ) -> tuple[int, bytes]:
        """Status and body of the answer; with `most` 0 the body is not looked at."""
        deadline = _Deadline(time.monotonic() + limit_s)
        own = ("host", self._name), ("accept-encoding", "identity"), ("content-length", str(len(body)))
        request = h11.Request(method=method, target=target, headers=[*own, *headers])
        try:
            self._connect(deadline)
            parts: tuple[Any, ...] = (request, h11.Data(data=body), h11.EndOfMessage())
            self._send(b"".join(self._http.send(part) or b"" for part in parts), deadline)
            status = self._status(deadline)
            answer = self._body(deadline, most) if most else b""
            if not most:
                self._keep()
        except h11.RemoteProtocolError:
            self.close()
            raise CallError("what it answered is not HTTP") from None
        except BaseException:
            self.close()
            raise
        return status, answer

    def close(self) -> None:
        """The next call makes another connection."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _connect(self, deadline: _Deadline) -> None:
        if self._socket is not None and _is_quiet(self._socket):
            self._http.start_next_cycle()
            return
        self.close()
        problem: OSError | None = None
        for family, address in _addresses(self._host, self._port, deadline):
            sock = socket.socket(family, socket.SOCK_STREAM)
            try:
                sock.settimeout(deadline.left())
                sock.connect(address)
                # A request and its body are one send: nothing waits for more.
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                if self._tls is not None:
                    sock.settimeout(deadline.left())
                    sock = self._tls.wrap_socket(sock, server_hostname=self._host)
            except OSError as error:
                sock.close()
                deadline.left()
                problem = error
                continue
            self._socket = sock
            self._http = h11.Connection(h11.CLIENT, max_incomplete_event_size=MOST_BYTES)
            return
        raise problem or OSError("no address")

    def _send(self, data: bytes, deadline: _Deadline) -> None:
        assert self._socket is not None
        rest = memoryview(data)
        while rest:
            self._socket.settimeout(deadline.left())
            rest = rest[self._socket.send(rest) :]

    def _status(self, deadline: _Deadline) -> int:
        """The status of the answer, behind all interim ones."""
        assert self._socket is not None
        size = 0
        while not isinstance(event := self._http.next_event(), h11.Response):
            if event is not h11.NEED_DATA:
                continue  # an interim answer
            self._socket.settimeout(deadline.left())
            data = self._socket.recv(MOST_BYTES)
            if not data:
                raise CallError("it closed the connection without an answer")
            size += len(data)
            if size > MOST_BYTES:
                raise CallError(f"no answer within {MOST_BYTES // 1024} KiB")
            self._http.receive_data(data)
        return event.status_code

    def _body(self, deadline: _Deadline, most: int) -> bytes:
        assert self._socket is not None
        body = bytearray()
        while not isinstance(event := self._http.next_event(), h11.EndOfMessage):
            if isinstance(event, h11.Data):
                body += event.data
                if len(body) > most:
                    raise CallError(f"an answer of more than {most >> 20} MiB")
            else:
                self._socket.settimeout(deadline.left())
                self._http.receive_data(self._socket.recv(MOST_BYTES))
        return bytes(body)

    def _keep(self) -> None:
        """Read the rest of the answer if it is short and there, so that the connection can be used again."""
        assert self._socket is not None
        until, size = _Deadline(time.monotonic() + REST_S), 0
        with suppress(OSError, h11.RemoteProtocolError):
            while size <= MOST_BYTES and self._http.our_state is h11.DONE:
                event = self._http.next_event()
                if isinstance(event, h11.EndOfMessage) and not self._http.trailing_data[0]:
                    return
                if event is h11.PAUSED:
                    break
                if event is h11.NEED_DATA:
                    self._socket.settimeout(until.left())
                    data = self._socket.recv(MOST_BYTES)
                    size += len(data)
                    self._http.receive_data(data)
        self.close()


def _is_quiet(sock: socket.socket) -> bool:
    """Whether the server has neither closed a connection that is not in use nor said anything on it."""
    sock.settimeout(0)
    try:
        sock.recv(1)
    except (BlockingIOError, ssl.SSLWantReadError):
        return True
    except OSError:
        pass
    return False


def _addresses(host: str, port: int, deadline: _Deadline) -> list[tuple[int, Any]]:
    """The addresses of a host, each with its family. Raises OSError, and TimeoutError."""
    found: SimpleQueue[Any] = SimpleQueue()

    def resolve() -> None:
        try:
            found.put(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        except (OSError, UnicodeError) as error:
            found.put(error)

    # The resolver has no deadline: a thread that hangs in it is left behind, and ends with it.
    threading.Thread(target=resolve, name="resolve", daemon=True).start()
    try:
        answer = found.get(timeout=deadline.left())
    except Empty:
        raise TimeoutError from None
    if isinstance(answer, Exception):
        raise answer if isinstance(answer, OSError) else OSError(str(answer))
    return [(family, address) for family, _, _, _, address in answer]
