"""The alpha-beta example of seed 004: 17 vertices and 10 evaluations by minimax, 11 and 6 by alpha-beta.

The figure itself is lost; its text tells the shape and what was cut. Root W0 (PLUS moves) has two moves.
Below the first, W1: W2 has three leaves, the best of them 3; W3's first leaf is 4, its second is cut off.
Below the second, W4: W5 has two leaves and is worth 3; W4's second and third branches are cut off. So the
first move is best, and the root worth 3. What the leaves beyond the cuts are worth the text does not
say; minimax with the values here agrees with all that it says.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from arena_engines.explain.searches import Method, Searched, search_picture

DEPTH = 3


class SeedExample:
    """The tree of figures 4 and 5 as a game that the searches can play; leaves are called by their place."""

    children: ClassVar[dict[str, tuple[str, ...]]] = {
        "W0": ("W1", "W4"),
        "W1": ("W2", "W3"),
        "W2": ("a", "b", "c"),
        "W3": ("d", "e"),
        "W4": ("W5", "W6", "W7"),
        "W5": ("f", "g"),
        "W6": ("h", "i"),
        "W7": ("j",),
    }
    leaves: ClassVar[dict[str, int]] = {
        "a": 2, "b": 3, "c": 1, "d": 4, "e": 5, "f": 3, "g": 1, "h": 2, "i": 0, "j": 4,
    }  # fmt: skip

    def moves(self, position: str) -> Sequence[str]:
        """The vertices below; a move is named by where it leads."""
        return self.children.get(position, ())

    def play(self, position: str, move: str) -> tuple[str, int]:
        """The vertex below; nothing is won on the way."""
        return move, 0

    def maximises(self, position: str) -> bool:
        """PLUS moves at the root and two plies below it."""
        return position in ("W0", "W2", "W3", "W5", "W6", "W7")

    def horizon(self, position: str) -> int:
        """The static value of a leaf."""
        return self.leaves[position]


def seed_example(method: Method = "alphabeta") -> Searched:
    """Search the example and draw it."""

    def text(position: str) -> str:
        return position if position in SeedExample.children else ""

    return search_picture(
        SeedExample(), "W0", DEPTH, method, title="The example of seed 004", text=text, named=False
    )
