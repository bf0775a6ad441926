"""The games of a contest that is hosted in this process, for the restarts of its bots."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from arena_server.core.events import Abandoned, Event
from arena_server.core.log_events import GameOver, GameResumed, GameStarted, LogEvent
from arena_server.host.observers import Attachment


@dataclass(frozen=True, slots=True)
class _Game:
    """A running game: the bots with their slots."""

    players: Sequence[tuple[str, int]]
    over: asyncio.Event = field(default_factory=asyncio.Event)


class ObservedGames(Attachment):
    """Knows the running games (`base.BotGames`); let it observe the contest from its beginning.

    `feed` hands an event to the contest.
    """

    def __init__(self, feed: Callable[[Event], None]) -> None:
        self._feed = feed
        self._games: dict[str, _Game] = {}

    def happened(self, event: LogEvent) -> None:
        match event:
            case GameStarted(game, names, slots) | GameResumed(game, names, _, slots):
                self._games[game] = _Game(list(zip(names, slots or (1,) * len(names), strict=True)))
            case GameOver(game) if game in self._games:
                self._games.pop(game).over.set()

    async def game_of(self, name: str, slot: int) -> str | None:
        """Return the game that a bot plays in this slot, None between two games."""
        return next((game for game, each in self._games.items() if (name, slot) in each.players), None)

    async def abandon(self, name: str, slot: int, game: str, exceeded: str) -> None:
        """Have the referee play for a bot in its game, and wait for the end of the game."""
        running = self._games.get(game)
        if running is not None and (name, slot) in running.players:
            self._feed(Abandoned(name, slot, game, exceeded))
            await running.over.wait()
