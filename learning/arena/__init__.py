"""The rules, and games in this process, for programs that learn: `from arena import make_game, play`.

    arena             `Game`, positions, `legal_moves`, `play`, `scene`; games under the referee's clock
    arena.insertion   many games of insertion as arrays

docs/rules-in-python.md describes all of it.
"""

from __future__ import annotations

from arena.games import Choose, PlayerResults, play, tally
from arena_protocol.games import GAMES, make_game
from arena_protocol.games.base import Deal, Game, GameError, Step
from arena_protocol.games.scene import BoardLayout, Scene
from arena_protocol.record import GameRecord

__all__ = [
    "GAMES",
    "BoardLayout",
    "Choose",
    "Deal",
    "Game",
    "GameError",
    "GameRecord",
    "PlayerResults",
    "Scene",
    "Step",
    "make_game",
    "play",
    "tally",
]
