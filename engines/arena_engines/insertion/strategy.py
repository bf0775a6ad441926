"""What a line of play is worth: cooperative, spoiling, or whichever the opponent does not play.

The seed weighs two strategies. Cooperative play wants many points of its own, whatever the others
get: contests add up points. Spoiling play wants the difference to be large: it wins games. Both are
additive EVALs packed in one integer (eval.py), so the same kernels search for either; only what a
removed cell adds differs. A third, adaptive, plays the opposite of the opponent's (adaptive.py).

It must not know: how a tree is searched, how the opponent's strategy is found out.
"""

from __future__ import annotations

from typing import NamedTuple

from arena_engines.engine import Eval, Parameter
from arena_engines.insertion.eval import MINE, MY_CELL, THEIR_CELL, unpack
from arena_protocol.games.insertion.rules import POINTS_A_CELL


class Strategy(NamedTuple):
    """What one removed cell adds to the value, by whose move it goes."""

    name: str
    my_cell: int
    their_cell: int

    @property
    def cells(self) -> tuple[int, int]:
        """The two weights, as the kernels take them."""
        return self.my_cell, self.their_cell

    def eval_of(self, value: int) -> Eval:
        """Return the three tiers of a packed value of this strategy."""
        first, deleted, theirs = unpack(value)
        return Eval(first + theirs if self is SPOILING else first, deleted, theirs)


#: More of my points, then fewer deleted cells, then fewer points of the others.
COOPERATIVE = Strategy("cooperative", MY_CELL, THEIR_CELL)
#: A greater lead, then fewer deleted cells, then fewer points of the others.
SPOILING = Strategy("spoiling", MY_CELL, THEIR_CELL - POINTS_A_CELL * MINE)

ADAPTIVE = "adaptive"
FIXED = {each.name: each for each in (COOPERATIVE, SPOILING)}

#: The strategies that need no opponent, and all of them.
FIXED_STRATEGY = Parameter("strategy", COOPERATIVE.name, words=tuple(FIXED))
STRATEGY = Parameter("strategy", COOPERATIVE.name, words=(*FIXED, ADAPTIVE))
