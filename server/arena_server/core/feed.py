"""What spectators may see of one game, line by line, each with the moment it was said.

A line is shown once the contest's delay has passed. It must not know: who watches, connections,
the order of play.
"""

from __future__ import annotations


class Feed:
    """The lines of one game for spectators, oldest first."""

    __slots__ = ("_lines", "_tag", "closed", "game_id", "shown")

    def __init__(self, game_id: str) -> None:
        self.game_id = game_id
        #: Whether the last line has been said.
        self.closed = False
        self._tag = f" game={game_id}\n".encode("ascii")
        self._lines: list[tuple[int, bytes, bool]] = []
        #: So many lines are shown.
        self.shown = 0

    def say(self, now: int, line: bytes) -> None:
        """Add a line that names its game itself."""
        self._lines.append((now, line, False))

    def share(self, now: int, line: bytes) -> None:
        """Add a line just as the players got it; `game=` is put in when somebody sees it."""
        self._lines.append((now, line, True))

    def close(self, now: int, line: bytes) -> None:
        """Add the last line."""
        self.say(now, line)
        self.closed = True

    def show(self, until: int) -> None:
        """Show what was said up to the moment `until`."""
        while self.shown < len(self._lines) and self._lines[self.shown][0] <= until:
            self.shown += 1

    def read(self, begin: int, size: int) -> tuple[bytes, int]:
        """What is shown from line `begin` (0, 1, ...) on, and the line to read on from.

        It ends with the line that makes it `size` bytes or more.
        """
        text, line = b"", begin
        while line < self.shown and len(text) < size:
            _, said, shared = self._lines[line]
            text += said[:-1] + self._tag if shared else said
            line += 1
        return text, line

    @property
    def next(self) -> int | None:
        """The moment at which the first line not shown was said; None if all are shown."""
        return self._lines[self.shown][0] if self.shown < len(self._lines) else None
