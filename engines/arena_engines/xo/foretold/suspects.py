"""Which mind the opponent of a game is: the one that would have made its moves.

All are asked about every move; who was wrong once is out. Who tells late has not told less, so the first
one and the likeliest are given time. It must not know: plans, how long a move may take, the game's texts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from arena_engines.xo.foretold.minds import Mind

#: Below so many marks the program of 1970 follows its rule for openings, which tells nothing.
OPENING_MARKS = 2
#: All minds are asked about every move, with the patience for so many positions, half a millisecond; the
#: likeliest then once more about what it could not tell so soon.
QUICK, PATIENT = 1000, 50_000


class Turn(NamedTuple):
    """A position with the opponent to move, and the cell that it marked."""

    x: tuple[int, ...]
    o: tuple[int, ...]
    cell: int


class Suspect:
    """A mind and what it has foretold.

    `hits` counts the moves foretold; `unsure` are those that took too long to tell; it is `out` when one
    was foretold wrongly.
    """

    def __init__(self, mind: Mind, side: int) -> None:
        self.mind = mind
        self.hits = 0
        self.out = False
        self.asked = 0
        self.unsure: list[Turn] = []
        self._side = side

    def ask(self, turn: Turn) -> None:
        """Ask about the next turn."""
        self.asked += 1
        if not self._answers(turn, QUICK):
            self.unsure.append(turn)

    def ask_again(self) -> None:
        """Ask about a turn that it could not tell."""
        self._answers(self.unsure.pop(), PATIENT)

    def _answers(self, turn: Turn, patience: int) -> bool:
        foretold = self.mind.reply(turn.x, turn.o, self._side, patience)
        self.hits += foretold == turn.cell
        self.out = self.out or foretold not in (turn.cell, None)
        return foretold is not None


class Suspects:
    """Which mind the opponent of one game may be; who was wrong once does not come back."""

    def __init__(self, minds: Sequence[Mind], x: Sequence[int], o: Sequence[int], side: int) -> None:
        """Begin a game that starts with these marks, the opponent playing `side`."""
        self._suspects = [Suspect(mind, side) for mind in minds]
        self._marks = (list(x), list(o))
        self._side = side
        self._moves: list[int] = []
        self._turns: list[Turn] = []

    @property
    def likeliest(self) -> Suspect | None:
        """The first one of those that have foretold the most and nothing wrongly."""
        return max(self._suspects, key=lambda suspect: suspect.hits, default=None)

    def follows(self, moves: Sequence[int]) -> bool:
        """Whether these moves continue the game that is watched."""
        return list(moves[: len(self._moves)]) == self._moves

    def watch(self, moves: Sequence[int], in_time: Callable[[], bool]) -> bool:
        """Take in the game's moves, all from its start; whether there was time to ask everybody about them.

        Who there is no time to ask is asked the next time.
        """
        for cell in moves[len(self._moves) :]:
            self._take(cell)
        for suspect in self._suspects:
            while suspect.asked < len(self._turns) and not suspect.out and in_time():
                suspect.ask(self._turns[suspect.asked])
        self._dismiss()
        self._ask_again(lambda: self._suspects[0] if self._suspects else None, in_time)
        self._ask_again(lambda: self.likeliest, in_time)
        return all(suspect.asked == len(self._turns) for suspect in self._suspects)

    def _ask_again(self, whom: Callable[[], Suspect | None], in_time: Callable[[], bool]) -> None:
        """Ask until nothing is left that this one could not tell; when it was wrong, go on with the next."""
        while (suspect := whom()) and suspect.unsure and in_time():
            suspect.ask_again()
            self._dismiss()

    def _dismiss(self) -> None:
        self._suspects = [suspect for suspect in self._suspects if not suspect.out]

    def _take(self, cell: int) -> None:
        x, o = self._marks
        mover = len(x) - len(o)
        if mover == self._side and len(x) + len(o) >= OPENING_MARKS:
            self._turns.append(Turn(tuple(x), tuple(o), cell))
        self._marks[mover].append(cell)
        self._moves.append(cell)
