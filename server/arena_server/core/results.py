"""The results of a contest that are durable: its table, and the faults that count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from arena_protocol.record import VOID
from arena_server.core.formats.base import DrawnFormat, Format
from arena_server.core.peers import Bot
from arena_server.stats.results import GameResult, PastGame
from arena_server.stats.standings import Standings
from arena_server.terms.config import ContestConfig


class ResultCounter:
    """Counts results that are durable: `done` games have one, `void` ones none; `plies` are of both.

    The table ranks by the scores of `form`, if it has some.
    """

    def __init__(
        self,
        config: ContestConfig,
        bots: Mapping[str, Bot],
        form: Format,
    ) -> None:
        names = [bot.name for bot in bots.values() if bot.plays]
        unplayed = form.not_played if isinstance(form, DrawnFormat) else dict
        self.standings = Standings(
            names, config.scoring, config.tie_breaks, config.seed, form.scores, unplayed
        )
        self.done = self.void = self.plies = 0
        #: In how many games that count each bot was at fault.
        self.faulty_games: Counter[str] = Counter()
        #: The time charged to each bot, and the plies of its seats in those games.
        self._used_ms: Counter[str] = Counter()
        self._own_plies: Counter[str] = Counter()

    @property
    def stored(self) -> int:
        """How many records there are: a result that is changed or taken back stays one."""
        return self.done + self.void

    def mean_move_ms(self, name: str) -> int | None:
        """The mean time of a ply of this bot, with those that the server played for it; None before any."""
        plies = self._own_plies[name]
        return round(self._used_ms[name] / plies) if plies else None

    def add(self, game: PastGame) -> None:
        self.plies += game.plies
        if game.end == VOID:
            self.void += 1
            return
        self._count(game, 1)

    def take_back(self, game: PastGame) -> None:
        """A game that was counted is void."""
        self.void += 1
        self._count(game, -1)

    def exchange(self, game: PastGame, new: PastGame) -> None:
        """A game that was added has another result."""
        for each, sign in ((game, -1), (new, 1)):
            if each.end == VOID:
                self.void += sign
            else:
                self._count(each, sign)

    def _count(self, game: PastGame, sign: int) -> None:
        self.done += sign
        counted = GameResult(
            game.names, game.totals, game.faults, game.used_ms, plies=game.plies, deal=game.deal
        )
        self.standings.add(counted, sign)
        for name, _ in game.faults:
            self.faulty_games[name] += sign
        for seat, (name, used) in enumerate(zip(game.names, game.used_ms, strict=False)):
            self._used_ms[name] += sign * used
            # The seats take turns.
            self._own_plies[name] += sign * ((game.plies + len(game.names) - 1 - seat) // len(game.names))
