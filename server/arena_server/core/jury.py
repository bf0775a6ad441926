"""The jury's orders: what they change of results.

forfeit GAME BOT     the bot has lost this game
correct GAME RESULT  the game has these points, seat by seat

Each is a ruling (`rulings.py`), a fact. `games` of the order has the stored games that it is about.
"""

from __future__ import annotations

from collections.abc import Sequence

from arena_server.core.events import Command
from arena_server.core.games import GameManager
from arena_server.core.parts.part import CommandError
from arena_server.core.rulings import RulingError, ruling_of
from arena_server.stats.results import PastGame
from arena_server.terms.formats import FormatError


class Jury:
    """Carries out the jury's orders in one contest; they raise CommandError with nothing changed."""

    def __init__(self, games: GameManager) -> None:
        self._games = games

    def obey(self, command: Command, order: int) -> None:
        """Carry out the order that gets the number `order`."""
        if not command.reason.strip():
            raise CommandError(f"{command.verb}: expected a reason, which is shown with the decision")
        try:
            self._rule(command, order)
        except (RulingError, FormatError) as error:
            raise CommandError(str(error)) from None
        self._games.notes.reconsider()

    def _rule(self, command: Command, order: int) -> None:
        game = self._stored(command.target.partition(" ")[0], command.games)
        totals, end = ruling_of(self._games.game, command.verb, command.target, game.names, game.totals)
        if (totals, end) == (game.totals, game.end):
            raise CommandError(f"g{game.number} has this result already")
        self._games.fixtures.rule(game, totals, end, order)

    def _stored(self, game_id: str, games: Sequence[PastGame]) -> PastGame:
        """The game as it counts now."""
        if self._games.find(game_id) is not None:
            raise CommandError(f"{game_id} has no result yet: void it, or wait for its end")
        if not games:
            raise CommandError(f"no game {game_id!r:.40} has a result")
        return self._games.fixtures.rulings.known(games[0])
