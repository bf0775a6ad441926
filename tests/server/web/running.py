"""A web server on a real socket in a thread, for tests, and a client that writes raw requests."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from starlette.types import ASGIApp

from arena_server.host.logs import LineWriter, Log
from arena_server.host.sockets import address_of, bind
from arena_server.web.thread import WebThread

TOKEN = "0123456789abcdef"
#: Nothing here takes long; a server that hangs ends the test with an error.
LIMIT_S = 150.0


@dataclass
class Running:
    """A server that runs; `log` has its log once it has ended."""

    address: str
    log: str = ""

    def connect(self) -> socket.socket:
        host, _, port = self.address.rpartition(":")
        return socket.create_connection((host, int(port)), timeout=LIMIT_S)

    def send(self, request: str | bytes) -> bytes:
        """The whole answer to raw bytes (a text gets CRLF line ends)."""
        with self.connect() as sock:
            sock.sendall(
                request.replace("\n", "\r\n").encode("latin-1") if isinstance(request, str) else request
            )
            return read_all(sock)

    def ask(self, target: str, headers: str = "", host: str | None = None) -> tuple[int, dict[str, str], str]:
        """Status, headers and body of the answer to `target`, such as `GET /healthz`."""
        head = f"{target} HTTP/1.1\nHost: {self.address if host is None else host}\nConnection: close\n"
        return parse(self.send(f"{head}{headers}\n"))

    def ask_body(self, target: str, body: bytes, headers: str = "") -> tuple[int, dict[str, str], str]:
        """The same with a body."""
        head = f"{target} HTTP/1.1\nHost: {self.address}\nConnection: close\nContent-Length: {len(body)}\n"
        return parse(self.send(f"{head}{headers}\n".replace("\n", "\r\n").encode("latin-1") + body))


def read_all(sock: socket.socket) -> bytes:
    data = b""
    while chunk := sock.recv(65536):
        data += chunk
    return data


def parse(data: bytes) -> tuple[int, dict[str, str], str]:
    head, _, body = data.decode().partition("\r\n\r\n")
    first, *rest = head.splitlines()
    headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in rest)}
    return int(first.split()[1]), headers, body


@contextmanager
def running(make: Callable[[], ASGIApp], cap: int = 16) -> Iterator[Running]:
    """Serve what `make` returns; at the end the thread is over and the port free."""
    sock = bind("127.0.0.1", 0)
    reader, fd = os.pipe()
    lines = LineWriter(fd)
    server = Running(address_of(sock))
    try:
        with WebThread(sock, make, cap, Log(lines)):
            yield server
    finally:
        assert sock.fileno() == -1
        assert lines.close()
        os.close(fd)
        with os.fdopen(reader) as pipe:
            server.log = pipe.read()
