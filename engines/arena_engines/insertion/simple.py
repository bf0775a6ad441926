"""The players that do not search: random, dummy and greedy. They start at once, without numba.

They are the bottom of every league and the opponents of a first bot. This file must not
know: depth, trees, compiled code.
"""

from __future__ import annotations

import random
from abc import abstractmethod
from collections.abc import Mapping
from time import perf_counter
from typing import ClassVar

from arena_engines.engine import Analysis, Parameter
from arena_engines.insertion.eval import move_gain, unpack
from arena_engines.insertion.fixed_depth import InsertionEngine, InsertionPosition, Task, task_of
from arena_engines.insertion.zombies import ZOMBIE_MOVE
from arena_protocol.games.insertion.rules import MOVES, distinct_moves, play


class OnePly(InsertionEngine):
    """A player whose move follows from the board and one picture."""

    def choose(self, position: InsertionPosition) -> int:
        """Return the move to play, 1..15."""
        return self._best(task_of(position, 1))[0]

    def analyse(self, position: InsertionPosition, depth: int) -> Analysis:
        """Return the move this player would play and what that one move is worth, whatever the depth."""
        task = task_of(position, depth)
        began = perf_counter()
        move, nodes = self._best(task)
        seconds = perf_counter() - began
        return Analysis(move, unpack(gain_of(task, move)), nodes, seconds)

    @abstractmethod
    def _best(self, task: Task) -> tuple[int, int]:
        """Return the move and how many moves were made to find it."""


class Dummy(OnePly):
    """Plays 6, always: what the referee plays for a zombie."""

    name: ClassVar[str] = "dummy"
    instant: ClassVar[bool] = True

    def _best(self, task: Task) -> tuple[int, int]:
        return ZOMBIE_MOVE, 0


class Random(OnePly):
    """Plays any of the fifteen moves; the same again for the same seed."""

    name: ClassVar[str] = "random"
    instant: ClassVar[bool] = True
    parameters: ClassVar[tuple[Parameter, ...]] = (Parameter("seed", None, 0, 2**31 - 1),)

    def __init__(self, values: Mapping[str, int | str | None] | None = None) -> None:
        super().__init__(values)
        self._random = random.Random(self.values["seed"])  # noqa: S311 - a game, not a secret

    def _best(self, task: Task) -> tuple[int, int]:
        return self._random.randint(1, MOVES), 0


class Greedy(OnePly):
    """Takes the best EVAL of its own next move and never looks at the answer."""

    name: ClassVar[str] = "greedy"

    def _best(self, task: Task) -> tuple[int, int]:
        distinct = distinct_moves(*task.planes)
        moves = [move for move in range(1, MOVES + 1) if distinct >> move & 1]
        return max(moves, key=lambda move: gain_of(task, move)), len(moves)


def gain_of(task: Task, move: int) -> int:
    """Return the packed EVAL of my one move in this task."""
    *_, removed, fell, _ = play(*task.planes, move, task.pictures & 7)
    return move_gain(removed, fell, mine=True)
