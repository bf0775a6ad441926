"""The game as the workspaces know it."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from functools import cache, partial

from arena_engines.engine import EngineError
from arena_engines.insertion.evaluation import ZOMBIE_MOVE
from arena_engines.insertion.fixed_depth import InsertionPosition, task_of, zombies
from arena_engines.insertion.master.fitting import ORDERS, SeenMove, Shares, WeightFit
from arena_engines.insertion.master.habits import Habits
from arena_engines.insertion.master.memory import NEW, NO, OpponentMemory
from arena_engines.insertion.master.opponent import CHOICES, MODELS, OpponentModel, OpponentModels
from arena_engines.insertion.master.search import ALL
from arena_engines.insertion.master.suspicion import Suspicion
from arena_engines.insertion.master.workspace import (
    CELL,
    GRID,
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
    grid_weights,
)
from arena_protocol.games.insertion.board import Planes, parse_board
from arena_protocol.games.insertion.rules import MOVES, play

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
#: Plies of the search that values what a move of the opponent leaves. Other depths were not tried.
CHOICE_PLIES = 4
#: Against zombies alone everything left on the board will be mine (dummy: 1,998 points, own points alone
#: 1,839).
ALONE_WEIGHTS = Weights(CELL, -2 * CELL, -2 * CELL)


class GameTracker:
    """One game as the workspaces know it; `follow` brings it to the position to be played.

    planes: the board; ply: its number within the views; known: visible pictures, at most HORIZON;
    lookahead: the game's number of visible pictures; alone: all others are zombies; models: scored by all
    moves seen (two seats only), from `known_before` of the `opponent` on; fitted: the one among them whose
    weights follow the moves; habits: of the opponent, whatever the board is; shortfall: of the opponent in
    the sets that the best model predicted;
    randoms: one for each workspace, the same at the start of every game.
    """

    def __init__(
        self,
        works: Sequence[Workspace],
        sixes: int,
        models: tuple[OpponentModel, ...] = MODELS,
        memory: OpponentMemory | None = None,
        fitted: bool = True,
    ) -> None:
        """All workspaces get the same views; the first one scores the models.

        `sixes`: consecutive moves 6 that make a zombie, with two seats at the latest; 0 disables the guess.
        `fitted`: besides `models`, fit the weights of one.
        """
        self.models = OpponentModels(models)
        orders = tuple(order for order in ORDERS if any(model.order == order for model in models))
        self.fitted = WeightFit(orders) if fitted else None
        self.opponent = ""
        self.known_before = NEW
        self._memory = memory or OpponentMemory(NO)
        self._works = works
        self._sixes = sixes
        self._restart("", (0, 0, 0), "")

    def keep(self) -> None:
        """Remember the opponent of a game that has ended."""
        if self.opponent and self._moves:
            self._memory.keep(self.opponent, self.models.scores, self.shortfall)
        self.opponent = ""

    def _restart(self, start: str, planes: Planes, opponent: str) -> None:
        """Begin a game on this board against the opponent of this name; empty: not known."""
        self.keep()
        self.opponent = opponent
        self.known_before = self._memory.recall(opponent)
        self.shortfall = self.known_before.shortfall
        self.models.restart(self.known_before.scores)
        self.habits = Habits()
        self._suspicion = Suspicion(is_known=self.known_before.games > 0)
        if self.fitted:
            self.fitted.restart(self.known_before.scores)
            self.models.fit(self.fitted.scores)
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
        if self.fitted:
            self.fitted.forget()
        self._origin = self._written = gone
        self._grid_written: dict[int, int] = {}

    def follow(
        self,
        position: InsertionPosition,
        enough: Callable[[], bool],
        enough_fitted: Callable[[], bool] | None = None,
    ) -> None:
        """Take in a position; the models are scored until `enough()`, and fitted until `enough_fitted()`.

        Raises EngineError if the position has no picture, or if its moves do not lead to its board.
        """
        now = task_of(position, 1).planes
        known = len(self._moves)
        if position.start != self._start or position.moves[:known] != self._moves or not position.start:
            begun = parse_board(position.start) if position.start else now
            self._restart(position.start, begun, opponent_of(position))
        self.lookahead = position.rules.lookahead
        if self._sampled:
            self._reset_workspaces()
        self._catch_up(position, enough, enough_fitted or enough)
        if self.planes != now:
            raise EngineError(f"board {position.state.board} is not what the moves of this game lead to")
        self._note_zombies(position)
        if position.state.played - self._origin > LAST_PLY:
            self._rebase(position.state.played)
        self.ply = position.state.played - self._origin
        self._write(position, position.state.sequence[: position.state.played + HORIZON])
        self._write_grid(position, self.models.best.view)
        self.known = min(len(position.state.visible), HORIZON)

    def _catch_up(
        self, position: InsertionPosition, enough: Callable[[], bool], enough_fitted: Callable[[], bool]
    ) -> None:
        """Play the moves made since, and score the models by the opponent's."""
        pictures = position.state.sequence
        for gone in range(len(self._moves), len(position.moves)):
            if gone - self._origin > LAST_PLY:
                self._rebase(gone)
            move, seat = int(position.moves[gone]), gone % position.rules.seats + 1
            after = play(*self.planes, move, int(pictures[gone]))[:3]
            if seat != position.seat and position.rules.seats == 2:
                chosen = 1 / CHOICES
                if not enough():
                    self._write(position, pictures[: gone + self.lookahead])
                    chosen = self._score(position, SeenMove(gone, self.planes, after), enough, enough_fitted)
                self.habits.note(int(position.moves[gone - 1]) if gone else 0, move)
                self._suspicion.note(is_six=move == ZOMBIE_MOVE, chosen=chosen)
            self.planes = after
        self._moves = position.moves

    def _score(
        self,
        position: InsertionPosition,
        seen: SeenMove,
        enough: Callable[[], bool],
        enough_fitted: Callable[[], bool],
    ) -> float:
        """Compare the models with an opponent move. Returns how likely it was by the best of them."""

        @cache
        def predicted(view: int, depth: int) -> list[Planes]:
            return self._predicted(position, view, depth, seen)

        @cache
        def shares(view: int, depth: int) -> Shares:
            return compare(predicted(view, depth), seen.after)

        expected, rate = self.models.best, self.models.best_rate
        share = shares(expected.view, expected.depth)[ORDERS.index(expected.order)]
        chosen = rate * share or (1 - rate) / CHOICES
        if expected.order == ALL:
            self._note_choice(position, seen, set(predicted(expected.view, expected.depth)))
        self.models.update(lambda model: shares(model.view, model.depth)[ORDERS.index(model.order)], enough)
        if self.fitted:
            self.fitted.note(seen)
            self.fitted.improve(self.models.likeliest, partial(self._shares, position), enough_fitted)
            self.models.fit(self.fitted.scores)
        return chosen

    def _note_choice(self, position: InsertionPosition, seen: SeenMove, predicted: set[Planes]) -> None:
        """Compare what a move of the opponent left me with the mean of the boards that were predicted."""
        picture = int(position.state.sequence[seen.gone])
        ahead = min(CHOICE_PLIES, self._visible(position, seen) - 1)
        work, ply = self._works[0], seen.gone - self._origin + 1
        left: dict[Planes, int] = {}
        for move in range(1, MOVES + 1):
            *planes, removed, fell, _ = play(*seen.before, move, picture)
            board = planes[0], planes[1], planes[2]
            if board not in left and (board in predicted or board == seen.after):
                left[board] = removed * WORST_CASE_WEIGHTS.theirs + fell * WORST_CASE_WEIGHTS.fell
                if ahead > 0:
                    work.deepen(board, WORST_CASE, ply, depths_to(ahead))
                    left[board] += work.value
        if not work.stopped:  # by a timer of the last move: the values are those of unfinished searches
            mean = sum(left[board] for board in predicted) / len(predicted)
            self.shortfall = self.shortfall.after((mean - left[seen.after]) / CELL)

    def _shares(self, position: InsertionPosition, view: int, depth: int, seen: SeenMove) -> Shares:
        return compare(self._predicted(position, view, depth, seen), seen.after)

    def _predicted(self, position: InsertionPosition, view: int, depth: int, seen: SeenMove) -> list[Planes]:
        """Return the boards after each of the best moves of a search in a view, in the order of the moves."""
        self._write_grid(position, view)
        work = self._works[0]
        ply = seen.gone - self._origin
        move = work.deepen(seen.before, view, ply, depths_to(min(depth, self._visible(position, seen))), ALL)
        ties = work.ties or 1 << move  # a timer of the last move may stop this search
        picture = int(position.state.sequence[seen.gone])
        return [play(*seen.before, move, picture)[:3] for move in range(1, MOVES + 1) if ties >> move & 1]

    def _visible(self, position: InsertionPosition, seen: SeenMove) -> int:
        """Return how many pictures the opponent saw before a move."""
        return min(self.lookahead, position.rules.plies - seen.gone, self._written - seen.gone)

    def _note_zombies(self, position: InsertionPosition) -> None:
        found = zombies(position.moves, position.rules.seats, position.seat, self._sixes)
        if self._sixes and position.rules.seats == 2 and self._suspicion.is_likely:
            found = frozenset({3 - position.seat})
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
        """Write the plies after `gone` plies into all views, of the grid only into that of the best model."""
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
            if self._sampled and self.models.best.view >= GRID:
                view = self.models.best.view
                work.write(view, ply, pictures, theirs, grid_weights(view), forced)

    def _write_grid(self, position: InsertionPosition, view: int) -> None:
        """Write what is new into a view of the grid; into others it is written at once."""
        gone = self._grid_written.get(view, self._origin)
        if view >= GRID and gone < self._written:
            pictures = position.state.sequence[gone : self._written]
            seats = [ply % position.rules.seats + 1 for ply in range(gone, self._written + 1)]
            theirs = [int(seat != position.seat) for seat in seats]
            forced = [int(seat in self._zombies) for seat in seats]
            for work in self._works:
                work.write(view, gone - self._origin, pictures, theirs, grid_weights(view), forced)
            self._grid_written[view] = self._written


def compare(predicted: Sequence[Planes], after: Planes) -> Shares:
    """Return 1 / the number of boards predicted if the one seen is among them, else 0, as ORDERS."""
    return (
        float(predicted[0] == after),
        float(predicted[-1] == after),
        (after in predicted) / len(set(predicted)),
    )


def opponent_of(position: InsertionPosition) -> str:
    """Return the name of the opponent; empty with more than one, or if names are not known."""
    return position.names[2 - position.seat] if len(position.names) == 2 else ""
