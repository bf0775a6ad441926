"""From results to a table: points, games, wins and faults of every player.

Scoring by `points` ranks by the points of all games together; scoring by `wins` by the games
in which a player alone had the most points. The two may disagree entirely: whoever loses
every game may win a contest on points.
Players with the same score share a rank, and the next rank is left out accordingly. Within
a rank stands first who has more of the other measure (wins, or points), then the name in
the order of the alphabet. A void game is no game.
It must not know: how a game was played, who is connected.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

SCORINGS = ("points", "wins")


@dataclass(frozen=True, slots=True)
class Result:
    """How a game ended: `totals` in the order of `names`; `faults` are (name, kind)."""

    names: tuple[str, ...]
    totals: tuple[int, ...]
    faults: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table; `faults` counts them by kind."""

    rank: int
    name: str
    points: int
    games: int
    wins: int
    faults: Mapping[str, int]

    @property
    def mean(self) -> float:
        """Points a game; 0 before the first."""
        return self.points / self.games if self.games else 0.0


@dataclass(slots=True)
class _Sums:
    points: int = 0
    games: int = 0
    wins: int = 0
    faults: Counter[str] = field(default_factory=Counter)


class Standings:
    """The running sums; `rows` gives the table at any moment.

    Raises ValueError for a scoring that does not exist.
    """

    def __init__(self, names: Iterable[str], scoring: str = "points") -> None:
        if scoring not in SCORINGS:
            raise ValueError(f"scoring is one of {', '.join(SCORINGS)}, not {scoring!r}")
        self._scoring = scoring
        self._sums = {name: _Sums() for name in names}

    def add(self, result: Result) -> None:
        """Count one more game."""
        best = max(result.totals)
        alone = result.totals.count(best) == 1
        for name, total in zip(result.names, result.totals, strict=True):
            sums = self._sums[name]
            sums.points += total
            sums.games += 1
            sums.wins += alone and total == best
        for name, kind in result.faults:
            self._sums[name].faults[kind] += 1

    def rows(self) -> tuple[Row, ...]:
        """The table, the best first."""
        order = sorted(self._sums, key=self._order)
        scores = [self._score(name) for name in order]
        return tuple(
            self._row(1 + scores.index(score), name) for name, score in zip(order, scores, strict=True)
        )

    def _row(self, rank: int, name: str) -> Row:
        sums = self._sums[name]
        return Row(rank, name, sums.points, sums.games, sums.wins, dict(sorted(sums.faults.items())))

    def _score(self, name: str) -> int:
        sums = self._sums[name]
        return sums.points if self._scoring == "points" else sums.wins

    def _order(self, name: str) -> tuple[int, int, str]:
        sums = self._sums[name]
        score = self._score(name)
        return -score, -(sums.points + sums.wins - score), name


def standings(names: Iterable[str], results: Iterable[Result], scoring: str = "points") -> tuple[Row, ...]:
    """The table of these results: see `Standings`."""
    table = Standings(names, scoring)
    for result in results:
        table.add(result)
    return table.rows()
