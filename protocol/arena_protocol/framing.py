"""Bytes into lines, in bounded memory.

It must not know: what a line means, nor where the bytes come from.
"""

from __future__ import annotations

from dataclasses import dataclass

#: Bytes of the longest line of either side, its line end not counted.
CLIENT_LINE_LIMIT = 1024
SERVER_LINE_LIMIT = 65536

#: As much of an over-long line as is kept, to be shown to people.
OVERLONG_HEAD = 64


@dataclass(frozen=True, slots=True)
class Overlong:
    """Stands in the place of a line longer than the limit; `head` is how the line began."""

    head: bytes = b""


class LineBuffer:
    r"""Cut a stream into lines of at most `limit` bytes; lines end in `\n` or `\r\n`.

    Whatever the chunks are, the lines are the same. Any bytes give lines and `Overlong`s,
    never an exception, and no more than `limit` + 1 bytes are ever kept between two calls.
    """

    __slots__ = ("_head", "_limit", "_pending", "_swallowing", "clear")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._head = min(limit, OVERLONG_HEAD)
        self._pending = b""
        self._swallowing = False
        #: Whether the last chunk ended with a line end: then the next one starts a line.
        self.clear = True

    @property
    def pending(self) -> int:
        """How many bytes of an unfinished line are kept."""
        return len(self._pending)

    def feed(self, data: bytes) -> list[bytes | Overlong]:
        """Return the lines that `data` completes, without their line ends.

        An over-long line is reported once, as soon as it is known to be one; the rest of
        it is swallowed up to its end.
        """
        *ended, rest = data.split(b"\n")
        out: list[bytes | Overlong] = []
        for piece in ended:
            self._end(piece, out)
        if rest:
            self._keep(rest, out)
        self.clear = not (self._pending or self._swallowing)
        return out

    def _end(self, piece: bytes, out: list[bytes | Overlong]) -> None:
        """Complete a line: `piece` is what stood before its line end in this chunk."""
        line = self._pending + piece if self._pending else piece
        self._pending = b""
        if self._swallowing:
            self._swallowing = False
            return
        if line.endswith(b"\r"):
            line = line[:-1]
        out.append(line if len(line) <= self._limit else Overlong(line[: self._head]))

    def _keep(self, rest: bytes, out: list[bytes | Overlong]) -> None:
        """Keep the start of a line, unless the line is too long whatever follows."""
        if self._swallowing:
            return
        line = self._pending + rest
        # One byte more than the limit may yet turn out to be the `\r` of the line end.
        excess = len(line) - self._limit
        if excess > 1 or (excess == 1 and not line.endswith(b"\r")):
            out.append(Overlong(line[: self._head]))
            self._swallowing, line = True, b""
        self._pending = line
