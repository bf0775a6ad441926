"""The tower of Hanoi by reduction and as a state space.

By reduction: move the discs 1..n-1 to the spare peg, disc n, and 1..n-1 onto it. A state is a string, the peg
of each disc, `AAA`: the first letter is that of disc 1, the smallest. The pegs are A, B and C.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import NamedTuple

from arena_museum.andor.search import ProblemSpace, Reduction

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


def states(discs: int) -> list[str]:
    """All 3^discs states."""
    return ["".join(state) for state in product(PEGS, repeat=discs)]


def state_moves(state: str) -> list[str]:
    """The states after each legal move, of the smallest disc first."""
    found = []
    for disc, peg in enumerate(state):
        smaller = state[:disc]
        if peg not in smaller:
            targets = [target for target in PEGS if target != peg and target not in smaller]
            found += [state[:disc] + target + state[disc + 1 :] for target in targets]
    return found


def state_place(state: str) -> tuple[float, int]:
    """The place of a state in the triangle of the state space: x in steps, y in rows from `A...A` at the top.

    The corners are the whole towers. The states with the largest disc on one peg are a triangle at its
    corner, in which the other two corners change places: a move of the largest disc leaves the others on the
    third peg.
    """
    side = 2 ** len(state) - 1
    corners = {"A": (0.0, 0.0), "B": (-side / 2, side), "C": (side / 2, side)}
    for disc in range(len(state), 0, -1):
        peg = state[disc - 1]
        share = (2 ** (disc - 1) - 1) / (2**disc - 1)
        here = corners[peg]
        second, third = (other for other in PEGS if other != peg)
        corners = {
            peg: here,
            second: _towards(here, corners[third], share),
            third: _towards(here, corners[second], share),
        }
    x, y = corners[PEGS[0]]
    return x, round(y)


def _towards(start: tuple[float, float], end: tuple[float, float], share: float) -> tuple[float, float]:
    return start[0] + share * (end[0] - start[0]), start[1] + share * (end[1] - start[1])
