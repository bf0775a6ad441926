"""The tower of Hanoi by reduction: move the discs 1..n-1 to the spare peg, disc n, and 1..n-1 onto it.

The smallest disc is 1; the pegs are A, B and C.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from arena_engines.andor.search import ProblemSpace, Reduction

PEGS = "ABC"


class Tower(NamedTuple):
    """The problem of moving the discs `top`..`bottom` from one peg to another."""

    top: int
    bottom: int
    source: str
    target: str

    def __str__(self) -> str:
        discs = ", ".join(str(disc) for disc in range(self.top, self.bottom + 1))
        return f"{discs}: {self.source}→{self.target}"


class Hanoi(ProblemSpace[Tower]):
    """Moving one disc is elementary; the order of the parts keeps smaller discs out of the way."""

    def is_elementary(self, problem: Tower) -> bool:
        return problem.top == problem.bottom

    def reductions(self, problem: Tower) -> Iterable[Reduction[Tower]]:
        top, bottom, source, target = problem
        (spare,) = set(PEGS) - {source, target}
        parts = (
            Tower(top, bottom - 1, source, spare),
            Tower(bottom, bottom, source, target),
            Tower(top, bottom - 1, spare, target),
        )
        return [Reduction("", parts)]


def whole_tower(discs: int) -> Tower:
    """The problem of seed 004: all discs from A to C."""
    return Tower(1, discs, "A", "C")
