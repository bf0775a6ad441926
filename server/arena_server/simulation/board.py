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
        self._position: Any = None
        self._ahead: list[tuple[str, str]] = []

    def heard(self, tokens: list[str]) -> None:
        """Keep what a line of the server's tells of the own game."""
        verb = tokens[0]
        if verb == "GAME" and "seat=0" not in tokens:
            self._game = make_game(tokens[2], dict(token.split("=", 1) for token in tokens[3:]))
            self._ahead = []
        elif verb == "STATE" and self._game is not None:
            self._state = tokens[1]
            self._position = self._game.start(Deal(tokens[1], ""))
        elif verb == "NEXT" and self._game is not None:
            self._position = self._game.start(Deal(self._state, tokens[1]))
        elif verb == "PLAYED" and self._game is not None:
            _, _, reveal = tokens[-1].rpartition("reveal=")
            self._ahead.append((tokens[3][len("move=") :], reveal if "=" not in reveal else ""))

    def legal(self) -> tuple[str, ...]:
        """The legal moves now."""
        game = self._game
        assert game is not None, "asked for a move before GAME"
        for move, revealed in self._ahead:
            self._position = game.play(self._position, move).position
            if revealed:
                self._position = game.extend(self._position, revealed)
        self._ahead = []
        return game.legal_moves(self._position)
