"""Which mind the opponent of a game is: the one that would have made its moves.

All are asked about every move; who was wrong once is out. Who could not answer soon is asked again with more
patience, those first whose answers tell the most for their price. It must not know: plans, how long a move
may take, the game's texts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from arena_engines.xo.foretold.minds import Mind
from arena_engines.xo.minimax import NODE_LIMIT

#: Below so many marks the program of 1970 follows its rule for openings, which tells nothing.
OPENING_MARKS = 2
#: All minds are asked about every move with the patience for so many positions, half a millisecond;
#: then again about what they could not tell so soon, with ever more.
QUICK = 2000
PATIENCE = (QUICK, 16_000, 100_000, NODE_LIMIT)
#: Who is less likely than this before a game is asked if nobody else is left who has told half of the moves.
UNLIKELY = 0.0002
#: Who has told everything and holds this part of all belief is the opponent; nobody else is asked again.
SURE = 0.75
#: How likely another mind than the opponent is to be right about a move that it could not tell so far.
RIGHT_BY_CHANCE = 0.75


class Turn(NamedTuple):
    """A position with the opponent to move, and the cell that it marked."""

    x: tuple[int, ...]
    o: tuple[int, ...]
    cell: int


class Suspect:
    """A mind and what it has foretold.

    `weight` says how likely it was the opponent before the game, compared with others; `hits` counts the
    moves foretold; it is `out` when one was foretold wrongly. `unsure[k]` are the turns that it could not
    tell with PATIENCE[k].
    """

    def __init__(self, mind: Mind, side: int, weight: float = 1) -> None:
        self.mind = mind
        self.weight = weight
        self.hits = 0
        self.out = False
        self.asked = 0
        self.unsure: tuple[list[Turn], ...] = tuple([] for _ in PATIENCE)
        self._side = side

    def ask(self, turn: Turn) -> None:
        """Ask about the next turn."""
        self.asked += 1
        self._ask(turn, 0)

    def ask_again(self) -> None:
        """Ask about a turn that it could not tell, with a little more patience."""
        at = self._least()
        self._ask(self.unsure[at].pop(), at + 1)

    @property
    def belief(self) -> float:
        """How likely it is the opponent, compared with others; of what is not told, some would be wrong."""
        return self.weight * RIGHT_BY_CHANCE ** sum(map(len, self.unsure))

    @property
    def price(self) -> float:
        """The patience for the next question by how likely it is the opponent; infinite if all is told."""
        at = self._least()
        return PATIENCE[at + 1] / self.belief if at + 1 < len(PATIENCE) else float("inf")

    def _least(self) -> int:
        """With how much patience it was asked about the turn that it has been asked about the least."""
        return next((at for at, turns in enumerate(self.unsure) if turns), len(PATIENCE))

    def _ask(self, turn: Turn, at: int) -> None:
        foretold = self.mind.reply(turn.x, turn.o, self._side, PATIENCE[at])
        self.hits += foretold == turn.cell
        self.out = self.out or foretold not in (turn.cell, None)
        if foretold is None:
            self.unsure[at].append(turn)


class Suspects:
    """Which mind the opponent of one game may be; who was wrong once does not come back."""

    def __init__(
        self,
        minds: Sequence[Mind],
        x: Sequence[int],
        o: Sequence[int],
        side: int,
        weights: Sequence[float] = (),
    ) -> None:
        """Begin a game that starts with these marks, the opponent playing `side`."""
        each = weights or [1.0] * len(minds)
        suspects = [Suspect(mind, side, weight) for mind, weight in zip(minds, each, strict=True)]
        self.left = [suspect for suspect in suspects if suspect.weight >= UNLIKELY]
        self._reserve = [suspect for suspect in suspects if suspect.weight < UNLIKELY]
        self._marks = (list(x), list(o))
        self._side = side
        self._moves: list[int] = []
        self._turns: list[Turn] = []

    @property
    def likeliest(self) -> Suspect | None:
        """The first one of those that are believed in the most."""
        return max(self.left, key=lambda suspect: suspect.belief, default=None)

    @property
    def certainty(self) -> float:
        """How likely the likeliest is the opponent; 0 if nobody is left."""
        likeliest = self.likeliest
        return likeliest.belief / sum(suspect.belief for suspect in self.left) if likeliest else 0.0

    def follows(self, moves: Sequence[int]) -> bool:
        """Whether these moves continue the game that is watched."""
        return list(moves[: len(self._moves)]) == self._moves

    def watch(self, moves: Sequence[int], in_time: Callable[[], bool]) -> bool:
        """Take in the game's moves, all from its start; whether there was time to ask everybody about them.

        Who there is no time to ask is asked the next time.
        """
        for cell in moves[len(self._moves) :]:
            self._take(cell)
        self._ask_all(in_time)
        if not any(2 * suspect.hits >= len(self._turns) for suspect in self.left):
            self.left += self._reserve
            self._reserve = []
            self._ask_all(in_time)
        self._ask_again(in_time)
        return all(suspect.asked == len(self._turns) for suspect in self.left)

    def _ask_all(self, in_time: Callable[[], bool]) -> None:
        """Ask everybody about all turns that they were not asked about."""
        for suspect in self.left:
            while suspect.asked < len(self._turns) and not suspect.out and in_time():
                suspect.ask(self._turns[suspect.asked])
        self.left = [suspect for suspect in self.left if not suspect.out]

    def _ask_again(self, in_time: Callable[[], bool]) -> None:
        """Ask about what could not be told: the likeliest until it has told all, then by the price.

        Where the likeliest has told all and leaves hardly any doubt, that is enough.
        """
        while (suspect := self._next()) and in_time():
            suspect.ask_again()
            if suspect.out:
                self.left.remove(suspect)

    def _next(self) -> Suspect | None:
        """Who is asked again next, if anybody has anything left to tell."""
        likeliest = self.likeliest
        if likeliest is None or likeliest.price < float("inf"):
            return likeliest
        cheapest = min(self.left, key=lambda suspect: suspect.price)
        return cheapest if cheapest.price < float("inf") and self.certainty < SURE else None

    def _take(self, cell: int) -> None:
        x, o = self._marks
        mover = len(x) - len(o)
        if mover == self._side and len(x) + len(o) >= OPENING_MARKS:
            self._turns.append(Turn(tuple(x), tuple(o), cell))
        self._marks[mover].append(cell)
        self._moves.append(cell)
