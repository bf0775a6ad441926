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

from functools import cached_property
from time import perf_counter
from typing import ClassVar

from arena_engines.engine import Analysis, Engine, Parameter, Situation
from arena_engines.insertion.fixed_depth import task_of
from arena_engines.insertion.master.follower import Follower
from arena_engines.insertion.master.minds import Mind
from arena_engines.insertion.master.planner import Quest, guard, hasty, plan
from arena_engines.insertion.master.timing import budget
from arena_engines.insertion.master.workspace import (
    OWN,
    OWN_MIND,
    PLAN,
    SPOILING_MIND,
    Workspace,
    unpack,
)

#: A model is planned against once it is right this often; below, guarding scores more (docs/engines.md).
BELIEF = 0.5
#: Of the time for a move, this much at most goes to scoring the models by the move just seen.
LEARNING = 0.15
#: With less than so many seconds for a move there is no planning.
HASTE = 0.002

SEEN, MINE_ONLY, SPOILING, WORST = "seen", "own", "spoiling", "worst"
MODEL = Parameter("model", SEEN, words=(SEEN, MINE_ONLY, SPOILING, WORST))


class Master(Engine):
    """The strongest player; uses its clock."""

    name: ClassVar[str] = "master"
    parameters: ClassVar[tuple[Parameter, ...]] = (
        MODEL,
        Parameter("millis", 100, 1, 60_000),
        Parameter("zombie", 5, 0, 100),
    )

    def warm_up(self) -> None:
        """Compile or load the kernel."""
        self._follower  # noqa: B018 - the look-up compiles

    @cached_property
    def _work(self) -> Workspace:
        return Workspace()

    @cached_property
    def _follower(self) -> Follower:
        return Follower(self._work, int(self.values["zombie"] or 0))

    def choose(self, situation: Situation) -> int:
        """Return the move to play."""
        began = perf_counter()
        seconds = budget(situation, float(self.values["millis"] or 0)) / 1000

        def left(share: float = 1.0) -> float:
            return share * seconds - (perf_counter() - began)

        self._work.clear()
        game = self._follower
        game.follow(situation, lambda: left(LEARNING) <= 0)
        quest = Quest(game.planes, game.ply, game.known)
        if left() < HASTE:
            return hasty(self._work, quest)
        mind = self._mind(situation)
        if mind is None:
            return guard(self._work, quest, left())
        return plan(self._work, quest, mind, left()) or hasty(self._work, quest)

    def _mind(self, situation: Situation) -> Mind | None:
        """Return the model to plan against; None: guard."""
        game = self._follower
        if game.alone:
            return Mind(OWN_MIND, 1)
        if situation.seats != 2 or self.values["model"] == WORST:
            return None
        if self.values["model"] == SEEN:
            return game.minds.best if game.minds.trust >= BELIEF else None
        return Mind(OWN_MIND if self.values["model"] == MINE_ONLY else SPOILING_MIND, 5)

    def analyse(self, board: str, visible: str, depth: int) -> Analysis:
        """Return the exact best move and EVAL, as the champion finds them."""
        task = task_of(board, visible, depth, seats=2)
        work = self._work
        work.clear()
        began = perf_counter()
        work.forget()
        pictures = visible[: task.depth]
        sides = [1 - turn % 2 for turn in range(task.depth + 1)]
        work.write(PLAN, 0, pictures, sides, OWN)
        low = task.depth - 2 if task.depth > 3 else task.depth
        move = work.decide(
            task.planes, PLAN, 0, range(low, task.depth + 1, max(1, task.depth - low)), first=True
        )
        seconds = perf_counter() - began
        return Analysis(move, unpack(work.value), work.nodes, seconds)
