"""The engine `xo`: a position and its clock become a search with limits, the best cell a move."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from time import thread_time
from typing import ClassVar

from arena_engines.engine import Analysis, Engine, Parameter, Position, Report
from arena_engines.lateness import Lateness
from arena_engines.xo.cells import cell_names, sides_of
from arena_engines.xo.gomoku.searcher import MAX_DEPTH, Limits, Searcher, SearchResult, run
from arena_protocol.games.mnk import Marks, Xo

#: Milliseconds a move without a clock.
UNCLOCKED = 1000
#: The bank is divided by this many own moves, or by as many as the empty cells allow.
MOVES_AHEAD = 12
#: The part of the bank that is never planned with, and its least in milliseconds.
RESERVE = 0.02
LEAST_RESERVE = 100.0
#: The least milliseconds of a move beside the search; a busy machine's are measured in the game.
OVERHEAD = 5.0
#: The part of an increment that is spent at once.
INCREMENT_SHARE = 0.8
#: A running iteration may take this many shares; after ENOUGH of one no deeper iteration is begun, since it
#: would hardly finish.
MOST = 1.5
ENOUGH = 0.6


class Gomoku(Engine):
    """The strongest engine of XO. It uses its clock, at most `time` ms a move; without a clock `time`.

    With `nodes` or `depth` no clock is read, and the same position always gets the same move.
    """

    game: ClassVar[str] = "xo"
    name: ClassVar[str] = "xo"
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter("time", None, 1, 3_600_000, play_only=True),
        Parameter("nodes", None, 1, 10**12, play_only=True),
        Parameter("depth", None, 1, MAX_DEPTH, play_only=True),
    )
    max_depth: ClassVar[int] = MAX_DEPTH
    eval_names: ClassVar[tuple[str, ...]] = ("value",)

    def __init__(self, values: Mapping[str, int | str | None] | None = None) -> None:
        super().__init__(values)
        self._lateness = Lateness(OVERHEAD)

    def warm_up(self) -> None:
        """Compile or load the kernel."""
        run()

    @cached_property
    def _searchers(self) -> dict[int, Searcher]:
        """One searcher a board size."""
        return {}

    def choose(self, position: Position[Xo, Marks]) -> str:
        """Return the name of the cell to mark."""
        size = position.rules.size
        marks = position.state.x | position.state.o
        self._lateness.begin(position)
        limits = self.limits(position, size * size - marks.bit_count())
        found = self._search(position, limits)
        self._lateness.end(math.inf if limits.seconds is None else limits.seconds * 1000)
        move = cell_names(size)[found.cell]
        self.report = Report(found.depth or None, found.value, found.nodes, (move,))
        return move

    def analyse(self, position: Position[Xo, Marks], depth: int) -> Analysis:
        """The best move at this depth and its value for the side to move. Raises EngineError."""
        self.check_analysis(position, depth)
        began = thread_time()
        found = self._search(position, Limits(depth=depth))
        move = cell_names(position.rules.size)[found.cell]
        return Analysis(move, (found.value,), found.nodes, depth, thread_time() - began)

    def _search(self, position: Position[Xo, Marks], limits: Limits) -> SearchResult:
        size = position.rules.size
        sides = sides_of(size, position.state)
        if size not in self._searchers:
            self._searchers[size] = Searcher(size)
        searcher = self._searchers[size]
        searcher.set_position(sides.x, sides.o)
        if limits.seconds is None:
            searcher.reset()  # nodes and depth must give the same move every time
        return searcher.search(sides.to_move, limits)

    def limits(self, position: Position[Xo, Marks], empty: int) -> Limits:
        """The limits of the search for a move with this many `empty` cells."""
        nodes, depth, most = (self._number(name) for name in ("nodes", "depth", "time"))
        if nodes or depth:
            return Limits(nodes=nodes, depth=depth)
        longest = position.longest(most, self._lateness.cautious)
        if position.clock is None:
            return Limits(seconds=min(longest, most or UNCLOCKED) / 1000)
        enough, millis = budget(
            position.clock, position.bank, position.increment, empty, self._lateness.typical
        )
        return Limits(seconds=min(millis, longest) / 1000, enough=enough / 1000)

    def _number(self, name: str) -> int | None:
        value = self.values[name]
        return None if value is None else int(value)


def budget(
    clock: int, bank: int | None, increment: int, empty: int, late: float = OVERHEAD
) -> tuple[float, float]:
    """The time of a move: after how many milliseconds no deeper iteration begins, and after how many to stop.

    `clock`, `bank` (the whole time of a game) and `increment` are milliseconds, `empty` is the number of
    empty cells; `late` milliseconds come to every move. The length of a game is unknown, so each move gets a
    fixed part of what is left. Both results are 0 when no time is left.
    """
    reserve = max(RESERVE * (bank or clock), LEAST_RESERVE)
    moves = max(1, min(MOVES_AHEAD, -(-empty // 2)))
    free = max(0.0, clock - reserve - late)
    share = free / moves + INCREMENT_SHARE * increment
    return min(free, ENOUGH * share), min(free, MOST * share)
