"""100 points are an expected score of 64 %, averaged over the seats, whatever a seat is worth."""

from __future__ import annotations

import math
from itertools import combinations, permutations
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena_server.stats.elo import Pairs, elo_of, score_of
from arena_server.stats.even_seats import with_even_seats
from arena_server.stats.rated_games import Games, RatedGame, observe
from arena_server.stats.ratings import MEAN, SCALE, fit

#: Totals of the first and the second seat, by the score of the first.
TOTALS = {1.0: (1, 0), 0.5: (3, 3), 0.0: (0, 1)}
RESULTS = st.tuples(*[st.sampled_from(sorted(TOTALS))] * 2)


def both_seats(one: str, other: str, scores: tuple[float, float], deal: object) -> list[RatedGame]:
    """Two games on a deal, with `one` first and then `other`; `scores` are those of `one`."""
    first, second = scores
    return [
        RatedGame((one, other), TOTALS[first], deal),
        RatedGame((other, one), TOTALS[1 - second], deal),
    ]


@given(st.lists(RESULTS, min_size=1, max_size=60))
def test_a_match_and_the_ratings_have_one_elo(results: list[tuple[float, float]]) -> None:
    match, games = Pairs(), []
    for deal, scores in enumerate(results):
        match.add(sum(scores) / 2)
        games += both_seats("a", "b", scores, deal)
    rows = {row.name: row for row in fit(games).rows}
    if not 0 < match.score < 1:
        assert not rows
        return
    assert rows["a"].rating - rows["b"].rating == pytest.approx(elo_of(match.score), abs=1e-6)
    assert rows["a"].score == pytest.approx(match.score)


def played(rng: Random, elo: float, second: float, deals: int) -> list[tuple[float, float]]:
    """The scores of a player that is `elo` stronger, on the first seat and on the second, worth `second`."""
    chances = score_of(elo - second), score_of(elo + second)
    return [(float(rng.random() < chances[0]), float(rng.random() < chances[1])) for _ in range(deals)]


@pytest.mark.parametrize(("second", "apart"), [(0, 100), (100, 92.5), (400, 34), (-400, 34)])
def test_the_points_are_those_of_the_score_of_both_seats(second: int, apart: float) -> None:
    """Of two that are 100 apart on a seat against an equal one."""
    match, games = Pairs(), []
    for deal, scores in enumerate(played(Random(3), 100, second, 6_000)):
        match.add(sum(scores) / 2)
        games += both_seats("a", "b", scores, deal)
    found = fit(games)
    strong, weak = found.rows
    assert (strong.name, weak.name) == ("a", "b")
    assert strong.rating - weak.rating == pytest.approx(elo_of(match.score), abs=1e-6)
    assert strong.rating - weak.rating == pytest.approx(apart, abs=8)
    # The mean of two is known: the difference has twice the margin of each.
    low, high = map(elo_of, match.interval())
    assert 4 * strong.margin == pytest.approx(high - low, rel=0.01)
    assert found.seats[0] == pytest.approx(second, abs=12)


def without_seats(games: list[RatedGame]) -> dict[str, float]:
    """The ratings whose expected scores are the scores, by a search for each player in turn."""
    names = sorted({name for game in games for name in game.names})
    values = dict.fromkeys(names, 0.0)
    scores = {totals: score for score, totals in TOTALS.items()}
    for _ in range(5_000):
        most = 0.0
        for name in names:
            surplus = slope = 0.0
            for game in games:
                if name in game.names:
                    seat = game.names.index(name)
                    expected = 1 / (1 + math.exp(values[game.names[1 - seat]] - values[name]))
                    surplus += abs(seat - scores[game.totals[0], game.totals[1]]) - expected
                    slope += expected * (1 - expected)
            values[name] += surplus / slope
            most = max(most, abs(surplus / slope))
        if most < 1e-11:
            break
    mean = sum(values.values()) / len(values)
    return {name: value - mean for name, value in values.items()}


@given(st.randoms(use_true_random=False), st.integers(3, 5))
@settings(max_examples=20, deadline=None)
def test_a_field_has_the_ratings_of_its_scores(rng: Random, players: int) -> None:
    """Each pair has played deals of its own from both seats, and on one of them each has won a game."""
    games: list[RatedGame] = []
    for one, other in combinations("abcde"[:players], 2):
        scores = [tuple(rng.choice([0.0, 0.5, 1.0, 1.0]) for _ in range(2)) for _ in range(rng.randrange(6))]
        for deal, (first, second) in enumerate([(0.0, 1.0), *scores]):
            games += both_seats(one, other, (first, second), (one, other, deal))
    expected = without_seats(games)
    assert {row.name: (row.rating - MEAN) / SCALE for row in fit(games).rows} == pytest.approx(
        expected, abs=1e-8
    )


def test_more_games_on_the_better_seat_gain_nothing() -> None:
    """Both win 80 % of their games on the first seat."""
    games = [
        RatedGame(names, (1, 0) if number % 5 else (0, 1), (names, number))
        for names, number_of in ((("a", "b"), 30), (("b", "a"), 10))
        for number in range(number_of)
    ]
    rows = {row.name: row for row in fit(games).rows}
    assert rows["a"].score == pytest.approx(0.65)
    assert rows["a"].rating == pytest.approx(rows["b"].rating, abs=0.2)


def random_games(rng: Random, seats: int) -> Games:
    names = "abcde"
    return Games.of(
        observe(RatedGame(tuple(rng.sample(names, seats)), tuple(range(seats)), n) for n in range(30))
    )


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_the_expected_scores_are_those_of_the_model_over_all_seats(seats: int) -> None:
    rng = Random(seats)
    games = random_games(rng, seats)
    values = np.array([rng.gauss(0, 1) for _ in range(5 + seats - 1)])
    ratings, _ = with_even_seats(games, values, np.eye(len(values)))
    advantages = [0.0, *values[5:].tolist()]
    orders = [*permutations(range(seats), 2)]
    missing = dict.fromkeys(range(5), 0.0)
    for kind, count in zip(games.seated.tolist(), games.kind_counts().tolist(), strict=True):
        for one, other in permutations(kind, 2):
            ahead = float(values[one] - values[other])
            mean = sum(1 / (1 + math.exp(advantages[t] - advantages[s] - ahead)) for s, t in orders)
            wanted = 1 / (1 + math.exp(ratings[other] - ratings[one]))
            missing[one] += count * (mean / len(orders) - wanted)
    assert list(missing.values()) == pytest.approx([0] * 5, abs=1e-9)
    assert ratings.mean() == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_the_covariance_is_that_of_small_changes(seats: int) -> None:
    rng = Random(seats)
    games = random_games(rng, seats)
    size = 5 + seats - 1
    values = np.array([rng.gauss(0, 1) for _ in range(size)])
    root = np.random.default_rng(seats).normal(size=(size, size))
    root[:5] -= root[:5].mean(axis=0)  # ratings whose mean is fixed
    covariance = root @ root.T
    _, found = with_even_seats(games, values, covariance)

    moved = [
        [with_even_seats(games, values + by, covariance)[0] for by in (step, -step)] for step in 1e-5 * root.T
    ]
    slopes = np.array([(up - down) / 2e-5 for up, down in moved])
    assert found == pytest.approx(slopes.T @ slopes, abs=1e-6)


def test_without_an_advantage_the_ratings_are_the_models() -> None:
    games = random_games(Random(5), 3)
    values = np.array([0.9, -0.4, 0.3, 0.0, -0.8, 0.0, 0.0])
    ratings, _ = with_even_seats(games, values, np.eye(7))
    assert ratings == pytest.approx(values[:5], abs=1e-9)


def test_players_that_are_far_apart_have_ratings() -> None:
    """A whole step of Newton's method would go too far, and no score is 0 or 1."""
    games = Games.of(observe([RatedGame((a, b), (1, 0), a + b) for a, b in permutations("abc", 2)]))
    values = np.array([14.0, 0.0, -14.0, 9.0])
    ratings, _ = with_even_seats(games, values, np.eye(4))
    assert np.isfinite(ratings).all()
    assert ratings[0] > ratings[1] > ratings[2]
