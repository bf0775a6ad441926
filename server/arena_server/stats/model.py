"""The likelihood of results and its maximum: sums of multinomial choices (`ratings` names the models)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise, permutations
from typing import TYPE_CHECKING, Any, Final

from arena_server.stats.rated_games import Games

if TYPE_CHECKING:
    import numpy as np

    Floats = np.ndarray[Any, np.dtype[np.float64]]
    Ints = np.ndarray[Any, np.dtype[np.intp]]

#: The prior precision of the advantages of seats: a field where one seat wins every game has no finite
#: maximum without it.
PRIOR: Final = 0.01
#: Newton's method ends when no parameter moves by more.
TOLERANCE: Final = 1e-12
MOST_STEPS: Final = 200
#: The relative error that a log-likelihood may have.
ROUNDING: Final = 1e-12
#: How many different pairings are added up at once: 16 numbers of each with two seats.
BLOCK: Final = 100_000

#: What a choice is made of: players by their places, each with its seat (0, 1, ...).
Menu = tuple[tuple[int, int], ...]
#: A menu, which of its alternatives was chosen, and with what weight.
Choice = tuple[Menu, int, float]


class _Choices:
    """All choices from menus of the same seats, in arrays.

    The log-odds of the alternatives of a menu are `factors` (alternative, parameter) times the values of the
    parameters at `places` (menu, parameter). The outcomes of a choice are its alternatives and, with two
    seats, a draw: half a choice of each, as `shares` (outcome, alternative) has it. Of choice n `menu[n]` is
    the menu, `chosen[n]` the outcome, `weight[n]` the weight and `pairing[n]` the kind of pairing.
    """

    def __init__(
        self,
        players: int,
        extra: int,
        seats: Sequence[int],
        menus: Ints,
        choices: tuple[Ints, Ints, Ints, Floats],
    ) -> None:
        """`extra` parameters are behind those of the `players`.

        `menus` (menu, alternative) are players in the seats `seats`. `choices` are the pairing, the menu, the
        outcome and the weight of each choice.
        """
        import numpy as np

        size = len(seats)
        shared = np.broadcast_to(np.arange(players, players + extra), (len(menus), extra))
        self.places = np.concatenate([menus, shared], axis=1)
        self.factors = np.zeros((size, size + extra))
        self.factors[np.arange(size), np.arange(size)] = 1
        for alternative, seat in enumerate(seats):
            if seat:  # the first seat has no advantage
                self.factors[alternative, size + seat - 1] = 1
        self.shares = np.concatenate([np.eye(size), np.full((int(size == 2), size), 0.5)])
        #: The factors of what was chosen.
        self.outcomes = self.shares @ self.factors
        #: Where a menu adds to the matrix of second derivatives, laid out in a row.
        whole = players + extra
        self.cells = (self.places[:, :, None] * whole + self.places[:, None, :]).reshape(len(menus), -1)
        self.pairing, self.menu, self.chosen, self.weight = choices

    def chosen_weights(self, counts: Floats) -> Floats:
        """How often each outcome of each menu came, with `counts` of each kind of pairing."""
        import numpy as np

        number, size = len(self.places), len(self.outcomes)
        weights = self.weight * counts[self.pairing]
        found = np.bincount(self.menu * size + self.chosen, weights, minlength=number * size)
        chosen: Floats = found.astype(np.float64).reshape(number, size)
        return chosen

    def log_chances(self, values: Floats) -> Floats:
        """The logarithm of the chance of each alternative of each menu."""
        import numpy as np

        log_odds = values[self.places] @ self.factors.T
        log_odds -= log_odds.max(axis=1, keepdims=True)
        logs: Floats = log_odds - np.log(np.exp(log_odds).sum(axis=1, keepdims=True))
        return logs

    def spread(self, chances: Floats) -> Floats:
        """The covariance of the factors of each menu, in a row: (menu, `cells`)."""
        # That of the alternatives: their squares, less the square of the mean.
        squares = (self.factors[:, :, None] * self.factors[:, None, :]).reshape(len(self.factors), -1)
        mean = chances @ self.factors
        found: Floats = chances @ squares - (mean[:, :, None] * mean[:, None, :]).reshape(len(mean), -1)
        return found

    def squares(self, values: Floats, chosen: Floats) -> Floats:
        """The sum of the outer squares of the gradients of all choices, in rows as `spread`.

        The outcomes came `chosen` (menu, outcome) times, each with the weight 1.
        """
        import numpy as np

        mean = np.exp(self.log_chances(values)) @ self.factors
        slopes = self.outcomes - mean[:, None, :]
        found: Floats = (slopes * chosen[:, :, None]).transpose(0, 2, 1) @ slopes
        return found.reshape(len(mean), -1)

    def gradients(self, values: Floats) -> Floats:
        """The gradient of each choice by the parameters of its menu."""
        import numpy as np

        mean = np.exp(self.log_chances(values)) @ self.factors
        found: Floats = (self.outcomes[self.chosen] - mean[self.menu]) * self.weight[:, None]
        return found


class RatingModel:
    """The choices that all games have made.

    The parameters are the ratings of the players, then the advantages of the seats behind the first.
    """

    def __init__(self, games: Games) -> None:
        self._players, self._seats = len(games.names), games.seated.shape[1]
        self._extra = self._seats - 1
        self._size = self._players + self._extra
        #: How often each kind of pairing has occurred.
        self._counts = games.counts
        self._choices = [self._two(games)] if self._seats == 2 else list(self._more(games))
        self._chosen = [each.chosen_weights(self._counts) for each in self._choices]

    def _two(self, games: Games) -> _Choices:
        """Each game of two seats is one choice: of the first, the second or half of each."""
        import numpy as np

        first, second = games.seated.T
        codes, menu = np.unique(first * self._players + second, return_inverse=True)
        menus = np.stack(np.divmod(codes, self._players), axis=1)
        chosen = np.where(games.places[:, 0] == games.places[:, 1], 2, games.places[:, 0])
        weight = np.ones(len(games.kind))
        choices = games.pairing, menu[games.kind], chosen[games.kind], weight
        return _Choices(self._players, self._extra, (0, 1), menus, choices)

    def _more(self, games: Games) -> Iterator[_Choices]:
        """The choices that the games make, by the seats of their menus."""
        import numpy as np

        of_kind = [
            self._choices_of(*each) for each in zip(games.seated.tolist(), games.places.tolist(), strict=True)
        ]
        found: dict[tuple[int, ...], list[tuple[int, Choice]]] = {}
        for pairing, kind in zip(games.pairing.tolist(), games.kind.tolist(), strict=True):
            for choice in of_kind[kind]:
                found.setdefault(tuple(seat for _, seat in choice[0]), []).append((pairing, choice))
        for seats, made in sorted(found.items()):
            numbers = {menu: place for place, menu in enumerate(dict.fromkeys(c[0] for _, c in made))}
            menus = np.array([[player for player, _ in menu] for menu in numbers], dtype=np.intp)
            choices = (
                np.array([pairing for pairing, _ in made], dtype=np.intp),
                np.array([numbers[menu] for _, (menu, _, _) in made], dtype=np.intp),
                np.array([chosen for _, (_, chosen, _) in made], dtype=np.intp),
                np.array([weight for _, (_, _, weight) in made]),
            )
            yield _Choices(self._players, self._extra, seats, menus, choices)

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
            chances, number = np.exp(logs), chosen.sum(axis=1, keepdims=True)
            taken = chosen @ each.shares
            total += float((taken * logs).sum())
            slope = (taken - chances * number) @ each.factors
            gradient += np.bincount(each.places.ravel(), slope.ravel(), minlength=self._size)
            spread = each.spread(chances) * number
            curvature += np.bincount(each.cells.ravel(), spread.ravel(), minlength=self._size**2)
        return total, gradient, curvature.reshape(self._size, self._size)

    def _scatter(self, values: Floats) -> Floats:
        """The sum of the outer squares of the gradients of the pairings."""
        import numpy as np

        if len(self._choices) == 1 and len(self._choices[0].pairing) == len(self._counts):
            # Each pairing is one game of two seats, one outcome: they need not be sorted and added up.
            (each,), (chosen,) = self._choices, self._chosen
            squares = each.squares(values, chosen)
            sums = np.bincount(each.cells.ravel(), squares.ravel(), self._size**2).astype(np.float64)
        else:
            sums = self._squares_of_pairings(values)
        number = self._counts.sum()
        # The usual correction for few clusters.
        scatter: Floats = sums.reshape(self._size, self._size) * (number / max(1, number - 1))
        return scatter

    def _squares_of_pairings(self, values: Floats) -> Floats:
        """The same in a row, where a pairing makes several choices."""
        import numpy as np

        found = [(each, each.gradients(values)) for each in self._choices]
        pairings = np.concatenate([np.repeat(each.pairing, slope.shape[1]) for each, slope in found])
        places = np.concatenate([each.places[each.menu].ravel() for each, _ in found])
        # One entry for each parameter that a pairing has, in the order of the pairings.
        entries, at = np.unique(pairings * self._size + places, return_inverse=True)
        slopes = np.bincount(at, np.concatenate([slope.ravel() for _, slope in found]))
        pairings, places = np.divmod(entries, self._size)
        first = np.searchsorted(pairings, np.arange(len(self._counts) + 1))
        sums: Floats = np.zeros(self._size**2)
        for start in range(0, len(self._counts), BLOCK):
            ends = first[start : start + BLOCK + 1]
            sizes = np.diff(ends)
            # Each entry with each one of the same pairing.
            one = np.repeat(np.arange(ends[0], ends[-1]), np.repeat(sizes, sizes))
            runs = np.repeat(sizes, sizes)
            other = np.arange(len(one)) - np.repeat(np.cumsum(runs) - runs, runs) + first[pairings[one]]
            products = slopes[one] * slopes[other] * self._counts[pairings[one]]
            sums += np.bincount(places[one] * self._size + places[other], products, self._size**2)
        return sums
