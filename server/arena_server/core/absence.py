"""Which players are away, and for how long they are waited for.

It must not know: connections, games.
"""

from __future__ import annotations

from arena_server.core.clock import NS_PER_MS
from arena_server.core.deadlines import Deadlines, Kind
from arena_server.core.peer import Outbox, Player


class Absence:
    """A player away for longer than `limit_ms` is `gone`; None: whoever is away is waited for."""

    def __init__(self, limit_ms: int | None, out: Outbox, deadlines: Deadlines) -> None:
        self._limit = None if limit_ms is None else limit_ms * NS_PER_MS
        self._out = out
        self._deadlines = deadlines

    def begin(self, player: Player, now: int) -> None:
        """`player` is away from now on."""
        if self._limit is not None:
            self._deadlines.set((Kind.ABSENCE, player.number), now + self._limit)

    def end(self, player: Player) -> None:
        """`player` is there."""
        player.gone = False
        self._deadlines.set((Kind.ABSENCE, player.number), None)

    def quit(self, player: Player) -> None:
        """`player` went in good order: it is not waited for, unless the contest waits for ever."""
        if self._limit is not None:
            self.give_up(player)

    def give_up(self, player: Player) -> None:
        """Nobody waits for `player` any more."""
        self._deadlines.set((Kind.ABSENCE, player.number), None)
        player.gone = True
        self._out.note("warning", "absent", bot=player.name)
