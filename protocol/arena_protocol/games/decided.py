"""What the games for two that end by a win or a draw have in common: totals, ends, forfeits.

A game says who has won, this file says what that is worth. It must not know: boards, moves,
any particular game.
"""

from __future__ import annotations

from abc import abstractmethod

from arena_protocol.games.base import Game, P

#: A won game is two points and a drawn one a point each, so that totals stay whole numbers.
WIN_POINTS = 2
DRAW_POINTS = 1

DRAW = 0


class DecidedGame(Game[P]):
    """A game for two seats with no points on the way: it is won, lost or drawn."""

    seats = 2

    @abstractmethod
    def winner(self, position: P) -> int | None:
        """The seat that has won (1 or 2), DRAW, or None while the game goes on."""

    def totals(self, position: P) -> tuple[int, ...]:
        """2,0 or 0,2 for a win, 1,1 for a draw, 0,0 before the end."""
        winner = self.winner(position)
        if winner is None:
            return (0, 0)
        if winner == DRAW:
            return (DRAW_POINTS, DRAW_POINTS)
        return (WIN_POINTS, 0) if winner == 1 else (0, WIN_POINTS)

    def end(self, position: P) -> str | None:
        """`win` or `draw`; None while the game goes on."""
        winner = self.winner(position)
        if winner is None:
            return None
        return "draw" if winner == DRAW else "win"

    def forfeit(self, position: P, seat: int) -> tuple[int, ...]:
        """A forfeit is a win of the other seat."""
        return (0, WIN_POINTS) if seat == 1 else (WIN_POINTS, 0)
