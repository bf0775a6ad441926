"""Max^n (C. A. Luckhart, K. B. Irani, 1986): three and more seats, each of which maximises its own value.

The value of a position is a tuple, one number a seat. Ties go to the first move in natural order; unlike in
minimax such a choice changes the values of the other seats, so the result assumes opponents with the same
rule.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import add
from typing import Any, ClassVar, Generic, NamedTuple, Protocol

from arena_engines.engine import Engine, Parameter, Position, Report
from arena_engines.search.adapters import AllSeats
from arena_engines.search.minimax import M, M_co, P
from arena_protocol.games.insertion import Insertion
from arena_protocol.games.insertion.game import Position as State


class Seats(Protocol[P, M]):
    """A game of several seats as max^n sees it; the gains of a line of play add up, seat by seat."""

    def moves(self, position: P) -> Sequence[M]:
        """The moves to try, in natural order; empty when the game is over."""
        ...

    def play(self, position: P, move: M) -> tuple[P, tuple[int, ...]]:
        """The position after a move, and the gain of each seat."""
        ...

    def to_move(self, position: P) -> int:
        """The index (0, 1, ...) of the seat to move."""
        ...

    def horizon(self, position: P) -> tuple[int, ...]:
        """The static value of each seat where the search stops."""
        ...


class Shared(NamedTuple, Generic[M_co]):
    """The value of each seat, the principal variation, the number of moves made."""

    values: tuple[int, ...]
    line: tuple[M_co, ...]
    nodes: int


@dataclass(frozen=True, slots=True)
class SharedNode:
    """One made move by `seat`, reported when its values, counted from its parent on, are known."""

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
    """The values of all seats from `position` on, at `depth` plies.

    `path` is how the position was reached, for `report` only.
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


class MaxN(Engine):
    """Max^n for two to four seats: each seat is expected to maximise its own points.

    It searches `depth` plies, but no further than the visible pictures.
    Slow and shallow: it shows the search.
    """

    game: ClassVar[str] = "insertion"
    name: ClassVar[str] = "maxn"
    parameters: ClassVar[tuple[Parameter, ...]] = (Parameter("depth", 2, 1, 5),)

    def choose(self, position: Position[Insertion, State]) -> int:
        """The best move, the first of equals in natural order."""
        depth = min(int(self.values["depth"] or 1), len(position.state.visible))
        found = maxn(AllSeats(position.rules, distinct=True), position.state, depth)
        own = found.values[position.seat - 1]
        lead = own - max((*found.values[: position.seat - 1], *found.values[position.seat :]))
        self.report = Report(depth, lead, found.nodes, found.line)
        return int(found.line[0])
