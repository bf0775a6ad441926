"""Ratings against published estimates, slow twins and simulated fields."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from itertools import combinations, permutations
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.slices import rows

from arena_server.stats import model as rating_model
from arena_server.stats.model import RatingModel
from arena_server.stats.rated_games import Games, RatedGame, observe
from arena_server.stats.ratings import (
    MEAN,
    SCALE,
    UNBEATEN,
    UNCONNECTED,
    WINLESS,
    Ratings,
    fit,
    fit_counted,
    plain,
)

#: Home team, away team, games won by each: the eastern division of the American League in 1987, from
#: A. Agresti, "Categorical Data Analysis", 1990, table 10.8.
BASEBALL = """
Milwaukee Detroit 4 3    Milwaukee Toronto 4 2   Milwaukee NewYork 4 3    Milwaukee Boston 6 1
Milwaukee Cleveland 4 2  Milwaukee Baltimore 6 0 Detroit Milwaukee 3 3    Detroit Toronto 4 2
Detroit NewYork 4 3      Detroit Boston 6 0      Detroit Cleveland 6 1    Detroit Baltimore 4 3
Toronto Milwaukee 2 5    Toronto Detroit 4 3     Toronto NewYork 2 4      Toronto Boston 4 3
Toronto Cleveland 4 2    Toronto Baltimore 6 0   NewYork Milwaukee 3 3    NewYork Detroit 5 1
NewYork Toronto 2 5      NewYork Boston 4 3      NewYork Cleveland 4 2    NewYork Baltimore 6 1
Boston Milwaukee 5 1     Boston Detroit 2 5      Boston Toronto 3 3       Boston NewYork 4 2
Boston Cleveland 5 2     Boston Baltimore 6 0    Cleveland Milwaukee 2 5  Cleveland Detroit 3 3
Cleveland Toronto 3 4    Cleveland NewYork 4 3   Cleveland Boston 4 2     Cleveland Baltimore 2 4
Baltimore Milwaukee 2 5  Baltimore Detroit 1 5   Baltimore Toronto 1 6    Baltimore NewYork 2 4
Baltimore Boston 1 6     Baltimore Cleveland 3 4
"""
#: The estimates with an advantage of the home team, against Baltimore.
PUBLISHED = {
    "Milwaukee": 1.6196,
    "Detroit": 1.4754,
    "Toronto": 1.3271,
    "NewYork": 1.2813,
    "Boston": 1.1438,
    "Cleveland": 0.7047,
    "Baltimore": 0.0,
}
HOME = 0.3023
SECOND = "the second seat"


def decided(*results: tuple[str, str]) -> list[RatedGame]:
    """A game for each (winner, loser), one on each seat in turn."""
    return [
        RatedGame((winner, loser), (1, 0), number)
        if number % 2
        else RatedGame((loser, winner), (0, 1), number)
        for number, (winner, loser) in enumerate(results)
    ]


def by_name(found: Ratings) -> dict[str, float]:
    """The ratings as log-odds around 0."""
    return {row.name: (row.rating - MEAN) / SCALE for row in found.rows}


def of_model(games: list[RatedGame]) -> dict[str, float]:
    """The parameters of the model: log-odds of one seat against an equal one, and of the second seat."""
    counted = Games.of(observe(games))
    values, _ = RatingModel(counted).maximum()
    return dict(zip([*counted.names, SECOND], values.tolist(), strict=True))


def test_the_published_estimates_of_a_season(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rating_model, "PRIOR", 1e-9)  # the published fit has none
    words = BASEBALL.split()
    games = []
    for at in range(0, len(words), 4):
        home, away, won, lost = words[at : at + 4]
        results = [(1, 0)] * int(won) + [(0, 1)] * int(lost)
        games += [RatedGame((home, away), result, (at, number)) for number, result in enumerate(results)]
    values = of_model(games)
    assert {name: round(values[name] - values["Baltimore"], 4) for name in PUBLISHED} == PUBLISHED
    assert round(-values[SECOND], 4) == HOME


def minorise(games: list[RatedGame]) -> dict[str, float]:
    """The strengths of the model of Plackett and Luce by the algorithm of D. Hunter (2004)."""
    names = sorted({name for game in games for name in game.names})
    placed = (sorted(zip(game.totals, game.names, strict=True), reverse=True) for game in games)
    orders = [[name for _, name in each] for each in placed]
    strength = dict.fromkeys(names, 1.0)
    for _ in range(20_000):
        new = {}
        for name in names:
            before = sum(name in order[:-1] for order in orders)
            weight = sum(
                1 / sum(strength[other] for other in order[stage:])
                for order in orders
                for stage in range(len(order) - 1)
                if name in order[stage:]
            )
            new[name] = before / weight
        mean = math.exp(sum(map(math.log, new.values())) / len(names))
        new = {name: value / mean for name, value in new.items()}
        change = max(abs(math.log(new[name] / strength[name])) for name in names)
        strength = new
        if change < 1e-13:
            break
    return {name: math.log(value) for name, value in strength.items()}


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_without_an_advantage_it_is_the_fit_of_a_simple_algorithm(seats: int) -> None:
    """Every game is there once for each order of the seats, so that no seat has an advantage."""
    rng = Random(seats)
    names = ["a", "b", "c", "d", "e"]
    games = []
    for number in range(25):
        chosen = rng.sample(names, seats)
        totals = rng.sample(range(10), seats)
        for order in permutations(range(seats)):
            ordered = tuple(chosen[seat] for seat in order), tuple(totals[seat] for seat in order)
            games.append(RatedGame(*ordered, number))
    found = fit(games)
    assert found.unrated == {}
    assert found.seats == pytest.approx([0.0] * (seats - 1), abs=1e-6)
    assert by_name(found) == pytest.approx(minorise(games), abs=1e-8)


def scored(score: float) -> tuple[int, int]:
    """Totals of the first and the second seat, of a score of the first."""
    return {1.0: (1, 0), 0.5: (3, 3), 0.0: (0, 1)}[score]


def climb(games: list[RatedGame]) -> dict[str, float]:
    """Strengths whose expected scores are the scores, by a search for each in turn; seat 2 at `SECOND`."""
    values = dict.fromkeys(sorted({name for game in games for name in game.names}), 0.0)
    values[SECOND] = 0.0
    for _ in range(2_000):
        most = 0.0
        for name in values:
            # The prior holds the advantage of the seat alone.
            surplus, slope = (-0.01 * values[name], 0.01) if name == SECOND else (0.0, 0.0)
            for game in games:
                one, other = game.names
                if name not in (one, other, SECOND):
                    continue
                sign = 1 if name == one else -1
                expected = 1 / (1 + math.exp(values[other] + values[SECOND] - values[one]))
                score = (1 + (game.totals[0] > game.totals[1]) - (game.totals[0] < game.totals[1])) / 2
                surplus += sign * (score - expected)
                slope += expected * (1 - expected)
            values[name] += surplus / slope
            most = max(most, abs(surplus / slope))
        if most < 1e-11:
            break
    mean = sum(value for name, value in values.items() if name != SECOND) / (len(values) - 1)
    return {name: value - mean * (name != SECOND) for name, value in values.items()}


@pytest.mark.parametrize("seed", range(4))
def test_scores_with_draws_are_those_that_the_model_expects(seed: int) -> None:
    games = random_games(Random(seed), "abcde", 0)
    assert of_model(games) == pytest.approx(climb(games), abs=1e-8)


@pytest.mark.parametrize("times", rows([100, 300], 2))
def test_intervals_with_draws_are_those_of_a_bootstrap(times: int) -> None:
    """Pairings are drawn again with replacement: two games each, more than half of them drawn."""
    rng = Random(11)
    pairings: list[list[RatedGame]] = []
    for number, names in enumerate([*combinations("abcd", 2)] * 50):
        scores = [rng.choices([1.0, 0.5, 0.0], [5 - ord(names[0]) % 4, 9, 3])[0] for _ in range(2)]
        orders = (names, names[::-1])
        pairings.append(
            [
                RatedGame(order, scored(score), number)
                for order, score in zip(orders, (scores[0], 1 - scores[1]), strict=True)
            ]
        )
    again: dict[str, list[float]] = {}
    for _ in range(times):
        drawn = rng.choices(pairings, k=len(pairings))
        games = [replace(game, pairing=at) for at, each in enumerate(drawn) for game in each]
        for row in fit(games).rows:
            again.setdefault(row.name, []).append(row.rating)
    for row in fit([game for each in pairings for game in each]).rows:
        assert row.margin == pytest.approx(1.96 * float(np.std(again[row.name])), rel=0.15)


@given(st.randoms(use_true_random=False), st.integers(2, 4))
@settings(max_examples=30)
def test_the_order_of_games_and_names_does_not_matter(rng: Random, seats: int) -> None:
    names = [f"n{number}" for number in range(5)]
    games = [
        RatedGame(tuple(rng.sample(names, seats)), tuple(rng.randrange(4) for _ in range(seats)), number // 2)
        for number in range(60)
    ]
    new_names = dict(zip(names, rng.sample(names, 5), strict=True))
    renamed = [
        RatedGame(tuple(new_names[name] for name in game.names), game.totals, game.pairing) for game in games
    ]
    rng.shuffle(renamed)
    first, second = fit(games), fit(renamed)
    expected = {new_names[row.name]: (row.rating, row.margin) for row in first.rows}
    found = {row.name: (row.rating, row.margin) for row in second.rows}
    assert found.keys() == expected.keys()
    for name, values in expected.items():
        assert found[name] == pytest.approx(values, rel=1e-9, abs=1e-9)
    assert sum(row.rating for row in first.rows) == pytest.approx(MEAN * len(first.rows))


def test_who_is_not_rated_is_named_with_the_reason() -> None:
    field = [("a", "b"), ("b", "c"), ("c", "a")]
    games = decided(*field, ("top", "a"), ("higher", "top"), ("b", "low"), ("far", "away"))
    found = fit(games)
    assert {row.name for row in found.rows} == {"a", "b", "c"}
    assert found.unrated == {
        "top": UNBEATEN,
        "higher": UNBEATEN,
        "low": WINLESS,
        "far": UNCONNECTED,
        "away": UNCONNECTED,
    }
    assert found.games == 3


def test_a_game_with_a_player_who_is_not_rated_connects_no_others() -> None:
    games = [
        RatedGame(("ann", "bob", "cleo"), (3, 2, 1), 1),
        RatedGame(("bob", "ann", "dan"), (3, 2, 1), 2),
    ]
    assert fit(games) == Ratings(
        (), {"ann": UNCONNECTED, "bob": UNCONNECTED, "cleo": WINLESS, "dan": WINLESS}, (), 0
    )


def test_without_results_in_both_directions_there_are_no_ratings() -> None:
    assert fit([]) == Ratings((), {}, (), 0)
    assert fit(decided(("a", "b"), ("b", "c"))).unrated == {"a": UNBEATEN, "b": UNCONNECTED, "c": WINLESS}


def test_games_of_different_numbers_of_seats_are_refused() -> None:
    games = [RatedGame(("a", "b"), (1, 0), 1), RatedGame(("a", "b", "c"), (1, 0, 2), 2)]
    with pytest.raises(ValueError, match=r"^expected games of one number of seats, got \[2, 3\]$"):
        fit(games)


def test_games_of_several_contests_are_rated_together() -> None:
    rng = Random(4)
    each = [random_games(rng, names, contest) for contest, names in enumerate(("abcd", "cdef", "ab"))]
    whole = fit(game for games in each for game in games)
    joined = fit_counted(Games.joined([Games.of(observe(games)) for games in [*each, []]]))
    assert [(row.name, row.games) for row in joined.rows] == [(row.name, row.games) for row in whole.rows]
    for mine, theirs in zip(joined.rows, whole.rows, strict=True):
        assert (mine.rating, mine.margin) == pytest.approx((theirs.rating, theirs.margin), abs=1e-9)
    three = Games.of(observe([RatedGame(("a", "b", "c"), (1, 2, 3), 0)]))
    with pytest.raises(ValueError, match=r"^expected games of one number of seats, got \[2, 3\]$"):
        Games.joined([Games.of(observe(each[0])), three])


def random_games(rng: Random, names: str, contest: int) -> list[RatedGame]:
    """Each on a deal of its own."""
    return [
        RatedGame(tuple(rng.sample(names, 2)), (rng.randrange(3), rng.randrange(3)), (contest, number))
        for number in range(60)
    ]


def test_games_on_deals_of_their_own_have_the_intervals_of_pairings_of_one() -> None:
    """They are added up by menus, not by pairings."""
    model = RatingModel(Games.of(observe(random_games(Random(5), "abcde", 0))))
    values = np.random.default_rng(1).normal(size=model._size)
    expected = model._squares_of_pairings(values).reshape(model._size, -1) * 60 / 59
    assert model._scatter(values) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_draws_alone_make_equals_and_a_seat_that_always_wins_makes_no_infinity() -> None:
    found = fit([RatedGame(("a", "b"), (5, 5), number) for number in range(10)])
    assert [row.rating for row in found.rows] == pytest.approx([MEAN, MEAN])
    assert all(row.margin > 50 for row in found.rows), "ten draws prove little"
    both = [("a", "b"), ("b", "a")]
    found = fit([RatedGame(names, (1, 0), (names, number)) for names in both for number in range(10)])
    assert [row.rating for row in found.rows] == pytest.approx([MEAN, MEAN])
    assert -4000 < found.seats[0] < -400


def test_two_games_on_one_deal_are_one_observation() -> None:
    """The same results twice, once as games of their own and once as pairs that always agree."""
    rng = Random(4)
    single = [
        RatedGame(("a", "b"), (1, 0) if rng.random() < 0.6 else (0, 1), number) for number in range(200)
    ]
    twice = [RatedGame(game.names, game.totals, game.pairing) for game in single for _ in range(2)]
    alone = [RatedGame(game.names, game.totals, number) for number, game in enumerate(twice)]
    one, paired, apart = fit(single).rows[0], fit(twice).rows[0], fit(alone).rows[0]
    assert paired.margin == pytest.approx(one.margin, rel=0.02)
    assert apart.margin == pytest.approx(one.margin / math.sqrt(2), rel=0.02)


@pytest.mark.parametrize("seats", [2, 3])
def test_games_that_are_counted_are_rated_like_each_of_them(seats: int) -> None:
    """Pairings of one game and of two, each four times."""
    rng = Random(seats)
    names = [f"n{number}" for number in range(5)]
    games = [
        RatedGame(
            tuple(rng.sample(names, seats)), tuple(rng.randrange(3) for _ in names[:seats]), number // 2
        )
        for number in range(81)
    ]
    counted = Counter({observation: 4 * count for observation, count in observe(games).items()})
    assert counted.total() == 4 * 41
    each = [replace(game, pairing=(game.pairing, copy)) for game in games for copy in range(4)]
    one, other = fit(each), fit_counted(Games.of(counted))
    assert (one.games, one.unrated) == (other.games, other.unrated) == (4 * 81, {})
    for mine, theirs in zip(one.rows, other.rows, strict=True):
        assert (mine.name, mine.best, mine.worst, mine.games) == (
            *(theirs.name, theirs.best, theirs.worst, theirs.games),
        )
        assert (mine.rating, mine.margin, mine.score) == pytest.approx(
            (theirs.rating, theirs.margin, theirs.score), abs=1e-8
        )


def simulate(rng: Random, strengths: dict[str, float], deals: int) -> list[RatedGame]:
    """Two games a deal, with the seats swapped; the luck of a deal goes to a seat or to a player."""
    games = []
    for names in combinations(strengths, 2):
        for deal in range(deals):
            luck = rng.gauss(0, 1.0)
            for order in (names, names[::-1]):
                odds = strengths[order[0]] - strengths[order[1]] + 0.2 + luck
                won = rng.random() < 1 / (1 + math.exp(-odds))
                games.append(RatedGame(order, (1, 0) if won else (0, 1), (names, deal)))
    return games


def coverage(seed: int, fields: int) -> float:
    """How often the interval of a difference has the difference of the fits to endless games."""
    rng = Random(seed)
    strengths = {f"p{number}": rng.gauss(0, 0.5) for number in range(6)}
    # The luck of the deals makes differences smaller: what the fit tends to is found by many games.
    goal = by_name(fit(simulate(rng, strengths, 4_000)))
    inside = total = 0
    for _ in range(fields):
        found = fit(simulate(rng, strengths, 12))
        for row in found.rows:
            total += 1
            inside += abs(row.rating - MEAN - SCALE * goal[row.name]) <= row.margin
    return inside / total


def test_the_intervals_cover_95_percent() -> None:
    """Of 40 fields, 240 ratings; with a seed of its own, so that it never depends on luck."""
    assert 0.92 <= coverage(7, 40) <= 0.98


@pytest.mark.soak
def test_the_intervals_cover_95_percent_of_many_fields(soak_seed: int) -> None:
    assert 0.93 <= coverage(soak_seed, 1_000) <= 0.97


def test_ranks_are_those_that_the_intervals_allow() -> None:
    rng = Random(2)
    strengths = {"best": 3.0, "a": 0.0, "b": 0.05, "last": -3.0}
    places = {row.name: (row.best, row.worst) for row in fit(simulate(rng, strengths, 60)).rows}
    assert places == {"best": (1, 1), "a": (2, 3), "b": (2, 3), "last": (4, 4)}


def test_ranks_go_by_the_error_of_the_difference() -> None:
    """It may be less than that of either rating, and more than if the two were independent."""
    pair = [("a", "b")] * 120 + [("b", "a")] * 80
    weak = [("c", "b"), ("b", "c"), ("a", "c"), ("c", "a")]
    rows = {row.name: row for row in fit(decided(*pair, *weak)).rows}
    a, b = rows["a"], rows["b"]
    assert a.rating - a.margin < b.rating, "c has played so little that a and b alone have wide intervals"
    assert (a.worst, b.best) == (2, 2), "c may be before both, b not before a"
    # Of two the whole error is that of their difference: twice as large as each, not 1.4 times.
    (best, last) = fit(decided(*[("a", "b")] * 112, *[("b", "a")] * 88)).rows
    apart = best.rating - last.rating
    assert 2**0.5 * best.margin < apart < 2 * best.margin
    assert (best.best, best.worst, last.best, last.worst) == (1, 2, 1, 2)


def test_as_json() -> None:
    shown = plain(fit(decided(("a", "b"), ("b", "a"), ("a", "b"), ("top", "a"))))
    assert shown["unrated"] == {"top": UNBEATEN}
    assert [row["bot"] for row in shown["ratings"]] == ["a", "b"]
    assert set(shown["ratings"][0]) == {"bot", "rating", "interval", "ranks", "games", "score"}
    assert shown["games"] == 3
