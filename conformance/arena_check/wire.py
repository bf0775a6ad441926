"""One connection of a case: lines in both directions, every one logged, every wait bounded.

Errors of the socket are no exceptions here: what cannot be sent any more is shown by the next `receive`.
"""

from __future__ import annotations

import socket
import struct
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic
from typing import Protocol

from arena_protocol.framing import LineReader, Overlong

#: SO_LINGER on with no time: close() sends RST instead of FIN.
_RESET = struct.pack("ii", 1, 0)
_CHUNK = 65536
#: As many bytes of an unfinished line are kept for reports.
_KEPT = 80
#: A peer that reads nothing for so long is as good as gone.
SEND_S = 10.0


@dataclass(frozen=True, slots=True)
class LoggedLine:
    """One line of a case's log: seconds from its start, the connection's number, `S` or `C`, the bytes.

    A line end that is LF alone is left out. `#` instead of a side is a remark, such as a connection's end.
    """

    at: float
    connection: int
    side: str
    data: bytes


class WireLog:
    """All that was sent and received in one case, by whichever connection; `now` is the clock of the case."""

    def __init__(self, now: Callable[[], float] = monotonic) -> None:
        self.now = now
        self.began = now()
        self.entries: list[LoggedLine] = []

    def add(self, connection: int, side: str, data: bytes) -> None:
        """Note a line, its LF left out, or a remark (`#`)."""
        self.entries.append(LoggedLine(self.now() - self.began, connection, side, data.removesuffix(b"\n")))


class Stream(Protocol):
    """What a connection needs of a socket; tests have one without a network and with a clock of its own."""

    def fileno(self) -> int: ...

    def settimeout(self, value: float | None, /) -> None: ...

    def setsockopt(self, level: int, name: int, value: int | bytes, /) -> None: ...

    def sendall(self, data: bytes, /) -> None: ...

    def recv(self, size: int, /) -> bytes: ...

    def shutdown(self, how: int, /) -> None: ...

    def close(self) -> None: ...


class ReceiveTimeoutError(Exception):
    """Nothing came for as long as the case was ready to wait."""


class Wire:
    """A connected socket. `side` is who we are, `S` or `C`; `limit` bounds the lines of the peer."""

    def __init__(self, sock: Stream, side: str, limit: int, log: WireLog, number: int) -> None:
        # Else the system would join what a case sends apart.
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket = sock
        self._side = side
        self._peer = "C" if side == "S" else "S"
        self._log = log
        self._number = number
        self._lines = LineReader(limit)
        self._ready: deque[bytes | Overlong] = deque()
        #: Whether the peer has closed or reset the connection.
        self.ended = False
        #: How many lines of the peer's ended in CR LF.
        self.with_cr = 0
        #: The end of what the peer has sent since its last LF.
        self.unfinished = b""

    def send(self, data: bytes) -> None:
        """Send these bytes in one piece."""
        for line in data.splitlines(keepends=True):
            self._log.add(self._number, self._side, line)
        self.socket.settimeout(SEND_S)
        with suppress(OSError):
            self.socket.sendall(data)

    def send_bytewise(self, data: bytes) -> None:
        """Send these bytes one at a time, each in a segment of its own."""
        self._log.add(self._number, "#", b"the next lines go byte by byte")
        for line in data.splitlines(keepends=True):
            self._log.add(self._number, self._side, line)
        self.socket.settimeout(SEND_S)
        with suppress(OSError):
            for place in range(len(data)):
                self.socket.sendall(data[place : place + 1])

    def receive(self, patience: float) -> bytes | Overlong | None:
        """Return the next line without its end, or None at the end of the connection.

        Raises ReceiveTimeoutError if `patience` seconds pass without a whole line.
        """
        deadline = self._log.now() + patience
        while not self._ready and not self.ended:
            left = deadline - self._log.now()
            if left <= 0:
                raise ReceiveTimeoutError
            self._read(left)
        return self._ready.popleft() if self._ready else None

    def pause(self, seconds: float) -> None:
        """Read for so long; what comes is left to `receive` and `waiting`."""
        deadline = self._log.now() + seconds
        while not self.ended and (left := deadline - self._log.now()) > 0:
            self._read(left)

    def waiting(self) -> bytes | Overlong | None:
        """Return the next line that has come without waiting for it; None without one."""
        return self._ready.popleft() if self._ready else None

    def _read(self, patience: float) -> None:
        self.socket.settimeout(patience)
        try:
            data = self.socket.recv(_CHUNK)
        except TimeoutError:
            # The caller looks at its own deadline, which may hold several reads.
            return
        except OSError:
            # A peer that closes with bytes unread resets the connection: to a case that is its end, too.
            data = b""
        if not data:
            self.ended = True
            rest = f", {self._lines.pending} bytes of an unfinished line" if self._lines.pending else ""
            self._log.add(self._number, "#", f"{self._peer} closed the connection{rest}".encode())
            return
        self.with_cr += data.count(b"\r\n")
        self.unfinished = (self.unfinished + data).rpartition(b"\n")[2][-_KEPT:]
        for line in self._lines.feed(data):
            self._ready.append(line)
            shown = line.head + b"... (too long)" if isinstance(line, Overlong) else line
            self._log.add(self._number, self._peer, shown)

    def half_close(self) -> None:
        """End our direction only: the peer reads the end of the stream and may still send."""
        self._log.add(self._number, "#", f"{self._side} sends no more".encode())
        with suppress(OSError):
            self.socket.shutdown(socket.SHUT_WR)

    def close(self, *, reset: bool = False) -> None:
        """End the connection, by FIN or by RST."""
        self._log.add(
            self._number, "#", f"{self._side} {'resets' if reset else 'closes'} the connection".encode()
        )
        with suppress(OSError):
            if reset:
                self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
            else:
                self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()


#: How a group of lines is sent: the cases about lines replace it.
Form = Callable[[Wire, list[str]], None]


def plainly(wire: Wire, lines: list[str]) -> None:
    """Send the lines in one piece, each ended by LF."""
    wire.send("".join(f"{line}\n" for line in lines).encode("ascii"))
