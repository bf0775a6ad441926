"""The two statistics of a match: how sure a mean is, and when to stop playing.

Both take one number a deal (a pair of games), since the games of a deal are not independent. The same
numbers give the same answer. It must not know: games, engines.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from typing import Any

RESAMPLES = 2000
#: Chances of a wrong verdict, each way.
ALPHA = BETA = 0.05
#: The variance is not trusted before so many deals.
LEAST_DEALS = 4


def bootstrap(
    columns: Sequence[Sequence[float]], statistic: Callable[..., float], resamples: int = RESAMPLES
) -> list[float]:
    """Return the middle 95 % of a statistic over deals drawn again with replacement.

    `columns` are lists of one number a deal; the statistic gets as many lists. No deals: [0, 0].
    """
    size = len(columns[0])
    if size == 0:
        return [0.0, 0.0]
    chance = random.Random(size)  # noqa: S311 - statistics, not secrets
    values = []
    for _ in range(resamples):
        drawn = chance.choices(range(size), k=size)
        values.append(statistic(*([column[at] for at in drawn] for column in columns)))
    values.sort()
    return [round(values[int(share * (resamples - 1))], 4) for share in (0.025, 0.975)]


def sequential_test(values: Sequence[float], margin: float) -> dict[str, Any]:
    """Return `llr`, its `bounds` and the `verdict` on whether the mean is 0 or `margin`.

    Wald's test on the log-likelihood ratio of two normal distributions with the variance seen so far.
    The verdict is `better` (margin accepted), `no better` (0 accepted) or `open`.
    """
    low, high = math.log(BETA / (1 - ALPHA)), math.log((1 - BETA) / ALPHA)
    llr = _log_likelihood_ratio(values, margin)
    verdict = "better" if llr >= high else "no better" if llr <= low else "open"
    return {"llr": round(llr, 3), "bounds": [round(low, 3), round(high, 3)], "verdict": verdict}


def _log_likelihood_ratio(values: Sequence[float], margin: float) -> float:
    size = len(values)
    if size < LEAST_DEALS:
        return 0.0
    mean = sum(values) / size
    variance = sum((value - mean) ** 2 for value in values) / (size - 1)
    # Deals without any spread decide at once, in the direction of their mean.
    return size * margin * (mean - margin / 2) / max(variance, 1e-9)
