"""What a client has not read yet of what it was sent, with a bound."""

from __future__ import annotations

from arena_server.core.effects import Marker

#: Bytes that a client may leave unread; then it is disconnected.
OUTPUT_LIMIT = 64 * 1024


class OutputBuffer:
    """Bytes that the socket has not taken yet, and the markers of what was sent; free of I/O."""

    __slots__ = ("_markers", "data")

    def __init__(self) -> None:
        self.data = bytearray()
        #: Lists: they are nearly always empty, and an empty deque weighs 600 bytes.
        self._markers: list[tuple[int, Marker]] = []

    def add(self, data: bytes, marker: Marker | None) -> bool:
        """Keep `data`. Returns False, and keeps nothing, if that exceeds OUTPUT_LIMIT."""
        if len(self.data) + len(data) > OUTPUT_LIMIT:
            return False
        self.data += data
        if marker is not None:
            self._markers.append((len(self.data), marker))
        return True

    def sent(self, count: int) -> list[Marker]:
        """The socket took the first `count` bytes. Returns the markers whose last byte is among them."""
        del self.data[:count]
        if not self._markers:
            return []
        markers, self._markers = self._markers, []
        reached = [marker for end, marker in markers if end <= count]
        self._markers = [(end - count, marker) for end, marker in markers if end > count]
        return reached
