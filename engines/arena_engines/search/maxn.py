"""Max^n: three and more seats, each for itself.

With more than two seats there is no "worst for me" that all others agree on. Each seat takes the move
that is best for itself, and the value of a position is what every seat gets, a tuple. Whoever is indifferent
takes the first in natural order; unlike in minimax that choice changes what the others get, so the answer
holds for opponents with the same habit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import add
from typing import Any, Generic, NamedTuple, Protocol

from arena_engines.search.tree import M, M_co, P


class Seats(Protocol[P, M]):
    """A game of several seats as max^n sees it; the points of a line add up, seat by seat."""

    def moves(self, position: P) -> Sequence[M]:
        """List the moves to try, in natural order; empty when the game is over."""
        ...

    def play(self, position: P, move: M) -> tuple[P, tuple[int, ...]]:
        """Return the position after a move, and what it adds to each seat's value."""
        ...

    def to_move(self, position: P) -> int:
        """Return the index (0, 1, ...) of the seat to move."""
        ...

    def horizon(self, position: P) -> tuple[int, ...]:
        """Estimate what is yet to come for each seat where the search stops."""
        ...


class Shared(NamedTuple, Generic[M_co]):
    """What each seat gets, by which line of play, and how many moves were made to know it."""

    values: tuple[int, ...]
    line: tuple[M_co, ...]
    nodes: int


@dataclass(frozen=True, slots=True)
class SharedNode:
    """One made move, told when it is known what each seat gets from its parent on."""

    path: tuple[Any, ...]
    seat: int
    values: tuple[int, ...]


def maxn(
    tree: Seats[P, M],
    position: P,
    depth: int,
    report: Callable[[SharedNode], None] = lambda node: None,
    path: tuple[M, ...] = (),
) -> Shared[M]:
    """Return what every seat gets from `position` on, `depth` plies ahead.

    `path` is how the position was reached, for `report` alone.
    """
    moves = tree.moves(position) if depth > 0 else ()
    if not moves:
        return Shared(tree.horizon(position), (), 0)
    seat = tree.to_move(position)
    best: Shared[M] | None = None
    nodes = 0
    for move in moves:
        child, gains = tree.play(position, move)
        rest = maxn(tree, child, depth - 1, report, (*path, move))
        values = tuple(map(add, gains, rest.values))
        nodes += 1 + rest.nodes
        report(SharedNode((*path, move), seat, values))
        if best is None or values[seat] > best.values[seat]:
            best = Shared(values, (move, *rest.line), 0)
    assert best is not None, "there was a move"
    return best._replace(nodes=nodes)
