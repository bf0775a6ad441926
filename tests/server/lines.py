"""A client of blocking lines on a real socket, which need not follow any protocol."""

from __future__ import annotations

import socket

from .programs import PATIENCE_S


class LineClient:
    """Connects at once; use it in a `with` statement, or call `close`.

    `source` is the loopback address it comes from, `window` the size of its receive buffer, `segment` that of
    a TCP segment.
    """

    def __init__(
        self, port: int, *, source: str = "127.0.0.1", window: int | None = None, segment: int | None = None
    ) -> None:
        self.sock = socket.socket()
        if window is not None:
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, window)
        if segment is not None:
            self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, segment)
        self.sock.settimeout(PATIENCE_S)
        self.sock.bind((source, 0))
        self.sock.connect(("127.0.0.1", port))
        self._lines = self.sock.makefile("rb")

    def __enter__(self) -> LineClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def send(self, data: bytes) -> None:
        self.sock.sendall(data)

    def say(self, line: str) -> None:
        self.send(line.encode() + b"\n")

    def line(self) -> str:
        """The next line; empty at the end of the stream."""
        return self._lines.readline().decode("ascii").rstrip("\n")

    def until(self, verb: str) -> str:
        """Read up to the next line of this verb; an error at the end of the stream."""
        while line := self.line():
            if line.startswith(verb):
                return line
        raise EOFError(verb)

    def play(self) -> None:
        """The three moves of a game of six plies."""
        self.say("READY " + self.until("GAME").split()[1])
        for _ in range(3):
            self.until("TURN")
            self.say("MOVE 6")

    def play_to_the_end(self) -> str:
        """A game to its OVER."""
        self.play()
        return self.until("OVER")

    def rest(self) -> list[str]:
        """All that comes until the server closes; a reset is an end as well."""
        lines: list[str] = []
        try:
            while line := self.line():
                lines.append(line)
        except ConnectionResetError:
            lines.append("reset")
        return lines

    def close(self) -> None:
        self._lines.close()
        self.sock.close()
