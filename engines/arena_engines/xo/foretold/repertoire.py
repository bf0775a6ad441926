"""The games that were won, against each mind and against strangers: who always moves alike loses them again.

It must not know: how a game was won, time.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from arena_engines.xo.cells import bits_of, symmetries
from arena_engines.xo.foretold.minds import Mind
from arena_engines.xo.foretold.watched import Step, Story

#: So many steps are kept; of more, those that were learnt first are forgotten.
KEPT = 50_000


class Repertoire:
    """Own moves that led to a win, with their answers, by the opponent's mind and the position.

    No mind is that of an opponent who could not be foretold.
    """

    def __init__(self) -> None:
        self._steps: dict[tuple[Mind | None, int, int], Step] = {}

    def learn(self, mind: Mind | None, story: Story) -> None:
        """Keep the moves that the side to move has made in this story, for now it wins."""
        marks = (list(story.x), list(story.o))
        for cell, answer in pairwise(story.moves):
            side = len(marks[0]) - len(marks[1])
            if side == story.side:
                self._keep((mind, bits_of(marks[0]), bits_of(marks[1])), Step(cell, answer))
            marks[side].append(cell)

    def step(self, mind: Mind | None, story: Story) -> Step | None:
        """The step that led to a win against this mind, or None."""
        x, o = map(bits_of, story.marks())
        return self._steps.get((mind, x, o))

    def mirrored(self, mind: Mind, marks: Sequence[Sequence[int]], size: int) -> int | None:
        """The move that led to a win against this mind in an image of this position, or None."""
        for image in symmetries(size):
            x, o = (bits_of(image[cell] for cell in cells) for cells in marks)
            step = self._steps.get((mind, x, o))
            if step:
                return image.index(step.cell)
        return None

    def _keep(self, key: tuple[Mind | None, int, int], step: Step) -> None:
        self._steps[key] = step
        if len(self._steps) > KEPT:
            del self._steps[next(iter(self._steps))]
