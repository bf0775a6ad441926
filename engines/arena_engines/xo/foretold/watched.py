"""One game that is watched: what has happened, who the opponent may be, and what is planned.

It must not know: how a plan is made, the game's texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from arena_engines.xo.foretold.experience import Experience
from arena_engines.xo.foretold.suspects import Suspects


class Step(NamedTuple):
    """An own move and the answer that is foretold."""

    cell: int
    answer: int


class Story(NamedTuple):
    """A game up to now, X and O each as the cells marked at its start; `moves` are the cells since."""

    x: Sequence[int]
    o: Sequence[int]
    moves: Sequence[int]

    @property
    def side(self) -> int:
        """Who is to move: 0 for X, 1 for O."""
        return (len(self.x) + len(self.o) + len(self.moves)) % 2

    def marks(self) -> tuple[list[int], list[int]]:
        """The marks of both sides now."""
        marks = (list(self.x), list(self.o))
        for cell in self.moves:
            marks[len(marks[0]) - len(marks[1])].append(cell)
        return marks


class Watched:
    """A game, the opponent that of the side to move in the story it begins with."""

    def __init__(self, experience: Experience, story: Story) -> None:
        weights = experience.weights
        self.suspects = Suspects(experience.minds, story.x, story.o, 1 - story.side, weights)
        self.start = (story.side, list(story.x), list(story.o))
        self._plan: tuple[Step, ...] = ()
        self._planned = 0

    def keep(self, plan: tuple[Step, ...], moves: int) -> None:
        """Keep a plan for when so many moves are made."""
        self._plan = plan
        self._planned = moves

    def rest(self, moves: Sequence[int]) -> tuple[Step, ...]:
        """The rest of the plan if all moves since were those of it."""
        made = list(moves[self._planned :])
        planned = [cell for step in self._plan for cell in step]
        return self._plan[len(made) // 2 :] if made == planned[: len(made)] else ()

    def is_of(self, story: Story) -> bool:
        """Whether this is the game that the story tells."""
        return self.start == (story.side, list(story.x), list(story.o)) and self.suspects.follows(story.moves)
