"""Any game of the arena as a tree for the searches.

`TwoSides` plays one seat against all others by the difference of their points (minimax, alpha-beta);
`AllSeats` keeps the points of every seat (max^n). In a game with hidden pictures a search reaches no further
than the pictures of the position: the game raises GameError beyond.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from arena_protocol.games.base import Game


class TwoSides:
    """A game in which `seat` maximises its lead and all other seats minimise it."""

    def __init__(self, game: Game[Any], seat: int = 1) -> None:
        self.game = game
        self.seat = seat

    def moves(self, position: Any) -> Sequence[str]:
        """The legal moves, in the game's natural order."""
        return self.game.legal_moves(position)

    def play(self, position: Any, move: str) -> tuple[Any, int]:
        """The position after a move, and the growth of the lead of `seat`."""
        after = self.game.play(position, move).position
        return after, self._lead(after) - self._lead(position)

    def _lead(self, position: Any) -> int:
        totals = self.game.totals(position)
        return 2 * totals[self.seat - 1] - sum(totals)

    def maximises(self, position: Any) -> bool:
        """Whether `seat` is to move."""
        return self.game.to_move(position) == self.seat

    def horizon(self, position: Any) -> int:
        """0: no estimate."""
        return 0


class AllSeats:
    """A game in which every seat maximises its own points."""

    def __init__(self, game: Game[Any]) -> None:
        self.game = game

    def moves(self, position: Any) -> Sequence[str]:
        """The legal moves, in the game's natural order."""
        return self.game.legal_moves(position)

    def play(self, position: Any, move: str) -> tuple[Any, tuple[int, ...]]:
        """The position after a move, and the points of each seat for it."""
        after = self.game.play(position, move).position
        before, then = self.game.totals(position), self.game.totals(after)
        return after, tuple(new - old for old, new in zip(before, then, strict=True))

    def to_move(self, position: Any) -> int:
        """The index (0, 1, ...) of the seat to move."""
        return self.game.to_move(position) - 1

    def horizon(self, position: Any) -> tuple[int, ...]:
        """0 for each seat: no estimate."""
        return (0,) * self.game.seats
