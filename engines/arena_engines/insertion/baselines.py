"""Engines without a search: dummy, random and greedy. They need no numba and start at once."""

from __future__ import annotations

import random
from abc import abstractmethod
from collections.abc import Mapping
from time import thread_time
from typing import ClassVar

from arena_engines.engine import Analysis, Parameter
from arena_engines.insertion.evaluation import ZOMBIE_MOVE, move_gain, unpack
from arena_engines.insertion.fixed_depth import InsertionEngine, InsertionPosition, Task, task_of
from arena_protocol.games.insertion.rules import MOVES, distinct_moves, play


class OnePly(InsertionEngine):
    """A player whose move follows from the board and one picture."""

    def choose(self, position: InsertionPosition) -> int:
        """Return the move to play, 1..15."""
        return self._best(task_of(position, 1))[0]

    def analyse(self, position: InsertionPosition, depth: int) -> Analysis:
        """Return this player's move and the `Eval` of that one move; the depth searched is 1."""
        task = task_of(position, depth)
        began = thread_time()
        move, nodes = self._best(task)
        seconds = thread_time() - began
        return Analysis(move, unpack(gain_of(task, move)), nodes, 1, seconds)

    @abstractmethod
    def _best(self, task: Task) -> tuple[int, int]:
        """Return the move and the number of moves made to find it."""


class Dummy(OnePly):
    """Always plays 6, the move that the referee plays for a zombie."""

    name: ClassVar[str] = "dummy"
    instant: ClassVar[bool] = True

    def _best(self, task: Task) -> tuple[int, int]:
        return ZOMBIE_MOVE, 0


class Random(OnePly):
    """Plays one of the fifteen moves, each equally likely; the same again for the same seed."""

    name: ClassVar[str] = "random"
    instant: ClassVar[bool] = True
    parameters: ClassVar[tuple[Parameter, ...]] = (Parameter("seed", None, 0, 2**31 - 1),)

    def __init__(self, values: Mapping[str, int | str | None] | None = None) -> None:
        super().__init__(values)
        self._random = random.Random(self.values["seed"])  # noqa: S311 - a game, not a secret

    def _best(self, task: Task) -> tuple[int, int]:
        return self._random.randint(1, MOVES), 0


class Greedy(OnePly):
    """Plays the move of the best `Eval`, without looking at the reply."""

    name: ClassVar[str] = "greedy"

    def _best(self, task: Task) -> tuple[int, int]:
        distinct = distinct_moves(*task.planes)
        moves = [move for move in range(1, MOVES + 1) if distinct >> move & 1]
        return max(moves, key=lambda move: gain_of(task, move)), len(moves)


def gain_of(task: Task, move: int) -> int:
    """Return the packed value of my one move in this task."""
    *_, removed, fell, _ = play(*task.planes, move, task.pictures & 7)
    return move_gain(removed, fell, mine=True)
