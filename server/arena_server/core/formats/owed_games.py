"""Games that are owed: void ones that are played again, and the other games of a deal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Owed:
    """A game of these players on this deal that is to be played; one that is played again has a `number`."""

    players: tuple[int, ...]
    deal: int
    number: int | None = None


class OwedGames:
    """What is owed, and which of it may start."""

    def __init__(self) -> None:
        self.by_player: list[dict[Owed, None]] = []
        #: The players that have left, and what is not played for it.
        self._left: set[int] = set()
        self.dropped: list[Owed] = []
        #: Those of which a player may have become free since they could not start.
        self._maybe: dict[Owed, None] = {}

    def __iter__(self) -> Iterator[Owed]:
        return iter({owed: None for games in self.by_player for owed in games})

    def add(self, owed: Owed) -> None:
        if not self._left.isdisjoint(owed.players):
            self.dropped.append(owed)
            return
        for player in owed.players:
            self.by_player[player][owed] = None
        self._maybe[owed] = None

    def remove(self, owed: Owed) -> None:
        for player in owed.players:
            del self.by_player[player][owed]
        # A contest that was interrupted, and is paused, has asked for no game since it noted this one.
        self._maybe.pop(owed, None)

    def leave(self, player: int) -> None:
        """What `player` owes is not played, until it comes back."""
        self._left.add(player)
        for owed in list(self.by_player[player]):
            self.remove(owed)
            self.dropped.append(owed)

    def come_back(self, player: int) -> None:
        self._left.discard(player)
        dropped, self.dropped = self.dropped, []
        for owed in dropped:
            self.add(owed)

    def partners(self, player: int) -> set[int]:
        """With whom it owes a game: when `player` comes or goes they may wait for others, or not any more."""
        return {each for owed in self.by_player[player] for each in owed.players} - {player}

    def look_at(self, player: int) -> None:
        """`player` is free."""
        self._maybe.update(self.by_player[player])

    def take(self, free: Mapping[int, int]) -> Owed | None:
        """A game that can start now; `free` has how many games each player that is present can start."""
        while self._maybe:
            owed = next(iter(self._maybe))
            del self._maybe[owed]
            if all(free.get(player, 0) > 0 for player in owed.players):
                return owed
        return None
