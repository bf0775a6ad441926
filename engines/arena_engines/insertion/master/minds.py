"""Models of the opponent, and which of them foretells its moves.

A mind is a view of the game, a depth and an order: an opponent that takes the first or the last of its
best moves, by an exact search of so many plies, for its own points or for the lead, with the seed's
further tiers or without. Every move seen is asked of the minds;
the one that has foretold most of the last ones is believed as far as it did. It must not know: what is
done with a prediction, clocks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from arena_engines.insertion.master.root import FIRST, LAST
from arena_engines.insertion.master.workspace import LEAD_MIND, OWN_MIND, POINTS_MIND, SPOILING_MIND


class Mind(NamedTuple):
    """One model: whose points it counts (a view), how far it looks, which of equal moves it takes."""

    view: int
    depth: int
    order: int = FIRST


VIEWS = (OWN_MIND, SPOILING_MIND, POINTS_MIND, LEAD_MIND)
#: Every mind, the likeliest first: most programs count their own points, and the seed's looked 5 plies ahead.
MINDS = (
    *(Mind(view, depth, order) for order in (FIRST, LAST) for view in VIEWS for depth in (5, 4, 6, 3, 2, 1)),
    *(Mind(view, 7) for view in VIEWS),
)
#: A move seen counts this much less with each later one: opponents change with their clocks.
FADING = 0.97
#: A ply more of depth is worth it if it foretells this much more: the deeper a mind, the narrower the plan.
COST = 0.03
#: Before any move was seen each mind has been right so often in so many moves.
PRIOR_HITS, PRIOR_MOVES = 1.5, 3.0
#: and the likeliest mind this much oftener.
HEAD_START = 0.5


#: The mind that nobody needs to foretell: any of the fifteen moves, each equally likely.
CHANCE = Mind(OWN_MIND, 0)


class Minds:
    """Keeps the score of every mind over one game."""

    def __init__(self, minds: tuple[Mind, ...] = MINDS) -> None:
        self.minds = minds
        self.restart()

    def restart(self) -> None:
        """Forget what was seen."""
        self._hits = dict.fromkeys(self.minds, PRIOR_HITS)
        self._hits[self.minds[0]] += HEAD_START
        self._moves = dict.fromkeys(self.minds, PRIOR_MOVES)

    def saw(self, foretold: Callable[[Mind], bool], enough: Callable[[], bool] = lambda: False) -> None:
        """Score the minds by one move of the opponent, the most trusted first, until `enough` says so.

        `foretold` tells whether a mind would have played that move.
        """
        for mind in sorted(self.minds, key=self.trust_in, reverse=True):
            self._hits[mind] = FADING * self._hits[mind] + foretold(mind)
            self._moves[mind] = FADING * self._moves[mind] + 1
            if enough():
                return

    def trust_in(self, mind: Mind) -> float:
        """Return how likely a mind is right about the next move, 0..1."""
        return self._hits[mind] / self._moves[mind]

    @property
    def best(self) -> Mind:
        """The mind that foretold most; of equals the likelier."""
        return max(self.minds, key=lambda mind: self.trust_in(mind) - COST * mind.depth)

    @property
    def trust(self) -> float:
        """How likely the best mind is right about the next move, 0..1."""
        return self.trust_in(self.best)
