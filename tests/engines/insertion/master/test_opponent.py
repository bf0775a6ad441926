"""Opponent models, scored by the moves of a game, and the tracking of a game."""

from __future__ import annotations

from dataclasses import replace

import pytest

from arena_engines.engine import Engine, EngineError
from arena_engines.insertion.baselines import Dummy, Greedy, Random
from arena_engines.insertion.champion import Champion
from arena_engines.insertion.fixed_depth import InsertionPosition
from arena_engines.insertion.master.engine import CERTAIN_RATE, PLAN_RATE
from arena_engines.insertion.master.opponent import (
    LAST_PLY,
    MODELS,
    OpponentModel,
    OpponentModels,
)
from arena_engines.insertion.master.search import FIRST, LAST
from arena_engines.insertion.master.workspace import OWN_MODEL, SPOILING_MODEL
from arena_protocol.games.insertion.board import Planes
from arena_protocol.games.insertion.rules import distinct_moves, play

from ...positions import at
from .games import followed, positions


@pytest.mark.parametrize(
    ("opponent", "model"),
    [
        (Champion({"depth": 5}), OpponentModel(OWN_MODEL, 5)),
        (Champion({"depth": 3}), OpponentModel(OWN_MODEL, 3)),
        (Champion({"depth": 4, "strategy": "spoiling"}), OpponentModel(SPOILING_MODEL, 4)),
        (Greedy(), OpponentModel(OWN_MODEL, 1)),
    ],
)
def test_the_opponents_model_is_found_by_its_moves(opponent: Engine, model: OpponentModel) -> None:
    models = followed(positions(opponent)).models
    assert models.best == model
    assert models.best_rate > 0.9


class Plain(Engine):
    """What an author writes first: two plies, points or the lead alone, the first or last of equals."""

    game = "insertion"
    name = "plain"

    def __init__(self, theirs: float, last: bool) -> None:
        super().__init__({})
        self.theirs, self.last = theirs, last

    def warm_up(self) -> None:
        """Nothing is compiled."""

    def choose(self, position: InsertionPosition) -> int:
        planes = position.state.planes
        distinct = distinct_moves(*planes)
        moves = [move for move in range(1, 16) if distinct >> move & 1]
        worth = {move: self.worth(planes, move, position.state.visible[:2]) for move in moves}
        best = [move for move in moves if worth[move] == max(worth.values())]
        return best[-1 if self.last else 0]

    def worth(self, planes: Planes, move: int, pictures: str) -> float:
        p0, p1, p2, removed, _, _ = play(*planes, move, int(pictures[0]))
        replies = [play(p0, p1, p2, reply, int(pictures[1]))[3] for reply in range(1, 16) if pictures[1:]]
        return removed - self.theirs * max(replies, default=0)


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("theirs", [0, 0.5, 1])
def test_the_plainest_programs_are_predicted(theirs: float, last: bool) -> None:
    models = followed(positions(Plain(theirs, last))).models
    assert models.best_rate > 0.9
    assert models.best.order == (LAST if last else FIRST)


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


def test_a_zombie_is_seen_after_so_many_sixes() -> None:
    seen = positions(Dummy())
    assert not followed(seen[:5]).alone
    assert followed(seen[:6]).alone
    assert not followed(seen[:20], sixes=0).alone


def test_another_game_starts_afresh() -> None:
    one, other = positions(Champion({"depth": 2})), positions(Dummy(), start="empty")
    tracker = followed(one + other[:1])
    assert not tracker.alone
    assert tracker.models.best == MODELS[0]
    assert tracker.planes == other[0].state.planes


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


def test_a_board_that_the_moves_do_not_lead_to_is_refused() -> None:
    seen = positions(Greedy())
    wrong = replace(seen[2], state=seen[2].state._replace(planes=(0, 0, 0)))
    with pytest.raises(EngineError, match="is not what the moves of this game lead to"):
        followed([wrong])
