"""The jury's orders: what they change of results and scores.

forfeit GAME BOT        the bot has lost this game
correct GAME RESULT     the game has these points, seat by seat
disqualify BOT leave    the bot is withdrawn, and its games do not count
disqualify BOT lost     the bot is withdrawn, and the others have won its games
penalty BOT POINTS      these points are taken from its score

What changes a result is a ruling (`rulings.py`); all are facts. `games` of the order has the
stored games that it is about.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from arena_protocol.record import VOID
from arena_server.core.events import Command
from arena_server.core.facts import Disqualified, Order, Penalised
from arena_server.core.games import GameManager
from arena_server.core.parts.late_entrants import LateEntrants
from arena_server.core.parts.part import CommandError
from arena_server.core.peers import Bot, Outbox
from arena_server.core.rulings import LEAVE, RulingError, hundredths_of, name_and_treatment, ruling_of
from arena_server.stats.results import PastGame
from arena_server.terms.formats import FormatError

#: How the refusal ends of an order that may be carried out a moment later.
AGAIN = "a result came meanwhile: give the order again"


class Jury:
    """Carries out the jury's orders in one contest; they raise CommandError with nothing changed."""

    def __init__(
        self, games: GameManager, bots: Mapping[str, Bot], entrants: LateEntrants, out: Outbox
    ) -> None:
        self._games = games
        self._bots = bots
        self._entrants = entrants
        self._out = out
        self._penalties: dict[str, int] = {}
        self._disqualified: dict[str, Disqualified] = {}

    def restore(self, fact: Penalised | Disqualified) -> None:
        """Take a decision that the journal has."""
        if isinstance(fact, Penalised):
            self._penalties[fact.name] = fact.hundredths
        else:
            self._disqualified[fact.name] = fact

    def obey(self, command: Command, order: int, now: int) -> None:
        """Carry out the order that gets the number `order`."""
        if not command.reason.strip():
            raise CommandError(f"{command.verb}: expected a reason, which is shown with the decision")
        try:
            match command.verb:
                case "disqualify":
                    self._disqualify(command, order, now)
                case "penalty":
                    name, _, points = command.target.partition(" ")
                    self._penalise(self._bot(name), hundredths_of(points))
                case _:
                    self._rule(command, order)
        except (RulingError, FormatError) as error:
            raise CommandError(str(error)) from None
        self._games.notes.reconsider()

    def undo(self, undone: Order, order: int, now: int) -> None:
        """Take a decision back, by the order that gets the number `order`."""
        try:
            if undone.verb == "penalty":
                name, _, points = undone.target.partition(" ")
                self._penalise(self._bots[name], -hundredths_of(points))
            else:
                self._take_back(undone, order, now)
        except FormatError as error:
            raise CommandError(str(error)) from None
        self._games.notes.reconsider()

    def check_may_play(self, name: str) -> None:
        """Raise CommandError for a bot that is disqualified."""
        known = self._disqualified.get(name)
        if known is not None and known.treatment:
            raise CommandError(f"{name} is disqualified: undo that first")

    # -- results

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
        game = self._games.fixtures.rulings.known(games[0])
        if game.end == VOID:
            raise CommandError(f"{game_id} is void, and has no result to change")
        return game

    def _take_back(self, undone: Order, order: int, now: int) -> None:
        fixtures = self._games.fixtures
        changed = fixtures.rulings.of_order(undone.number, fixtures.annulled)
        if drawn := [game for game, _ in changed if not fixtures.may_change(game)]:
            raise FormatError(
                f"g{drawn[0].number}: what follows from its result has been drawn, so it stands"
            )
        for game, ruled in reversed(changed):
            fixtures.rule(game, ruled.was_totals, ruled.was_end, order)
        if undone.verb == "disqualify":
            name = undone.target.partition(" ")[0]
            if self._disqualified[name].removed:
                self._entrants.bring_back(self._bots[name], now)
            self._note(Disqualified(name, "", removed=False))

    # -- bots

    def _bot(self, name: str) -> Bot:
        """A bot of the contest, also one that has left."""
        bot = self._bots.get(name)
        if bot is None or not bot.plays:
            raise CommandError(f"no bot of this contest is called {name!r:.40}")
        return bot

    def _penalise(self, bot: Bot, hundredths: int) -> None:
        total = self._penalties.get(bot.name, 0) + hundredths
        self._games.fixtures.penalise(bot.name, total)
        self._penalties[bot.name] = total

    def _disqualify(self, command: Command, order: int, now: int) -> None:
        name, treatment = name_and_treatment(command.target)
        bot = self._bot(name)
        self.check_may_play(name)
        fixtures = self._games.fixtures
        fixtures.check_rulings(leave=treatment == LEAVE)
        counted = [
            game
            for each in command.games
            if (game := fixtures.rulings.known(each)).end != VOID and game.number not in fixtures.annulled
        ]
        if len(counted) != fixtures.results.standings.players[name].games or any(
            live.match.over and not live.announced and name in live.match.setting.names
            for live in self._games.by_number.values()
        ):
            raise CommandError(AGAIN)
        for game in counted:
            # In a bracket what was drawn from a result stands, and the bot goes no further.
            if fixtures.may_change(game):
                ruled = ruling_of(self._games.game, "disqualify", command.target, game.names, game.totals)
                fixtures.rule(game, *ruled, order)
        removed = not bot.withdrawn
        if removed:
            self._entrants.remove(bot, now)
        self._note(Disqualified(name, treatment, removed))

    def _note(self, fact: Disqualified) -> None:
        self._out.fact(fact)
        self._disqualified[fact.name] = fact
