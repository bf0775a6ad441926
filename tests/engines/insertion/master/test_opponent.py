"""Opponent models, scored by the moves of a game, and the tracking of a game."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena_engines.engine import Engine, EngineError
from arena_engines.insertion.baselines import Dummy, Greedy, Random
from arena_engines.insertion.champion import Champion
from arena_engines.insertion.master import tracker as tracking
from arena_engines.insertion.master.engine import CERTAIN_RATE, MOST_SHORTFALL, PLAN_RATE
from arena_engines.insertion.master.opponent import (
    CHOICE_FADING,
    CHOICES,
    FADING,
    MODELS,
    PRIOR_CHOICES,
    PRIOR_HITS,
    PRIOR_MOVES,
    PRIOR_SET,
    SINGLE_MODELS,
    OpponentModel,
    OpponentModels,
    Shortfall,
)
from arena_engines.insertion.master.search import ALL, FIRST, LAST
from arena_engines.insertion.master.tracker import LAST_PLY, WORST_CASE_WEIGHTS, GameTracker
from arena_engines.insertion.master.workspace import (
    CELL,
    HALF_MODEL,
    LEAD_MODEL,
    OWN_MODEL,
    POINTS_MODEL,
    SPOILING_MODEL,
    Workspace,
)
from arena_protocol.games.insertion.board import Planes
from arena_protocol.games.insertion.rules import MOVES, play

from ....slices import rows
from ...positions import at
from .games import AnyOfEquals, Plain, WorstOfEquals, followed, minimax, positions

#: Any of the moves of the most points, or of the greatest lead after the reply.
MOST_POINTS, MOST_LEAD = OpponentModel(POINTS_MODEL, 1, ALL), OpponentModel(LEAD_MODEL, 2, ALL)


@pytest.mark.parametrize(
    ("opponent", "model"),
    rows(
        [
            (Champion({"depth": 4, "strategy": "spoiling"}), OpponentModel(SPOILING_MODEL, 4)),
            (Champion({"depth": 5}), OpponentModel(OWN_MODEL, 5)),
            (Champion({"depth": 3}), OpponentModel(OWN_MODEL, 3)),
            (Greedy(), OpponentModel(OWN_MODEL, 1)),
        ],
        2,
    ),
)
def test_the_opponents_model_is_found_by_its_moves(opponent: Engine, model: OpponentModel) -> None:
    models = followed(positions(opponent)).models
    assert models.best == model
    assert models.best_rate > 0.9


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("theirs", rows([0, 0.5, 1], 3))
def test_the_plainest_programs_are_predicted(theirs: float, last: bool) -> None:
    models = followed(positions(Plain(theirs, last))).models
    assert models.best_rate > 0.9
    assert models.best.order == (LAST if last else FIRST)


@pytest.mark.parametrize(("theirs", "view"), rows([(0, POINTS_MODEL), (0.5, HALF_MODEL), (1, LEAD_MODEL)], 3))
def test_an_opponent_that_plays_any_of_equal_moves_is_predicted_by_its_set(theirs: float, view: int) -> None:
    seen = positions(AnyOfEquals(theirs), plies=80)
    models = followed(seen).models
    assert models.best.order == ALL
    assert models.best_rate > 0.9
    # Views that value few things apart predict sets alike; the right one is among the first.
    right = models.information(OpponentModel(view, 2, ALL))
    assert right > models.information(models.best) - 0.1
    alone = followed(seen, models=SINGLE_MODELS).models
    assert alone.best.order != ALL
    assert models.information(alone.best) < right


@given(st.lists(st.sampled_from([0.0, 1.0, 0.5, 0.25, 0.1]), max_size=40))
def test_the_information_is_the_mean_log_likelihood_of_the_moves(shares: list[float]) -> None:
    model = OpponentModel(POINTS_MODEL, 3, ALL)
    models = OpponentModels((MODELS[0], model))
    for share in shares:

        def share_of(each: OpponentModel, share: float = share) -> float:
            return share if each == model else 0.0

        models.update(share_of)
    weights = [FADING ** (len(shares) - at) for at in range(len(shares) + 1)]
    moves = PRIOR_MOVES * weights[0] + sum(weights[1:])
    hits = PRIOR_HITS * weights[0] + sum(
        weight for weight, share in zip(weights[1:], shares, strict=True) if share
    )
    rate = hits / moves
    total = PRIOR_HITS * weights[0] * math.log(rate / PRIOR_SET)
    total += (moves - hits) * math.log((1 - rate) / CHOICES)
    for weight, share in zip(weights[1:], shares, strict=True):
        if share:
            total += weight * math.log(rate * share)
    assert models.information(model) == pytest.approx(total / moves)
    assert models.hit_rate(model) == pytest.approx(rate)


def test_a_set_of_all_moves_tells_nothing() -> None:
    models = OpponentModels()
    for _ in range(60):
        models.update(lambda model: 1 / CHOICES if model.order == ALL else 0.1 * (model == MODELS[0]))
    assert models.best.order != ALL


def test_the_confidence_is_more_cautious_than_the_hit_rate_and_comes_near_it() -> None:
    models = OpponentModels()
    assert models.confidence < PLAN_RATE < models.best_rate
    gaps = []
    for _ in range(60):
        models.update(lambda model: model == MODELS[0])
        assert models.best == MODELS[0]
        gaps.append(models.best_rate - models.confidence)
    assert gaps == sorted(gaps, reverse=True)
    assert models.confidence > CERTAIN_RATE


def test_no_model_predicts_chance() -> None:
    models = followed(positions(Random({"seed": 4}))).models
    assert models.best_rate < PLAN_RATE


def test_models_begin_alike_but_for_the_likeliest() -> None:
    models = OpponentModels()
    assert models.best == MODELS[0] == OpponentModel(OWN_MODEL, 5)
    assert models.best_rate >= PLAN_RATE
    models.update(lambda model: model.depth == 2)
    models.update(lambda model: model.depth == 2)
    assert models.best == OpponentModel(OWN_MODEL, 2)
    models.restart()
    assert models.best == MODELS[0]


def test_the_best_models_are_scored_first_while_there_is_time() -> None:
    models = OpponentModels()
    for _ in range(6):
        models.update(lambda model: model == OpponentModel(SPOILING_MODEL, 3))
    asked: list[OpponentModel] = []

    def predicts(model: OpponentModel) -> bool:
        asked.append(model)
        return True

    models.update(predicts, lambda: len(asked) == 3)
    assert asked[0] == OpponentModel(SPOILING_MODEL, 3)
    assert len(asked) == 3


def test_another_game_starts_afresh() -> None:
    one, other = positions(Champion({"depth": 2})), positions(Dummy(), start="empty")
    tracker = followed(one + other[:1])
    assert not tracker.alone
    assert tracker.models.best == MODELS[0]
    assert tracker.planes == other[0].state.planes


@pytest.mark.soak
def test_a_game_longer_than_the_plans_goes_on() -> None:
    seen = positions(Champion({"depth": 2}), plies=2 * LAST_PLY + 40)
    tracker = followed(seen)
    assert tracker.ply <= LAST_PLY
    assert tracker.models.best == OpponentModel(OWN_MODEL, 2)
    assert tracker.planes == seen[-1].state.planes
    # All of it at once, as after a lost connection.
    assert followed(seen[-1:]).models.best == OpponentModel(OWN_MODEL, 2)


def test_a_position_without_its_history_will_do() -> None:
    tracker = followed([replace(at("...../...../...../...../12345", "1234"), start="")])
    assert (tracker.ply, tracker.known) == (0, 4)


def test_a_late_timer_may_stop_the_scoring() -> None:
    seen = positions(Champion({"depth": 2}))
    work = Workspace(12)
    tracker = GameTracker((work,), 5)
    tracker.follow(seen[0], lambda: False)
    work.stop()
    tracker.follow(seen[20], lambda: False)
    assert tracker.planes == seen[20].state.planes
    work.start()
    tracker.follow(seen[21], lambda: False)


def test_a_board_that_the_moves_do_not_lead_to_is_refused() -> None:
    seen = positions(Greedy())
    wrong = replace(seen[2], state=seen[2].state._replace(planes=(0, 0, 0)))
    with pytest.raises(EngineError, match="is not what the moves of this game lead to"):
        followed([wrong])


@given(st.lists(st.floats(-4, 4), max_size=150))
def test_a_shortfall_is_a_faded_and_cautious_mean(less: list[float]) -> None:
    shortfall = Shortfall()
    for each in less:
        shortfall = shortfall.after(each)
    weights = [CHOICE_FADING ** (len(less) - at) for at in range(1, len(less) + 1)]
    total = sum(weight * each for weight, each in zip(weights, less, strict=True))
    assert shortfall.mean == pytest.approx(total / (sum(weights) + PRIOR_CHOICES))


@pytest.mark.parametrize(("plies", "lookahead"), [(40, 5), (40, 1), (41, 2)])
@pytest.mark.parametrize(("opponent", "model"), [(AnyOfEquals(0), MOST_POINTS), (AnyOfEquals(1), MOST_LEAD)])
def test_the_shortfall_is_that_of_a_plain_search(
    opponent: AnyOfEquals, model: OpponentModel, plies: int, lookahead: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tracking, "CHOICE_PLIES", 2)
    tracker = GameTracker((Workspace(12),), 5, (MODELS[0], model), fitted=False)
    expected, compared = Shortfall(), 0
    before: Planes = (0, 0, 0)
    for position in positions(opponent, plies=plies, lookahead=lookahead):
        if len(position.moves) > 1 and tracker.models.best == model:
            gone = len(position.moves) - 1
            mine, theirs = int(position.moves[-2]), int(position.moves[-1])
            pictures = position.state.sequence
            board = play(*before, mine, int(pictures[gone - 1]))[:3]
            seen = pictures[gone : gone + min(lookahead, plies - gone)]
            worth = {move: opponent.worth(board, move, seen[:2]) for move in range(1, MOVES + 1)}
            best = [move for move in worth if worth[move] == max(worth.values())]
            predicted = {play(*board, move, int(seen[0]))[:3]: move for move in best}
            mean = sum(left(board, move, seen[:3]) for move in predicted.values()) / len(predicted)
            expected = expected.after((mean - left(board, theirs, seen[:3])) / CELL)
            compared += 1
        tracker.follow(position, lambda: False)
        before = position.state.planes
        assert tracker.shortfall == pytest.approx(expected)
    assert compared > 0


def left(board: Planes, move: int, pictures: str) -> int:
    """What a move of the opponent leaves me, by every move of every ply."""
    p0, p1, p2, removed, fell, _ = play(*board, move, int(pictures[0]))
    value = removed * WORST_CASE_WEIGHTS.theirs + fell * WORST_CASE_WEIGHTS.fell
    return value + (minimax((p0, p1, p2), pictures[1:], WORST_CASE_WEIGHTS)[1] if pictures[1:] else 0)


@pytest.mark.parametrize(("opponent", "worse"), [(AnyOfEquals(0), False), (WorstOfEquals(), True)])
def test_who_chooses_the_worse_of_equals_is_told_from_who_plays_any(opponent: Engine, worse: bool) -> None:
    tracker = GameTracker((Workspace(12),), 5, (MODELS[0], MOST_POINTS), fitted=False)
    for position in positions(opponent, plies=200):
        tracker.follow(position, lambda: False)
    assert tracker.models.best == MOST_POINTS
    assert tracker.shortfall.moves > 40
    assert (tracker.shortfall.mean > MOST_SHORTFALL) is worse


def test_a_stopped_search_is_no_shortfall() -> None:
    seen = positions(AnyOfEquals(0))
    work = Workspace(12)
    tracker = GameTracker((work,), 5, (MODELS[0], MOST_POINTS), fitted=False)
    for position in seen[:20]:
        tracker.follow(position, lambda: False)
    known = tracker.shortfall
    assert known.moves > 0
    work.stop()
    tracker.follow(seen[20], lambda: False)
    assert tracker.shortfall == known
    work.start()
    tracker.follow(seen[21], lambda: False)
    assert tracker.shortfall != known
