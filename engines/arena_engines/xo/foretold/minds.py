"""Who an opponent may be: programs that always answer a position by the same move.

They are the program of 1970 with the thresholds of the paper, and with others: longer and shorter, and lower;
a reserve has some that are lower still, some with levels of 4.5, and some that look at few positions. It
must not know: who the opponent is, plans, time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import product
from typing import NamedTuple, Protocol

from arena_engines.xo.cells import bits_of
from arena_engines.xo.minimax import NODE_LIMIT
from arena_engines.xo.program1970 import MAX_LEVELS
from arena_engines.xo.scale import WINS
from arena_engines.xo.swift.player import Swift1970, run

#: The thresholds of a mind, and of one of the reserve, are at most so many levels of 2.5, then of 3, of 3.5
#: and of 4, and the 5 that ends them.
MOST_LEVELS = (0, 8, 9, 3)
RESERVE_LEVELS = (8, 8, 8, 3)
#: So many levels the reserve has at most, with the 5.
RESERVE_LENGTH = 9
#: So many levels of 4.5 the first thresholds have in the reserve.
LATE_LEVELS = (1, 2)
#: With the first thresholds the reserve also has minds that look at no more than so many positions.
LIMITS = (1000, 10_000, 100_000)
#: So many answers a memory keeps, some 50 MB.
KEPT = 200_000


def warm_up() -> None:
    """Compile what the minds think with, or load it from the disk. Raises EngineError without numba."""
    run()


class Mind(Protocol):
    """A program that answers every position always by the same move."""

    def reply(self, x: Sequence[int], o: Sequence[int], side: int, patience: int) -> int | None:
        """The cell that it marks for `side`, to move, or None if so many positions do not tell.

        The board has two marks at least and is not full.
        """
        ...


def budgets() -> list[tuple[int, ...]]:
    """The thresholds of the minds, in halves, the paper's first and those most like them next."""
    return _thresholds(each for each in _levels(MOST_LEVELS) if 0 < sum(each) < MAX_LEVELS)


def reserve_budgets() -> list[tuple[int, ...]]:
    """The thresholds of the reserve, in halves."""
    return _thresholds(each for each in _levels(RESERVE_LEVELS) if each[0] and sum(each) < RESERVE_LENGTH)


def late_budgets() -> list[tuple[int, ...]]:
    """The first thresholds with some levels of 4.5 before the 5, in halves."""
    longer = ((*each[:-1], *(WINS,) * levels, each[-1]) for levels in LATE_LEVELS for each in budgets())
    return [each for each in longer if len(each) <= MAX_LEVELS]


def _levels(most: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Every number of levels of each threshold."""
    return product(*(range(each + 1) for each in most))


def _thresholds(levels: Iterable[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """The thresholds that have these levels, those most like the paper's first."""
    ordered = sorted(levels, key=lambda each: (each[0], each[1], abs(each[2] - 4) + abs(each[3] - 2)))
    return [(5,) * a + (6,) * b + (7,) * c + (8,) * d + (10,) for a, b, c, d in ordered]


class Told(NamedTuple):
    """What a mind has told about a position: its cell, or None with so much patience."""

    cell: int | None
    patience: int


class Memory:
    """What minds have told about positions; if that is too much, the oldest is forgotten first."""

    def __init__(self) -> None:
        self._told: dict[tuple[object, int, int], Told] = {}

    def told(self, mind: object, x: int, o: int, patience: int) -> Told | None:
        """What a mind has told, if it needs not be asked again with so much patience; marks are bits."""
        told = self._told.get((mind, x, o))
        return None if told is None or (told.cell is None and told.patience < patience) else told

    def keep(self, mind: object, x: int, o: int, told: Told) -> Told:
        """Keep what a mind has told."""
        self._told[mind, x, o] = told
        if len(self._told) > KEPT:
            del self._told[next(iter(self._told))]
        return told


class Mind1970:
    """The program of 1970 with these thresholds; its arrays are made when it is asked for the first time.

    What it has told it does not think about again while the memory, which many share, has it. With the
    patience for as many positions as its limit it always tells, for then the program makes do with them.
    """

    def __init__(
        self, size: int, thresholds: tuple[int, ...], memory: Memory | None = None, limit: int = NODE_LIMIT
    ) -> None:
        self._size = size
        self._thresholds = thresholds
        self._memory = memory or Memory()
        self._limit = limit

    @cached_property
    def _program(self) -> Swift1970:
        return Swift1970(self._size, self._thresholds)

    def reply(self, x: Sequence[int], o: Sequence[int], side: int, patience: int) -> int | None:
        """The cell that it marks, as Swift1970 has it. Raises EngineError without numba."""
        position = bits_of(x), bits_of(o)
        told = self._memory.told(self, *position, patience)
        if told is None:
            told = self._memory.keep(self, *position, Told(self._ask(x, o, side, patience), patience))
        return told.cell

    def _ask(self, x: Sequence[int], o: Sequence[int], side: int, patience: int) -> int | None:
        program = self._program
        program.limit = min(patience, self._limit)
        cell = program.reply(x, o, side)
        return cell if program.nodes < patience or patience >= self._limit else None


def minds_of(size: int, memory: Memory) -> list[Mind]:
    """All minds for a board of size x size, who share this memory."""
    return [Mind1970(size, thresholds, memory) for thresholds in budgets()]


def reserve_of(size: int, memory: Memory) -> list[Mind]:
    """The reserve for a board of size x size, who share this memory."""
    others = [Mind1970(size, thresholds, memory) for thresholds in (*reserve_budgets(), *late_budgets())]
    limited = product(LIMITS, budgets())
    return [*others, *(Mind1970(size, thresholds, memory, limit) for limit, thresholds in limited)]
