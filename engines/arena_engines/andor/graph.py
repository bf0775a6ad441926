"""AND/OR graphs: a problem is solved by any one of its reductions, a reduction by all its subproblems.

The words are those of seed 004: a problem is an OR vertex, a reduction with several subproblems an AND
vertex below it, an elementary problem a final vertex. It must not know: any kind of problem, searches.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

N = TypeVar("N", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Reduction(Generic[N]):
    """One way to solve a problem: by solving all `parts`, in their order; `cost` is that of the step."""

    label: str
    parts: tuple[N, ...]
    cost: float = 1.0


class ProblemSpace(ABC, Generic[N]):
    """The implicit AND/OR graph of one kind of problem."""

    @abstractmethod
    def is_elementary(self, problem: N) -> bool:
        """Whether the answer is known without any reduction."""

    @abstractmethod
    def reductions(self, problem: N) -> Iterable[Reduction[N]]:
        """All ways to reduce a problem, the most promising first; none: it cannot be solved."""

    def estimate(self, problem: N) -> float:
        """A guess of the cost that is left, never above the true one if the cheapest solution is wanted."""
        return 0.0

    def text(self, problem: N) -> str:
        """The problem as a vertex of a drawing shows it."""
        return str(problem)


@dataclass(frozen=True, slots=True)
class Solution(Generic[N]):
    """A solution graph: for every problem in it the reduction that solves it, None for an elementary one.

    It is closed: the parts of every reduction are problems of it. `cost` adds up the reductions along
    every path, so a shared problem counts wherever it is needed.
    """

    root: N
    choices: Mapping[N, Reduction[N] | None]
    cost: float

    def steps(self) -> tuple[N, ...]:
        """The elementary problems in the order in which they are to be done, from left to right."""
        done: list[N] = []
        waiting = [self.root]
        while waiting:
            problem = waiting.pop()
            choice = self.choices[problem]
            if choice is None:
                done.append(problem)
            else:
                waiting.extend(reversed(choice.parts))
        return tuple(done)


@dataclass(frozen=True, slots=True)
class Search(Generic[N]):
    """What a search found: the solution, or None if there is none; and how much it had to look at."""

    solution: Solution[N] | None
    expanded: int


def extract(root: N, choices: Mapping[N, Reduction[N] | None]) -> Solution[N]:
    """The solution graph below `root` out of the choices of a search, which may hold many more."""
    kept: dict[N, Reduction[N] | None] = {}
    waiting = [root]
    while waiting:
        problem = waiting.pop()
        if problem in kept:
            continue
        choice = kept[problem] = choices[problem]
        if choice is not None:
            waiting.extend(choice.parts)
    return Solution(root, kept, _cost(root, kept))


def _cost(root: N, choices: Mapping[N, Reduction[N] | None]) -> float:
    known: dict[N, float] = {}
    waiting = [root]
    while waiting:
        problem = waiting[-1]
        choice = choices[problem]
        parts = choice.parts if choice is not None else ()
        missing = [part for part in parts if part not in known]
        if missing:
            waiting.extend(missing)
            continue
        waiting.pop()
        known[problem] = 0.0 if choice is None else choice.cost + sum(known[part] for part in parts)
    return known[root]
