"""Positions from text, for tests of the engines."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from arena_engines.engine import Position
from arena_engines.insertion.fixed_depth import InsertionEngine, InsertionPosition, Task, task_of
from arena_engines.registry import create
from arena_protocol.games.base import Game, P
from arena_protocol.games.insertion import Insertion


def at(
    board: str, visible: str, *, clock: int | None = None, bank: int | None = None, **options: object
) -> InsertionPosition:
    """The first position of a game of insertion; up to seven colours unless `options` say otherwise."""
    rules = Insertion.from_options({**InsertionEngine.analysis_options, **options})
    first: InsertionPosition = Position.at(rules, board, visible)
    return Position(rules=rules, state=first.state, start=board, clock=clock, bank=bank)


def task_at(board: str, visible: str, depth: int, seats: int = 2) -> Task:
    return task_of(at(board, visible, seats=seats), depth)


def game(seats: int, *specs: str, plies: int = 60, seed: int = 5) -> Iterator[InsertionPosition]:
    """Every position of a game between engines, as the seat to move knows it."""
    rules = Insertion.from_options({"plies": plies, "seats": seats})
    deal = rules.deal(seed)
    state = rules.start(deal)
    players = [create(spec) for spec in specs]
    moves: list[str] = []
    for ply in range(plies):
        known = state._replace(sequence=state.sequence[: ply + rules.lookahead])
        position = Position(rules=rules, state=known, start=deal.board, moves=tuple(moves))
        yield position
        moves.append(str(players[ply % seats].choose(position)))
        state = rules.play(state, moves[-1]).position


def played_at_random(game: Game[P], chance: Random, plies: int) -> P:
    position = game.start(game.deal(0))
    for _ in range(plies):
        moves = game.legal_moves(position)
        if not moves:
            break
        position = game.play(position, chance.choice(moves)).position
    return position
