"""`stop = "top:K"`: the contest ends when the first K bots are separated from all others at 95 %.

Separated are two bots whose mean scores differ by a bound times the standard error of that difference. All K
have to be separated from all others. The contest is looked at nine times, after each tenth of its games; a
bound of 1.96 at each look would err far more often than one time in twenty, so that of O'Brien and Fleming
is taken, which is strict at first and hardly above that of a single look in the end:

    look   1     2     3     4     5     6     7     8     9
    bound  6.60  4.67  3.81  3.30  2.95  2.69  2.49  2.33  2.20        2.087 sqrt(10 / look)

If two bots at the edge of the first K are equally strong, either order is said to be certain in at most 5 %
of contests; with more equals in fewer. An observation is the points of a bot in a game, or whether it won,
as the contest is scored, with paired deals in all games of a deal. The variance of the difference of two
means is that of equally strong bots: it sums the squared deviations of the observations of both from the
mean of their two means, each divided by the number of observations of its bot, and a game of the two
against each other counts once, with the difference of both deviations. With a mean for each bot the variance
of one that has won its first games would be nothing.

P. C. O'Brien and T. R. Fleming, "A multiple testing procedure for clinical trials", Biometrics 35 (1979);
the constant is that of C. Jennison and B. W. Turnbull, "Group Sequential Methods" (2000), table 2.3.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, Protocol

from arena_server.stats.results import PastGame
from arena_server.stats.scoring import POINTS, scoring_of

LOOKS: Final = 10
CONSTANT: Final = 2.087
#: A bot with fewer observations is not separated from any other.
LEAST: Final = 10
_RULE: Final = re.compile("top:([1-9][0-9]{0,5})", re.ASCII)


def first_of(rule: str) -> int:
    """K of "top:K"; 0 for no rule. Raises ValueError for any other text."""
    if not rule:
        return 0
    found = _RULE.fullmatch(rule)
    if found is None:
        raise ValueError(f'expected "top:1", "top:2", ... or nothing, got {rule!r:.60}')
    return int(found[1])


class Stoppable(Protocol):
    """The class of a format, as far as its early end goes."""

    NAME: ClassVar[str]
    MAY_STOP: ClassVar[bool]


def check(rule: str, form: type[Stoppable], bots: int) -> None:
    """Raise ValueError for a rule that a contest of this format with this number of bots cannot have."""
    try:
        first = first_of(rule)
    except ValueError as error:
        raise ValueError(f"contest.stop: {error}") from None
    if not first:
        return
    if not form.MAY_STOP:
        raise ValueError(
            f"contest.stop: expected a format whose games are planned (round-robin, gauntlet, matches), "
            f"got {form.NAME}"
        )
    if first >= bots:
        raise ValueError(f"contest.stop: expected top:1 to top:{bots - 1} of {bots} bots, got {rule}")


def bound(look: int) -> float:
    """How many standard errors the difference of two means has to be at a look (1, 2, ...)."""
    return CONSTANT * math.sqrt(LOOKS / look)


@dataclass(slots=True)
class _Sums:
    """Sums of the observations of a bot."""

    count: int = 0
    total: int = 0
    squares: int = 0

    def deviation(self, centre: float) -> float:
        """The sum of the squared deviations from `centre`."""
        return self.squares - 2 * centre * self.total + self.count * centre * centre


@dataclass(slots=True)
class _Common:
    """Sums over the observations in which both bots of a pair played: of the scores, and of the products."""

    count: int = 0
    sums: int = 0
    products: int = 0


class Separation:
    """Watches the results of one contest of `total` games for the rule "top:`first`".

    A game is scored as `scoring` says. `deal_games` of the same
    players on the same deal are one observation: 1, or with paired deals the number of seats.
    """

    def __init__(
        self, names: Sequence[str], first: int, total: int, *, scoring: str = POINTS, deal_games: int = 1
    ) -> None:
        self._first, self._total = first, total
        self._scoring, self._deal_games = scoring_of(scoring), deal_games
        self._done = 0
        self._sums = {name: _Sums() for name in names}
        self._common: defaultdict[tuple[str, str], _Common] = defaultdict(_Common)
        #: The deals of which not all games have a result: how many have, and the sums so far.
        self._open: dict[tuple[frozenset[str], int], tuple[int, dict[str, int]]] = {}

    def add(self, game: PastGame) -> tuple[str, ...]:
        """Count the next result; returns the first K, the best first, if it is a look that separates them."""
        scores = dict(zip(game.names, self._scores(game.totals), strict=True))
        if self._deal_games > 1:
            key = frozenset(game.names), game.deal
            games, sums = self._open.pop(key, (0, dict.fromkeys(scores, 0)))
            scores = {name: sums[name] + score for name, score in scores.items()}
            if games + 1 < self._deal_games:
                self._open[key] = games + 1, scores
                scores = {}
        self._observe(scores)
        before, self._done = self._done * LOOKS // self._total, self._done + 1
        look = self._done * LOOKS // self._total
        return self._separated(look) if before < look < LOOKS else ()

    def _scores(self, totals: Sequence[int]) -> Sequence[int]:
        worth = self._scoring
        if worth.by_points:
            return totals
        best = max(totals)
        most = worth.win if totals.count(best) == 1 else worth.draw
        return [int(2 * (most if total == best else worth.loss)) for total in totals]

    def _observe(self, scores: dict[str, int]) -> None:
        names = sorted(scores)
        for place, name in enumerate(names):
            score = scores[name]
            sums = self._sums.setdefault(name, _Sums())  # it may have entered late
            sums.count += 1
            sums.total += score
            sums.squares += score * score
            for other in names[place + 1 :]:
                common = self._common[name, other]
                common.count += 1
                common.sums += score + scores[other]
                common.products += score * scores[other]

    # -- a look

    def _separated(self, look: int) -> tuple[str, ...]:
        if any(sums.count < LEAST for sums in self._sums.values()):
            return ()
        order = sorted(self._sums, key=lambda name: (-self._mean(name), name))
        first, rest = order[: self._first], order[self._first :]
        limit = bound(look) ** 2
        # The closest pair is most likely the last of the first and the first of the rest.
        certain = all(self._differ(one, other, limit) for one in reversed(first) for other in rest)
        return tuple(first) if certain else ()

    def _differ(self, one: str, other: str, limit: float) -> bool:
        """Whether the mean of `one` is above that of `other` by more than the limit's root of errors."""
        first, second = self._sums[one], self._sums[other]
        difference = self._mean(one) - self._mean(other)
        centre = (self._mean(one) + self._mean(other)) / 2
        common = self._common.get((min(one, other), max(one, other)), _Common())
        both = common.products - centre * common.sums + common.count * centre * centre
        variance = (
            first.deviation(centre) / first.count**2
            + second.deviation(centre) / second.count**2
            - 2 * both / (first.count * second.count)
        )
        return difference > 0 and difference * difference > limit * variance

    def _mean(self, name: str) -> float:
        sums = self._sums[name]
        return sums.total / sums.count
