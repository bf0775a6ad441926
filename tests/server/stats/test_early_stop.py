"""The rule `stop = "top:K"`: its looks, a slow twin, and its error rate."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena_server.core.formats import FORMATS
from arena_server.stats.early_stop import (
    LEAST,
    Separation,
    bound,
    check,
    first_of,
)
from arena_server.stats.results import PastGame
from arena_server.terms.config import (
    ContestConfig,
    early_stop_of,
)

NAMES = ("ann", "bob", "cid", "dan")
Result = tuple[tuple[str, ...], tuple[int, ...]]


def past(number: int, result: Result, deal: int | None = None) -> PastGame:
    names, totals = result
    return PastGame(number, names, number if deal is None else deal, totals, "complete", 1)


def watch(rule: Separation, results: Sequence[Result], games: int = 1) -> tuple[int, tuple[str, ...]]:
    """After how many games who is separated; 0 and () if no one is."""
    for number, result in enumerate(results, start=1):
        if first := rule.add(past(number, result, (number - 1) // games + 1)):
            return number, first
    return 0, ()


# -- a slow twin


#: What a win, a draw and a loss add, where points do not.
VALUES: dict[str, tuple[Fraction | int, ...]] = {
    "wins": (1, Fraction(1, 2), 0),
    "3-1-0": (3, 1, 0),
    "3-2-1": (3, 2, 1),
}


def twin(results: Sequence[Result], first: int, look: int, scoring: str) -> tuple[str, ...]:
    """The rule as its docstring has it, with one number for every game, exactly."""
    scores: dict[str, list[tuple[int, Fraction]]] = {}
    for game, (names, totals) in enumerate(results):
        for name, total in zip(names, totals, strict=True):
            ended = (total < max(totals)) * 2 or int(totals[0] == totals[1])
            worth = VALUES[scoring][ended] if scoring in VALUES else total
            scores.setdefault(name, []).append((game, Fraction(worth)))
    mean = {name: sum((score for _, score in mine), Fraction(0)) / len(mine) for name, mine in scores.items()}
    order = sorted(scores, key=lambda name: (-mean[name], name))
    for one in order[:first]:
        for other in order[first:]:
            centre = (mean[one] + mean[other]) / 2
            games = [Fraction(0)] * len(results)
            for name, sign in ((one, 1), (other, -1)):
                for game, score in scores[name]:
                    games[game] += sign * (score - centre) / len(scores[name])
            variance = sum((each * each for each in games), Fraction(0))
            difference = mean[one] - mean[other]
            if difference <= 0 or float(difference) ** 2 <= 2.087**2 * 10 / look * float(variance):
                return ()
    return tuple(order[:first])


@st.composite
def contests(draw: st.DrawFn) -> tuple[Sequence[Result], int, str]:
    """All pairs of four bots, 20 games each in any order; ann tends to have more points."""
    pairs = draw(st.permutations([pair for pair in combinations(NAMES, 2) for _ in range(20)]))
    rng, edge = Random(draw(st.integers(0, 10**6))), draw(st.integers(0, 4))
    results: Sequence[Result] = [
        (pair, (rng.randrange(4) + edge * (pair[0] in NAMES[:first]), rng.randrange(4)))
        for first in (draw(st.integers(1, 3)),)
        for pair in pairs
    ]
    return results, draw(st.integers(1, 3)), draw(st.sampled_from(["points", *VALUES]))


@given(contests())
def test_the_looks_decide_as_a_slow_twin(contest: tuple[Sequence[Result], int, str]) -> None:
    results, first, scoring = contest
    rule = Separation(NAMES, first, len(results), scoring=scoring)
    at, separated = watch(rule, results)
    for look in range(1, 10):
        games = look * len(results) // 10
        so_far = results[:games]
        enough = all(sum(name in names for names, _ in so_far) >= LEAST for name in NAMES)
        found = twin(so_far, first, look, scoring) if enough else ()
        if found or games == at:
            assert (at, separated) == (games, found)
            return
    assert (at, separated) == (0, ())


def test_of_two_that_meet_each_other_a_game_counts_once() -> None:
    """Two that have met 44 times: the first look needs 6.6 errors, which 44 games won in a row are just."""
    won: Result = (("ann", "bob"), (1, 0))
    assert watch(Separation(NAMES[:2], 1, 430), [won] * 430)[0] == 86, "43 games in a row are not enough"
    assert watch(Separation(NAMES[:2], 1, 440), [won] * 440) == (44, ("ann",))


def test_the_last_look_is_the_end() -> None:
    results: Sequence[Result] = [(("ann", "bob"), (1, 0)), (("bob", "ann"), (1, 0))] * 18 + [
        (("ann", "bob"), (1, 0))
    ] * 4
    assert watch(Separation(NAMES[:2], 1, 40), results) == (0, ())


def test_with_paired_deals_a_deal_is_one_observation() -> None:
    """The luck of a deal goes both ways: only its sum says who is better."""
    lucky: list[Result] = [(("ann", "bob"), (9, 0)), (("bob", "ann"), (9, 1))]
    at, first = watch(Separation(NAMES[:2], 1, 400, deal_games=2), lucky * 200, games=2)
    assert (at, first) == (80, ("ann",)), "forty deals, of which the second look needs 22"
    assert watch(Separation(NAMES[:2], 1, 400), lucky * 200) == (0, ()), "games alone hide it"


def test_a_bot_with_few_games_keeps_it_open() -> None:
    won: Result = (("ann", "bob"), (1, 0))
    assert watch(Separation(("ann", "bob", "cid"), 1, 400), [won] * 399) == (0, ())


def test_a_late_entrant_with_few_games_keeps_it_open() -> None:
    results: Sequence[Result] = [(("ann", "eve"), (1, 0)), *[(("ann", "bob"), (1, 0))] * 18]
    assert watch(Separation(("ann", "bob"), 1, 20), results) == (0, ())


def test_a_late_entrant_counts_from_its_first_game() -> None:
    """Eve wins all ten games that she plays: ann is the first of the two others, and not of all."""
    results: Sequence[Result] = [(("ann", "eve"), (0, 1)), (("bob", "eve"), (0, 1))] * 10 + [
        (("ann", "bob"), (1, 0))
    ] * 4
    assert watch(Separation(("ann", "bob"), 1, 30), results)[1] == ("eve",)


# -- how often it errs, and what it saves (benchmarks/early_end.py has the long run)


def play(rng: Random, strengths: tuple[int, ...], games: int) -> tuple[int, tuple[str, ...]]:
    names = tuple(f"bot{number}" for number in range(len(strengths)))
    pairs = list(combinations(range(len(names)), 2)) * games
    rng.shuffle(pairs)
    results: list[Result] = []
    for one, other in pairs:
        share = 1 / (1 + 10 ** ((strengths[other] - strengths[one]) / 400))
        won = rng.random() < share
        results.append(((names[one], names[other]), (int(won), int(not won))))
    return watch(Separation(names, 1, len(results)), results)


def test_two_equal_bots_are_rarely_separated() -> None:
    rng = Random(2026)
    wrong = sum(play(rng, (0, 0), 60)[0] > 0 for _ in range(600))
    assert 0 < wrong <= 30, "5 % of 600"


def test_a_bot_that_is_far_ahead_is_found_soon() -> None:
    rng = Random(2026)
    found = [play(rng, (400, 0, 0, 0), 20) for _ in range(30)]
    assert {first for _, first in found} == {("bot0",)}
    assert sum(at for at, _ in found) / 30 < 0.7 * 120


# -- the rule in the configuration


def test_the_bounds_are_those_of_the_book() -> None:
    assert [round(bound(look), 2) for look in range(1, 11)] == [
        6.6, 4.67, 3.81, 3.3, 2.95, 2.69, 2.49, 2.33, 2.2, 2.09,
    ]  # fmt: skip
    assert math.isclose(bound(10), 2.087)


def test_the_text_of_the_rule() -> None:
    assert [first_of(rule) for rule in ("", "top:1", "top:25")] == [0, 1, 25]
    for rule in ("top:0", "top:", "top:-1", "best", "top:1 ", "top:٣"):
        with pytest.raises(ValueError, match=r'expected "top:1", "top:2", ... or nothing, got '):
            first_of(rule)


@pytest.mark.parametrize(
    ("rule", "form", "text"),
    [
        ("top:4", "round-robin", "contest.stop: expected top:1 to top:3 of 4 bots, got top:4"),
        ("top:1", "knockout", "contest.stop: expected a format whose games are planned .*, got knockout"),
        ("top:1", "ladder", "contest.stop: expected a format whose games are planned .*, got ladder"),
        ("last:1", "round-robin", 'contest.stop: expected "top:1", "top:2", ... or nothing, got \'last:1\''),
    ],
)
def test_a_rule_that_a_contest_cannot_have(rule: str, form: str, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        check(rule, FORMATS[form], 4)


@pytest.mark.parametrize("form", ["round-robin", "gauntlet", "matches"])
def test_a_rule_that_it_can_have(form: str) -> None:
    check("top:3", FORMATS[form], 4)
    check("", FORMATS["knockout"], 4)


def test_what_is_watched_is_what_the_table_ranks_by() -> None:
    config = ContestConfig(name="c", seed=1, stop="top:1", scoring="wins")
    # Bob has more points, ann more games won.
    played: Sequence[Result] = [(("ann", "bob"), (2, 1))] * 30 + [(("ann", "bob"), (0, 90))] * 2
    rule = early_stop_of(config, NAMES[:2], 40, 2)
    assert rule is not None
    assert watch(rule, played) == (16, ("ann",))
    assert early_stop_of(ContestConfig(name="c", seed=1), NAMES, 40, 2) is None
