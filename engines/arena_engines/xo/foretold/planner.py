"""Plans against a mind: games played on to their end, the beam search, and games again.

Games are soon found against minds that take long for an answer, the beam finds what a search that thinks its
opponent perfect would not try. It must not know: who the mind is, the rules of the clock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice

from arena_engines.xo.foretold.beam import Beam
from arena_engines.xo.foretold.minds import Mind
from arena_engines.xo.foretold.playouts import Hint, Playouts, no_hint
from arena_engines.xo.foretold.watched import Step
from arena_engines.xo.modern.player import Thinker

#: So many games are played before the beam search.
GAMES_FIRST = 5


class Planner:
    """Plans for `side`, to move, against a mind."""

    def __init__(
        self, thinker: Thinker, mind: Mind, side: int, in_time: Callable[[], bool], hint: Hint = no_hint
    ) -> None:
        self._playouts = Playouts(thinker, mind, side, in_time, hint)
        self._beam = Beam(thinker, mind, side, in_time)
        self._refused: list[tuple[Step, ...]] = []

    def plans(self, x: Sequence[int], o: Sequence[int]) -> Iterator[tuple[Step, ...]]:
        """Ever more lines after which a win stands on the board, each once, until the time is over."""
        games = self._playouts.plans(x, o)
        for steps in chain(islice(games, GAMES_FIRST), self._beam.plans(x, o), games):
            if steps and not any(steps[: len(refused)] == refused for refused in self._refused):
                self._refused.append(steps)
                yield steps

    def refuse(self, steps: tuple[Step, ...]) -> None:
        """Go on with no line that begins with these steps."""
        self._refused.append(steps)
        self._beam.refuse(steps)
