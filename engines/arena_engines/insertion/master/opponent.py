"""Models of the opponent, and the game as the workspace knows it.

A model is an opponent that searches exactly to a depth, in one view (its own points or the lead, with the
tiers of the seed or without), and plays the first, the last or any of its best moves. Every opponent move is
compared with what each model would have played; old comparisons fade.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple

from arena_engines.engine import EngineError
from arena_engines.insertion.fixed_depth import InsertionPosition, task_of, zombies
from arena_engines.insertion.master.beam import CERTAIN
from arena_engines.insertion.master.search import ALL, FIRST, LAST
from arena_engines.insertion.master.workspace import (
    CELL,
    HALF,
    HALF_MODEL,
    LEAD,
    LEAD_MODEL,
    OWN,
    OWN_MODEL,
    PLAN,
    POINTS,
    POINTS_MODEL,
    SPOILING,
    SPOILING_MODEL,
    WARY_MODEL,
    WORST_CASE,
    Weights,
    Workspace,
    depths_to,
)
from arena_protocol.games.insertion.board import Planes, parse_board
from arena_protocol.games.insertion.rules import MOVES, play


class OpponentModel(NamedTuple):
    """One model: the view it values positions in, its depth in plies, and which of equal moves it plays.

    `order`: FIRST, LAST, or ALL for any of them, each equally likely: the model predicts a set.
    `confidence`: the weight of its predictions in a plan, in 1 / CERTAIN.
    """

    view: int
    depth: int
    order: int = FIRST
    confidence: int = CERTAIN


VIEWS = (OWN_MODEL, SPOILING_MODEL, POINTS_MODEL, LEAD_MODEL, HALF_MODEL, WARY_MODEL)
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


class OpponentModels:
    """The hit rate of every model over one game."""

    def __init__(self, models: tuple[OpponentModel, ...] = MODELS) -> None:
        self.models = models
        self.restart()

    def restart(self) -> None:
        """Reset all hit rates."""
        self._hits = dict.fromkeys(self.models, PRIOR_HITS)
        self._hits[self.models[0]] += HEAD_START
        self._moves = dict.fromkeys(self.models, PRIOR_MOVES)
        self._sizes = {model: PRIOR_HITS * math.log(PRIOR_SET) for model in self.models if model.order == ALL}
        self._best: OpponentModel | None = None

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
            share = predicts(model)
            self._hits[model] = FADING * self._hits[model] + (share > 0)
            if model.order == ALL:
                self._sizes[model] = FADING * self._sizes[model] - (math.log(share) if share else 0)
            self._moves[model] = FADING * self._moves[model] + 1
            if enough():
                return

    def hit_rate(self, model: OpponentModel) -> float:
        """Return the probability that a model predicts the next move, or a set that has it, 0..1."""
        return self._hits[model] / self._moves[model]

    def information(self, model: OpponentModel) -> float:
        """Return the mean log-likelihood of the opponent's moves, in nats; a random move has -log(CHOICES).

        The moves of a predicted set share the hit rate, the others of CHOICES the rest.
        """
        rate = self.hit_rate(model)
        likelihood = -self._sizes.get(model, 0.0) / self._moves[model]
        if rate > 0:
            likelihood += rate * math.log(rate)
        if rate < 1:
            likelihood += (1 - rate) * math.log((1 - rate) / CHOICES)
        return likelihood

    @property
    def best(self) -> OpponentModel:
        """The single prediction of the best hit rate less its DEPTH_COST, or sets of more information.

        Of equals the likelier.
        """
        if self._best is None:
            self._best = self._find_best()
        return self._best

    def _find_best(self) -> OpponentModel:
        single = max(
            (model for model in self.models if model.order != ALL),
            key=lambda model: self.hit_rate(model) - DEPTH_COST * model.depth,
        )
        several = max(
            (model for model in self.models if model.order == ALL),
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
        return self.best_rate - 0.5 / math.sqrt(self._moves[self.best])


#: The views are rewritten when a ply's number within them would exceed this; layout.PLIES is larger by the
#: pictures that are used ahead.
LAST_PLY = 200
HORIZON = 40

#: Values of cells in play: a cell is worth its points less what leaving it would have earned later, so the
#: others' cells and those pushed off count against me. Against champion in 8 deals at 10 ms a move, own
#: points alone scored 694 (worst case) and 1,048 (plan) where weights as these scored 1,091 and 1,300.
#: Of -1.25, -0.9, -0.75, -0.6 and -0.3 for the others' cells -0.75 was the best of the worst case in 6 or 8
#: deals each: 1,017 against champion (1,022 at -1.25), 796 against champion, spoiling (491), 918 against
#: `half` of benchmarks/rivals (869).
WORST_CASE_WEIGHTS = Weights(CELL, -3 * CELL // 4, -CELL // 2)
PLAN_WEIGHTS = Weights(CELL, -CELL // 2, -CELL // 5)
#: Against zombies alone everything left on the board will be mine (dummy: 1,998 points, own points alone
#: 1,839).
ALONE_WEIGHTS = Weights(CELL, -2 * CELL, -2 * CELL)


class GameTracker:
    """One game as the workspaces know it; `follow` brings it to the position to be played.

    planes: the board; ply: its number within the views; known: visible pictures, at most HORIZON;
    lookahead: the game's number of visible pictures; alone: all others are zombies; models: scored by all
    moves seen (two seats only); randoms: one for each workspace, the same at the start of every game.
    """

    def __init__(
        self, works: Sequence[Workspace], sixes: int, models: tuple[OpponentModel, ...] = MODELS
    ) -> None:
        """All workspaces get the same views; the first one scores the models.

        `sixes`: consecutive moves 6 that make a zombie; 0 disables the guess.
        """
        self.models = OpponentModels(models)
        self._works = works
        self._sixes = sixes
        self._restart("", (0, 0, 0))

    def _restart(self, start: str, planes: Planes) -> None:
        """Begin a game on this board."""
        self.models.restart()
        self.randoms = tuple(random.Random(thread) for thread in range(len(self._works)))  # noqa: S311 - no secret
        for work in self._works:
            work.new_game()
        self.planes = planes
        self.alone = False
        self.known = 0
        self.lookahead = 0
        self._zombies: frozenset[int] = frozenset()
        self._start = start
        self._moves: tuple[str, ...] = ()
        self._rebase(0)

    def _rebase(self, gone: int) -> None:
        """Let the views begin with the ply after `gone` plies; nothing is written yet."""
        self._reset_workspaces()
        self._origin = self._written = gone

    def follow(self, position: InsertionPosition, enough: Callable[[], bool]) -> None:
        """Take in a position; the models are scored until `enough()`.

        Raises EngineError if the position has no picture, or if its moves do not lead to its board.
        """
        now = task_of(position, 1).planes
        known = len(self._moves)
        if position.start != self._start or position.moves[:known] != self._moves or not position.start:
            self._restart(position.start, parse_board(position.start) if position.start else now)
        self.lookahead = position.rules.lookahead
        self._catch_up(position, enough)
        if self.planes != now:
            raise EngineError(f"board {position.state.board} is not what the moves of this game lead to")
        self._note_zombies(position)
        if position.state.played - self._origin > LAST_PLY:
            self._rebase(position.state.played)
        self.ply = position.state.played - self._origin
        if self._sampled:
            self._reset_workspaces()
        self._write(position, position.state.sequence[: position.state.played + HORIZON])
        self.known = min(len(position.state.visible), HORIZON)

    def _catch_up(self, position: InsertionPosition, enough: Callable[[], bool]) -> None:
        """Play the moves made since, and score the models by the opponent's."""
        pictures = position.state.sequence
        for gone in range(len(self._moves), len(position.moves)):
            if gone - self._origin > LAST_PLY:
                self._rebase(gone)
            move, seat = int(position.moves[gone]), gone % position.rules.seats + 1
            after = play(*self.planes, move, int(pictures[gone]))[:3]
            if seat != position.seat and position.rules.seats == 2 and not enough():
                self._write(position, pictures[: gone + self.lookahead])
                self._score(position, gone, after, enough)
            self.planes = after
        self._moves = position.moves

    def _score(
        self, position: InsertionPosition, gone: int, after: Planes, enough: Callable[[], bool]
    ) -> None:
        """Compare the models with a move that led to the board `after`."""
        picture = int(position.state.sequence[gone])
        visible = min(self.lookahead, position.rules.plies - gone, self._written - gone)
        boards = {move: play(*self.planes, move, picture)[:3] for move in range(1, MOVES + 1)}

        @cache
        def best_boards(view: int, depth: int) -> list[Planes]:
            """The boards after the best moves of one search, in the order of the moves."""
            work = self._works[0]
            move = work.deepen(self.planes, view, gone - self._origin, depths_to(depth), ALL)
            ties = work.ties or 1 << move  # a timer of the last move may stop this search
            return [board for move, board in boards.items() if ties >> move & 1]

        def predicts(model: OpponentModel) -> float:
            best = best_boards(model.view, min(model.depth, visible))
            if model.order == ALL:
                return (after in best) / len(set(best))
            return float(best[0 if model.order == FIRST else -1] == after)

        self.models.update(predicts, enough)

    def _note_zombies(self, position: InsertionPosition) -> None:
        found = zombies(position.moves, position.rules.seats, position.seat, self._sixes)
        if found != self._zombies:
            self._zombies = found
            self._rebase(position.state.played)
        self.alone = len(found) == position.rules.seats - 1

    def _write(self, position: InsertionPosition, pictures: str) -> None:
        """Write into all views what is new of these pictures of the whole game."""
        if len(pictures) > self._written:
            self._write_views(position, self._written, pictures[self._written :], self._works)
            self._written = len(pictures)

    def sample(self, position: InsertionPosition, pictures: str, work: Workspace) -> None:
        """Write pictures behind the visible ones into one workspace; the next sample replaces them.

        Stored results are void afterwards, and so are the moves of the chance model, also without a picture.
        """
        self._sampled = True
        work.void()
        if pictures:
            self._write_views(position, self._written, pictures, (work,))

    def _reset_workspaces(self) -> None:
        self._sampled = False
        for work in self._works:
            work.void()

    def _write_views(
        self, position: InsertionPosition, gone: int, pictures: str, works: Sequence[Workspace]
    ) -> None:
        """Write the plies after `gone` plies of the game into all views."""
        seats = [ply % position.rules.seats + 1 for ply in range(gone, gone + len(pictures) + 1)]
        mine = [int(seat == position.seat) for seat in seats]
        theirs = [1 - side for side in mine]
        forced = [int(seat in self._zombies) for seat in seats]
        ply = gone - self._origin
        alone = len(self._zombies) == position.rules.seats - 1
        for work in works:
            work.write(WORST_CASE, ply, pictures, mine, WORST_CASE_WEIGHTS, forced)
            work.write(PLAN, ply, pictures, mine, ALONE_WEIGHTS if alone else PLAN_WEIGHTS, forced)
            work.write(OWN_MODEL, ply, pictures, theirs, OWN, forced)
            work.write(SPOILING_MODEL, ply, pictures, theirs, SPOILING, forced)
            work.write(POINTS_MODEL, ply, pictures, theirs, POINTS, forced)
            work.write(LEAD_MODEL, ply, pictures, theirs, LEAD, forced)
            work.write(HALF_MODEL, ply, pictures, theirs, HALF, forced)
            work.write(WARY_MODEL, ply, pictures, theirs, WORST_CASE_WEIGHTS, forced)
