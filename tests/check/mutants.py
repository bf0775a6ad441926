"""Servers with exactly one defect each: a real one behind a relay that rewrites lines.

A defect is one function for the lines of the client or of the server: it gets a line, without its end, and
the connection, and returns the lines that are passed on in its place.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field

LIMIT_S = 150.0


@dataclass
class Connection:
    """One connection through the relay, with what a defect may want to know of it."""

    relay: MutantServer
    client: socket.socket
    server: socket.socket
    #: Free for the defect: how often something has happened, or whether.
    seen: dict[str, int] = field(default_factory=dict)
    hello: bytes = b""
    #: The verbs that the client has sent.
    sent: set[bytes] = field(default_factory=set)
    on_move: bool = False
    in_game: bool = False

    @property
    def resumed(self) -> bool:
        return b" resume=" in self.hello

    @property
    def sent_again(self) -> bool:
        """Whether what the server sends of a game is sent again: the client has not played here yet."""
        return not self.sent & {b"READY", b"MOVE"}

    def count(self, what: str) -> int:
        """How often this was called, this time included."""
        self.seen[what] = self.seen.get(what, 0) + 1
        return self.seen[what]

    def answer(self, *lines: bytes) -> None:
        """Send lines to the client in the server's place."""
        with suppress(OSError):
            self.client.sendall(b"".join(line + b"\n" for line in lines))

    def close(self) -> None:
        for sock in (self.client, self.server):
            with suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)


Rewrite = Callable[[bytes, Connection], "bytes | list[bytes]"]


def unchanged(line: bytes, connection: Connection) -> bytes:
    return line


@dataclass(frozen=True)
class Mutant:
    """One defect: the cases that name it, and the verdict that they are to give."""

    cases: tuple[str, ...]
    what: str
    from_client: Rewrite = unchanged
    from_server: Rewrite = unchanged
    #: Instead of `from_client`: how a chunk of the client's bytes is passed on, and what at its end.
    chunk: Callable[[bytes], bytes] | None = None
    at_end: Callable[[bytes], bytes] = field(default=lambda pending: b"")
    verdict: str = "failed"


class MutantServer:
    """Listens on loopback and passes lines on to a server, through the functions of a mutant."""

    def __init__(self, target: int, mutant: Mutant) -> None:
        self.mutant = mutant
        self.connections: list[Connection] = []
        self._target = target
        self._threads: list[threading.Thread] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._begin(self._serve)

    def __enter__(self) -> MutantServer:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        for connection in self.connections:
            connection.close()
        for thread in self._threads:
            thread.join(LIMIT_S)
        self._listener.close()

    def _begin(self, target: Callable[..., None], *arguments: object) -> None:
        thread = threading.Thread(target=target, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                client = self._listener.accept()[0]
                self._begin(self._relay, client)

    def _relay(self, client: socket.socket) -> None:
        with client, socket.create_connection(("127.0.0.1", self._target)) as server:
            for sock in (client, server):
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection = Connection(self, client, server)
            self.connections.append(connection)
            back = threading.Thread(target=self._from_client, args=(connection,), daemon=True)
            back.start()
            self._from_server(connection)
            back.join(LIMIT_S)

    def _from_server(self, connection: Connection) -> None:
        with suppress(OSError), connection.server.makefile("rb") as lines:
            for line in lines:
                verb = line.split(b" ")[0]
                connection.in_game = verb == b"START" or (connection.in_game and verb != b"OVER")
                connection.on_move = verb == b"TURN" or (connection.on_move and verb != b"PLAYED")
                connection.client.sendall(_ended(self.mutant.from_server(line[:-1], connection)))
        with suppress(OSError):
            connection.client.shutdown(socket.SHUT_RDWR)

    def _from_client(self, connection: Connection) -> None:
        pending = b""
        with suppress(OSError):
            while data := connection.client.recv(65536):
                if self.mutant.chunk is not None:
                    connection.server.sendall(self.mutant.chunk(data))
                    continue
                *lines, pending = (pending + data).split(b"\n")
                for line in lines:
                    connection.hello = connection.hello or line
                    connection.sent.add(line.split(b" ")[0])
                    connection.server.sendall(_ended(self.mutant.from_client(line, connection)))
            if pending:
                connection.server.sendall(self.mutant.at_end(pending) or pending)
        with suppress(OSError):
            connection.server.shutdown(socket.SHUT_RDWR)


def _ended(lines: bytes | list[bytes]) -> bytes:
    return b"".join(line + b"\n" for line in ([lines] if isinstance(lines, bytes) else lines))


MUTANTS: dict[str, Mutant] = {}


def from_client(*cases: str, verdict: str = "failed") -> Callable[[Rewrite], Rewrite]:
    """Enter a defect in what the server takes; its docstring says what is wrong."""

    def enter(rewrite: Rewrite) -> Rewrite:
        MUTANTS[rewrite.__name__] = Mutant(cases, rewrite.__doc__ or "", from_client=rewrite, verdict=verdict)
        return rewrite

    return enter


def from_server(*cases: str, verdict: str = "failed") -> Callable[[Rewrite], Rewrite]:
    """Enter a defect in what the server sends; its docstring says what is wrong."""

    def enter(rewrite: Rewrite) -> Rewrite:
        MUTANTS[rewrite.__name__] = Mutant(cases, rewrite.__doc__ or "", from_server=rewrite, verdict=verdict)
        return rewrite

    return enter


def verb(line: bytes) -> bytes:
    return line.split(b" ")[0]


def all_cases() -> Iterator[str]:
    """Every case that a defect names."""
    for mutant in MUTANTS.values():
        yield from mutant.cases
