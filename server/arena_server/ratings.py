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
from collections import Counter
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
#: How many different pairings are added up at once: 16 numbers of each with two seats.
BLOCK: Final = 100_000

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


def version_of(name: str, agent: str | None) -> str:
    """A version of a bot as a player of its own: name and `agent=`, of which neither has a blank in it."""
    return name if agent is None else f"{name} {agent}"


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


#: The names of a game by seat, and the place of each: 0 for the most points, equal for equal ones.
Outcome = tuple[tuple[str, ...], tuple[int, ...]]
#: The games of one pairing, in ascending order.
Observation = tuple[Outcome, ...]


def observe(games: Iterable[RatedGame]) -> Counter[Observation]:
    """How often the games of a pairing have ended in each way."""
    pairings: dict[Hashable, list[Outcome]] = {}
    for game in games:
        pairings.setdefault(game.pairing, []).append((game.names, places_of(game.totals)))
    return Counter(tuple(sorted(each)) for each in pairings.values())


def places_of(totals: Sequence[int]) -> tuple[int, ...]:
    """The place of each total: 0 for the highest, equal for equal ones."""
    order = sorted(set(totals), reverse=True)
    return tuple(map(order.index, totals))


def fit(games: Iterable[RatedGame]) -> Ratings:
    """Fit the ratings of all players of `games`; the order of games and names does not matter.

    Raises ValueError for games of different numbers of seats.
    """
    return fit_observations(observe(games))


def fit_observations(counts: Mapping[Observation, int]) -> Ratings:
    """The same of games that are counted already: how many there are of a kind makes no difference."""
    games: Counter[Outcome] = Counter()
    for observation, count in counts.items():
        for outcome in observation:
            games[outcome] += count
    seats = {len(names) for names, _ in games}
    if len(seats) > 1:
        raise ValueError(f"expected games of one number of seats, got {sorted(seats)}")
    field, unrated = _connected(sorted(games))
    if len(field) < 2:
        return Ratings((), unrated, (), 0)
    inside = {outcome: count for outcome, count in games.items() if field.issuperset(outcome[0])}
    pairings: Counter[Observation] = Counter()
    for observation, count in counts.items():
        pairings[tuple(outcome for outcome in observation if outcome in inside)] += count
    del pairings[()]
    names = sorted(field)
    model = _Model(names, inside, pairings)
    values, covariance = model.maximum()
    return Ratings(
        tuple(_rows(names, values, covariance, inside)),
        unrated,
        tuple(float(value) * SCALE for value in model.seat_values(values)),
        sum(inside.values()),
    )


# -- who can be rated


def _connected(games: Sequence[Outcome]) -> tuple[set[str], dict[str, str]]:
    """The largest set of players that results connect in both directions, and why others are not in it."""
    taken: dict[str, set[str]] = {name: set() for names, _ in games for name in names}
    for names, places in games:
        for name, place in zip(names, places, strict=True):
            for other, against in zip(names, places, strict=True):
                if name != other and place <= against:
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


#: What a choice is made of: players by their places, each with its seat (0, 1, ...).
Menu = tuple[tuple[int, int], ...]
#: A menu, which of its alternatives was chosen, and with what weight; the draw is the last alternative.
Choice = tuple[Menu, int, float]


class _Choices:
    """All choices from menus of one size, in arrays.

    The log-odds of the alternatives of a menu are `factors` (menu, alternative, parameter) times the
    values of the parameters at `places` (menu, parameter). Of choice n `menu[n]` is the menu, `chosen[n]`
    the alternative, `weight[n]` the weight and `pairing[n]` the kind of pairing.
    """

    def __init__(self, players: int, extra: int, draws: bool, observed: Sequence[tuple[int, Choice]]) -> None:
        """`extra` parameters come behind those of the players; `observed`: kind of pairing and choice."""
        import numpy as np

        menus = {menu: number for number, menu in enumerate(dict.fromkeys(each[0] for _, each in observed))}
        offered = np.array(list(menus), dtype=np.intp)
        number, size = offered.shape[:2]
        shared = np.broadcast_to(np.arange(players, players + extra), (number, extra))
        self.places = np.concatenate([offered[..., 0], shared], axis=1)
        self.factors = np.zeros((number, size + draws, size + extra))
        self.factors[:, np.arange(size), np.arange(size)] = 1
        of_menu, of_player = np.nonzero(offered[..., 1])  # the first seat has no advantage
        self.factors[of_menu, of_player, size + offered[of_menu, of_player, 1] - 1] = 1
        if draws:
            self.factors[:, size] = self.factors[:, :size].sum(axis=1) / 2
            self.factors[:, size, -1] = 1
        self.pairing = np.array([pairing for pairing, _ in observed], dtype=np.intp)
        self.menu = np.array([menus[menu] for _, (menu, _, _) in observed], dtype=np.intp)
        self.chosen = np.array([chosen for _, (_, chosen, _) in observed], dtype=np.intp)
        self.weight = np.array([weight for _, (_, _, weight) in observed])

    def chosen_weights(self, counts: Floats) -> Floats:
        """How often each alternative of each menu was chosen, with `counts` of each kind of pairing."""
        import numpy as np

        number, size = self.factors.shape[:2]
        weights = self.weight * counts[self.pairing]
        found = np.bincount(self.menu * size + self.chosen, weights, minlength=number * size)
        chosen: Floats = found.astype(np.float64).reshape(number, size)
        return chosen

    def log_chances(self, values: Floats) -> Floats:
        """The logarithm of the chance of each alternative of each menu."""
        import numpy as np

        log_odds = np.einsum("map,mp->ma", self.factors, values[self.places])
        log_odds -= log_odds.max(axis=1, keepdims=True)
        logs: Floats = log_odds - np.log(np.exp(log_odds).sum(axis=1, keepdims=True))
        return logs

    def gradients(self, values: Floats) -> Floats:
        """The gradient of each choice by the parameters of its menu."""
        import numpy as np

        mean = np.einsum("ma,map->mp", np.exp(self.log_chances(values)), self.factors)
        found: Floats = (self.factors[self.menu, self.chosen] - mean[self.menu]) * self.weight[:, None]
        return found


class _Model:
    """The choices that all games have made.

    The parameters are the ratings of the players, then the advantages of the seats behind the first, then,
    with two seats and draws, the tendency to draw.
    """

    def __init__(
        self, names: Sequence[str], games: Mapping[Outcome, int], pairings: Mapping[Observation, int]
    ) -> None:
        import numpy as np

        self._place = {name: place for place, name in enumerate(names)}
        self._players, self._seats = len(names), len(next(iter(games))[0])
        decided = any(max(places) for _, places in games)
        drawn = self._seats == 2 and any(not max(places) for _, places in games)
        # Without a decided game the likeliest tendency to draw is infinite: a draw is half a win each then.
        self._has_draws = drawn and decided
        extra = self._seats - 1 + self._has_draws
        self._size = self._players + extra
        #: How often each kind of pairing has occurred.
        self._counts = np.array([pairings[each] for each in sorted(pairings)], dtype=np.float64)
        choices = {outcome: self._choices_of(*outcome) for outcome in games}
        found: dict[int, list[tuple[int, Choice]]] = {}
        for number, observation in enumerate(sorted(pairings)):
            for outcome in observation:
                for choice in choices[outcome]:
                    found.setdefault(len(choice[0]), []).append((number, choice))
        self._choices = [
            _Choices(self._players, extra, self._has_draws, found[size]) for size in sorted(found)
        ]
        self._chosen = [each.chosen_weights(self._counts) for each in self._choices]

    def seat_values(self, values: Floats) -> Floats:
        """The advantages of the seats behind the first."""
        advantages: Floats = values[self._players :][: self._seats - 1]
        return advantages

    def _choices_of(self, names: Sequence[str], places: Sequence[int]) -> list[Choice]:
        """The choices that a game makes."""
        menu = tuple((self._place[name], seat) for seat, name in enumerate(names))
        if self._has_draws:
            return [(menu, 2 if places[0] == places[1] else places.index(0), 1.0)]
        orders = [
            order
            for order in permutations(range(len(names)))
            if all(places[a] <= places[b] for a, b in pairwise(order))
        ]
        return [
            (
                tuple(menu[seat] for seat in sorted(order[stage:])),
                sorted(order[stage:]).index(order[stage]),
                share,
            )
            for share in [1 / len(orders)]
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
        share = self._size / (self._size + self._counts.sum())
        scatter = (1 - share) * self._scatter(values) + share * curvature
        values[:players] -= values[:players].mean()
        return values, inverse @ scatter @ inverse

    def _likelihood(self, values: Floats) -> tuple[float, Floats, Floats]:
        """The log-likelihood, its gradient and its negative matrix of second derivatives."""
        import numpy as np

        total, gradient, curvature = 0.0, np.zeros(self._size), np.zeros(self._size**2)
        for each, chosen in zip(self._choices, self._chosen, strict=True):
            logs = each.log_chances(values)
            expected = np.exp(logs) * chosen.sum(axis=1, keepdims=True)
            total += float((chosen * logs).sum())
            slope = np.einsum("ma,map->mp", chosen - expected, each.factors)
            gradient += np.bincount(each.places.ravel(), slope.ravel(), minlength=self._size)
            # The covariance of the factors: their squares by alternative, less the square of the mean.
            mean = np.einsum("ma,map->mp", np.exp(logs), each.factors)
            spread = np.einsum("ma,map,maq->mpq", expected, each.factors, each.factors)
            spread -= chosen.sum(axis=1)[:, None, None] * mean[:, :, None] * mean[:, None, :]
            at = each.places[:, :, None] * self._size + each.places[:, None, :]
            curvature += np.bincount(at.ravel(), spread.ravel(), minlength=self._size**2)
        return total, gradient, curvature.reshape(self._size, self._size)

    def _scatter(self, values: Floats) -> Floats:
        """The sum of the outer squares of the gradients of the pairings."""
        import numpy as np

        found = [(each, each.gradients(values)) for each in self._choices]
        pairings = np.concatenate([np.repeat(each.pairing, slope.shape[1]) for each, slope in found])
        places = np.concatenate([each.places[each.menu].ravel() for each, _ in found])
        # One entry for each parameter that a pairing has, in the order of the pairings.
        entries, at = np.unique(pairings * self._size + places, return_inverse=True)
        slopes = np.bincount(at, np.concatenate([slope.ravel() for _, slope in found]))
        pairings, places = np.divmod(entries, self._size)
        first = np.searchsorted(pairings, np.arange(len(self._counts) + 1))
        sums = np.zeros(self._size**2)
        for start in range(0, len(self._counts), BLOCK):
            ends = first[start : start + BLOCK + 1]
            sizes = np.diff(ends)
            # Each entry with each one of the same pairing.
            one = np.repeat(np.arange(ends[0], ends[-1]), np.repeat(sizes, sizes))
            runs = np.repeat(sizes, sizes)
            other = np.arange(len(one)) - np.repeat(np.cumsum(runs) - runs, runs) + first[pairings[one]]
            products = slopes[one] * slopes[other] * self._counts[pairings[one]]
            sums += np.bincount(places[one] * self._size + places[other], products, self._size**2)
        number = self._counts.sum()
        # The usual correction for few clusters.
        scatter: Floats = sums.reshape(self._size, self._size) * (number / max(1, number - 1))
        return scatter


def _rows(
    names: Sequence[str], values: Floats, covariance: Floats, games: Mapping[Outcome, int]
) -> list[Rating]:
    import numpy as np

    players = len(names)
    spread = covariance[:players, :players]
    own = np.sqrt(np.clip(np.diag(spread), 0, None))
    apart = np.sqrt(np.clip(np.diag(spread)[:, None] + np.diag(spread)[None, :] - 2 * spread, 0, None))
    ahead = values[:players, None] - values[None, :players]
    counts, scores = dict.fromkeys(names, 0), dict.fromkeys(names, 0.0)
    for (seated, places), count in games.items():
        for name, place in zip(seated, places, strict=True):
            counts[name] += count
            below = sum(place < other for other in places)
            level = places.count(place) - 1
            scores[name] += count * (below + level / 2) / (len(places) - 1)
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


def plain(ratings: Ratings, *, versions: bool = False) -> dict[str, Any]:
    """The ratings as JSON types; with `versions` the players are those of `version_of`."""
    return {
        "games": ratings.games,
        "ratings": [
            {
                **_plain_name(row.name, versions=versions),
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


def _plain_name(player: str, *, versions: bool) -> dict[str, str | None]:
    name, _, agent = player.partition(" ")
    return {"bot": name, "version": agent or None} if versions else {"bot": name}
