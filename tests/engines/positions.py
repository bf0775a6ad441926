"""Positions from text, for tests of the engines."""

from __future__ import annotations

from arena_engines.engine import Position
from arena_engines.insertion.fixed_depth import InsertionEngine, InsertionPosition, Task, task_of
from arena_protocol.games.insertion import Insertion


def at(
    board: str, visible: str, *, clock: int | None = None, bank: int | None = None, **options: object
) -> InsertionPosition:
    """The first position of a game of insertion; up to seven colours unless `options` say otherwise."""
    rules = Insertion.from_options({**InsertionEngine.analysis_options, **options})
    first = Position.at(rules, board, visible)
    return Position(rules=rules, state=first.state, start=board, clock=clock, bank=bank)


def task_at(board: str, visible: str, depth: int, seats: int = 2) -> Task:
    return task_of(at(board, visible, seats=seats), depth)
