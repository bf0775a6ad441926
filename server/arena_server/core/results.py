"""The results of a contest so far, and what they cost a bot.

It must not know: games that run, what has yet to be played, how results become durable.
"""

from __future__ import annotations

from collections.abc import Mapping

from arena_server.core.journal import PastGame
from arena_server.core.match import VOID
from arena_server.core.peer import Outbox, Player
from arena_server.core.plan import ContestPlan
from arena_server.core.standings import Result, Standings


class Results:
    """Counts results that are durable: `done` games have one, `void` ones none; `plies` are of both."""

    def __init__(self, plan: ContestPlan, players: Mapping[str, Player], out: Outbox) -> None:
        names = [player.name for player in players.values() if player.plays]
        self.standings = Standings(names, plan.scoring)
        self.done = self.void = self.plies = 0
        self._probation = plan.probation
        self._players = players
        self._out = out

    def add(self, game: PastGame) -> None:
        """Count one game."""
        self.plies += game.plies
        if game.end == VOID:
            self.void += 1
            return
        self.done += 1
        self.standings.add(Result(game.names, game.totals, game.faults))
        for name, _ in game.faults:
            self._blame(self._players[name])

    def _blame(self, player: Player) -> None:
        """One faulty game more: a bot that has had too many is paired no more."""
        player.faulty_games += 1
        if player.faulty_games - player.forgiven == self._probation:
            player.barred = True
            self._out.note("warning", "probation", bot=player.name, games=player.faulty_games)
