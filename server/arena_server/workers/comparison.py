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
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from arena_protocol.record import VOID, FaultKind
from arena_server.core.journal import PastGame

ALPHA: Final = 0.01
FIRST_LOOK: Final = 100
_LARGEST: Final = 0.5

#: A value of a game, None for one that does not count.
Measure = Callable[[PastGame], float | None]


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
    """The workers that stand out at a look, the least likely first; `played` has each game's worker."""
    games = [(game, worker) for game, worker in played if game.end != VOID and worker]
    workers = {worker for _, worker in games}
    measures = _measures({name for game, _ in games for name in game.names})
    limit = alpha / (look * (look + 1)) / max(1, len(workers) * len(measures))
    found = [
        StandsOut(worker, words[total < 0], len(games), chance)
        for words, measure in measures.items()
        for worker, (total, chance) in _chances(games, measure).items()
        if chance <= limit
    ]
    return sorted(found, key=lambda each: (each.chance, each.worker, each.what))


def _measures(bots: Iterable[str]) -> Mapping[tuple[str, str], Measure]:
    """What is compared, by the words for more and for less of it."""
    return {
        ("its games take longer", "its games take less time"): _time,
        ("it has more time-outs", "it has fewer time-outs"): _timeouts,
        **{
            (f"{bot} gets more points there", f"{bot} gets fewer points there"): _margin_of(bot)
            for bot in sorted(bots)
        },
    }


def _time(game: PastGame) -> float | None:
    return sum(game.used_ms) / game.plies if game.plies and game.used_ms else None


def _timeouts(game: PastGame) -> float:
    return sum(kind == FaultKind.TIMEOUT for _, kind in game.faults)


def _margin_of(bot: str) -> Measure:
    def margin(game: PastGame) -> float | None:
        if bot not in game.names:
            return None
        own = game.totals[game.names.index(bot)]
        return own - max(total for name, total in zip(game.names, game.totals, strict=True) if name != bot)

    return margin


def _chances(games: Sequence[tuple[PastGame, str]], measure: Measure) -> dict[str, tuple[float, float]]:
    """The sum of the ranks of each worker, and the bound of its chance, on both sides."""
    groups: defaultdict[tuple[str, ...], list[tuple[float, str]]] = defaultdict(list)
    for game, worker in games:
        if (value := measure(game)) is not None:
            groups[game.names].append((value, worker))
    sums: defaultdict[str, float] = defaultdict(float)
    variances: defaultdict[str, float] = defaultdict(float)
    for group in groups.values():
        ranks = ranked([value for value, _ in group])
        mean_square = sum(rank * rank for rank in ranks) / len(ranks)
        for rank, (_, worker) in zip(ranks, group, strict=True):
            sums[worker] += rank
            variances[worker] += mean_square
    return {worker: (total, bound(total, variances[worker])) for worker, total in sums.items()}


def ranked(values: Sequence[float]) -> list[float]:
    """The ranks of values from -1/2 to 1/2, whose sum is 0; equal values have their mean."""
    order = sorted(range(len(values)), key=values.__getitem__)
    ranks = [0.0] * len(values)
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
