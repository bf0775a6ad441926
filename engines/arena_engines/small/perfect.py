"""The player `perfect`: it knows the outcome of every move, and never gives a better one away.

It must not know: clocks, the client.
"""

from __future__ import annotations

from collections.abc import Mapping

from arena_engines.engine import AnyPosition, Engine, Position
from arena_engines.small.marks import MarksSolver
from arena_engines.small.solver import Solver
from arena_protocol.games.mnk import Marks, MarksGame


class Perfect(Engine):
    """Wins as fast as can be where it can, loses as late as can be where it must."""

    name = "perfect"

    def __init__(self, values: Mapping[str, int | str | None] | None = None) -> None:
        super().__init__(values)
        self._solver: Solver | None = None

    def choose(self, position: AnyPosition) -> str:
        """Return the best move, the first in natural order of equals."""
        if self._solver is None or self._solver.rules != position.rules:
            self._solver = Solver(position.rules)
        return self._solver.best_move(position.state)


class PerfectMarks(Engine):
    """Tic-tac-toe: wins at once where it can, keeps a won game won and a drawn one drawn."""

    game = "tictactoe"
    name = "perfect"

    def __init__(self, values: Mapping[str, int | str | None] | None = None) -> None:
        super().__init__(values)
        self._solver: MarksSolver | None = None

    def choose(self, position: Position[MarksGame, Marks]) -> str:
        """Return a move that wins at once, else the first in natural order that keeps the outcome."""
        rules = position.rules
        if self._solver is None or self._solver.rules != rules:
            self._solver = MarksSolver(rules)
        solver = self._solver

        after = {
            move: rules.play(position.state, move).position for move in rules.legal_moves(position.state)
        }
        for move, state in after.items():
            if rules.end(state) == "win":
                return move
        best = solver.outcome(position.state)
        return next(move for move, state in after.items() if -solver.outcome(state) == best)
