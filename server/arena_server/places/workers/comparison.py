"""Which workers stand out: slower or faster than the others, with more time-outs, or kinder to a bot.

Games of the same players in the same seats are a group. If workers are equal, it is chance which of the games
of a group a worker has played; so within each group the games are ranked, and the ranks of a worker, from
-1/2 to 1/2, have to sum up to about nothing over all groups. How unlikely a sum is has a bound that holds for
any distribution and any number of games (S. Bernstein; W. Hoeffding, "Probability inequalities for sums of
bounded random variables", 1963, theorem 4, for samples that are drawn without replacement):

    P(sum >= s) <= exp(-s^2 / 2(V + s/6))        V: the sum of the squared ranks of its groups, by its share

The contest is looked at after 100, 200, 400, ... results. Look k may err with a chance of ALPHA / k(k + 1),
which is divided among all workers and measures: the chance that a worker is named in a contest of equal
workers is at most ALPHA.
"""

from __future__ import annotations

import math
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from arena_protocol.record import VOID, FaultKind
from arena_server.stats.results import PastGame

ALPHA: Final = 0.01
FIRST_LOOK: Final = 100
_LARGEST: Final = 0.5

#: What is said of a worker with more, and of one with less.
_Words = tuple[str, str]
TIME: Final = "its games take longer", "its games take less time"
TIMEOUTS: Final = "it has more time-outs", "it has fewer time-outs"
POINTS: Final = "{} gets more points there", "{} gets fewer points there"


@dataclass(frozen=True, slots=True)
class StandsOut:
    """A worker that stands out after `games` results, and how; `chance` bounds that of equal workers."""

    worker: str
    what: str
    games: int
    chance: float


def look_at(results: int) -> int:
    """The number (1, 2, ...) of the look after this many results; 0: there is none."""
    number, rest = divmod(results, FIRST_LOOK)
    return number.bit_length() if number and not rest and number & (number - 1) == 0 else 0


def stand_out(played: Iterable[tuple[PastGame, str]], look: int, alpha: float = ALPHA) -> list[StandsOut]:
    """The workers that stand out at a look, the least likely first; `played` has each game's worker.

    It is read once, and 40 bytes are kept of a game of two seats.
    """
    workers: dict[str, int] = {}
    groups: dict[tuple[str, ...], _Group] = {}
    for game, worker in played:
        if game.end != VOID and worker:
            if (group := groups.get(game.names)) is None:
                group = groups[game.names] = _Group(game.names)
            group.add(game, workers.setdefault(worker, len(workers)))
    measures = defaultdict[_Words, _RankSums](lambda: _RankSums(len(workers)))
    games = 0
    for group in groups.values():
        games += len(group.workers)
        for words, values in zip(group.measures, group.values, strict=True):
            measures[words].add(values, group.workers)
    limit = alpha / (look * (look + 1)) / max(1, len(workers) * len(measures))
    found = [
        StandsOut(worker, words[sums.totals[at] < 0], games, chance)
        for words, sums in measures.items()
        for worker, at in workers.items()
        if (chance := bound(sums.totals[at], sums.variances[at])) <= limit
    ]
    return sorted(found, key=lambda each: (each.chance, each.worker, each.what))


class _Group:
    """Games of the same players in the same seats: the worker of each, and its value of each measure.

    A value is NaN in a game that does not count for the measure.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.workers = array("I")
        self.measures: list[_Words] = [
            TIME,
            TIMEOUTS,
            *((POINTS[0].format(bot), POINTS[1].format(bot)) for bot in names),
        ]
        self.values = [array("d") for _ in self.measures]

    def add(self, game: PastGame, worker: int) -> None:
        self.workers.append(worker)
        timeouts = sum(kind == FaultKind.TIMEOUT for _, kind in game.faults)
        for values, value in zip(self.values, (_time(game), timeouts, *_margins(game.totals)), strict=True):
            values.append(value)


def _time(game: PastGame) -> float:
    return sum(game.used_ms) / game.plies if game.plies and game.used_ms else math.nan


def _margins(totals: Sequence[int]) -> Iterator[int]:
    """The points of each seat above the best of the others."""
    for seat, own in enumerate(totals):
        yield own - max(total for other, total in enumerate(totals) if other != seat)


class _RankSums:
    """The sum of the ranks of each worker, and its variance, of one measure over groups."""

    def __init__(self, workers: int) -> None:
        self.totals = [0.0] * workers
        self.variances = [0.0] * workers

    def add(self, values: Sequence[float], workers: Sequence[int]) -> None:
        """Add a group."""
        counted = array("I", (at for at, value in enumerate(values) if not math.isnan(value)))
        if not counted:
            return
        ranks = ranked(array("d", (values[at] for at in counted)))
        mean_square = sum(rank * rank for rank in ranks) / len(ranks)
        for at, rank in zip(counted, ranks, strict=True):
            self.totals[workers[at]] += rank
            self.variances[workers[at]] += mean_square


def ranked(values: Sequence[float]) -> Sequence[float]:
    """The ranks of values from -1/2 to 1/2, whose sum is 0; equal values have their mean."""
    order = sorted(range(len(values)), key=values.__getitem__)
    ranks = array("d", [0.0]) * len(values)
    first = 0
    while first < len(order):
        last = first
        while last + 1 < len(order) and values[order[last + 1]] == values[order[first]]:
            last += 1
        for place in order[first : last + 1]:
            ranks[place] = ((first + last) / 2 - (len(values) - 1) / 2) / len(values)
        first = last + 1
    return ranks


def bound(total: float, variance: float) -> float:
    """At most how likely a sum as far from 0 as `total` is, on either side."""
    if not total or not variance:
        return 1.0
    exponent = total * total / (2 * (variance + _LARGEST * abs(total) / 3))
    return min(1.0, 2 * math.exp(-exponent))
