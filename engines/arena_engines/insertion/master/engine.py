"""The engine `master`: plan against the replies that this opponent makes, or search the worst case.

    1. Follow the game and score every model of the opponent by its last move (opponent.py).
    2. If the opponent is a zombie, or a model predicts it well enough: plan many own moves ahead against the
       predicted replies, with wider beams as long as there is time (planner.py, beam.py). The model's
       hit rate weighs the predicted reply against the worst one. If the model predicts a set of equally good
       replies, plans are averaged over draws from the sets, unless the opponent plays the worse ones for me.
    3. Otherwise deepen an exact search against the worst reply (search.py), in weights that value what is
       left on the board.

An analysis is the exact search alone: the champion's move and `Eval` at that depth.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property, partial
from time import perf_counter, thread_time
from typing import ClassVar

from arena_engines.engine import Analysis, Parameter, Position, Report
from arena_engines.insertion.fixed_depth import InsertionEngine, InsertionPosition, task_of
from arena_engines.insertion.master.beam import CERTAIN
from arena_engines.insertion.master.memory import YES, MemoryParameter, OpponentMemory
from arena_engines.insertion.master.opponent import CHANCE, MODELS, SINGLE_MODELS, OpponentModel, view_text
from arena_engines.insertion.master.patterns import PatternSearch
from arena_engines.insertion.master.planner import (
    IMPOSSIBLE,
    Plan,
    Ponder,
    SearchRequest,
    ThreadPool,
    plan,
    sampled,
    shallow,
    worst_case,
)
from arena_engines.insertion.master.search import ALL, FIRST
from arena_engines.insertion.master.tracker import GameTracker
from arena_engines.insertion.master.workspace import (
    ALL_LANES,
    OWN,
    OWN_MODEL,
    PLAN,
    SPOILING_MODEL,
    Workspace,
    depths_to,
    unpack,
)
from arena_engines.lateness import Lateness
from arena_protocol.games.insertion import Insertion
from arena_protocol.games.insertion.rules import play

#: The confidence in a model from which it is planned against; below, the worst case is searched. Between
#: PLAN_RATE and CERTAIN_RATE a plan weighs the predicted reply by the confidence and the worst reply by
#: the rest; from CERTAIN_RATE on the prediction is taken for certain (benchmarks/rivals: docs/engines.md).
PLAN_RATE = 0.5
CERTAIN_RATE = 0.8
#: Below this hit rate of the best model the opponent is taken to play by chance.
CHANCE_RATE = 0.25
#: But not from this rate of a habit on: a random player has it in less than 1 of 1,000 moves (300 games of
#: 100 moves), one that copies from its fifth or sixth move on.
HABIT_RATE = 0.3
#: The mean shortfall, in cells a move, above which predicted sets are not planned against (docs/engines.md).
MOST_SHORTFALL = 0.1
#: Plies of a plan against chance.
CHANCE_PLIES = 8
#: With fewer visible pictures the next ones are sampled, and plans averaged over the samples.
ENOUGH_KNOWN = 8
#: Pictures in a sample; beside a zombie predictions go wrong less, so plans may be longer.
SAMPLED_PICTURES = 3
ALONE_SAMPLED_PICTURES = 8
#: The greatest share of a move's time that goes to scoring the models.
SCORING_SHARE = 0.15
#: The share after which the weights of the opponent are fitted no further in this move.
FITTING_SHARE = 0.3
#: Seconds; with less for a move there is no planning.
LEAST_PLANNING = 0.002

#: The share of the bank that is never planned with, and the least of it in milliseconds: the referee charges
#: the wire and the scheduler to the mover.
RESERVE = 0.02
LEAST_RESERVE = 100.0
#: The least milliseconds of a move beside the search: the wire, waking up, a late timer (measured: below 1 ms
#: at p99 on an idle machine). A busy machine's are measured in the game.
OVERHEAD = 3.0
#: Milliseconds for a move without a clock.
UNCLOCKED = 100.0

#: A position to warm up with: board, pictures, depth.
WARM_UP = ("51436/26245/53163/41624/36251", "1425361425", 7)
#: An analysis of n plies uses a table of 2**(TABLE_BITS + n) slots.
TABLE_BITS = 4

SEEN, LISTED, SINGLE, OWN_POINTS, SPOILER, WORST = "seen", "listed", "single", "own", "spoiling", "worst"
MODEL = Parameter("model", SEEN, words=(SEEN, LISTED, SINGLE, OWN_POINTS, SPOILER, WORST), play_only=True)

#: The first moves of two threads that share a plan: neighbouring moves lead to similar boards.
HALVES = (0b101010101010101, 0b010101010101010)


class Master(InsertionEngine):
    """The strongest player; it uses its clock.

    `millis` is the most time for a move, without a clock UNCLOCKED if absent. `model` has an effect with two
    seats only, `threads` and `ponder` only while there is a model to plan against.
    """

    name: ClassVar[str] = "master"
    parameters: ClassVar[tuple[Parameter, ...]] = (
        MODEL,
        Parameter("threads", 1, 1, 2, play_only=True),
        Parameter("ponder", "no", words=("no", "yes"), play_only=True),
        Parameter("millis", None, 1, 60_000, play_only=True),
        Parameter("zombie", 5, 0, 100, play_only=True),
        MemoryParameter("memory", YES, play_only=True),
    )

    def __init__(self, values: Mapping[str, int | str | None] | None = None) -> None:
        super().__init__(values)
        self._memory = OpponentMemory(str(self.values["memory"]))
        self._lateness = Lateness(OVERHEAD)

    def warm_up(self) -> None:
        """Compile or load the kernel, and search once: the first search fetches all code and memory."""
        self._tracker, self._patterns  # noqa: B018 - the look-ups compile
        board, visible, depth = WARM_UP
        self.analyse(Position.at(Insertion(), board, visible), depth)

    @cached_property
    def _works(self) -> tuple[Workspace, ...]:
        """One workspace for each thread."""
        return tuple(Workspace() for _ in range(int(self.values["threads"] or 1)))

    @cached_property
    def _analyses(self) -> Workspace:
        """Another workspace: an analysis in a game leaves the game's alone."""
        return Workspace()

    @cached_property
    def _tracker(self) -> GameTracker:
        models = SINGLE_MODELS if self.values["model"] == SINGLE else MODELS
        fitted = self.values["model"] == SEEN
        return GameTracker(self._works, int(self.values["zombie"] or 0), models, self._memory, fitted)

    @cached_property
    def _patterns(self) -> PatternSearch:
        return PatternSearch()

    @cached_property
    def _threads(self) -> ThreadPool:
        return ThreadPool(self._works)

    @cached_property
    def _ponder(self) -> Ponder:
        return Ponder(self._works[0])

    def choose(self, position: InsertionPosition) -> int:
        """Return the move to play."""
        self._lateness.begin(position)
        millis = self.values["millis"]
        planned = budget(position, None if millis is None else int(millis), self._lateness)
        move = self._choose(position, planned / 1000)
        self._lateness.end(planned)
        return move

    def _choose(self, position: InsertionPosition, seconds: float) -> int:
        began = perf_counter()

        def left(share: float = 1.0) -> float:
            return share * seconds - (perf_counter() - began)

        self._ponder.stop()
        self._works[0].start()
        game = self._tracker
        game.follow(position, lambda: left(SCORING_SHARE) <= 0, lambda: left(FITTING_SHARE) <= 0)
        request = SearchRequest(game.planes, game.ply, game.known)
        if left() < LEAST_PLANNING:
            return shallow(self._works[0], request)
        model = self._model(position)
        if model is None:
            move = worst_case(self._works[0], request, left())
            self.report = Report(nodes=self._works[0].nodes, line=(move,), text=self._reason(model))
            return move
        self.report = Report(text=self._reason(model))
        move = self._planned(position, request, model, left) or shallow(self._works[0], request)
        self._start_pondering(request, model, move, position.state.visible)
        return move

    def game_over(self) -> None:
        """Remember the opponent."""
        self._ponder.stop()
        self._tracker.keep()

    def _planned(
        self,
        position: InsertionPosition,
        request: SearchRequest,
        model: OpponentModel,
        left: Callable[[], float],
    ) -> int:
        """Return the move of the best plan; 0 if no plan was finished in time."""
        game = self._tracker
        unknown = position.rules.plies - position.state.played - game.known
        if game.alone and position.rules.seats == 2 and unknown > 0 and game.known < ENOUGH_KNOWN:
            rules, state = position.rules, position.state
            return self._patterns.best_move(
                request.planes, state.visible, rules.plies - state.played, rules.colours, left
            )
        ahead = min(unknown, ALONE_SAMPLED_PICTURES if game.alone else SAMPLED_PICTURES)
        if model == CHANCE:
            request = request._replace(known=min(request.known, CHANCE_PLIES))
            ahead = 0
        if game.known >= ENOUGH_KNOWN:
            ahead = 0
        if model == CHANCE or model.order == ALL or ahead > 0:

            def sample(thread: int, work: Workspace) -> list[int]:
                work.restrict(ALL_LANES, ALL_LANES)
                draw = partial(self._draw, position, thread)
                if model.order == ALL and ahead == 0:
                    draw = partial(self._draw_replies, thread)
                return sampled(work, request, model, left(), draw, ahead)

            sums = [sum(column) for column in zip(*self._threads.each(sample), strict=True)]
            return sums.index(max(sums)) if max(sums) > IMPOSSIBLE else 0

        def planned(thread: int, work: Workspace) -> Plan:
            work.restrict(ALL_LANES, ALL_LANES if len(self._works) == 1 else HALVES[thread])
            return plan(work, request, model, left())

        best = max(self._threads.each(planned))
        if best.move:
            nodes = sum(work.nodes for work in self._works)
            self.report = Report(best.plies, best.value, nodes, (best.move,), self._reason(model))
        return best.move

    def _draw(self, position: InsertionPosition, thread: int, ahead: int) -> None:
        """Write random pictures behind the visible ones."""
        pictures = self._tracker.randoms[thread].choices("1234567"[: position.rules.colours], k=ahead)
        self._tracker.sample(position, "".join(pictures), self._works[thread])

    def _draw_replies(self, thread: int, _ahead: int) -> None:
        """Let beams continue with other members of the sets of equal replies."""
        self._works[thread].draw_replies(self._tracker.randoms[thread].getrandbits(32))

    def _model(self, position: InsertionPosition) -> OpponentModel | None:
        """Return the model to plan against; None to search the worst case."""
        game = self._tracker
        model: OpponentModel | None = OpponentModel(OWN_MODEL, 1)
        if not game.alone:
            model = self._living_model(position)
        return model and model._replace(depth=min(model.depth, game.lookahead))

    def _reason(self, model: OpponentModel | None) -> str:
        """Return what the move is played against, as a note for spectators."""
        game = self._tracker
        if game.alone:
            return "beside a zombie"
        known = game.known_before.games
        met = f"; {game.opponent} is known from {known} game{'s' * (known > 1)}" if known else ""
        if model is None:
            preferred = ", which it prefers among equals" * self._chooses_the_worse
            return f"against the worst reply{preferred}{met}"
        if model == CHANCE:
            return f"against random replies{met}"
        expected = f"against the reply of {model.depth} plies by {view_text(model.view)}"
        return f"{expected}, right in {game.models.hit_rate(game.models.best):.0%}{met}"

    @property
    def _chooses_the_worse(self) -> bool:
        """Whether the best model predicts sets, of which the opponent plays what is worse for me."""
        game = self._tracker
        return game.models.best.order == ALL and game.shortfall.mean > MOST_SHORTFALL

    def _living_model(self, position: InsertionPosition) -> OpponentModel | None:
        """Return the model of an opponent that is no zombie."""
        models = self._tracker.models
        if position.rules.seats != 2 or self.values["model"] == WORST:
            return None
        if self.values["model"] in (SEEN, LISTED, SINGLE):
            if models.best_rate < CHANCE_RATE:
                return CHANCE if self._tracker.habits.rate < HABIT_RATE else None
            sure = models.confidence
            if sure < PLAN_RATE or self._chooses_the_worse:
                return None
            return models.best._replace(confidence=CERTAIN if sure > CERTAIN_RATE else int(CERTAIN * sure))
        return OpponentModel(OWN_MODEL if self.values["model"] == OWN_POINTS else SPOILING_MODEL, 5)

    def _start_pondering(
        self, request: SearchRequest, model: OpponentModel, move: int, pictures: str
    ) -> None:
        """Plan in the opponent's time, on the board behind the predicted reply."""
        if self.values["ponder"] == "yes" and request.known - 2 >= ENOUGH_KNOWN:
            after = play(*request.planes, move, int(pictures[0]))[:3]
            self._ponder.start(
                SearchRequest(after, request.ply + 1, request.known - 1), model, int(pictures[1])
            )

    def analyse(self, position: InsertionPosition, depth: int) -> Analysis:
        """Return the exact best move and `Eval`, equal to the champion's."""
        task = task_of(position, depth)
        work = self._analyses
        work.start()
        began = thread_time()
        work.new_analysis(PLAN, task.depth + 1, TABLE_BITS + task.depth)
        pictures = position.state.visible[: task.depth]
        sides = [1 - turn % 2 for turn in range(task.depth + 1)]
        work.write(PLAN, 0, pictures, sides, OWN)
        move = work.deepen(task.planes, PLAN, 0, depths_to(task.depth), FIRST)
        seconds = thread_time() - began
        return Analysis(move, unpack(work.value), work.nodes, task.depth, seconds)


def budget(position: InsertionPosition, most: int | None, lateness: Lateness) -> float:
    """Return the milliseconds for this move, at most `most`; 0 if there is no time at all.

    The bank is spread over the moves left, less RESERVE and the lateness of each; the next TURN carries the
    true clock, so unused time comes back. Without a clock the answer is `most`, or UNCLOCKED if that is None.
    """
    limit = position.longest(most, lateness.cautious)
    if position.clock is None:
        return min(limit, UNCLOCKED if most is None else most)
    reserve = max(RESERVE * (position.bank or position.clock), LEAST_RESERVE)
    rules = position.rules
    moves = -(-(rules.plies - position.state.played) // rules.seats)
    return min(limit, max(0.0, (position.clock - reserve) / moves - lateness.typical))
