"""The tree that the searches walk, what they return and report, and minimax, the reference search."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

P = TypeVar("P")
M = TypeVar("M")
M_co = TypeVar("M_co", covariant=True)


class Tree(Protocol[P, M]):
    """A game of two sides as a search sees it: one side maximises the value, the other minimises it.

    The value of a line of play is the sum of its moves' gains and of `horizon` at its end. A game
    that pays only at the end has gains of 0; a game that pays by the move has a horizon of 0.
    """

    def moves(self, position: P) -> Sequence[M]:
        """The moves to try, in natural order; empty when the game is over."""
        ...

    def play(self, position: P, move: M) -> tuple[P, int]:
        """The position after a move, and the move's gain."""
        ...

    def maximises(self, position: P) -> bool:
        """Whether the side to move maximises the value."""
        ...

    def horizon(self, position: P) -> int:
        """The static value where the search stops."""
        ...


class Found(NamedTuple, Generic[M_co]):
    """The result of a search: the value, the principal variation, the number of moves made."""

    value: int
    line: tuple[M_co, ...]
    nodes: int


@dataclass(frozen=True, slots=True)
class Node:
    """One made move, reported when its value is known, children before their parent.

    `value` counts from the node's parent on and includes the move's own `gain`; `low` and `high` are
    the window in the same count. A value outside the window is a bound. `cut`: later siblings were not tried.
    """

    path: tuple[Any, ...]
    gain: int
    value: int
    low: float = -inf
    high: float = inf
    cut: bool = False


Report = Callable[[Node], None]


def silent(node: Node) -> None:
    """A `Report` that does nothing."""


def minimax(
    tree: Tree[P, M], position: P, depth: int, report: Report = silent, path: tuple[M, ...] = ()
) -> Found[M]:
    """The value of `position` at `depth` plies and its principal variation; ties go to the first move.

    `path` is how the position was reached, for `report` only.
    """
    moves = tree.moves(position) if depth > 0 else ()
    if not moves:
        return Found(tree.horizon(position), (), 0)
    maximising = tree.maximises(position)
    best: Found[M] | None = None
    nodes = 0
    for move in moves:
        child, gain = tree.play(position, move)
        rest = minimax(tree, child, depth - 1, report, (*path, move))
        value = gain + rest.value
        nodes += 1 + rest.nodes
        report(Node((*path, move), gain, value))
        if best is None or (value > best.value if maximising else value < best.value):
            best = Found(value, (move, *rest.line), 0)
    assert best is not None, "there was a move"
    return best._replace(nodes=nodes)
