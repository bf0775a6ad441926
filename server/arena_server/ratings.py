"""Ratings with 95 % intervals, fitted to results by maximum likelihood.

    two seats    Bradley and Terry's model with draws (R. R. Davidson, "On extending the Bradley-Terry model
                 to accommodate ties in paired comparison experiments", 1970) and an advantage of a seat
    more seats   the model of Plackett and Luce: the best of those that are left is drawn, then the next;
                 players with equal totals stand in every order, each with the same weight

Both are sums of multinomial choices whose log-odds are linear in ratings, advantages of seats and tendency
to draw, so that the likelihood is concave and Newton's method finds its only maximum. The intervals come
from the sandwich estimator over the pairings: two games on one deal count as one observation, because their
results are correlated.

A rating is the log-odds on the scale of Elo, 400 / ln 10, around a mean of MEAN. It exists only among players
that are connected by results in both directions; others are named, not rated.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, permutations
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import numpy as np

    Floats = np.ndarray[Any, np.dtype[np.float64]]

#: The mean of all ratings.
MEAN: Final = 1500.0
#: Elo points of one natural logarithm of the odds.
SCALE: Final = 400 / math.log(10)
#: The normal quantile of a two-sided 95 % interval.
Z: Final = 1.96
#: The prior precision of the advantages of seats and the tendency to draw: a field where one seat wins every
#: game has no finite maximum without it.
PRIOR: Final = 0.01
#: Newton's method ends when no parameter moves by more.
TOLERANCE: Final = 1e-12
MOST_STEPS: Final = 200
#: The relative error that a log-likelihood may have.
ROUNDING: Final = 1e-12
#: How many pairings are added up at once: with 1,000 players 80 MB.
BLOCK: Final = 10_000

UNBEATEN, WINLESS, UNCONNECTED = "unbeaten", "winless", "unconnected"
#: What the reason of an unrated player means.
REASONS: Mapping[str, str] = {
    UNBEATEN: "no game was won or drawn against it by a rated player or one below",
    WINLESS: "it has won or drawn no game against a rated player or one above",
    UNCONNECTED: "no results in both directions connect it with other players",
}


@dataclass(frozen=True, slots=True)
class RatedGame:
    """A game with its totals in the order of the seats; games of one `pairing` are one observation."""

    names: tuple[str, ...]
    totals: tuple[int, ...]
    pairing: Hashable


@dataclass(frozen=True, slots=True)
class Rating:
    """A player's rating; `best` and `worst` are the ranks that the intervals of the differences allow."""

    name: str
    rating: float
    margin: float
    best: int
    worst: int
    games: int
    score: float


@dataclass(frozen=True, slots=True)
class Ratings:
    """The fit of a field, the best player first.

    `seats` are the advantages of the second and further seats against the first, in Elo; `unrated` has the
    reason for each player without a rating.
    """

    rows: tuple[Rating, ...]
    unrated: Mapping[str, str]
    seats: tuple[float, ...]
    games: int


def fit(games: Iterable[RatedGame]) -> Ratings:
    """Fit the ratings of all players of `games`; the order of games and names does not matter.

    Raises ValueError for games of different numbers of seats.
    """
    played = sorted(games, key=lambda game: (game.names, game.totals, repr(game.pairing)))
    seats = {len(game.names) for game in played}
    if len(seats) > 1:
        raise ValueError(f"expected games of one number of seats, got {sorted(seats)}")
    field, unrated = _connected(played)
    inside = [game for game in played if field.issuperset(game.names)]
    if len(field) < 2:
        return Ratings((), unrated, (), 0)
    names = sorted(field)
    model = _Model(names, inside)
    values, covariance = model.maximum()
    return Ratings(
        tuple(_rows(names, values, covariance, inside)),
        unrated,
        tuple(float(value) * SCALE for value in model.seat_values(values)),
        len(inside),
    )


# -- who can be rated


def _connected(games: Sequence[RatedGame]) -> tuple[set[str], dict[str, str]]:
    """The largest set of players that results connect in both directions, and why others are not in it."""
    taken: dict[str, set[str]] = {name: set() for game in games for name in game.names}
    for game in games:
        for name, total in zip(game.names, game.totals, strict=True):
            for other, against in zip(game.names, game.totals, strict=True):
                if name != other and total >= against:
                    taken[name].add(other)
    given: dict[str, set[str]] = {name: set() for name in taken}
    for name, others in taken.items():
        for other in others:
            given[other].add(name)
    field: set[str] = set()
    left = sorted(taken)
    while left:
        component = _reached(left[0], taken) & _reached(left[0], given)
        # Of two of the same size the first by name.
        field = component if len(component) > len(field) else field
        left = [name for name in left if name not in component]
    if len(field) < 2:
        above = {name for name, others in given.items() if not others}
        below = {name for name, others in taken.items() if not others}
        field = set()
    else:
        anyone = min(field)
        below, above = _reached(anyone, taken), _reached(anyone, given)
    reasons = {}
    for name in sorted(taken.keys() - field):
        reasons[name] = UNBEATEN if name in above else WINLESS if name in below else UNCONNECTED
    return field, reasons


def _reached(start: str, edges: Mapping[str, set[str]]) -> set[str]:
    found, open_ = {start}, [start]
    while open_:
        new = edges[open_.pop()] - found
        found |= new
        open_ += new
    return found


# -- the model


#: A choice: its alternatives, the chosen one first, each the places and factors of its parameters.
Choice = tuple[tuple[tuple[int, float], ...], ...]


class _Choices:
    """Choices of equally many alternatives: arrays of (choice, alternative, factor).

    `owner`, `pairing` and `weight` say of each observation which choice was made, in which pairing.
    """

    def __init__(self, observed: Mapping[Choice, Mapping[int, float]]) -> None:
        import numpy as np

        longest = max(len(option) for choice in observed for option in choice)
        #: Alternatives with fewer factors are filled up with zeros.
        padded = [
            [[*option, *[(0, 0.0)] * (longest - len(option))] for option in choice] for choice in observed
        ]
        both = np.array(padded, dtype=np.float64)
        self.places = both[..., 0].astype(np.intp)
        self.factors = both[..., 1]
        rows = [
            (place, pairing, weight)
            for place, counts in enumerate(observed.values())
            for pairing, weight in counts.items()
        ]
        self.owner = np.array([row[0] for row in rows], dtype=np.intp)
        self.pairing = np.array([row[1] for row in rows], dtype=np.intp)
        self.weight = np.array([row[2] for row in rows], dtype=np.float64)
        self.weights = np.bincount(self.owner, self.weight, minlength=len(padded))

    def log_chances(self, values: Floats) -> Floats:
        """The logarithm of the chance of each alternative."""
        import numpy as np

        log_odds = (self.factors * values[self.places]).sum(axis=2)
        log_odds -= log_odds.max(axis=1, keepdims=True)
        logs: Floats = log_odds - np.log(np.exp(log_odds).sum(axis=1, keepdims=True))
        return logs

    def residuals(self, log_chances: Floats) -> Floats:
        """The gradient of each choice, by the factors of its alternatives."""
        import numpy as np

        shares = -np.exp(log_chances)
        shares[:, 0] += 1
        return shares[:, :, None] * self.factors


class _Model:
    """The choices that all games have made.

    The parameters are the ratings of the players, then the advantages of the seats behind the first, then,
    with two seats and draws, the tendency to draw.
    """

    def __init__(self, names: Sequence[str], games: Sequence[RatedGame]) -> None:
        self._place = {name: place for place, name in enumerate(names)}
        self._players, self._seats = len(names), len(games[0].names)
        decided = any(len(set(game.totals)) > 1 for game in games)
        drawn = self._seats == 2 and any(game.totals[0] == game.totals[1] for game in games)
        # Without a decided game the likeliest tendency to draw is infinite: a draw is half a win each then.
        self._has_draws = drawn and decided
        self._size = self._players + self._seats - 1 + self._has_draws
        pairings: dict[Hashable, int] = {}
        found: dict[int, dict[Choice, dict[int, float]]] = {}
        for game in games:
            pairing = pairings.setdefault(game.pairing, len(pairings))
            for choice, weight in self._choices_of(game):
                counts = found.setdefault(len(choice), {}).setdefault(choice, {})
                counts[pairing] = counts.get(pairing, 0.0) + weight
        self._pairings = len(pairings)
        self._choices = [_Choices(found[size]) for size in sorted(found)]

    def seat_values(self, values: Floats) -> Floats:
        """The advantages of the seats behind the first."""
        advantages: Floats = values[self._players :][: self._seats - 1]
        return advantages

    def _player(self, name: str, seat: int) -> tuple[tuple[int, float], ...]:
        """The log-odds of a player on a seat, as factors of parameters."""
        rating = (self._place[name], 1.0)
        return (rating, (self._players + seat - 1, 1.0)) if seat else (rating,)

    def _choices_of(self, game: RatedGame) -> list[tuple[Choice, float]]:
        """The choices that a game makes, with weights."""
        players = [self._player(name, seat) for seat, name in enumerate(game.names)]
        if self._has_draws:
            half = tuple((place, factor / 2) for player in players for place, factor in player)
            options = [*players, (*half, (self._size - 1, 1.0))]
            first, second = game.totals
            chosen = options.pop(2 if first == second else 0 if first > second else 1)
            return [((chosen, *options), 1.0)]
        orders = [
            order
            for order in permutations(range(len(players)))
            if all(game.totals[a] >= game.totals[b] for a, b in pairwise(order))
        ]
        return [
            (tuple(players[seat] for seat in order[stage:]), 1 / len(orders))
            for order in orders
            for stage in range(len(order) - 1)
        ]

    def maximum(self) -> tuple[Floats, Floats]:
        """The parameters of the greatest likelihood, with ratings of mean 0, and their covariance."""
        import numpy as np

        size, players = self._size, self._players
        prior = np.zeros((size, size))
        prior[players:, players:] = PRIOR * np.eye(size - players)
        # The likelihood does not change if all ratings move together: this fixes their mean at 0.
        centre = np.zeros((size, size))
        centre[:players, :players] = 1 / players
        values = np.zeros(size)
        value, gradient, curvature = self._likelihood(values)
        for _ in range(MOST_STEPS):
            step = np.linalg.solve(curvature + prior + centre, gradient - prior @ values)
            least = value - values @ prior @ values / 2
            least -= ROUNDING * (1 + abs(least))
            # Far from the maximum a whole step may go too far: halve it until the likelihood grows.
            while True:
                value, gradient, curvature = self._likelihood(values + step)
                if value - (values + step) @ prior @ (values + step) / 2 >= least:
                    break
                step /= 2
            values = values + step
            if np.abs(step).max() < TOLERANCE:
                break
        inverse = np.linalg.inv(curvature + prior + centre)
        # Few pairings say little of their own variance (all draws: none): the model's counts for the more.
        share = self._size / (self._size + self._pairings)
        scatter = (1 - share) * self._scatter(values) + share * curvature
        values[:players] -= values[:players].mean()
        return values, inverse @ scatter @ inverse

    def _likelihood(self, values: Floats) -> tuple[float, Floats, Floats]:
        """The log-likelihood, its gradient and its negative matrix of second derivatives."""
        import numpy as np

        total, gradient, curvature = 0.0, np.zeros(self._size), np.zeros((self._size, self._size))
        for each in self._choices:
            logs = each.log_chances(values)
            chances = np.exp(logs)
            total += float(each.weights @ logs[:, 0])
            residuals = each.residuals(logs) * each.weights[:, None, None]
            np.add.at(gradient, each.places, residuals)
            # The covariance of the factors: their squares by alternative, less the square of the mean.
            weighed = chances * each.weights[:, None]
            within = weighed[:, :, None, None] * each.factors[..., :, None] * each.factors[..., None, :]
            np.add.at(curvature, (each.places[..., :, None], each.places[..., None, :]), within)
            flat = each.places.reshape(len(each.places), -1)
            mean = (chances[:, :, None] * each.factors).reshape(flat.shape)
            outer = each.weights[:, None, None] * mean[:, :, None] * mean[:, None, :]
            np.subtract.at(curvature, (flat[:, :, None], flat[:, None, :]), outer)
        return total, gradient, curvature

    def _scatter(self, values: Floats) -> Floats:
        """The sum of the outer squares of the gradients of the pairings."""
        import numpy as np

        scatter = np.zeros((self._size, self._size))
        residuals = [each.residuals(each.log_chances(values)) for each in self._choices]
        for first in range(0, self._pairings, BLOCK):
            block = np.zeros((min(BLOCK, self._pairings - first), self._size))
            for each, gradient in zip(self._choices, residuals, strict=True):
                inside = (each.pairing >= first) & (each.pairing < first + BLOCK)
                owner, rows = each.owner[inside], each.pairing[inside] - first
                weighed = gradient[owner] * each.weight[inside][:, None, None]
                np.add.at(block, (rows[:, None, None], each.places[owner]), weighed)
            scatter += block.T @ block
        # The usual correction for few clusters.
        return scatter * (self._pairings / max(1, self._pairings - 1))


def _rows(
    names: Sequence[str], values: Floats, covariance: Floats, games: Sequence[RatedGame]
) -> list[Rating]:
    import numpy as np

    players = len(names)
    spread = covariance[:players, :players]
    own = np.sqrt(np.clip(np.diag(spread), 0, None))
    apart = np.sqrt(np.clip(np.diag(spread)[:, None] + np.diag(spread)[None, :] - 2 * spread, 0, None))
    ahead = values[:players, None] - values[None, :players]
    counts, scores = dict.fromkeys(names, 0), dict.fromkeys(names, 0.0)
    for game in games:
        for name, total in zip(game.names, game.totals, strict=True):
            counts[name] += 1
            others = len(game.totals) - 1
            below = sum(total > other for other in game.totals)
            level = game.totals.count(total) - 1
            scores[name] += (below + level / 2) / others
    rows = [
        Rating(
            name,
            MEAN + SCALE * float(values[place]),
            SCALE * Z * float(own[place]),
            1 + int((-ahead[place] > Z * apart[place]).sum()),
            players - int((ahead[place] > Z * apart[place]).sum()),
            counts[name],
            scores[name] / counts[name],
        )
        for place, name in enumerate(names)
    ]
    return sorted(rows, key=lambda row: (-row.rating, row.name))


def plain(ratings: Ratings) -> dict[str, Any]:
    """The ratings as JSON types."""
    return {
        "games": ratings.games,
        "ratings": [
            {
                "bot": row.name,
                "rating": round(row.rating, 1),
                "interval": [round(row.rating - row.margin, 1), round(row.rating + row.margin, 1)],
                "ranks": [row.best, row.worst],
                "games": row.games,
                "score": round(row.score, 4),
            }
            for row in ratings.rows
        ],
        "seats": [round(value, 1) for value in ratings.seats],
        "unrated": dict(ratings.unrated),
    }
