"""Any game of the arena as a tree for the searches.

`TwoSides` plays one seat against all others by the difference of their points (minimax, alpha-beta);
`AllSeats` keeps the points of every seat (max^n); `WithChance` adds chance nodes (expectiminimax);
`Evaluated` ends in a static value instead of points. In a game with hidden pictures a search reaches no
further than the pictures of the position: the game raises GameError beyond.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from arena_protocol.games.base import Game
from arena_protocol.games.insertion import Insertion

#: The value of a game that is won at once; it exceeds every static value.
WON = 1_000_000


class _Moves:
    """The moves of a game; with `distinct`, of moves to the same position only the first."""

    def __init__(self, game: Game[Any], *, distinct: bool = False) -> None:
        self.game = game
        self.distinct = distinct

    def moves(self, position: Any) -> Sequence[str]:
        """The legal moves, in the game's natural order."""
        legal = self.game.legal_moves(position)
        if not self.distinct:
            return legal
        first: dict[Any, str] = {}
        for move in legal:
            first.setdefault(self.game.play(position, move).position, move)
        return list(first.values())


class TwoSides(_Moves):
    """A game in which `seat` maximises its lead and all other seats minimise it."""

    def __init__(self, game: Game[Any], seat: int = 1, *, distinct: bool = False) -> None:
        super().__init__(game, distinct=distinct)
        self.seat = seat

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


class WithChance(TwoSides):
    """`TwoSides` with chance nodes: insertion whose next picture is not visible draws every colour alike."""

    def outcomes(self, position: Any) -> Sequence[tuple[Fraction, Any]]:
        """Each colour with its probability, 1 first; empty if the picture is visible or the game has none."""
        game = self.game
        if not isinstance(game, Insertion) or position.picture is not None or game.end(position) is not None:
            return ()
        colours = range(1, game.colours + 1)
        return [(Fraction(1, game.colours), game.extend(position, str(colour))) for colour in colours]


class AllSeats(_Moves):
    """A game in which every seat maximises its own points."""

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


class Reached(NamedTuple):
    """A position and the number of plies to it."""

    state: Any
    ply: int = 0


class Evaluated:
    """A game for two seats with a static value at the horizon, seen from seat 1.

    A game won after n plies is worth WON - n, a lost one -(WON - n), a drawn one 0: a search prefers fast
    wins. The root is `Reached(state)`.
    """

    def __init__(self, game: Game[Any], evaluate: Callable[[Any], int]) -> None:
        self.game = game
        self.evaluate = evaluate

    def moves(self, position: Reached) -> Sequence[str]:
        """The legal moves, in the game's natural order."""
        return self.game.legal_moves(position.state)

    def play(self, position: Reached, move: str) -> tuple[Reached, int]:
        """The position after a move; no move has a gain."""
        return Reached(self.game.play(position.state, move).position, position.ply + 1), 0

    def maximises(self, position: Reached) -> bool:
        """Whether seat 1 is to move."""
        return self.game.to_move(position.state) == 1

    def horizon(self, position: Reached) -> int:
        """The result of a game that is over, else the static value."""
        if self.game.end(position.state) is None:
            return self.evaluate(position.state)
        mine, theirs = self.game.totals(position.state)
        return ((mine > theirs) - (mine < theirs)) * (WON - position.ply)
