"""The statistics of a match: points, intervals, Elo difference and sequential test, and their tables.

Every deal is played from every seat, so that it favours no player; the games of a deal are one observation.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, Self

from arena_protocol.record import GameRecord, PlyRecord, time_used
from arena_server.errors import ConfigError
from arena_server.stats.elo import LEAST_PAIRS, Pairs, Sprt

RESAMPLES = 2000
#: `LeadTest` decides nothing on fewer deals: their variance is not known well enough.
LEAST_DEALS = 4

#: Gets columns of one number per deal.
Statistic = Callable[..., float]
#: Of a ply; by its name it takes three times as long.
_MOVE = itemgetter(PlyRecord._fields.index("move"))


@dataclass(frozen=True, slots=True)
class PlayedGame:
    """One game: points, first faults (None without one) and milliseconds charged, each by seat."""

    totals: tuple[int, ...]
    faults: tuple[str | None, ...]
    used: tuple[int, ...]
    moves: tuple[str, ...]

    @classmethod
    def of(cls, record: GameRecord) -> Self:
        """Return what a record says of its game."""
        faults: list[str | None] = [None] * len(record.totals)
        for fault in reversed(record.faults):
            faults[fault.seat - 1] = fault.kind
        used = time_used(record.plies, len(record.totals))
        moves = tuple(map(_MOVE, record.plies))
        return cls(record.totals, tuple(faults), used, moves)


@dataclass(slots=True)
class Scores:
    """The points of a match: `points[i]` holds, per deal, the mean of engine i over the games of the deal.

    `faults` are by name, `used[i]` is the most milliseconds that engine i used in a game, `pairs` the
    results of the first engine against a second one, None with more engines.
    """

    points: list[list[float]]
    faults: dict[str, list[str]]
    used: list[int]
    pairs: Pairs | None
    games: int = 0

    @classmethod
    def empty(cls, engines: int) -> Scores:
        """Return the scores before the first deal."""
        return cls([[] for _ in range(engines)], {}, [0] * engines, Pairs() if engines == 2 else None)

    def add(self, names: Sequence[str], games: Sequence[tuple[tuple[int, ...], PlayedGame]]) -> None:
        """Add a deal: each of its games with the engine of every seat."""
        totals = [0] * len(names)
        self.games += len(games)
        for seating, game in games:
            for seat, engine in enumerate(seating):
                totals[engine] += game.totals[seat]
                self.used[engine] = max(self.used[engine], game.used[seat])
                fault = game.faults[seat]
                if fault is not None:
                    self.faults.setdefault(names[engine], []).append(fault)
        for engine, total in enumerate(totals):
            self.points[engine].append(total / len(games))
        if self.pairs is not None:
            self.pairs.add(sum(_result(seating, game) for seating, game in games) / len(games))

    @property
    def others(self) -> list[float]:
        """The mean points, per deal, of the engines after the first."""
        return [_mean(deal) for deal in zip(*self.points[1:], strict=True)]

    def advantages(self) -> list[float]:
        """Return, per deal, the lead of the first engine over the others' mean, as a share of both: -1..1."""
        pairs = zip(self.points[0], self.others, strict=True)
        return [(one - other) / max(one + other, 1) for one, other in pairs]

    def standing(self, names: Sequence[str], test: Sprt | LeadTest | None) -> dict[str, Any]:
        """Return the means and the state of the sequential test, ready for JSON.

        An `Sprt` tests the Elo difference of two engines, a `LeadTest` the advantage of the first one.
        """
        means = {
            "engines": list(names),
            "deals": len(self.points[0]),
            "games": self.games,
            "points": [round(_mean(points), 2) for points in self.points],
            **(self.pairs.summary() if self.pairs is not None else {}),
        }
        if test is None:
            return means
        if isinstance(test, LeadTest):
            return means | test.test(self.advantages())
        if self.pairs is None:
            raise ConfigError("a test of the Elo difference needs 2 engines; test the lead in points instead")
        return means | test.test(self.pairs)

    def summary(self, names: Sequence[str], test: Sprt | LeadTest | None) -> dict[str, Any]:
        """Return the standing, intervals (95 %, bootstrap over the deals) and faults, ready for JSON.

        `ratio` is the first engine's points per point of the others' mean; `deals_won` and `deals_drawn`
        compare the first engine with the best of the others.
        """
        first, others = self.points[0], self.others
        best = [max(deal) for deal in zip(*self.points[1:], strict=True)]
        # Of the same resampled deals: to draw them takes most of the time.
        means = [_mean_of(engine) for engine in range(len(self.points))]
        *intervals, ratio_interval = bootstraps([*self.points, others], [*means, _ratio_of_ends])
        return {
            **self.standing(names, test),
            "interval": intervals,
            "ratio": _ratio(first, others),
            "ratio_interval": ratio_interval,
            "deals_won": sum(mine > most for mine, most in zip(first, best, strict=True)),
            "deals_drawn": sum(mine == most for mine, most in zip(first, best, strict=True)),
            "most_ms": list(self.used),
            "faults": self.faults,
        }


def _result(seating: Sequence[int], game: PlayedGame) -> float:
    """Return the result of the first engine: 1 for a win, 1/2 for a draw, 0 for a loss."""
    mine, other = (game.totals[seating.index(engine)] for engine in (0, 1))
    return 1.0 if mine > other else 0.5 if mine == other else 0.0


def _mean(values: Sequence[float]) -> float:
    return sum(values) / max(len(values), 1)


def _ratio(one: Sequence[float], other: Sequence[float]) -> float:
    """Return the points of one per point of the other, who counts at least one point a game."""
    return round(_mean(one) / max(_mean(other), 1.0), 4)


def _mean_of(column: int) -> Statistic:
    return lambda *columns: _mean(columns[column])


def _ratio_of_ends(*columns: Sequence[float]) -> float:
    return _ratio(columns[0], columns[-1])


def bootstrap(columns: Sequence[Sequence[float]], statistic: Statistic) -> list[float]:
    """Return the middle 95 % of a statistic over deals resampled with replacement.

    `columns` are lists of one number per deal, since the games of one deal are not independent; the
    statistic gets as many lists. The same numbers give the same interval; no deals give [0, 0].
    """
    return bootstraps(columns, [statistic])[0]


def bootstraps(columns: Sequence[Sequence[float]], statistics: Sequence[Statistic]) -> list[list[float]]:
    """Return what `bootstrap` does for each of these statistics of the same columns."""
    size = len(columns[0])
    if size == 0:
        return [[0.0, 0.0] for _ in statistics]
    chance = random.Random(size)  # noqa: S311 - statistics, not secrets
    deals = list(zip(*columns, strict=True))
    values: list[list[float]] = [[] for _ in statistics]
    for _ in range(RESAMPLES):
        drawn = tuple(zip(*chance.choices(deals, k=size), strict=True))
        for found, statistic in zip(values, statistics, strict=True):
            found.append(statistic(*drawn))
    for found in values:
        found.sort()
    ends = [int(share * (RESAMPLES - 1)) for share in (0.025, 0.975)]
    return [[round(found[at], 4) for at in ends] for found in values]


@dataclass(frozen=True, slots=True)
class LeadTest:
    """The test whether the mean advantage, a share of all points, is 0 or `margin`.

    Wald's test on the log-likelihood ratio of two normal distributions with the variance seen so far.
    `alpha` is the probability to accept `margin` although it is 0, `beta` the reverse.
    """

    margin: float = 0.02
    alpha: float = 0.05
    beta: float = 0.05

    def test(self, values: Sequence[float]) -> dict[str, Any]:
        """Return `llr`, its `bounds` and the `verdict`, as `Sprt.test` does."""
        low, high = math.log(self.beta / (1 - self.alpha)), math.log((1 - self.beta) / self.alpha)
        llr = _log_likelihood_ratio(values, self.margin)
        verdict = "better" if llr >= high else "no better" if llr <= low else "open"
        return {
            "margin": self.margin,
            "alpha": self.alpha,
            "beta": self.beta,
            "llr": round(llr, 3),
            "bounds": [round(low, 3), round(high, 3)],
            "verdict": verdict,
        }


def _log_likelihood_ratio(values: Sequence[float], margin: float) -> float:
    size = len(values)
    if size < LEAST_DEALS:
        return 0.0
    mean = sum(values) / size
    variance = sum((value - mean) ** 2 for value in values) / (size - 1)
    # Without spread the deals decide at once, in the direction of their mean.
    return size * margin * (mean - margin / 2) / max(variance, 1e-9)


def text_table(answer: Mapping[str, Any]) -> str:
    """Return a match as text: a row per engine, then the ratio and the verdict."""
    wide = max(40, *map(len, answer["engines"]))
    rows = [f"{'engine':<{wide}} {'points':>8}  {'95 % interval':>17}  {'most ms':>8}  faults"]
    for at, name in enumerate(answer["engines"]):
        low, high = answer["interval"][at]
        faults = len(answer["faults"].get(name, ()))
        rows.append(
            f"{name:<{wide}} {answer['points'][at]:>8.1f}  {low:>7.1f} to {high:>6.1f}  "
            f"{answer['most_ms'][at]:>8}  {faults}"
        )
    low, high = answer["ratio_interval"]
    verdict = f"; verdict: {answer['verdict']}" if "verdict" in answer else ""
    rows.append(f"ratio {answer['ratio']:.3f} ({low:.3f} to {high:.3f}) in {answer['games']} games{verdict}")
    if "pairs" in answer:
        loss, draw, win = answer["pairs"][:2], answer["pairs"][2], answer["pairs"][3:]
        elo = elo_text(answer) or f"no Elo difference before {LEAST_PAIRS} pairs"
        rows.append(f"{elo}; pairs won {sum(win)}, even {draw}, lost {sum(loss)}")
        if line := pairs_text(answer):
            rows.append(line)
    if "llr" in answer:
        of = "a lead of 0 against {margin:g}" if "margin" in answer else "Elo {elo0:g} against {elo1:g}"
        low, high = answer["bounds"]
        rows.append(
            f"test of {of.format(**answer)}, error probabilities {answer['alpha']:g} and {answer['beta']:g}: "
            f"LLR {answer['llr']:+.2f} ({low:.2f} to {high:.2f})"
        )
    return "\n".join(rows)


def elo_text(answer: Mapping[str, Any]) -> str:
    """Return the Elo difference of a summary with its interval; empty below `LEAST_PAIRS`."""
    if sum(answer.get("pairs", ())) < LEAST_PAIRS:
        return ""
    low, high = answer["elo_interval"]
    at = answer["elo"] if answer["elo"] is not None else math.inf if low is not None else -math.inf
    least, most = -math.inf if low is None else low, math.inf if high is None else high
    return f"Elo {at:+z.0f} ({least:+z.0f} to {most:+z.0f})"


def pairs_text(answer: Mapping[str, Any]) -> str:
    """Return the line of the pentanomial counts; empty below `LEAST_PAIRS`."""
    if sum(answer["pairs"]) < LEAST_PAIRS:
        return ""
    text = f"pentanomial (0, 1/2, 1, 1 1/2, 2): {', '.join(map(str, answer['pairs']))}"
    if answer["nelo"] is None:  # all pairs are equal
        return text
    low, high = answer["nelo_interval"]
    text += f"; normalised Elo {answer['nelo']:+z.0f} ({low:+z.0f} to {high:+z.0f})"
    return f"{text}; LOS {answer['los'] * 100:.1f} %"


def league_table(answer: Mapping[str, Any]) -> str:
    """Return a league as text: mean points a game, and of each row's engine against each column's."""
    names, table = answer["engines"], answer["table"]
    order = [names.index(row["engine"]) for row in answer["standings"]]
    columns = range(1, len(order) + 1) if table else ()
    wide = max(40, *(len(name) + 4 for name in names))  # a rank of up to two digits, two blanks
    rows = [f"{'mean points a game':<{wide}}{'all':>8}" + "".join(f"{at:>8}" for at in columns)]
    for rank, (i, row) in enumerate(zip(order, answer["standings"], strict=True), start=1):
        cells = [mean_text(table[i][j]) for j in order] if table else []
        label = f"{rank} {names[i]}"
        rows.append(f"{label:<{wide}}{row['points']:>8.1f}" + "".join(f"{cell:>8}" for cell in cells))
    return "\n".join(rows)


def mean_text(points: float | None) -> str:
    """Return points a game: below ten with decimals, so that games of two points at most can be compared."""
    if points is None:
        return "-"
    return f"{points:.0f}" if points >= 10 else f"{points:.2f}"
