"""A relay between a bot and its server that logs all lines and cuts connections at stated lines."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count

#: A thread that does not end makes its test fail instead of hanging.
LIMIT_S = 150.0

#: SO_LINGER with no time: close() sends RST instead of FIN.
_RESET = struct.pack("ii", 1, 0)


@dataclass(frozen=True)
class Cut:
    """Where a connection ends: at the first line of the server that starts with `verb` ...

    ... of which the first `keep` bytes are still sent (-1: all of it, with its end). `reset`: by RST.
    """

    verb: str
    keep: int = -1
    reset: bool = False


@dataclass
class Relay:
    """Listens on loopback; connection number i is cut by `cuts[i]`, later ones are left alone."""

    target: int
    cuts: Sequence[Cut] = ()
    #: Every line that was passed on: the connection, `S` or `C`, the line.
    log: list[tuple[int, str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._threads: list[threading.Thread] = []
        self._begin(self._serve)

    def __enter__(self) -> Relay:
        return self

    def __exit__(self, *_: object) -> None:
        """Close the port and wait until every connection has ended: both its ends must be gone by then."""
        _shut(self._listener)
        for thread in self._threads:
            thread.join(LIMIT_S)
        self._listener.close()

    def lines(self, side: str, connection: int | None = None) -> list[str]:
        """The lines of one side, of all connections or of one."""
        return [line for number, who, line in self.log if who == side and connection in (None, number)]

    def _begin(self, target: Callable[..., None], *arguments: object) -> None:
        thread = threading.Thread(target=target, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _serve(self) -> None:
        with suppress(OSError):
            for number in count():
                client = self._listener.accept()[0]
                self._begin(self._join, number, client)

    def _join(self, number: int, client: socket.socket) -> None:
        """Pass lines on in both directions until one of the two has gone."""
        cut = self.cuts[number] if number < len(self.cuts) else None
        with client, socket.create_connection(("127.0.0.1", self.target)) as server:
            for sock in (client, server):
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            back = threading.Thread(target=self._pump, args=(number, client, server, "C", None), daemon=True)
            back.start()
            reset = self._pump(number, server, client, "S", cut)
            back.join()
            if reset:
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)

    def _pump(
        self, number: int, source: socket.socket, sink: socket.socket, side: str, cut: Cut | None
    ) -> bool:
        """Pass the lines of one direction on up to the end or the cut; return whether that is a reset."""
        reset = False
        with suppress(OSError), source.makefile("rb") as lines:
            for line in lines:
                if cut is not None and line.startswith(cut.verb.encode()):
                    sink.sendall(line if cut.keep < 0 else line[: cut.keep])
                    reset = cut.reset
                    break
                self.log.append((number, side, line.decode().rstrip("\n")))
                sink.sendall(line)
        _shut(source)
        # A FIN would come before the RST.
        _shut(sink, socket.SHUT_RD if reset else socket.SHUT_RDWR)
        return reset


def _shut(sock: socket.socket, how: int = socket.SHUT_RDWR) -> None:
    """End both directions, or one, if they have not ended yet."""
    with suppress(OSError):
        sock.shutdown(how)
