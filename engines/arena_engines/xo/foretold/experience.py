"""How likely each mind is to be the next opponent: mostly as the last one that was known, else as ever.

It must not know: what a mind is, games.
"""

from __future__ import annotations

from collections.abc import Sequence

from arena_engines.xo.foretold.minds import Mind
from arena_engines.xo.foretold.suspects import Suspect

#: One of the reserve is so much less likely than one of the others.
RARITY = 8
#: Somebody was known in a game if so many of its moves were foretold.
FORETOLD = 4
#: How likely the next opponent is the last one again.
SAME = 0.8


class Experience:
    """The weights of all minds, in their order; those of all together are 1."""

    def __init__(self, minds: Sequence[Mind], reserve: Sequence[Mind] = ()) -> None:
        """To begin with the first one is as likely as the others together."""
        self.minds = [*minds, *reserve]
        others = [1.0] * (len(minds) - 1) + [1 / RARITY] * len(reserve)
        total = sum(others)
        self._first_weights = [0.5 if others else 1.0, *(0.5 * each / total for each in others)]
        self.weights = self._first_weights

    def learn(self, left: Sequence[Suspect]) -> None:
        """Take in who was left at the end of a game; if nobody was known, there is nothing to learn."""
        total = sum(suspect.belief for suspect in left)
        shares = {id(suspect.mind): suspect.belief / total for suspect in left}
        if any(suspect.hits >= FORETOLD for suspect in left):
            self.weights = [
                (1 - SAME) * first + SAME * shares.get(id(mind), 0.0)
                for mind, first in zip(self.minds, self._first_weights, strict=True)
            ]
