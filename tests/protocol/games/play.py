"""Shared by the tests of the small games."""

from __future__ import annotations

from arena_protocol.games.base import Game, P


def play_all(game: Game[P], moves: str) -> P:
    position = game.start(game.deal(0))
    for move in moves.split():
        position = game.play(position, move).position
    return position
