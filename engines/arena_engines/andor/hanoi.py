"""The tower of Hanoi by reduction: to move the discs 1..n, move 1..n-1 aside, n over, and 1..n-1 back on it.

The smallest disc is 1; pegs are A, B and C. It must not know: searches.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from arena_engines.andor.graph import ProblemSpace, Reduction

PEGS = "ABC"


class Tower(NamedTuple):
    """The problem to bring the discs `top`..`bottom` from one peg to another."""

    top: int
    bottom: int
    source: str
    target: str

    def __str__(self) -> str:
        discs = ", ".join(str(disc) for disc in range(self.top, self.bottom + 1))
        return f"{discs}: {self.source}→{self.target}"


class Hanoi(ProblemSpace[Tower]):
    """Moving one disc is elementary; the discs above it must be out of the way, which the order ensures."""

    def is_elementary(self, problem: Tower) -> bool:
        """Whether one disc is moved."""
        return problem.top == problem.bottom

    def reductions(self, problem: Tower) -> Iterable[Reduction[Tower]]:
        """Return the one reduction there is."""
        top, bottom, source, target = problem
        (spare,) = set(PEGS) - {source, target}
        parts = (
            Tower(top, bottom - 1, source, spare),
            Tower(bottom, bottom, source, target),
            Tower(top, bottom - 1, spare, target),
        )
        return [Reduction("", parts)]


def whole_tower(discs: int) -> Tower:
    """The problem of the seed: all discs from A to C."""
    return Tower(1, discs, "A", "C")
