"""Bytes into lines, in bounded memory.

A `LineReader` is fed whatever a socket returned and gives the complete lines. It keeps at most
one unfinished line; a line over the limit is reported once and discarded up to its end.
"""

from __future__ import annotations

from dataclasses import dataclass

#: Bytes of the longest line of each side, without its line end.
CLIENT_LINE_LIMIT = 1024
SERVER_LINE_LIMIT = 65536

#: Bytes of an over-long line that are kept for error messages and the record.
OVERLONG_HEAD = 64


@dataclass(frozen=True, slots=True)
class Overlong:
    """Stands for a line longer than the limit; `head` is its beginning."""

    head: bytes = b""


class LineReader:
    r"""Splits a byte stream into lines of at most `limit` bytes; a line ends in `\n` or `\r\n`.

    The lines do not depend on how the stream is cut into chunks. Any bytes give lines and
    `Overlong`s, never an exception, and at most `limit` + 1 bytes are kept between two calls.
    """

    __slots__ = ("_discarding", "_head", "_limit", "_pending", "clear")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._head = min(limit, OVERLONG_HEAD)
        self._pending = b""
        self._discarding = False
        #: Whether the stream so far ended with a line end: the next byte begins a line.
        self.clear = True

    @property
    def pending(self) -> int:
        """Number of bytes of the unfinished line."""
        return len(self._pending)

    def feed(self, data: bytes) -> list[bytes | Overlong]:
        """Return the lines that `data` completes, without their line ends.

        An over-long line is reported as soon as its length exceeds the limit, before its end.
        """
        *ended, rest = data.split(b"\n")
        out: list[bytes | Overlong] = []
        for piece in ended:
            self._end_line(piece, out)
        if rest:
            self._keep(rest, out)
        self.clear = not (self._pending or self._discarding)
        return out

    def _end_line(self, piece: bytes, out: list[bytes | Overlong]) -> None:
        """Complete a line; `piece` is its part in this chunk."""
        line = self._pending + piece if self._pending else piece
        self._pending = b""
        # It was reported when it grew too long; this is its end.
        if self._discarding:
            self._discarding = False
            return
        # One only: a second `\r` belongs to the line, and is a syntax error there. Nothing behind the
        # reader takes one off again.
        if line.endswith(b"\r"):
            line = line[:-1]
        out.append(line if len(line) <= self._limit else Overlong(line[: self._head]))

    def _keep(self, rest: bytes, out: list[bytes | Overlong]) -> None:
        """Keep the beginning of a line unless it is already too long."""
        if self._discarding:
            return
        line = self._pending + rest
        # One byte above the limit may be the `\r` of the line end.
        excess = len(line) - self._limit
        if excess > 1 or (excess == 1 and not line.endswith(b"\r")):
            out.append(Overlong(line[: self._head]))
            self._discarding, line = True, b""
        self._pending = line
