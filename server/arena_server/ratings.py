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
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, permutations
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import numpy as np

    Floats = np.ndarray[Any, np.dtype[np.float64]]
    Ints = np.ndarray[Any, np.dtype[np.intp]]

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
    """The same of games that are counted already: how many there are of a kind makes no difference.

    Half a second for 150,000 kinds of games between 225 players.
    """
    games = _Games.of(counts)
    field, unrated = _connected(games)
    if len(field) < 2:
        return Ratings((), unrated, (), 0)
    inside = games.among(field)
    model = _Model(inside)
    values, covariance = model.maximum()
    return Ratings(
        tuple(_rows(inside, values, covariance)),
        unrated,
        tuple(float(value) * SCALE for value in model.seat_values(values)),
        int(inside.kind_counts().sum()),
    )


@dataclass(frozen=True, slots=True)
class _Games:
    """Kinds of games and of pairings, in arrays; neither the order of games nor that of names changes them.

    A game of kind k has the players `seated[k]` (seats; indexes of `names`, which are sorted) with the places
    `places[k]`. Entry e says that pairing `pairing[e]` has a game of kind `kind[e]`; pairing p has occurred
    `counts[p]` times. The entries are in the order of the pairings.
    """

    names: Sequence[str]
    seated: Ints
    places: Ints
    pairing: Ints
    kind: Ints
    counts: Floats

    @classmethod
    def of(cls, counts: Mapping[Observation, int]) -> _Games:
        """Raises ValueError for games of different numbers of seats."""
        import numpy as np

        flat = [outcome for observation in counts for outcome in observation]
        numbers = {outcome: number for number, outcome in enumerate(dict.fromkeys(flat))}
        seats = sorted({len(names) for names, _ in numbers})
        if len(seats) > 1:
            raise ValueError(f"expected games of one number of seats, got {seats}")
        names = sorted({name for seated, _ in numbers for name in seated})
        index = {name: number for number, name in enumerate(names)}
        shape = len(numbers), *seats
        seated = np.array([index[name] for each, _ in numbers for name in each], dtype=np.intp).reshape(shape)
        places = np.array([place for _, each in numbers for place in each], dtype=np.intp).reshape(shape)
        order = _order(np.hstack([seated, places])) if numbers else np.zeros(0, dtype=np.intp)
        kind = np.argsort(order)[np.array([numbers[outcome] for outcome in flat], dtype=np.intp)]
        sizes = np.array([len(observation) for observation in counts], dtype=np.intp)
        entries = np.full((len(sizes), max(sizes, default=0)), -1, dtype=np.intp)
        pairing = np.repeat(np.arange(len(sizes)), sizes)
        entries[pairing, np.arange(len(kind)) - np.repeat(np.cumsum(sizes) - sizes, sizes)] = kind
        sorted_ = _order(entries) if len(flat) else np.arange(len(sizes))
        entries, number = entries[sorted_], np.array(list(counts.values()), dtype=np.float64)[sorted_]
        pairing, at = np.nonzero(entries >= 0)
        return cls(names, seated[order], places[order], pairing, entries[pairing, at], number)

    def among(self, field: set[int]) -> _Games:
        """The games all of whose players are of `field`."""
        import numpy as np

        chosen = np.array(sorted(field), dtype=np.intp)
        place = np.full(len(self.names), -1, dtype=np.intp)
        place[chosen] = np.arange(len(chosen))
        stays: np.ndarray[Any, np.dtype[np.bool_]] = np.all(place[self.seated] >= 0, axis=1)
        entry = stays[self.kind]
        pairings, pairing = np.unique(self.pairing[entry], return_inverse=True)
        return _Games(
            [self.names[each] for each in chosen],
            place[self.seated[stays]],
            self.places[stays],
            pairing,
            (np.cumsum(stays) - 1)[self.kind[entry]],
            self.counts[pairings],
        )

    def kind_counts(self) -> Floats:
        """How many games there are of each kind."""
        import numpy as np

        found = np.bincount(self.kind, self.counts[self.pairing], minlength=len(self.seated))
        return found.astype(np.float64)


def _order(rows: Ints) -> Ints:
    """The order of rows by their columns, the first column first."""
    import numpy as np

    return np.lexsort(rows.T[::-1])


# -- who can be rated


def _connected(games: _Games) -> tuple[set[int], dict[str, str]]:
    """The largest set of players that results connect in both directions, and why others are not in it."""
    import numpy as np

    names, seats = games.names, games.seated.shape[-1] if len(games.seated) else 0
    taken: dict[int, set[int]] = {number: set() for number in range(len(names))}
    given: dict[int, set[int]] = {number: set() for number in range(len(names))}
    for one, other in permutations(range(seats), 2):
        chosen = games.seated[games.places[:, one] <= games.places[:, other]]
        for pair in np.unique(chosen[:, one] * len(names) + chosen[:, other]).tolist():
            number, against = divmod(pair, len(names))
            taken[number].add(against)
            given[against].add(number)
    field: set[int] = set()
    left = sorted(taken)
    while left:
        component = _reached(left[0], taken) & _reached(left[0], given)
        # Of two of the same size the first by name.
        field = component if len(component) > len(field) else field
        left = [number for number in left if number not in component]
    if len(field) < 2:
        above = {number for number, others in given.items() if not others}
        below = {number for number, others in taken.items() if not others}
        field = set()
    else:
        anyone = min(field)
        below, above = _reached(anyone, taken), _reached(anyone, given)
    reasons = {}
    for number in sorted(taken.keys() - field):
        why = UNBEATEN if number in above else WINLESS if number in below else UNCONNECTED
        reasons[names[number]] = why
    return field, reasons


def _reached(start: int, edges: Mapping[int, set[int]]) -> set[int]:
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

    def __init__(
        self, players: int, extra: int, draws: bool, menus: Ints, choices: tuple[Ints, Ints, Ints, Floats]
    ) -> None:
        """`menus` (menu, alternative, 2): player and seat; `extra` parameters come behind the players'.

        `choices` are the pairing, the menu, the chosen alternative and the weight of each choice.
        """
        import numpy as np

        number, size = menus.shape[:2]
        shared = np.broadcast_to(np.arange(players, players + extra), (number, extra))
        self.places = np.concatenate([menus[..., 0], shared], axis=1)
        self.factors = np.zeros((number, size + draws, size + extra))
        self.factors[:, np.arange(size), np.arange(size)] = 1
        of_menu, of_player = np.nonzero(menus[..., 1])  # the first seat has no advantage
        self.factors[of_menu, of_player, size + menus[of_menu, of_player, 1] - 1] = 1
        if draws:
            self.factors[:, size] = self.factors[:, :size].sum(axis=1) / 2
            self.factors[:, size, -1] = 1
        self.pairing, self.menu, self.chosen, self.weight = choices

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

    def __init__(self, games: _Games) -> None:
        self._players, self._seats = len(games.names), games.seated.shape[1]
        is_drawn = games.places.max(axis=1) == 0
        decided = not is_drawn.all()
        # Without a decided game the likeliest tendency to draw is infinite: a draw is half a win each then.
        self._has_draws = bool(self._seats == 2 and is_drawn.any() and decided)
        self._extra = self._seats - 1 + self._has_draws
        self._size = self._players + self._extra
        #: How often each kind of pairing has occurred.
        self._counts = games.counts
        self._choices = [self._two(games)] if self._seats == 2 and decided else list(self._more(games))
        self._chosen = [each.chosen_weights(self._counts) for each in self._choices]

    def _two(self, games: _Games) -> _Choices:
        """Each game of two seats is one choice: of the first, the second or a draw."""
        import numpy as np

        first, second = games.seated.T
        codes, menu = np.unique(first * self._players + second, return_inverse=True)
        menus = np.zeros((len(codes), 2, 2), dtype=np.intp)
        menus[:, 0, 0], menus[:, 1, 0] = np.divmod(codes, self._players)
        menus[:, 1, 1] = 1
        chosen = np.where(games.places[:, 0] == games.places[:, 1], 2, games.places[:, 0])
        weight = np.ones(len(games.kind))
        choices = games.pairing, menu[games.kind], chosen[games.kind], weight
        return _Choices(self._players, self._extra, self._has_draws, menus, choices)

    def _more(self, games: _Games) -> Iterator[_Choices]:
        """The choices that the games make, by the size of their menus."""
        import numpy as np

        of_kind = [
            self._choices_of(*each) for each in zip(games.seated.tolist(), games.places.tolist(), strict=True)
        ]
        found: dict[int, list[tuple[int, Choice]]] = {}
        for pairing, kind in zip(games.pairing.tolist(), games.kind.tolist(), strict=True):
            for choice in of_kind[kind]:
                found.setdefault(len(choice[0]), []).append((pairing, choice))
        for size in sorted(found):
            numbers = {menu: place for place, menu in enumerate(dict.fromkeys(c[0] for _, c in found[size]))}
            choices = (
                np.array([pairing for pairing, _ in found[size]], dtype=np.intp),
                np.array([numbers[menu] for _, (menu, _, _) in found[size]], dtype=np.intp),
                np.array([chosen for _, (_, chosen, _) in found[size]], dtype=np.intp),
                np.array([weight for _, (_, _, weight) in found[size]]),
            )
            yield _Choices(self._players, self._extra, False, np.array(list(numbers), dtype=np.intp), choices)

    def seat_values(self, values: Floats) -> Floats:
        """The advantages of the seats behind the first."""
        advantages: Floats = values[self._players :][: self._seats - 1]
        return advantages

    @staticmethod
    def _choices_of(players: Sequence[int], places: Sequence[int]) -> list[Choice]:
        """The choices that a game makes."""
        menu = tuple((player, seat) for seat, player in enumerate(players))
        orders = [
            order
            for order in permutations(range(len(players)))
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


def _rows(games: _Games, values: Floats, covariance: Floats) -> list[Rating]:
    import numpy as np

    names, players = games.names, len(games.names)
    spread = covariance[:players, :players]
    own = np.sqrt(np.clip(np.diag(spread), 0, None))
    apart = np.sqrt(np.clip(np.diag(spread)[:, None] + np.diag(spread)[None, :] - 2 * spread, 0, None))
    ahead = values[:players, None] - values[None, :players]
    number, scores = np.zeros(players), np.zeros(players)
    for seat, place in enumerate(games.places.T):
        below = (games.places > place[:, None]).sum(axis=1)
        level = (games.places == place[:, None]).sum(axis=1) - 1
        share = (below + level / 2) / (games.places.shape[1] - 1)
        number += np.bincount(games.seated[:, seat], games.kind_counts(), players)
        scores += np.bincount(games.seated[:, seat], games.kind_counts() * share, players)
    rows = [
        Rating(
            name,
            MEAN + SCALE * float(values[place]),
            SCALE * Z * float(own[place]),
            1 + int((-ahead[place] > Z * apart[place]).sum()),
            players - int((ahead[place] > Z * apart[place]).sum()),
            int(number[place]),
            float(scores[place] / number[place]),
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
