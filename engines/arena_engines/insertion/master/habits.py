"""Moves that follow from the numbers of earlier moves, and not from the board.

No model predicts a program that copies, mirrors or counts, but its moves are not random either.
"""

from __future__ import annotations

from arena_protocol.games.insertion.rules import MOVES

#: Weight of a move relative to the next one.
FADING = 0.97
#: An opponent begins with this many moves without a habit.
PRIOR_MOVES = 8.0


class Habits:
    """How often the commonest relation of a move to those before it held again.

    The relations: the move itself, its distance from my last move, their sum, its distance from its own last.
    """

    def __init__(self) -> None:
        self._last = 0
        self._moves = PRIOR_MOVES
        self._hits = [0.0] * 4
        self._seen = [[0.0] * MOVES for _ in self._hits]

    @property
    def rate(self) -> float:
        """How often the best relation held, 0..1."""
        return max(self._hits) / self._moves

    def note(self, mine: int, move: int) -> None:
        """Take in an opponent's move after one of mine; 0 if there was none."""
        self._moves = FADING * self._moves + 1
        for relation, value in enumerate((move, move - mine, move + mine, move - self._last)):
            seen, value = self._seen[relation], value % MOVES
            hit = seen[value] > 0 and seen[value] == max(seen)
            self._hits[relation] = FADING * self._hits[relation] + hit
            self._seen[relation] = [FADING * count for count in seen]
            self._seen[relation][value] += 1
        self._last = move
