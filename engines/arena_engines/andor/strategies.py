"""Strategies in games as problems: that a seat can force a win, or at least a draw, from a position.

Where that seat moves, any one move that solves the problem is enough (OR); where the other moves, all
its moves must be answered (AND). The solution graph is the strategy. Seed 004 writes the problems
W(X) and V(X). It must not know: any particular game, searches.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from arena_engines.andor.graph import ProblemSpace, Reduction
from arena_protocol.games.base import Game

Goal = Literal["win", "draw"]


class Strategy(ProblemSpace[Any]):
    """The problem that `seat` of a two-seat game reaches its goal; a vertex is a position."""

    def __init__(self, rules: Game[Any], seat: int, goal: Goal = "win") -> None:
        self.rules = rules
        self.seat = seat
        self.goal = goal

    def is_elementary(self, problem: Any) -> bool:
        """Whether the game has ended and the goal is reached: a win, or for `draw` at least a draw."""
        if self.rules.end(problem) is None:
            return False
        totals = self.rules.totals(problem)
        mine, theirs = totals[self.seat - 1], totals[2 - self.seat]
        return mine > theirs or (self.goal == "draw" and mine == theirs)

    def reductions(self, problem: Any) -> Iterable[Reduction[Any]]:
        """One for each own move; one with all replies together for the other seat's."""
        moves = self.rules.legal_moves(problem)
        after = [self.rules.play(problem, move).position for move in moves]
        if self.rules.to_move(problem) == self.seat:
            return [Reduction(move, (child,)) for move, child in zip(moves, after, strict=True)]
        return [Reduction(" ".join(moves), tuple(after))] if moves else []

    def text(self, problem: Any) -> str:
        """The position as STATE prints it."""
        return self.rules.state_text(problem)
