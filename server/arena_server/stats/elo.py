"""Elo differences and the sequential probability ratio test, from pairs of games.

A pair is two games on one deal with the seats swapped. Its score, the mean of a win (1), a draw (1/2) or a
loss (0) in each game, is one of five; counting pairs and not games (`Pairs`, the pentanomial model) takes
the correlation of the two games into account, so that an unfair deal does not look like information.

    elo         the logistic model: score = 1 / (1 + 10 ** (-elo / 400))
    nelo        the normalised difference: (score - 1/2) / sqrt(2 * variance of a pair) * 800 / ln 10
    los         the likelihood of superiority: that the mean score of all pairs is above 1/2, which is normal
    `Sprt.test` the generalised sequential probability ratio test of H0: elo = elo0 against H1: elo = elo1:
                the log-likelihood ratio of the two five-valued distributions with these means that fit the
                pairs best (M. Van den Bergh, "The generalized maximum likelihood ratio for the
                expectation value of a distribution", 2020)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

#: The score of the first player in a pair: 0, 1/4, 1/2, 3/4 or 1.
PAIR_SCORES = (0.0, 0.25, 0.5, 0.75, 1.0)
#: Of fewer pairs the texts for people show no Elo difference: its interval is hundreds of Elo wide.
LEAST_PAIRS = 5
#: The normal quantile of a two-sided 95 % interval.
Z = 1.96
#: The scale on which a normalised difference of small values is about the logistic one of even games.
NORMALISED = 800 / math.log(10)
#: Added to empty counts, so that the distributions can put weight on scores that were not seen.
EMPTY = 1e-3
#: Added to every count for the variance of an interval: equal pairs do not prove a variance of 0.
PRIOR = 0.2
#: Halvings of the bracket of the Lagrange multiplier: its error is below 1e-12.
HALVINGS = 60


def score_of(elo: float) -> float:
    """Return the expected score of a player that is `elo` stronger."""
    return 1 / (1 + 10 ** (-elo / 400))


def elo_of(score: float) -> float:
    """Return the Elo difference of an expected score; infinite at 0 and 1."""
    if not 0 < score < 1:
        return math.copysign(math.inf, score - 0.5)
    return -400 * math.log10(1 / score - 1)


@dataclass(slots=True)
class Pairs:
    """How often each of `PAIR_SCORES` came."""

    counts: list[int] = field(default_factory=lambda: [0] * len(PAIR_SCORES))

    def add(self, score: float) -> None:
        """Add a pair by its score; `score * 4` is an integer."""
        self.counts[round(score * 4)] += 1

    @property
    def score(self) -> float:
        """The mean score; 1/2 without pairs."""
        size = sum(self.counts)
        return _mean(self.counts) if size else 0.5

    def interval(self) -> tuple[float, float]:
        """Return the 95 % interval of the mean score."""
        size = sum(self.counts)
        if not size:
            return 0.0, 1.0
        smooth = [count + PRIOR for count in self.counts]
        mean = _mean(smooth)
        variance = _mean(smooth, lambda score: (score - mean) ** 2)
        half = Z * math.sqrt(variance / size)
        return max(0.0, self.score - half), min(1.0, self.score + half)

    def normalised(self) -> tuple[float, float, float] | None:
        """The normalised Elo difference and its 95 % interval; None while all pairs are equal."""
        if not (variance := self._variance()):
            return None
        at = (self.score - 0.5) / math.sqrt(2 * variance) * NORMALISED
        half = Z / math.sqrt(2 * sum(self.counts)) * NORMALISED
        return at, at - half, at + half

    def superiority(self) -> float | None:
        """The likelihood that the first player is the stronger one; None while all pairs are equal."""
        if not (variance := self._variance()):
            return None
        return (1 + math.erf((self.score - 0.5) / math.sqrt(2 * variance / sum(self.counts)))) / 2

    def _variance(self) -> float:
        """That of the score of a pair, as it was seen; 0 without pairs."""
        mean = self.score
        return _mean(self.counts, lambda score: (score - mean) ** 2) if sum(self.counts) else 0.0

    def summary(self) -> dict[str, Any]:
        """Return counts, Elo differences with 95 % intervals for JSON; None is infinite, or not known."""
        normalised, los = self.normalised(), self.superiority()
        return {
            "pairs": list(self.counts),
            "elo_model": "logistic",
            "elo": _finite(elo_of(self.score)) if sum(self.counts) else None,
            "elo_interval": [_finite(elo_of(bound)) for bound in self.interval()],
            "nelo": None if normalised is None else round(normalised[0], 1),
            "nelo_interval": None if normalised is None else [round(bound, 1) for bound in normalised[1:]],
            "los": None if los is None else round(los, 4),
        }


def _mean(counts: Sequence[float], value: Callable[[float], float] = float) -> float:
    return sum(count * value(score) for count, score in zip(counts, PAIR_SCORES, strict=True)) / sum(counts)


def _finite(elo: float) -> float | None:
    return round(elo, 1) + 0.0 if math.isfinite(elo) else None  # + 0.0: JSON has no "-0.0"


@dataclass(frozen=True, slots=True)
class Sprt:
    """The test of H0: elo = `elo0` against H1: elo = `elo1`, with `elo0` < `elo1`.

    `alpha` is the probability to accept H1 although H0 holds, `beta` to accept H0 although H1 holds.
    """

    elo0: float = 0.0
    elo1: float = 50.0
    alpha: float = 0.05
    beta: float = 0.05

    def test(self, pairs: Pairs) -> dict[str, Any]:
        """Return the log-likelihood ratio, its bounds and the `verdict`.

        The verdict is `better` (H1 accepted), `no better` (H0 accepted) or `open`.
        """
        low = math.log(self.beta / (1 - self.alpha))
        high = math.log((1 - self.beta) / self.alpha)
        llr = log_likelihood_ratio(pairs.counts, score_of(self.elo0), score_of(self.elo1))
        return {
            "elo0": self.elo0,
            "elo1": self.elo1,
            "alpha": self.alpha,
            "beta": self.beta,
            "llr": round(llr, 3),
            "bounds": [round(low, 3), round(high, 3)],
            "verdict": "better" if llr >= high else "no better" if llr <= low else "open",
        }

    def reachable(self, pairs: int) -> set[str]:
        """The verdicts that this number of pairs may lead to."""
        won, lost = [0] * len(PAIR_SCORES), [0] * len(PAIR_SCORES)
        won[-1] = lost[0] = pairs
        return {self.test(Pairs(counts))["verdict"] for counts in (won, lost)} - {"open"}


def log_likelihood_ratio(counts: Sequence[float], score0: float, score1: float) -> float:
    """Return the log-likelihood ratio of mean score `score1` to `score0`; 0 without pairs."""
    if not sum(counts):
        return 0.0
    filled = [count or EMPTY for count in counts]
    return _log_likelihood(filled, score1) - _log_likelihood(filled, score0)


def _log_likelihood(counts: Sequence[float], mean: float) -> float:
    """Return the greatest log-likelihood of a distribution with this mean, up to a constant.

    With a Lagrange multiplier t its probabilities are p[i] = share[i] / (1 + t * (score[i] - mean)),
    where t is the root of a falling function, the sum of share[i] * (score[i] - mean) / (1 + t * (...)).
    """
    size = sum(counts)
    shares = [count / size for count in counts]
    gaps = [score - mean for score in PAIR_SCORES]
    low, high = -1 / gaps[-1], -1 / gaps[0]  # between them all denominators are positive
    for _ in range(HALVINGS):
        t = (low + high) / 2
        slope = sum(share * gap / (1 + t * gap) for share, gap in zip(shares, gaps, strict=True))
        low, high = (t, high) if slope > 0 else (low, t)
    t = (low + high) / 2
    return -sum(count * math.log(1 + t * gap) for count, gap in zip(counts, gaps, strict=True))
