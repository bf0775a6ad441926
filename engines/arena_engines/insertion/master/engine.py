"""Master: plan against the replies that this opponent makes; guard where they cannot be foretold.

    1. Follow the game; ask every model of the opponent what it would have played (follower.py, minds.py).
    2. If the opponent is a zombie, or a model foretells it well enough: plan many own moves ahead against
       its predicted replies, wider as long as there is time (beam.py).
    3. Otherwise deepen an exact search against the worst reply, by weights that share out what is left
       on the board (tree.py).

An analysis is the exact search alone: the champion's move and EVAL at that depth. It must not know:
the wire, other engines.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cached_property, partial
from time import perf_counter
from typing import ClassVar

from arena_engines.engine import Analysis, Parameter, Position
from arena_engines.insertion.fixed_depth import InsertionEngine, InsertionPosition, task_of
from arena_engines.insertion.master.follower import Follower
from arena_engines.insertion.master.minds import CHANCE, Mind
from arena_engines.insertion.master.planner import (
    IMPOSSIBLE,
    Quest,
    Verdict,
    gamble,
    guard,
    hasty,
    plan,
)
from arena_engines.insertion.master.root import FIRST
from arena_engines.insertion.master.team import Ponderer, Team
from arena_engines.insertion.master.timing import budget
from arena_engines.insertion.master.workspace import (
    ALL_LANES,
    OWN,
    OWN_MIND,
    PLAN,
    SPOILING_MIND,
    Workspace,
    shortcut,
    unpack,
)
from arena_protocol.games.insertion import Insertion
from arena_protocol.games.insertion.rules import play

#: A model is planned against once it is right this often; below, guarding scores more (docs/engines.md).
BELIEF = 0.5
#: An opponent that no model foretells even so often plays by chance.
DISBELIEF = 0.25
#: Plans against chance look so far.
CHANCE_PLIES = 8
#: With fewer pictures in sight the ones behind them are drawn, and plans averaged over the draws.
FORESIGHT = 8
#: So many are drawn: more tell of games that will not be; beside a zombie there is less to go wrong.
AHEAD = 3
ALONE_AHEAD = 8
#: Of the time for a move, this much at most goes to scoring the models by the move just seen.
LEARNING = 0.15
#: With less than so many seconds for a move there is no planning.
HASTE = 0.002

#: A position to warm up with: board, pictures, plies.
FIRST_SIGHT = ("51436/26245/53163/41624/36251", "1425361425", 7)
#: An analysis of n plies uses a table of 2**(this + n) pairs of entries.
TABLE_BITS = 4

SEEN, MINE_ONLY, SPOILING, WORST = "seen", "own", "spoiling", "worst"
MODEL = Parameter("model", SEEN, words=(SEEN, MINE_ONLY, SPOILING, WORST))

#: The first moves of two threads that share the work: neighbours lead to like boards.
HALVES = (0b101010101010101, 0b010101010101010)


class Master(InsertionEngine):
    """The strongest player; uses its clock."""

    name: ClassVar[str] = "master"
    parameters: ClassVar[tuple[Parameter, ...]] = (
        MODEL,
        Parameter("threads", 1, 1, 2),
        Parameter("ponder", "no", words=("no", "yes")),
        Parameter("millis", 100, 1, 60_000),
        Parameter("zombie", 5, 0, 100),
    )

    def warm_up(self) -> None:
        """Compile or load the kernel, and search once: the first search has all code and memory to fetch."""
        self._follower  # noqa: B018 - the look-up compiles
        board, visible, depth = FIRST_SIGHT
        self.analyse(Position.at(Insertion(), board, visible), depth)

    @cached_property
    def _works(self) -> tuple[Workspace, ...]:
        """One workspace a thread."""
        return tuple(Workspace() for _ in range(int(self.values["threads"] or 1)))

    @cached_property
    def _follower(self) -> Follower:
        return Follower(self._works, int(self.values["zombie"] or 0))

    @cached_property
    def _team(self) -> Team:
        return Team(self._works)

    @cached_property
    def _ponderer(self) -> Ponderer:
        return Ponderer(self._works[0])

    @cached_property
    def _chances(self) -> tuple[random.Random, ...]:
        return tuple(random.Random(thread) for thread in range(len(self._works)))  # noqa: S311 - no secret

    def choose(self, position: InsertionPosition) -> int:
        """Return the move to play."""
        began = perf_counter()
        seconds = budget(position, float(self.values["millis"] or 0)) / 1000

        def left(share: float = 1.0) -> float:
            return share * seconds - (perf_counter() - began)

        self._ponderer.stop()
        self._works[0].clear()
        game = self._follower
        game.follow(position, lambda: left(LEARNING) <= 0)
        quest = Quest(game.planes, game.ply, game.known)
        if left() < HASTE:
            return hasty(self._works[0], quest)
        mind = self._mind(position)
        if mind is None:
            return guard(self._works[0], quest, left())
        move = self._planned(position, quest, mind, left) or hasty(self._works[0], quest)
        self._ponder(quest, mind, move, position.state.visible)
        return move

    def _planned(
        self, position: InsertionPosition, quest: Quest, mind: Mind, left: Callable[[], float]
    ) -> int:
        """Return the move of the best plan; 0 if there was no time for any."""
        game = self._follower
        ahead = min(
            position.rules.plies - position.state.played - game.known, ALONE_AHEAD if game.alone else AHEAD
        )
        if mind == CHANCE:
            quest = quest._replace(known=min(quest.known, CHANCE_PLIES))
            ahead = 0
        if mind == CHANCE or (ahead > 0 and game.known < FORESIGHT):

            def gambled(thread: int, work: Workspace) -> list[int]:
                draw = partial(self._draw, position, thread)
                return gamble(work, quest, mind, left(), draw, ahead)

            sums = [sum(column) for column in zip(*self._team.each(gambled), strict=True)]
            return sums.index(max(sums)) if max(sums) > IMPOSSIBLE else 0

        def planned(thread: int, work: Workspace) -> Verdict:
            work.only(ALL_LANES, ALL_LANES if len(self._works) == 1 else HALVES[thread])
            return plan(work, quest, mind, left())

        return max(self._team.each(planned)).move

    def _draw(self, position: InsertionPosition, thread: int, ahead: int) -> None:
        """Write pictures of chance behind those in sight."""
        pictures = self._chances[thread].choices("1234567"[: position.rules.colours], k=ahead)
        self._follower.imagine(position, "".join(pictures), self._works[thread])

    def _mind(self, position: InsertionPosition) -> Mind | None:
        """Return the model to plan against; None: guard."""
        game = self._follower
        mind: Mind | None = Mind(OWN_MIND, 1)
        if not game.alone:
            mind = self._believed(position)
        return mind and mind._replace(depth=min(mind.depth, game.lookahead))

    def _believed(self, position: InsertionPosition) -> Mind | None:
        """Return the model of an opponent that is no zombie."""
        minds = self._follower.minds
        if position.rules.seats != 2 or self.values["model"] == WORST:
            return None
        if self.values["model"] == SEEN:
            if minds.trust < DISBELIEF:
                return CHANCE
            return minds.best if minds.trust >= BELIEF else None
        return Mind(OWN_MIND if self.values["model"] == MINE_ONLY else SPOILING_MIND, 5)

    def _ponder(self, quest: Quest, mind: Mind, move: int, pictures: str) -> None:
        """Think on in the opponent's time, on the board that its foretold reply leads to."""
        if self.values["ponder"] == "yes" and quest.known - 2 >= FORESIGHT:
            after = play(*quest.planes, move, int(pictures[0]))[:3]
            self._ponderer.start(Quest(after, quest.ply + 1, quest.known - 1), mind, int(pictures[1]))

    def analyse(self, position: InsertionPosition, depth: int) -> Analysis:
        """Return the exact best move and EVAL, as the champion finds them."""
        task = task_of(position, depth)
        work = self._works[0]
        work.clear()
        began = perf_counter()
        work.fresh(PLAN, task.depth + 1, TABLE_BITS + task.depth)
        pictures = position.state.visible[: task.depth]
        sides = [1 - turn % 2 for turn in range(task.depth + 1)]
        work.write(PLAN, 0, pictures, sides, OWN)
        move = work.decide(task.planes, PLAN, 0, shortcut(task.depth), FIRST)
        seconds = perf_counter() - began
        return Analysis(move, unpack(work.value), work.nodes, seconds)
