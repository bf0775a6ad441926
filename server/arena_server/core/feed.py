"""What spectators may see of one game, line by line, each with the moment it was said.

A line is shown once the contest's delay has passed; a newcomer's snapshot is all that is
shown already. It must not know: who watches, connections, the order of play.
"""

from __future__ import annotations


class Feed:
    """The lines of one game for spectators, oldest first."""

    __slots__ = ("_lines", "_shown", "_tag", "closed", "game_id")

    def __init__(self, game_id: str) -> None:
        self.game_id = game_id
        #: Whether the last line has been said.
        self.closed = False
        self._tag = f" game={game_id}\n".encode("ascii")
        self._lines: list[tuple[int, bytes, bool]] = []
        self._shown = 0

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

    def show(self, until: int) -> bytes:
        """Show what was said up to the moment `until`; returns what was not shown before."""
        begin = self._shown
        while self._shown < len(self._lines) and self._lines[self._shown][0] <= until:
            self._shown += 1
        return self._text(begin)

    def snapshot(self) -> bytes:
        """All that is shown."""
        return self._text(0)

    def _text(self, begin: int) -> bytes:
        return b"".join(
            line[:-1] + self._tag if shared else line for _, line, shared in self._lines[begin : self._shown]
        )

    @property
    def next(self) -> int | None:
        """The moment at which the first line not shown was said; None if all are shown."""
        return self._lines[self._shown][0] if self._shown < len(self._lines) else None
