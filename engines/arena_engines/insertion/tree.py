"""Insertion as the readable searches see it: EVAL by plain rules, the oracle of the kernels.

The values are packed EVALs (eval.py) of the seat that moves first. It must not know: compiled
code, roles and pictures packed in integers.
"""

from __future__ import annotations

from typing import NamedTuple

from arena_engines.insertion.eval import move_gain
from arena_protocol.games.insertion.rules import MOVES, distinct_moves, play
from arena_protocol.games.insertion.text import Planes


class Node(NamedTuple):
    """A board, and how many plies after the root it stands."""

    planes: Planes
    ply: int = 0


class InsertionTree:
    """The plies to come over visible `pictures`, a picture a ply, for `seats` seats in turn.

    The seat that moves at ply 0 maximises; all others are one opponent. The tree ends where the
    pictures do.
    """

    def __init__(self, pictures: str, seats: int = 2) -> None:
        self.pictures = tuple(int(colour) for colour in pictures)
        self.seats = seats

    def moves(self, position: Node) -> tuple[int, ...]:
        """Return the moves that differ, in natural order."""
        if position.ply >= len(self.pictures):
            return ()
        distinct = distinct_moves(*position.planes)
        return tuple(move for move in range(1, MOVES + 1) if distinct >> move & 1)

    def play(self, position: Node, move: int) -> tuple[Node, int]:
        """Return the next node, and the packed EVAL of this one move."""
        colour = self.pictures[position.ply]
        p0, p1, p2, removed, fell, _ = play(*position.planes, move, colour)
        gain = move_gain(removed, fell, self.maximises(position))
        return Node((p0, p1, p2), position.ply + 1), gain

    def maximises(self, position: Node) -> bool:
        """Whether the seat of ply 0 is to move again."""
        return position.ply % self.seats == 0

    def horizon(self, position: Node) -> int:
        """Count only what has been gained counts."""
        return 0
