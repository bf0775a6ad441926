"""Results of a contest: the table.

Scoring by `points` ranks by the points of all games together; scoring by `wins` by the games in which
a player alone had the most points, and half of those in which others had as many (draws); values for a win, a
draw and a loss (`scoring.py`) replace 1, 1/2 and 0. Points and wins may
disagree entirely: a player that loses every game may win a contest on points. While players have different
numbers of games (`by_mean`) the score a game decides, or who has played more would lead; the tie-breaks are
means then, too. A format that draws may rank by scores of its own, with byes and walkovers, instead
(`Format.scores`). Players with the same score are separated by the contest's tie-breaks (`tiebreaks.py`); if
these are equal, too, they share a rank, and the ranks after them are left out. Within a rank the player with
more of the other measure (wins, or points) comes first, then the name decides. A void game does not count,
and neither does a result that is not durable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import Any

from arena_server.stats import tiebreaks
from arena_server.stats.results import GameResult
from arena_server.stats.scoring import scoring_of
from arena_server.stats.tiebreaks import HeadToHead, PlayerSums, Unplayed


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table; `faults` counts them by kind."""

    rank: int
    name: str
    points: int
    games: int
    wins: int
    faults: Mapping[str, int]
    #: The value of each tie-break of the contest, in their order.
    tie_breaks: Mapping[str, Fraction] = field(default_factory=dict)
    #: What the table ranks by: the score of a format, or wins with halves for draws, where these decide.
    score: Fraction | None = None
    #: The points that the jury has taken from the score.
    penalty: Fraction = Fraction(0)

    @property
    def mean(self) -> float:
        """Points a game; 0 before the first."""
        return self.points / self.games if self.games else 0.0

    @property
    def has_counted(self) -> bool:
        """Whether it has a game, or a score by a bye or a walkover; a penalty alone is no place."""
        return bool(self.games or (self.score is not None and self.score + self.penalty > 0))


def row_json(row: Row) -> dict[str, Any]:
    """Return one row of the standings as JSON types; `score` and `tie_breaks` only if there are some."""
    plain: dict[str, Any] = {
        "rank": row.rank if row.has_counted else None,
        "bot": row.name,
        "points": row.points,
        "games": row.games,
        "mean": round(row.mean, 2),
        "wins": row.wins,
        "faults": dict(row.faults),
    }
    if row.score is not None:
        plain["score"] = number_json(row.score)
    if row.penalty:
        plain["penalty"] = number_json(row.penalty)
    if row.tie_breaks:
        plain["tie_breaks"] = {name: number_json(value) for name, value in row.tie_breaks.items()}
    return plain


def number_json(value: Fraction) -> int | float:
    """A score in the types of JSON."""
    return int(value) if value.denominator == 1 else round(float(value), 4)


class Standings:
    """The running sums; `rows` gives the table at any moment.

    `secret` is that of the contest, for the tie-break `lot`. `ranked_by` gives the scores of a format that
    has some, `unplayed` the games that its rounds did without. Raises ValueError for a scoring or a tie-break
    that does not exist.
    """

    def __init__(
        self,
        names: Iterable[str],
        scoring: str = "points",
        tie_breaks: Sequence[str] = (),
        secret: int = 0,
        ranked_by: Callable[[], Mapping[str, Fraction] | None] = lambda: None,
        unplayed: Callable[[], Mapping[str, Sequence[Unplayed]]] = dict,
    ) -> None:
        self.scoring = scoring_of(scoring)
        self._tie_breaks = tiebreaks.check(tie_breaks)
        self._secret = secret
        self._ranked_by = ranked_by
        self._unplayed = unplayed
        self._sums = {name: PlayerSums() for name in names}
        #: Who won each game of a deal of two players (None: a draw), where that is asked for.
        self._deals: dict[tuple[frozenset[str], int], list[str | None]] | None = (
            {} if "pairs-won" in self._tie_breaks else None
        )
        self._penalties: dict[str, Fraction] = {}
        #: How many games are counted.
        self.games = 0

    def join(self, name: str) -> None:
        """One more player."""
        self._sums[name] = PlayerSums()

    def penalise(self, name: str, points: Fraction) -> None:
        """These points are taken from the score of a player, unless the format gives the scores."""
        self._penalties[name] = points

    def add(self, result: GameResult, sign: int = 1) -> None:
        """Count one more game, or several; by -1 it is taken back."""
        games = sign * result.games
        self.games += games
        best = max(result.totals)
        alone = result.totals.count(best) == 1
        seats = list(zip(result.names, result.totals, strict=True))
        for name, total in seats:
            sums = self._sums[name]
            sums.points += sign * total
            sums.games += games
            sums.wins += games * (alone and total == best)
            sums.draws += games * (not alone and total == best)
            sums.won_plies += sign * result.plies * (alone and total == best)
            for other, others in seats:
                if other != name:
                    sums.meet(other, total, others, games)
        for name, kind in result.faults:
            self.add_faults(name, kind, sign)
        for name, used in zip(result.names, result.used_ms, strict=False):
            self._sums[name].used_ms += sign * used

        if self._deals is not None and result.deal and len(seats) == 2:
            self._count_deal(
                self._deals, result, seats[result.totals.index(best)][0] if alone else None, sign
            )

    def _count_deal(
        self,
        deals: dict[tuple[frozenset[str], int], list[str | None]],
        result: GameResult,
        winner: str | None,
        sign: int,
    ) -> None:
        """One game more or less of a deal; both of its games may be won by one player."""
        won = deals.setdefault((frozenset(result.names), result.deal), [])
        self._count_pair(won, -1)
        if sign > 0:
            won.append(winner)
        else:
            won.remove(winner)
        self._count_pair(won, 1)

    def _count_pair(self, won: Sequence[str | None], sign: int) -> None:
        if len(won) == 2 and won[0] is not None and won[0] == won[1]:
            self._sums[won[0]].pairs += sign

    @property
    def counts_deals(self) -> bool:
        """Whether `pairs-won` is asked for."""
        return self._deals is not None

    def set_pairs(self, pairs: Mapping[str, int]) -> None:
        """The deals both of whose games each player has won, of all games that are counted."""
        for name, sums in self._sums.items():
            sums.pairs = pairs.get(name, 0)

    @property
    def players(self) -> Mapping[str, PlayerSums]:
        """The sums of each player."""
        return self._sums

    def add_faults(self, name: str, kind: str, count: int) -> None:
        """Count faults of games that are counted apart."""
        faults = self._sums[name].faults
        faults[kind] += count
        if not faults[kind]:  # taken back
            del faults[kind]

    def against(self, name: str) -> Mapping[str, HeadToHead]:
        """The games of `name` against each opponent that it has met."""
        return self._sums[name].against

    @property
    def by_mean(self) -> bool:
        """Whether the score a game decides: some players have more games than others."""
        return len({sums.games for sums in self._sums.values()}) > 1

    def scores(self) -> dict[str, Fraction]:
        """What the table ranks by, of each player."""
        drawn = self._ranked_by()
        if drawn is None:
            return self._own_scores(by_mean=self.by_mean)
        # A late entrant may be known here before what was drawn until then may be shown.
        return {name: drawn.get(name, Fraction(0)) for name in self._sums}

    def _own_scores(self, *, by_mean: bool) -> dict[str, Fraction]:
        return {name: self._score(name, by_mean=by_mean) for name in self._sums}

    def rows(self) -> tuple[Row, ...]:
        """The table, the best first."""
        by_mean, drawn = self.by_mean, self._ranked_by()
        own, scores = self._own_scores(by_mean=by_mean), self.scores()
        shown = None if drawn is None and not self._needs_score(own) else scores
        broken = self._broken(scores, None if drawn is None else scores, by_mean=by_mean and drawn is None)
        order = sorted(self._sums, key=lambda name: self._order(name, scores[name], broken[name], own[name]))
        ranks: dict[tuple[Fraction, ...], int] = {}
        for rank, name in enumerate(order, start=1):
            ranks.setdefault((scores[name], *broken[name]), rank)  # the first of equals gives the rank
        return tuple(
            self._row(ranks[scores[name], *broken[name]], name, broken[name], shown) for name in order
        )

    def _needs_score(self, scores: Mapping[str, Fraction]) -> bool:
        """Whether a reader needs the scores: points or games won alone may give another order."""
        if any(self._penalties.values()):
            return True
        if self.scoring.by_points or self.scoring.has_values:
            return self.scoring.has_values
        games = {name: max(1, sums.games) if self.by_mean else 1 for name, sums in self._sums.items()}
        pairs = sorted((scores[name], Fraction(self._sums[name].wins, games[name])) for name in scores)
        return any((a < c) != (b < d) or b > d for (a, b), (c, d) in pairwise(pairs))

    def _broken(
        self, scores: Mapping[str, Fraction], whole: Mapping[str, Fraction] | None, *, by_mean: bool
    ) -> dict[str, tuple[Fraction, ...]]:
        """The values of the tie-breaks of each player."""
        unplayed = self._unplayed() if self._tie_breaks else {}
        return tiebreaks.values(
            self._tie_breaks,
            self._sums,
            scores,
            self._secret,
            whole,
            by_mean=by_mean,
            unplayed=unplayed,
            scoring=self.scoring,
        )

    def _row(
        self, rank: int, name: str, broken: Sequence[Fraction], shown: Mapping[str, Fraction] | None
    ) -> Row:
        sums = self._sums[name]
        return Row(
            rank,
            name,
            sums.points,
            sums.games,
            sums.wins,
            dict(sorted(sums.faults.items())),
            dict(zip(self._tie_breaks, broken, strict=True)),
            None if shown is None else shown[name],
            self._penalties.get(name, Fraction(0)),
        )

    def _score(self, name: str, *, by_mean: bool) -> Fraction:
        """Exact, so that equal means are equal."""
        sums = self._sums[name]
        if self.scoring.by_points:
            score = Fraction(sums.points)
        else:
            score = self.scoring.of(sums.games, sums.wins, sums.draws)
        score -= self._penalties.get(name, 0)
        return score / max(1, sums.games) if by_mean else score

    def _order(
        self, name: str, score: Fraction, broken: Sequence[Fraction], own: Fraction
    ) -> tuple[Any, ...]:
        sums = self._sums[name]
        other = sums.wins if self.scoring.by_points else sums.points
        return -score, not sums.games, *(-value for value in broken), -own, -other, name


def standings(
    names: Iterable[str], results: Iterable[GameResult], scoring: str = "points"
) -> tuple[Row, ...]:
    """The table of these results: see `Standings`."""
    table = Standings(names, scoring)
    for result in results:
        table.add(result)
    return table.rows()
