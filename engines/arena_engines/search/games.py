"""Any game of the arena as the searches see it, through its plug-in.

`TwoSides` pits one seat against all others by the difference of their points; `AllSeats` keeps
every seat's points apart. Of a game that hides pictures a search sees no further than what the position
knows: the plug-in raises GameError beyond. It must not know: any particular game.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from arena_protocol.games.base import Game


class TwoSides:
    """A game in which `seat` wants its lead to grow, and everybody else wants it to shrink."""

    def __init__(self, game: Game[Any], seat: int = 1) -> None:
        self.game = game
        self.seat = seat

    def moves(self, position: Any) -> Sequence[str]:
        """List the legal moves, in the game's natural order."""
        return self.game.legal_moves(position)

    def play(self, position: Any, move: str) -> tuple[Any, int]:
        """Return the position after a move, and by how much the lead of `seat` grew."""
        after = self.game.play(position, move).position
        return after, self._lead(after) - self._lead(position)

    def _lead(self, position: Any) -> int:
        totals = self.game.totals(position)
        return 2 * totals[self.seat - 1] - sum(totals)

    def maximises(self, position: Any) -> bool:
        """Whether `seat` is to move."""
        return self.game.to_move(position) == self.seat

    def horizon(self, position: Any) -> int:
        """Expect nothing beyond the horizon."""
        return 0


class AllSeats:
    """A game in which every seat wants points of its own."""

    def __init__(self, game: Game[Any]) -> None:
        self.game = game

    def moves(self, position: Any) -> Sequence[str]:
        """List the legal moves, in the game's natural order."""
        return self.game.legal_moves(position)

    def play(self, position: Any, move: str) -> tuple[Any, tuple[int, ...]]:
        """Return the position after a move, and what each seat got by it."""
        after = self.game.play(position, move).position
        before, then = self.game.totals(position), self.game.totals(after)
        return after, tuple(new - old for old, new in zip(before, then, strict=True))

    def to_move(self, position: Any) -> int:
        """Return the index (0, 1, ...) of the seat to move."""
        return self.game.to_move(position) - 1

    def horizon(self, position: Any) -> tuple[int, ...]:
        """Expect nothing beyond the horizon."""
        return (0,) * self.game.seats
