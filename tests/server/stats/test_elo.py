"""Elo differences and the sequential test: laws, a slow oracle, and error rates by simulation."""

from __future__ import annotations

import math
import random
from itertools import combinations_with_replacement

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.slices import rows

from arena_server.stats.elo import (
    PAIR_SCORES,
    Pairs,
    Sprt,
    elo_of,
    log_likelihood_ratio,
    score_of,
)

COUNTS = st.lists(st.integers(0, 200), min_size=5, max_size=5)
SCORES = st.floats(0.05, 0.95)


@given(st.floats(-1500, 1500))
def test_elo_and_score_are_inverse(elo: float) -> None:
    assert elo_of(score_of(elo)) == pytest.approx(elo, abs=1e-6)


def test_known_elo_differences() -> None:
    assert score_of(0) == 0.5
    assert score_of(400) == pytest.approx(10 / 11)
    assert elo_of(0.0) == -math.inf
    assert elo_of(1.0) == math.inf


@given(COUNTS)
def test_the_interval_holds_the_score_and_turns_round_with_the_players(counts: list[int]) -> None:
    pairs, turned = Pairs(counts), Pairs(counts[::-1])
    low, high = pairs.interval()
    assert 0 <= low <= pairs.score <= high <= 1
    assert turned.interval() == pytest.approx((1 - high, 1 - low))


def test_the_interval_narrows_with_the_pairs() -> None:
    few, many = Pairs([1, 2, 4, 3, 2]).interval(), Pairs([100, 200, 400, 300, 200]).interval()
    assert many[1] - many[0] < (few[1] - few[0]) / 8


def test_equal_pairs_are_no_proof_of_certainty() -> None:
    summary = Pairs([0, 0, 0, 0, 6]).summary()
    assert summary["pairs"] == [0, 0, 0, 0, 6]
    assert summary["elo"] is None
    low, high = summary["elo_interval"]
    assert 50 < low < 500
    assert high is None


@pytest.mark.parametrize(
    ("counts", "nelo", "error", "elo", "elo_error", "los"),
    [
        ([34, 54, 63, 64, 75], 57.94, 28.28, 55.58, 27.65, 1.0),
        ([332, 433, 498, 333, 334], -9.17, 10.96, -8.64, 10.33, 0.0505),
        ([7895, 8757, 5685, 568, 9999], -19.01, 2.65, -21.04, 2.95, 0.0),
    ],
)
def test_the_figures_are_those_of_fastchess(
    counts: list[int], nelo: float, error: float, elo: float, elo_error: float, los: float
) -> None:
    """The examples of its own tests of the pentanomial model."""
    summary = Pairs(counts).summary()
    for key, value, half in (("nelo", nelo, error), ("elo", elo, elo_error)):
        low, high = summary[f"{key}_interval"]
        assert summary[key] == pytest.approx(value, abs=0.06)
        assert (high - low) / 2 == pytest.approx(half, rel=0.01)
    assert summary["los"] == pytest.approx(los, abs=1e-4)


@pytest.mark.parametrize("counts", [[0] * 5, [0, 0, 0, 0, 6], [0, 0, 3, 0, 0]])
def test_equal_pairs_have_no_normalised_difference(counts: list[int]) -> None:
    summary = Pairs(counts).summary()
    assert (summary["nelo"], summary["nelo_interval"], summary["los"]) == (None, None, None)


def test_without_pairs_there_is_no_difference_and_even_pairs_have_a_zero_without_a_sign() -> None:
    assert Pairs().summary()["elo"] is None
    assert str(Pairs([0, 0, 3, 0, 0]).summary()["elo"]) == "0.0"


def test_a_pair_is_counted_by_its_score() -> None:
    pairs = Pairs()
    for score in (0.0, 0.75, 1.0, 1.0):
        pairs.add(score)
    assert pairs.counts == [1, 0, 0, 1, 2]


def best_log_likelihood(counts: list[int], mean: float, steps: int = 40) -> float:
    """The slow oracle: the best of all distributions on a grid with this mean, three free of five."""
    best = -math.inf
    for a in range(1, steps):
        for b in range(1, steps - a):
            for c in range(1, steps - a - b):
                p = [a / steps, b / steps, c / steps]
                # The last two follow from the sum and the mean.
                rest = 1 - sum(p)
                last = (mean - 0.25 * p[1] - 0.5 * p[2] - 0.75 * rest) * 4
                p += [rest - last, last]
                if min(p) > 0:
                    best = max(best, sum(n * math.log(q) for n, q in zip(counts, p, strict=True)))
    return best


@pytest.mark.parametrize("counts", [[2, 3, 5, 4, 3], [8, 5, 4, 3, 1], [1, 1, 10, 2, 6]])
def test_the_ratio_is_that_of_the_best_distributions(counts: list[int]) -> None:
    slow = best_log_likelihood(counts, 0.6) - best_log_likelihood(counts, 0.5)
    assert log_likelihood_ratio(counts, 0.5, 0.6) == pytest.approx(slow, abs=0.1)


@given(COUNTS, SCORES, SCORES)
def test_the_ratio_of_swapped_hypotheses_and_players_is_the_opposite(
    counts: list[int], one: float, other: float
) -> None:
    ratio = log_likelihood_ratio(counts, one, other)
    assert log_likelihood_ratio(counts, other, one) == pytest.approx(-ratio, abs=1e-6)
    turned = log_likelihood_ratio(counts[::-1], 1 - one, 1 - other)
    assert turned == pytest.approx(ratio, abs=1e-6, rel=1e-6)


@pytest.mark.parametrize("pairs", range(1, 4))
@given(elo1=st.floats(1, 1500), alpha=st.floats(0.01, 0.4), beta=st.floats(0.01, 0.4))
def test_the_verdicts_that_are_reachable_are_those_of_any_outcome(
    pairs: int, elo1: float, alpha: float, beta: float
) -> None:
    test = Sprt(0, elo1, alpha, beta)
    outcomes = combinations_with_replacement(range(len(PAIR_SCORES)), pairs)
    verdicts = {
        test.test(Pairs([scores.count(at) for at in range(len(PAIR_SCORES))]))["verdict"]
        for scores in outcomes
    }
    assert test.reachable(pairs) == verdicts - {"open"}


def test_without_pairs_nothing_is_decided() -> None:
    assert Sprt().test(Pairs())["verdict"] == "open"
    assert Sprt().test(Pairs())["llr"] == 0.0


@pytest.mark.parametrize(
    ("counts", "verdict"),
    [([0, 0, 0, 0, 40], "better"), ([40, 0, 0, 0, 0], "no better"), ([1, 1, 2, 1, 1], "open")],
)
def test_verdicts(counts: list[int], verdict: str) -> None:
    assert Sprt().test(Pairs(counts))["verdict"] == verdict


class Players:
    """Two players of known strength: pairs of games on deals that favour a seat, with draws.

    A game is won by the first player with probability w and drawn with probability d, where w + d / 2 is the
    expected score of `elo` plus or minus the deal's advantage, which the second game of the pair has
    with the opposite sign.
    """

    def __init__(self, elo: float, seed: int, draws: float = 0.2, advantage: float = 0.15) -> None:
        self._score = score_of(elo)
        self._draws = draws
        self._advantage = advantage
        self._random = random.Random(seed)

    def pair(self) -> float:
        edge = self._random.choice((-1, 1)) * self._advantage
        return (self._game(self._score + edge) + self._game(self._score - edge)) / 2

    def _game(self, score: float) -> float:
        drawn = self._random.random()
        win = score - self._draws / 2
        return 1.0 if drawn < win else 0.5 if drawn < win + self._draws else 0.0


def verdict_of(test: Sprt, players: Players, most: int = 5000) -> str:
    pairs = Pairs()
    for number in range(1, most + 1):
        pairs.add(players.pair())
        if number % 4 == 0 and (verdict := test.test(pairs)["verdict"]) != "open":
            return str(verdict)
    return "open"


@pytest.mark.slow
@pytest.mark.parametrize("runs", rows([100, 300], 2))
@pytest.mark.parametrize(("elo", "wrong"), [(0.0, "better"), (60.0, "no better")])
def test_the_error_rates_are_as_stated(elo: float, wrong: str, runs: int) -> None:
    """At the two hypotheses a wrong verdict comes in at most 5 % of the runs, give or take 3 sigma."""
    test = Sprt(elo0=0.0, elo1=60.0)
    verdicts = [verdict_of(test, Players(elo, seed)) for seed in range(runs)]
    assert "open" not in verdicts
    assert verdicts.count(wrong) / runs <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / runs)


@pytest.mark.slow
def test_a_stronger_player_is_found_sooner_and_surely() -> None:
    test = Sprt(elo0=0.0, elo1=60.0)
    assert [verdict_of(test, Players(150.0, seed), most=400) for seed in range(50)] == ["better"] * 50


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6))
def test_the_pairs_of_the_simulation_have_their_score(seed: int) -> None:
    players = Players(100.0, seed)
    mean = sum(players.pair() for _ in range(2000)) / 2000
    assert mean == pytest.approx(score_of(100.0), abs=0.05)
    assert players.pair() in PAIR_SCORES
