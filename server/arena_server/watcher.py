"""Whom a service tells what it does, beside those it does it for. It must not know: who listens."""

from __future__ import annotations

from collections.abc import Sequence

from arena_server.core.effects import Note


class Watcher:
    """Hears of everything on the loop's thread, and does nothing with it; see `admin/monitor.py`."""

    def ply(self, ns: int) -> None:
        """Tell that a line that led to a TURN was read `ns` nanoseconds ago."""

    def journaled(self) -> None:
        """Entries were handed to the store: one group more."""

    def kept(self, game_id: str) -> None:
        """A record was handed to the store."""

    def durable(self, groups: int, game_ids: Sequence[str]) -> None:
        """So many groups are durable by now, and the records of these games."""

    def noted(self, note: Note) -> None:
        """The contest or its host had something to say."""
