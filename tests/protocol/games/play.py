"""Shared by the tests of the small games."""

from __future__ import annotations

from arena_protocol.games.base import Game


def play_all(game: Game, moves: str) -> object:
    position = game.start(game.deal(0))
    for move in moves.split():
        position = game.play(position, move).position
    return position
