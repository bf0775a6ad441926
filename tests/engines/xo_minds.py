"""Opponents that are easy to foretell, and clocks that count: what the tests of foresight play with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count

from arena_engines.xo.foretold.suspects import QUICK
from arena_engines.xo.foretold.watched import Story

SIZE = 10


class First:
    """A mind that marks the first empty cell."""

    def reply(self, x: Sequence[int], o: Sequence[int], side: int, patience: int = 0) -> int | None:
        return min({*range(SIZE * SIZE)} - {*x, *o})


class Last:
    """A mind that marks the last empty cell."""

    def reply(self, x: Sequence[int], o: Sequence[int], side: int, patience: int = 0) -> int | None:
        return max({*range(SIZE * SIZE)} - {*x, *o})


class Slow(First):
    """A mind that must be given time."""

    def reply(self, x: Sequence[int], o: Sequence[int], side: int, patience: int = 0) -> int | None:
        return super().reply(x, o, side) if patience > QUICK else None


class Never(First):
    """A mind that never can tell."""

    def reply(self, x: Sequence[int], o: Sequence[int], side: int, patience: int = 0) -> int | None:
        return None


class Fours(First):
    """A mind that makes five where it can: cells 90 to 94 are its own."""

    def reply(self, x: Sequence[int], o: Sequence[int], side: int, patience: int = 0) -> int | None:
        left = {90, 91, 92, 93, 94} - {*x, *o}
        return min(left) if len(left) == 1 else super().reply(x, o, side)


class Turncoat(First):
    """A mind that changes from the first empty cells to the last ones."""

    def reply(self, x: Sequence[int], o: Sequence[int], side: int, patience: int = 0) -> int | None:
        return (First() if len(o) < 4 else Last()).reply(x, o, side)


def ticks(most: int) -> Callable[..., bool]:
    """A clock on which so many questions are in time."""
    asked = count()
    return lambda *_: next(asked) < most


def game(mind: First, own: Sequence[int], x: Sequence[int], o: Sequence[int]) -> Story:
    """The story of a game in which X made its `own` moves and O those of the mind."""
    marks = (list(x), list(o))
    moves: list[int] = []
    for cell in own:
        marks[0].append(cell)
        answer = mind.reply(*marks, 1)
        assert answer is not None
        marks[1].append(answer)
        moves += [cell, answer]
    return Story(x, o, moves)
