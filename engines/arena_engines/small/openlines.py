"""Engines of the small games with a weighted static evaluation, and the open-lines heuristic.

    E(P) = K1 Z1 + ... + Kn Zn

A term Z is a number for a position, seen from seat 1; a weight K is its importance (seed 000).
`HeuristicEngine` searches a fixed number of plies by alpha-beta with E at the horizon. Here its terms are
those of N. J. Nilsson's E(P) for tic-tac-toe (1971), as seed 004 prints it: the lines open to X less those
open to O. weighted.py has other terms.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from functools import cache
from operator import mul
from time import thread_time
from typing import Any, ClassVar

from arena_engines.engine import Analysis, AnyPosition, Engine, Parameter
from arena_engines.search.adapters import Evaluated, Reached
from arena_engines.search.alphabeta import alphabeta
from arena_engines.search.minimax import Found
from arena_protocol.games.base import Game
from arena_protocol.games.mnk import Marks, MarksGame, board_of

#: The directions of lines: their kind, and the step in columns and rows.
DIRECTIONS = (("rows", 1, 0), ("columns", 0, 1), ("diagonals", 1, 1), ("diagonals", 1, -1))


class HeuristicEngine(Engine):
    """Alpha-beta to `depth` plies with K1 Z1 + ... + Kn Zn at the horizon.

    The `eval` of an analysis is the value for seat 1, then the terms at the end of the principal variation.
    """

    max_depth: ClassVar[int] = 9
    eval_names: ClassVar[tuple[str, ...]] = ("value",)

    @property
    @abstractmethod
    def weights(self) -> tuple[int, ...]:
        """A weight for each term."""

    @abstractmethod
    def terms(self, rules: Any, state: Any) -> tuple[int, ...]:
        """The terms of a position, seen from seat 1."""

    def evaluate(self, rules: Game[Any], state: Any) -> int:
        """The value for seat 1: WON, -WON or 0 if the game is over, else the static value."""
        return self._tree(rules).horizon(Reached(state))

    def _tree(self, rules: Game[Any]) -> Evaluated:
        return Evaluated(rules, lambda state: sum(map(mul, self.weights, self.terms(rules, state))))

    def choose(self, position: AnyPosition) -> str:
        """The best move at depth `depth`, the first of equals in natural order."""
        return self._search(position, int(self.values["depth"] or 1)).line[0]

    def analyse(self, position: AnyPosition, depth: int) -> Analysis:
        """The best move at this depth. Raises EngineError for a wrong depth or a game that is over."""
        self.check_analysis(position, depth)
        began = thread_time()
        found = self._search(position, depth)
        seconds = thread_time() - began
        state = position.state
        for move in found.line:
            state = position.rules.play(state, move).position
        terms = self.terms(position.rules, state)
        return Analysis(found.line[0], (found.value, *terms), found.nodes, len(found.line), seconds)

    def _search(self, position: AnyPosition, depth: int) -> Found[str]:
        return alphabeta(self._tree(position.rules), Reached(position.state), depth)


class OpenLines(HeuristicEngine):
    """E(P) = lines open to X - lines open to O, searched to `depth` plies."""

    game = "tictactoe"
    name = "openlines"
    parameters = (Parameter("depth", 3, 1, 9, play_only=True),)
    eval_names = ("value", "open to X", "open to O")
    weights = (1, -1)

    def terms(self, rules: MarksGame, state: Marks) -> tuple[int, ...]:
        """The number of lines without a mark of O, and of lines without a mark of X."""
        return open_lines(rules, state)


def open_lines_table(rules: MarksGame, state: Marks) -> str:
    """Return E(P) with its terms as text."""
    counts = {kind: open_lines(rules, state, kind) for kind in ("rows", "columns", "diagonals")}
    x, o = open_lines(rules, state)
    rows = [f"{kind:<10} {mine:>4} {theirs:>4}" for kind, (mine, theirs) in counts.items()]
    return "\n".join(
        [
            f"{'open to':<10} {'X':>4} {'O':>4}",
            *rows,
            f"{'all':<10} {x:>4} {o:>4}",
            f"E(P) = {x} - {o} = {x - o}",
        ]
    )


def open_lines(rules: MarksGame, state: Marks, kind: str | None = None) -> tuple[int, int]:
    """The lines open to X, and to O; `kind`: only `rows`, `columns` or `diagonals`."""
    lines = [line for name, line in _lines(rules.size, rules.win) if kind in (None, name)]
    return sum(not line & state.o for line in lines), sum(not line & state.x for line in lines)


def lines_of(size: int, win: int) -> list[int]:
    """Every winning line as a plane of bits: `win` consecutive cells in one of four directions."""
    return [line for _, line in _lines(size, win)]


@cache
def _lines(size: int, win: int) -> tuple[tuple[str, int], ...]:
    return tuple(_each_line(size, win))


def _each_line(size: int, win: int) -> Iterator[tuple[str, int]]:
    bits = list(board_of(size).cells.values())
    for column in range(size):
        for row in range(size):
            for kind, across, up in DIRECTIONS:
                cells = [(column + step * across, row + step * up) for step in range(win)]
                if all(0 <= x < size and 0 <= y < size for x, y in cells):
                    yield kind, sum(bits[size * y + x] for x, y in cells)
