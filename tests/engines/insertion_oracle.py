"""Insertion as a tree of the readable searches, values by plain rules: the oracle of the kernels.

The values are packed (evaluation.py), of the seat that moves first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from arena_engines.engine import Analysis
from arena_engines.insertion.evaluation import COOPERATIVE, FELL, Strategy, unpack
from arena_protocol.games.insertion.board import Planes, parse_board
from arena_protocol.games.insertion.rules import MOVES, distinct_moves, play

if TYPE_CHECKING:
    from tests.engines.conftest import Case


class Node(NamedTuple):
    """A board, how many plies after the root it stands, and the picture drawn for it if none is visible."""

    planes: Planes
    ply: int = 0
    drawn: int | None = None


class InsertionTree:
    """The plies to come over visible `pictures`, a picture a ply, for `seats` seats in turn.

    The seat that moves at ply 0 maximises; all others are one opponent. The tree ends where the
    pictures do; with `wildcards`, how many colours there are, it goes on with drawn ones.
    """

    def __init__(
        self, pictures: str, seats: int = 2, strategy: Strategy = COOPERATIVE, wildcards: int = 0
    ) -> None:
        self.pictures = tuple(int(colour) for colour in pictures)
        self.seats = seats
        self.strategy = strategy
        self.wildcards = wildcards

    def picture(self, position: Node) -> int | None:
        """Return the colour to insert here; None if it is not known."""
        return self.pictures[position.ply] if position.ply < len(self.pictures) else position.drawn

    def moves(self, position: Node) -> tuple[int, ...]:
        """Return the moves that differ, in natural order."""
        if self.picture(position) is None:
            return ()
        distinct = distinct_moves(*position.planes)
        return tuple(move for move in range(1, MOVES + 1) if distinct >> move & 1)

    def outcomes(self, position: Node) -> Sequence[tuple[Fraction, Node]]:
        """Return what may be drawn here: each colour is as likely as any other."""
        if self.picture(position) is not None:
            return ()
        colours = range(1, self.wildcards + 1)
        return [(Fraction(1, self.wildcards), position._replace(drawn=colour)) for colour in colours]

    def play(self, position: Node, move: int) -> tuple[Node, int]:
        """Return the next node, and the packed EVAL of this one move."""
        colour = self.picture(position)
        assert colour is not None, "a move is made with a picture in hand"
        p0, p1, p2, removed, fell, _ = play(*position.planes, move, colour)
        my_cell, their_cell = self.strategy.cells
        gain = removed * (my_cell if self.maximises(position) else their_cell) + fell * FELL
        return Node((p0, p1, p2), position.ply + 1), gain

    def maximises(self, position: Node) -> bool:
        """Whether the seat of ply 0 is to move again."""
        return position.ply % self.seats == 0

    def horizon(self, position: Node) -> int:
        """Count only what has been gained."""
        return 0


def thousand(cases: list[Case], depth: int) -> Iterator[Case]:
    """Enough cases for a readable search to get through: 1,200 at depth 1 and 2, then fewer."""
    for case, start in product(cases[:: {3: 12, 4: 48}.get(depth, 1)], range(5 if depth < 3 else 1)):
        yield case._replace(visible=case.visible[start:])


def oracle(search: object, case: Case, depth: int) -> Analysis:
    tree = InsertionTree(case.visible[:depth])
    found = search(tree, Node(parse_board(case.board)), depth)  # type: ignore[operator]
    return Analysis(found.line[0], unpack(found.value), found.nodes, depth)
