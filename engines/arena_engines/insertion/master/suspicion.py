"""Whether the opponent has become a zombie, for which the server plays move 6 to the end of the game.

A six may also be a living opponent's choice. How likely that is, its models say: a six that the best model
predicts proves little, one that no model explains a lot. The odds follow from Bayes' rule; any other move
ends all suspicion, because a zombie makes none.
"""

from __future__ import annotations

from typing import Final

#: The odds that an opponent of which no other move was ever seen is a zombie from its first move on. Three
#: times as much and a third were not tried.
AT_FIRST: Final = 1 / 20
#: The odds that one which has played became a zombie just now.
LATER: Final = 1 / 1000
#: A model is never so sure of a move that another one proves more than this.
LEAST: Final = 1 / 1000
#: From these odds on it is played against as a zombie.
LIKELY: Final = 1.0


class Suspicion:
    """The odds that one opponent is a zombie, move by move."""

    def __init__(self, *, is_known: bool = False) -> None:
        """`is_known`: the opponent has played in an earlier game."""
        self.odds = LATER if is_known else AT_FIRST

    def note(self, *, is_six: bool, chosen: float) -> None:
        """One more move; `chosen`: the probability that a living opponent plays it."""
        self.odds = self.odds / max(LEAST, chosen) if is_six else LATER

    @property
    def is_likely(self) -> bool:
        return self.odds >= LIKELY
