"""A way to win against an opponent whose answers are known: a beam search with one side's moves only.

A line of own moves, each with the answer that the mind gives, ends where a win by threats stands on the
board: from there the opponent may play as it likes. Lines grow a move at a time; those whose positions are
worth the most are kept, more of them at every new attempt, until the time is over. It must not know: who the
mind is, the rules of the clock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from arena_engines.xo.foretold.minds import Mind
from arena_engines.xo.foretold.watched import Step
from arena_engines.xo.modern.player import Thinker

#: Lines kept at a time and own moves tried in a position, an attempt after the other; the first are narrow
#: for minds that need long for an answer, and the last one is repeated ever wider.
ATTEMPTS = ((2, 5), (6, 10), (18, 20))
WIDER = 3
#: The longest line.
LONGEST = 12
#: An answer for which the mind looks at more positions than this is not waited for.
PATIENCE = 50_000
#: The effort to find a win at the end of a line.
FOURS_NODES = 200
THREATS, THREAT_NODES = 12, 400


class Line(NamedTuple):
    """Steps from the position at hand, the marks they lead to, and what these are worth."""

    steps: tuple[Step, ...]
    marks: tuple[tuple[int, ...], tuple[int, ...]]
    worth: int = 0


class Beam:
    """Plans for `side`, to move, against a mind."""

    def __init__(self, thinker: Thinker, mind: Mind, side: int, in_time: Callable[[], bool]) -> None:
        self._thinker = thinker
        self._mind = mind
        self._side = side
        self._in_time = in_time
        self._refused: list[tuple[Step, ...]] = []
        self._narrowed = False

    def plans(self, x: Sequence[int], o: Sequence[int]) -> Iterator[tuple[Step, ...]]:
        """Ever more lines after which a win by threats stands on the board, until the time is over."""
        start = Line((), (tuple(x), tuple(o)))
        for width, candidates in ATTEMPTS:
            yield from self._attempt(start, width, candidates)
        while self._in_time() and self._narrowed:
            width *= WIDER
            yield from self._attempt(start, width, candidates)

    def refuse(self, steps: tuple[Step, ...]) -> None:
        """Go on with no line that begins with these steps."""
        self._refused.append(steps)

    def _is_refused(self, line: Line) -> bool:
        return any(line.steps[: len(steps)] == steps for steps in self._refused)

    def _attempt(self, start: Line, width: int, candidates: int) -> Iterator[tuple[Step, ...]]:
        """Go on with so many lines at a time, and so many moves in each."""
        lines = [start]
        self._narrowed = False
        for _ in range(LONGEST):
            found: dict[tuple[frozenset[int], ...], Line] = {}
            for line in self._longer(lines, candidates):
                if self._wins(line):
                    yield line.steps
                else:
                    worth = self._thinker.worth(self._side)
                    found.setdefault(tuple(map(frozenset, line.marks)), line._replace(worth=worth))
            lines = self._best(found.values(), width)

    def _best(self, lines: Iterable[Line], width: int) -> list[Line]:
        """The lines to go on with."""
        left = sorted((line for line in lines if not self._is_refused(line)), key=lambda line: -line.worth)
        self._narrowed = self._narrowed or len(left) > width
        return left[:width]

    def _longer(self, lines: Sequence[Line], candidates: int) -> Iterator[Line]:
        """Every line with one step more, as long as there is time."""
        for line in lines:
            self._thinker.set_up(*line.marks)
            for cell in self._thinker.lively()[:candidates]:
                if not self._in_time():
                    return
                longer = None if self._is_refused(line) else self._step(line, cell)
                if longer:
                    yield longer

    def _step(self, line: Line, cell: int) -> Line | None:
        """The line with this own move and its answer; None if the answer is unknown or ends the game."""
        marks = [*map(list, line.marks)]
        marks[self._side].append(cell)
        if len(marks[0]) + len(marks[1]) >= self._thinker.size**2 - 1:
            return None
        answer = self._mind.reply(marks[0], marks[1], 1 - self._side, PATIENCE)
        self._thinker.set_up(*marks)
        if answer is None or self._thinker.makes_five(answer, 1 - self._side):
            return None
        marks[1 - self._side].append(answer)
        return Line((*line.steps, Step(cell, answer)), (tuple(marks[0]), tuple(marks[1])))

    def _wins(self, line: Line) -> bool:
        """Whether a win by threats stands on the board; the thinker is left with the line's position."""
        self._thinker.set_up(*line.marks)
        return bool(
            self._thinker.win_by_fours(self._side, nodes=FOURS_NODES)
            or self._thinker.win_by_threats(self._side, THREATS, THREAT_NODES)
        )
