"""The player `perfect`: it knows the outcome of every move, and never gives a better one away.

It must not know: clocks, the client.
"""

from __future__ import annotations

from collections.abc import Mapping

from arena_engines.small.marks import MarksSolver
from arena_engines.small.solver import Solver
from arena_engines.table import Table, TableEngine
from arena_protocol.games.mnk import MarksGame


class Perfect(TableEngine):
    """Wins as fast as can be where it can, loses as late as can be where it must."""

    name = "perfect"

    def __init__(self, values: Mapping[str, int | str | None] | None = None) -> None:
        super().__init__(values)
        self._solver: Solver | None = None

    def choose(self, table: Table) -> str:
        """Return the best move, the first in natural order of equals."""
        if self._solver is None or self._solver.rules != table.rules:
            self._solver = Solver(table.rules)
        return self._solver.best_move(table.position)


class PerfectMarks(TableEngine):
    """Tic-tac-toe: wins at once where it can, keeps a won game won and a drawn one drawn."""

    game = "tictactoe"
    name = "perfect"

    def __init__(self, values: Mapping[str, int | str | None] | None = None) -> None:
        super().__init__(values)
        self._solver: MarksSolver | None = None

    def choose(self, table: Table) -> str:
        """Return a move that wins at once, else the first in natural order that keeps the outcome."""
        rules = table.rules
        assert isinstance(rules, MarksGame), "the registry gives this engine games of marks only"
        if self._solver is None or self._solver.rules != rules:
            self._solver = MarksSolver(rules)
        solver = self._solver

        after = {
            move: rules.play(table.position, move).position for move in rules.legal_moves(table.position)
        }
        for move, position in after.items():
            if rules.end(position) == "win":
                return move
        best = solver.outcome(table.position)
        return next(move for move, position in after.items() if -solver.outcome(position) == best)
