"""The rating of a bot from pairs of games with players whose ratings are known.

The expected score of a pair is logistic in the difference of the ratings (`elo.score_of`). The rating is the
one for which the points that were expected are those that were scored, which is that of the maximum
likelihood; the 95 % interval has the ratings at which the difference of the two is below 1.96 standard
deviations. It has no end on the side where nothing was lost, or won.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from arena_server.stats.elo import PAIR_SCORES, Z, score_of

#: No rating is further from all opponents.
FAR = 4_000.0
#: Halvings of a bracket: its error is below 1e-3 points.
HALVINGS = 24
#: The variance of a pair, as a share of p (1 - p) with the expected score p: 1/2 for two games that are not
#: correlated and not drawn. It counts as much as this number of even pairs.
SHARE, SHARE_PAIRS = 0.5, 8
#: The choice of the next opponent is made as if this number of pairs with the first one had been even.
PRIOR_PAIRS = 0.5


@dataclass(frozen=True, slots=True)
class Against:
    """Pairs of games with an opponent: how often each of `PAIR_SCORES` came."""

    rating: float
    counts: Sequence[float]

    @property
    def pairs(self) -> float:
        return sum(self.counts)

    @property
    def points(self) -> float:
        """The mean score of a pair, once for each."""
        return sum(count * score for count, score in zip(self.counts, PAIR_SCORES, strict=True))


@dataclass(frozen=True, slots=True)
class RatingRange:
    """A rating and its 95 % interval; infinite where all pairs were won, or lost."""

    rating: float
    low: float
    high: float

    @property
    def width(self) -> float:
        return self.high - self.low


def place(played: Sequence[Against]) -> RatingRange:
    """The rating that these pairs give; anything without pairs."""
    pairs, won = sum(each.pairs for each in played), sum(each.points for each in played)
    if not pairs:
        return RatingRange(math.nan, -math.inf, math.inf)
    one_sided = won in (0, pairs)
    rating = math.copysign(math.inf, won - pairs / 2) if one_sided else _root(played, 0.0, 1.0)
    share = _share(played, rating)
    low = -math.inf if not won else _root(played, Z, share)
    high = math.inf if won == pairs else _root(played, -Z, share)
    return RatingRange(rating, low, high)


def guess(played: Sequence[Against], first: float) -> float:
    """A finite rating for the choice of the next opponent; `first` is that of the first one."""
    even = Against(first, (PRIOR_PAIRS / 2, 0, 0, 0, PRIOR_PAIRS / 2))
    return _root([even, *played], 0.0, 1.0)


def _root(played: Sequence[Against], at: float, share: float) -> float:
    """The rating at which the points above the expected ones, which fall with it, are `at` deviations."""
    ratings = [each.rating for each in played]
    rows = [(each.rating, each.pairs) for each in played]
    points = sum(each.points for each in played)
    low, high = min(ratings) - FAR, max(ratings) + FAR
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        above, variance = points, 0.0
        for rating, pairs in rows:
            expected = score_of(middle - rating)
            above -= pairs * expected
            variance += pairs * expected * (1 - expected)
        if above > at * math.sqrt(share * variance):
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _share(played: Iterable[Against], rating: float) -> float:
    """The variance of a pair as a share of p (1 - p), from what was scored and SHARE."""
    seen, even = SHARE * SHARE_PAIRS / 4, SHARE_PAIRS / 4
    for each in played:
        expected = score_of(rating - each.rating)
        seen += sum(
            count * (score - expected) ** 2 for count, score in zip(each.counts, PAIR_SCORES, strict=True)
        )
        even += each.pairs * expected * (1 - expected)
    return seen / even
