"""What the readable searches ask of a game, what they answer, and what they tell on the way.

The searches of this folder are teachers and oracles: plain Python, one algorithm a file. They
must not know: any particular game, clocks, compiled code.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

P = TypeVar("P")
M = TypeVar("M")
M_co = TypeVar("M_co", covariant=True)


class Tree(Protocol[P, M]):
    """A game of two sides as a search sees it: one side wants the value high, the other low.

    The worth of a line of play is the sum of its moves' gains and of `horizon` at its end. A game
    that pays at the end only has no gains; a game that pays by the move has horizon 0.
    """

    def moves(self, position: P) -> Sequence[M]:
        """List the moves to try, in natural order; empty when the game is over."""
        ...

    def play(self, position: P, move: M) -> tuple[P, int]:
        """Return the position after a move, and what the move adds to the value."""
        ...

    def maximises(self, position: P) -> bool:
        """Whether the side to move wants the value high."""
        ...

    def horizon(self, position: P) -> int:
        """Estimate what is yet to come where the search stops."""
        ...


class Found(NamedTuple, Generic[M_co]):
    """The answer of a search: the value, the line of best play, and how many moves were made for it."""

    value: int
    line: tuple[M_co, ...]
    nodes: int


@dataclass(frozen=True, slots=True)
class Node:
    """One made move, told when its value is known.

    `value` counts from the node's parent on, the move's own gain included; `low` and `high` are
    the window in the same count. A value outside the window is only a bound.
    """

    path: tuple[Any, ...]
    gain: int
    value: int
    low: float = -inf
    high: float = inf
    cut: bool = False


#: Called once for every node, children before their parent. `cut`: the node's brothers were not tried.
Report = Callable[[Node], None]


def silent(node: Node) -> None:
    """Report nothing."""
