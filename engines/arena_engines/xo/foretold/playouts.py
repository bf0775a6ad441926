"""A way to win against an opponent whose answers are known: games played on to their end.

A short search moves for the own side, the mind for the other; what is won so is won whenever the same moves
are made. The first game takes hints, later ones leave its path now and then. A game needs one answer a
move, so minds that take long are planned against too. It must not know: who the mind is, clocks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from random import Random

from arena_engines.xo.foretold.minds import Mind
from arena_engines.xo.foretold.watched import Step
from arena_engines.xo.minimax import NODE_LIMIT
from arena_engines.xo.modern.player import Limits, Thinker, Thought

#: The effort for an own move.
NODES = 500
#: So often another one of the liveliest cells is tried, from the second game on.
STRAYING, LIVELIEST = 0.2, 6
#: The longest line; later hardly anybody wins.
LONGEST = 20
#: After so many games in a row that led nowhere new, none is expected to.
REPEATED = 100


#: A cell that is worth trying in a position, if one is known.
Hint = Callable[[Sequence[Sequence[int]]], int | None]


def no_hint(marks: Sequence[Sequence[int]]) -> int | None:
    """No cell is known to be worth trying."""
    return None


class Playouts:
    """Games of `side`, to move, against a mind."""

    def __init__(
        self, thinker: Thinker, mind: Mind, side: int, in_time: Callable[[], bool], hint: Hint = no_hint
    ) -> None:
        self._thinker = thinker
        self._mind = mind
        self._side = side
        self._in_time = in_time
        self._hint = hint
        self._chance = Random(side)  # noqa: S311 - no secret
        self._straying = 0.0
        self._thoughts: dict[tuple[frozenset[int], frozenset[int]], Thought] = {}

    def plans(self, x: Sequence[int], o: Sequence[int]) -> Iterator[tuple[Step, ...]]:
        """Every game up to where a win stands on the board, nothing where none does, while there is time."""
        repeated = 0
        while self._in_time() and repeated < REPEATED:
            known = len(self._thoughts)
            yield self._game([list(x), list(o)])
            self._straying = STRAYING
            repeated = 0 if len(self._thoughts) > known else repeated + 1

    def _game(self, marks: list[list[int]]) -> tuple[Step, ...]:
        """The steps of one game, if it is won."""
        steps: list[Step] = []
        while self._in_time() and len(steps) < LONGEST and sum(map(len, marks)) < self._thinker.size**2 - 1:
            thought = self._think(marks)
            if thought.won:
                return tuple(steps)
            step = self._step(marks, self._cell(marks, thought))
            if step is None:
                break
            steps.append(step)
        return ()

    def _think(self, marks: Sequence[Sequence[int]]) -> Thought:
        """What a short search comes to; it is made only once."""
        key = (frozenset(marks[0]), frozenset(marks[1]))
        if key not in self._thoughts:
            self._thinker.set_up(*marks)
            self._thoughts[key] = self._thinker.think(self._side, Limits(nodes=NODES))
        return self._thoughts[key]

    def _cell(self, marks: Sequence[Sequence[int]], thought: Thought) -> int:
        """The own move: the hint in the first game, that of the search, or now and then another."""
        hint = None if self._straying else self._hint(marks)
        if hint is not None:
            return hint
        if self._chance.random() >= self._straying:
            return thought.cell
        self._thinker.set_up(*marks)
        return self._chance.choice(self._thinker.lively()[:LIVELIEST])

    def _step(self, marks: Sequence[list[int]], cell: int) -> Step | None:
        """Make a move and the answer to it; None if it is unknown or ends the game."""
        marks[self._side].append(cell)
        answer = self._mind.reply(marks[0], marks[1], 1 - self._side, NODE_LIMIT)
        self._thinker.set_up(*marks)
        if answer is None or self._thinker.makes_five(answer, 1 - self._side):
            return None
        marks[1 - self._side].append(answer)
        return Step(cell, answer)
