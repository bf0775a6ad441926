"""Players that wait for a game, by how long they wait and by their ratings.

The ratings are Elo's with a factor that falls with the number of games (A. E. Elo, "The Rating of
Chessplayers", 1978); with more than two seats a game counts as its mean against each of the others.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from typing import Final

START: Final = 1500.0
#: How much a rating moves by one game at most: at first, in the end, and after how many games half as much.
FIRST_STEP: Final = 200.0
LAST_STEP: Final = 16.0
HALVED_AFTER: Final = 4


class EloRatings:
    """The running estimates of the ratings, by player."""

    def __init__(self) -> None:
        self.ratings: list[float] = []
        self._games: list[int] = []

    def add_player(self) -> None:
        self.ratings.append(START)
        self._games.append(0)

    def add(self, players: Sequence[int], totals: Sequence[int]) -> None:
        """Learn from a game, whose `totals` are in the order of `players`."""
        before = [self.ratings[player] for player in players]
        for seat, player in enumerate(players):
            others = [other for other in range(len(players)) if other != seat]
            gained = sum(_score(totals[seat], totals[other]) for other in others)
            expected = sum(expected_score(before[seat] - before[other]) for other in others)
            step = max(LAST_STEP, FIRST_STEP / (1 + self._games[player] / HALVED_AFTER))
            self.ratings[player] += step * (gained - expected) / len(others)
            self._games[player] += 1


def expected_score(difference: float) -> float:
    """The score that is expected of a player who is stronger by this number of Elo points."""
    return float(1 / (1 + 10 ** (-difference / 400)))


def _score(own: int, other: int) -> float:
    return 1.0 if own > other else 0.5 if own == other else 0.0


class Queue:
    """The players that wait, in the order in which they came and in the order of their ratings."""

    def __init__(self, ratings: Sequence[float]) -> None:
        self._ratings = ratings
        #: The key under which each player stands in `_by_rating`.
        self._waiting: OrderedDict[int, tuple[float, int]] = OrderedDict()
        self._by_rating: list[tuple[float, int]] = []

    def __len__(self) -> int:
        return len(self._waiting)

    def __contains__(self, player: int) -> bool:
        return player in self._waiting

    def __iter__(self) -> Iterator[int]:
        """Who waits, the one that has waited longest first."""
        return iter(self._waiting)

    def enter(self, player: int) -> None:
        """`player` waits, behind all others."""
        key = self._waiting[player] = self._ratings[player], player
        insort(self._by_rating, key)

    def leave(self, player: int) -> None:
        key = self._waiting.pop(player)
        del self._by_rating[bisect_left(self._by_rating, key)]

    def rerate(self, player: int) -> None:
        """The rating of `player` has changed; it keeps its place if it waits."""
        if player in self._waiting:
            del self._by_rating[bisect_left(self._by_rating, self._waiting[player])]
            key = self._waiting[player] = self._ratings[player], player
            insort(self._by_rating, key)

    def nearest(self, player: int) -> Iterator[int]:
        """The others that wait, by the distance of their ratings from that of `player`."""
        own = self._waiting[player]
        above = bisect_left(self._by_rating, own) + 1
        below = above - 2
        while below >= 0 or above < len(self._by_rating):
            if below < 0 or (
                above < len(self._by_rating)
                and self._by_rating[above][0] - own[0] < own[0] - self._by_rating[below][0]
            ):
                yield self._by_rating[above][1]
                above += 1
            else:
                yield self._by_rating[below][1]
                below -= 1
