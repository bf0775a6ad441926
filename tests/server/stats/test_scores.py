"""The statistics of a match: scores, pairs, intervals, tests and tables."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest
from tests.slices import all_of

from arena_server.errors import ConfigError
from arena_server.stats.elo import Sprt
from arena_server.stats.scores import (
    RESAMPLES,
    LeadTest,
    PlayedGame,
    Scores,
    _mean,
    _ratio,
    bootstrap,
    text_table,
)


def test_the_pairs_count_games_won_drawn_and_lost() -> None:
    scores = Scores.empty(2)
    played = [PlayedGame(totals, (None, None), (0, 0), ()) for totals in ((3, 1), (2, 2), (1, 3))]
    won, drawn, lost = (
        [((0, 1), game), ((1, 0), other)] for game, other in zip(played, played[::-1], strict=True)
    )
    scores.add(("a", "b"), won)  # both games are won by the first engine
    scores.add(("a", "b"), drawn)
    scores.add(("a", "b"), lost)
    scores.add(("a", "b"), [((0, 1), played[0]), ((1, 0), played[1])])
    assert scores.pairs is not None
    assert scores.pairs.counts == [1, 0, 1, 1, 1]


def test_a_bootstrap_holds_the_mean_and_narrows() -> None:
    def mean(values: Sequence[float]) -> float:
        return sum(values) / len(values)

    few = bootstrap([[1.0, 3.0] * 4], mean)
    many = bootstrap([[1.0, 3.0] * 100], mean)
    assert few[0] < many[0] < 2 < many[1] < few[1]
    assert bootstrap([[5.0] * 9], mean) == [5.0, 5.0]
    assert bootstrap([[]], mean) == [0.0, 0.0]


@all_of("engines", [2, 3])
def test_the_intervals_of_a_match_are_those_of_each_statistic_alone(engines: int) -> None:
    chance = Random(engines)
    scores = Scores.empty(engines)
    scores.points = [[float(chance.randrange(400)) for _ in range(30)] for _ in range(engines)]
    draws: list[int] = []

    def choices(self: Random, deals: Sequence[object], *, k: int) -> list[object]:
        draws.append(k)
        return [deals[int(self.random() * len(deals))] for _ in range(k)]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Random, "choices", choices)
        answer = scores.summary("abc"[:engines], None)
    assert len(draws) == RESAMPLES  # one draw serves all of them
    assert answer["interval"] == [bootstrap([points], _mean) for points in scores.points]
    others = [_mean(deal) for deal in zip(*scores.points[1:], strict=True)]
    assert answer["ratio_interval"] == bootstrap([scores.points[0], others], _ratio)


@all_of(
    ("values", "verdict"),
    [
        ([0.06, 0.05, 0.07] * 10, "better"),
        ([0.01, -0.01, 0.0] * 10, "no better"),
        ([0.05, 0.06, 0.07], "open"),
        ([0.5, -0.4] * 3, "open"),
        ([0.1] * 4, "better"),
    ],
)
def test_the_sequential_test_decides_on_enough_evidence(values: list[float], verdict: str) -> None:
    assert LeadTest(0.05).test(values)["verdict"] == verdict


def test_more_than_two_players_have_no_elo_difference() -> None:
    with pytest.raises(ConfigError, match=r"^a test of the Elo difference needs 2 engines; test the lead"):
        Scores.empty(3).standing(["a", "b", "c"], Sprt())


def test_a_match_prints_as_a_table() -> None:
    scores = Scores.empty(2)
    for _ in range(4):
        game = PlayedGame((9, 1), (None, None), (5, 7), ())
        scores.add(("a", "b"), [((0, 1), game), ((1, 0), PlayedGame((1, 9), (None, "timeout"), (7, 5), ()))])
    long = text_table(scores.summary(("a" * 60, "b"), None)).splitlines()
    assert long[1].index(" to ") == long[2].index(" to ") > 60
    answer = scores.summary(("a", "b"), LeadTest(0.05, alpha=0.01))
    lines = text_table(answer).splitlines()
    assert lines[1].split() == ["a", "9.0", "9.0", "to", "9.0", "5", "4"]
    assert lines[2].split() == ["b", "1.0", "1.0", "to", "1.0", "7", "0"]
    assert lines[3] == "ratio 9.000 (9.000 to 9.000) in 8 games; verdict: better"
    assert lines[-1].startswith("test of a lead of 0 against 0.05, error probabilities 0.01 and 0.05: LLR +")
    assert lines[-1].endswith(" (-2.99 to 4.55)")
