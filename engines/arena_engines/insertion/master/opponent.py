"""Models of the opponent.

A model is an opponent that searches exactly to a depth, in one view (its own points or the lead, with the
tiers of the seed or without), and plays the first, the last or any of its best moves. Every opponent move is
compared with what each model would have played; old comparisons fade. A few views are always scored; between
them the weights are fitted (fitting.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from arena_engines.insertion.master.beam import CERTAIN
from arena_engines.insertion.master.search import ALL, FIRST, LAST
from arena_engines.insertion.master.workspace import (
    CELL,
    HALF_MODEL,
    LEAD_MODEL,
    OWN_MODEL,
    POINTS_MODEL,
    SPOILING_MODEL,
    WARY_MODEL,
    grid_weights,
)


class OpponentModel(NamedTuple):
    """One model: the view it values positions in, its depth in plies, and which of equal moves it plays.

    `order`: FIRST, LAST, or ALL for any of them, each equally likely: the model predicts a set.
    `confidence`: the weight of its predictions in a plan, in 1 / CERTAIN.
    """

    view: int
    depth: int
    order: int = FIRST
    confidence: int = CERTAIN


#: What the opponent counts in each view.
VIEW_TEXTS = {
    OWN_MODEL: "its points, then a full board",
    SPOILING_MODEL: "its lead, then a full board",
    POINTS_MODEL: "its points",
    LEAD_MODEL: "its lead",
    HALF_MODEL: "its points less half of mine",
    WARY_MODEL: "its points less most of mine",
}
VIEWS = tuple(VIEW_TEXTS)


def view_text(view: int) -> str:
    """Return what the opponent counts in a view."""
    if view in VIEW_TEXTS:
        return VIEW_TEXTS[view]
    _, theirs, fell = grid_weights(view)
    lost = f" and {-fell / CELL:.2g} times what falls" if fell else ""
    return f"its points less {-theirs / CELL:.2g} times mine{lost}"


#: Every model, the likeliest first: most programs count their own points, and seed 001 searched 5 plies.
MODELS = (
    *(
        OpponentModel(view, depth, order)
        for order in (FIRST, LAST)
        for view in VIEWS
        for depth in (5, 4, 6, 3, 2, 1)
    ),
    *(OpponentModel(view, 7) for view in VIEWS),
    *(OpponentModel(view, depth, ALL) for view in VIEWS for depth in (5, 4, 6, 3, 2, 1)),
)
#: Those that predict one move.
SINGLE_MODELS = tuple(model for model in MODELS if model.order != ALL)
#: The model of depth 0: any of the fifteen moves, each equally likely. It is never scored.
CHANCE = OpponentModel(OWN_MODEL, 0)

#: Weight of a comparison relative to the next one; opponents change their depth with the clock.
FADING = 0.97
#: A ply more of depth must predict this much more: the deeper a model, the narrower the plan against it.
DEPTH_COST = 0.03
#: Each model starts with this many hits in this many moves,
PRIOR_HITS, PRIOR_MOVES = 1.5, 3.0
#: and the likeliest model with this many hits more.
HEAD_START = 0.5
#: Boards that a move may lead to (measured: 9 to 11 in games).
CHOICES = 10
#: A model that predicts sets starts with hits in sets of this size;
PRIOR_SET = 3.0
#: a ply more of depth must add this to its information, in nats;
SET_DEPTH_COST = 0.02
#: and it is used only with this much more information than a random move has. Of 0.05, 0.1, 0.15 and 0.25
#: none differed by more than the interval against `half` and `mean` of benchmarks/rivals.
SET_LEAST = 0.15


#: What is known of an opponent from earlier games weighs as much as this many moves.
CARRIED = 8.0
#: Choices among predicted sets: the weight of one relative to the next, and how many that left me as much as
#: the mean of the set an opponent begins with. Single ones scatter by 0.3 to 1.2 cells around their mean, so
#: they fade slowly and weigh in full in the next game: with at most 50 of them there, two tree searches that
#: play the worse moves were found in 49 and 74 % of the moves instead of 87 and 88. Neither number was tuned.
CHOICE_FADING, PRIOR_CHOICES = 0.99, 20.0


class Score(NamedTuple):
    """The comparisons of one model, faded: how often it predicted the move, of how many moves.

    `loss`: of a model that predicts sets, the sum of the logarithms of the sizes of the right ones.
    """

    hits: float
    moves: float
    loss: float

    @property
    def hit_rate(self) -> float:
        """The probability that the model predicts the next move, or a set that has it, 0..1."""
        return self.hits / self.moves

    @property
    def information(self) -> float:
        """The mean log-likelihood of the opponent's moves, in nats; a random move has -log(CHOICES).

        The moves of a predicted set share the hit rate, the others of CHOICES the rest.
        """
        rate = self.hit_rate
        likelihood = -self.loss / self.moves
        if rate > 0:
            likelihood += rate * math.log(rate)
        if rate < 1:
            likelihood += (1 - rate) * math.log((1 - rate) / CHOICES)
        return likelihood

    def after(self, share: float) -> Score:
        """Return the score after one more move: `share` is 1 / the number of predicted moves, or 0."""
        loss = FADING * self.loss - (math.log(share) if share else 0.0)
        return Score(FADING * self.hits + (share > 0), FADING * self.moves + 1, loss)

    def carried(self) -> Score:
        """Return the score as it counts in the next game."""
        weight = min(1.0, CARRIED / self.moves)
        return Score(*(weight * value for value in self))


class Shortfall(NamedTuple):
    """By how many cells the opponent's moves left me less than the predicted sets would on average, faded.

    An opponent that plays any of equal moves comes near 0. One that looks further than the model, and then
    chooses what is bad for me, is above: a plan against the mean of the set is too hopeful.
    """

    total: float = 0.0
    moves: float = 0.0

    @property
    def mean(self) -> float:
        """A cautious mean of a move, nearer to 0 the fewer moves there are."""
        return self.total / (self.moves + PRIOR_CHOICES)

    def after(self, less: float) -> Shortfall:
        """Return the shortfall after one more move, which left `less` cells less."""
        return Shortfall(CHOICE_FADING * self.total + less, CHOICE_FADING * self.moves + 1)


#: The score of a model without comparisons.
UNSEEN = Score(PRIOR_HITS, PRIOR_MOVES, 0.0)
UNSEEN_SET = UNSEEN._replace(loss=PRIOR_HITS * math.log(PRIOR_SET))


def unseen(model: OpponentModel) -> Score:
    """Return the score that a model begins with."""
    return UNSEEN_SET if model.order == ALL else UNSEEN


NO_SCORES: Mapping[OpponentModel, Score] = MappingProxyType({})


class OpponentModels:
    """The hit rate of every model over one game."""

    def __init__(self, models: tuple[OpponentModel, ...] = MODELS) -> None:
        self.models = models
        self.restart()

    def restart(self, known: Mapping[OpponentModel, Score] = NO_SCORES) -> None:
        """Reset all hit rates to those of earlier games, where there are some."""
        self._scores = {
            model: known[model].carried() if model in known else unseen(model) for model in self.models
        }
        first = self.models[0]
        if first not in known:
            self._scores[first] = self._scores[first]._replace(hits=PRIOR_HITS + HEAD_START)
        self._fitted: dict[OpponentModel, Score] = {}
        self._best: OpponentModel | None = None

    @property
    def scores(self) -> dict[OpponentModel, Score]:
        """The models as they stand, the fitted ones last."""
        return self._scores | self._fitted

    def update(
        self, predicts: Callable[[OpponentModel], float], enough: Callable[[], bool] = lambda: False
    ) -> None:
        """Score the models by one move of the opponent, the most informative first, until `enough()`.

        `predicts(model)`: 1 / the number of moves predicted if that move is one of them, else 0.
        """
        self._best = None
        ranks: dict[tuple[int, int], int] = {}
        for model in sorted(self.models, key=self.information, reverse=True):
            ranks.setdefault((model.view, model.depth), len(ranks))
        for model in sorted(self.models, key=lambda model: ranks[model.view, model.depth]):
            self._scores[model] = self._scores[model].after(predicts(model))
            if enough():
                return

    @property
    def likeliest(self) -> OpponentModel:
        """The most informative of the models always scored, less SET_DEPTH_COST."""
        return max(self.models, key=lambda model: self.information(model) - SET_DEPTH_COST * model.depth)

    def fit(self, scores: Mapping[OpponentModel, Score]) -> None:
        """Let fitted models compete; they replace those of before."""
        self._best = None
        self._fitted = dict(scores)

    def score(self, model: OpponentModel) -> Score:
        """Return the score of a model."""
        return self._fitted[model] if model in self._fitted else self._scores[model]

    def hit_rate(self, model: OpponentModel) -> float:
        """Return the probability that a model predicts the next move, or a set that has it, 0..1."""
        return self.score(model).hit_rate

    def information(self, model: OpponentModel) -> float:
        """Return the mean log-likelihood of the opponent's moves, in nats."""
        return self.score(model).information

    @property
    def best(self) -> OpponentModel:
        """The single prediction of the best hit rate less its DEPTH_COST, or sets of more information.

        Of equals the likelier.
        """
        if self._best is None:
            self._best = self._find_best()
        return self._best

    def _find_best(self) -> OpponentModel:
        models = tuple(self.scores)
        single = max(
            (model for model in models if model.order != ALL),
            key=lambda model: self.hit_rate(model) - DEPTH_COST * model.depth,
        )
        several = max(
            (model for model in models if model.order == ALL),
            key=lambda model: self.information(model) - SET_DEPTH_COST * model.depth,
            default=single,
        )
        least = max(self.information(single), SET_LEAST - math.log(CHOICES))
        return several if self.information(several) > least else single

    @property
    def best_rate(self) -> float:
        """The hit rate of the best model, 0..1."""
        return self.hit_rate(self.best)

    @property
    def confidence(self) -> float:
        """A cautious estimate of the best model's hit rate: less about one standard error of it."""
        return self.best_rate - 0.5 / math.sqrt(self.score(self.best).moves)
