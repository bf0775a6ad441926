"""What a simulated bot knows of the game at hand: enough to choose a legal move.

It must not know: connections, clocks, which games there are.
"""

from __future__ import annotations

from typing import Any

from arena_protocol.games import make_game
from arena_protocol.games.base import Deal, Game


class Board:
    """Follows one game by the server's lines; the position is worked out when it is asked for."""

    def __init__(self) -> None:
        self._game: Game[Any] | None = None
        self._state = ""
        self._sequence = ""
        self._moves: list[str] = []
        self._always: tuple[str, ...] | None = None

    def heard(self, tokens: list[str]) -> None:
        """Keep what a line of the server's tells of the own game."""
        verb = tokens[0]
        if verb == "GAME" and "seat=0" not in tokens:
            self._game = make_game(tokens[2], dict(token.split("=", 1) for token in tokens[3:]))
            self._moves, self._sequence, self._always = [], "", None
        elif verb == "STATE":
            self._state = tokens[1]
        elif verb == "NEXT":
            self._sequence = tokens[1]
        elif verb == "PLAYED":
            self._moves.append(tokens[3].partition("=")[2])
            reveal = tokens[-1].partition("reveal=")[2] if tokens[-1].startswith("reveal=") else ""
            self._sequence += reveal

    def legal(self) -> tuple[str, ...]:
        """The legal moves now. A game with a zombie move has them all from the start on."""
        game = self._game
        assert game is not None, "asked for a move before GAME"
        if self._always is not None:
            return self._always
        position = game.start(Deal(self._state, self._sequence))
        if game.zombie_move is not None:
            self._always = game.legal_moves(position)
            return self._always
        for move in self._moves:
            position = game.play(position, move).position
        return game.legal_moves(position)
