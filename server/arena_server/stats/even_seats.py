"""The scale of ratings: 100 points are an expected score of 64 %, averaged over the seats.

The ratings of the model (`model`) are log-odds of one seat against an equal one. Where a seat has an
advantage, two players are further apart on that scale than their mean score over both seats says: each wins
many of its games by the seat. So the ratings of a table are those of a model without seats that has the same
expected scores:

    e[i, j]   the expected score of i against j, averaged over all orders of the seats
    n[i, j]   the number of games that i and j have played
    q         the ratings: for each i, sum over j of n[i, j] * (e[i, j] - s(q[i] - q[j])) = 0

with s(x) = 1 / (1 + exp(-x)). Two players that have had each seat equally often are as far apart as their
score says, as in `elo`, and a field of such pairs has the ratings that its scores alone have. Without an
advantage q is the model's own. In games of more seats the better place of two scores 1 against the other.
"""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING, Any, Final

from arena_server.stats.rated_games import Games

if TYPE_CHECKING:
    import numpy as np

    Floats = np.ndarray[Any, np.dtype[np.float64]]
    Ints = np.ndarray[Any, np.dtype[np.intp]]

#: Newton's method ends when no rating moves by more.
TOLERANCE: Final = 1e-12
MOST_STEPS: Final = 200
#: The relative error that a likelihood may have.
ROUNDING: Final = 1e-12


def with_even_seats(games: Games, values: Floats, covariance: Floats) -> tuple[Floats, Floats]:
    """The ratings with mean 0 and their covariance, of the parameters of `RatingModel.maximum`.

    The covariance is that of the parameters through the derivatives of the ratings (the delta method).
    """
    import numpy as np

    pairs = _Pairs(games)
    expected, by_rating, by_seat = pairs.expected(values)
    ratings = pairs.fitted(expected)
    # The equations hold for every value of the parameters: what the first sums gain, the second ones lose.
    own = pairs.curvature(pairs.slope(ratings))
    of_parameters = np.concatenate([pairs.curvature(by_rating), *map(pairs.sums, by_seat)], axis=1)
    derivatives = np.linalg.solve(own, of_parameters)
    return ratings, derivatives @ covariance @ derivatives.T


class _Pairs:
    """Who has met whom how often; numbers of a pair are those of its first player against its second."""

    def __init__(self, games: Games) -> None:
        import numpy as np

        self._players, seats = len(games.names), games.seated.shape[1]
        self._orders = [*permutations(range(seats), 2)]
        met = np.zeros((self._players, self._players))
        for first, second in self._orders:
            np.add.at(met, (games.seated[:, first], games.seated[:, second]), games.kind_counts())
        self.one, self.other = np.nonzero(np.triu(met))
        self.games = met[self.one, self.other]

    def expected(self, values: Floats) -> tuple[Floats, Floats, list[Floats]]:
        """The mean score of each pair, its derivative by the rating of the first, and by each advantage."""
        import numpy as np

        ahead = values[self.one] - values[self.other]
        advantages = np.concatenate([[0.0], values[self._players :]])
        mean, by_rating = np.zeros(len(ahead)), np.zeros(len(ahead))
        by_seat = [np.zeros(len(ahead)) for _ in advantages]
        for first, second in self._orders:
            score = _score(ahead + advantages[first] - advantages[second])
            slope = score * (1 - score) / len(self._orders)
            mean += score / len(self._orders)
            by_rating += slope
            by_seat[first] += slope
            by_seat[second] -= slope
        return mean, by_rating, by_seat[1:]

    def fitted(self, expected: Floats) -> Floats:
        """The ratings of mean 0 that expect these scores without seats."""
        import numpy as np

        ratings = np.zeros(self._players)
        likelihood = self._likelihood(expected, ratings)
        for _ in range(MOST_STEPS):
            missing = self.sums(expected - _score(self._ahead(ratings)))[:, 0]
            step = np.linalg.solve(self.curvature(self.slope(ratings)), missing)
            least = likelihood - ROUNDING * (1 + abs(likelihood))
            # Far from the maximum a whole step may go too far: halve it until the likelihood grows.
            while (likelihood := self._likelihood(expected, ratings + step)) < least:
                step /= 2
            ratings = ratings + step
            if np.abs(step).max() < TOLERANCE:
                break
        return ratings

    def _likelihood(self, expected: Floats, ratings: Floats) -> float:
        """What is greatest where the sums of the scores are those of `expected`."""
        import numpy as np

        ahead = self._ahead(ratings)
        return float((self.games * (expected * ahead - np.logaddexp(0, ahead))).sum())

    def slope(self, ratings: Floats) -> Floats:
        """The derivative of each expected score without seats by the rating of the first."""
        score = _score(self._ahead(ratings))
        slope: Floats = score * (1 - score)
        return slope

    def sums(self, scores: Floats) -> Floats:
        """For each player the sum over its games of scores against the other: (player, 1)."""
        import numpy as np

        gained = np.bincount(self.one, self.games * scores, self._players).astype(np.float64)
        given = np.bincount(self.other, self.games * scores, self._players)
        found: Floats = (gained - given)[:, None]
        return found

    def curvature(self, slope: Floats) -> Floats:
        """The derivatives of those sums by the ratings; a direction in which all move together is added.

        It keeps the mean of the ratings at 0, where the sums do not change.
        """
        import numpy as np

        found = np.full((self._players, self._players), 1 / self._players)
        weight = self.games * slope
        found[self.one, self.other] -= weight
        found[self.other, self.one] -= weight
        both = np.concatenate([self.one, self.other])
        found[np.diag_indices(self._players)] += np.bincount(both, np.tile(weight, 2), self._players)
        return found

    def _ahead(self, ratings: Floats) -> Floats:
        ahead: Floats = ratings[self.one] - ratings[self.other]
        return ahead


def _score(ahead: Floats) -> Floats:
    import numpy as np

    score: Floats = 1 / (1 + np.exp(-ahead))
    return score
