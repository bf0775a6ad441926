"""Bots whose programs are versions that their authors send: the next one plays when it can.

    Replace -> no game begins with the bot -> its games are over -> its connections end, and the next version
    logs in by a token of its own

Where workers play, the next lease is of the next version, and the games that are out end with theirs. After a
restart the first program is the one that played before: it goes on with its games.
"""

from __future__ import annotations

from collections.abc import Mapping

from arena_protocol.errors import ByeReason
from arena_server.core.connections import Connections
from arena_server.core.events import Event, Replace
from arena_server.core.facts import ContestFact, Sent
from arena_server.core.games import GameManager
from arena_server.core.log_events import BotReplaced
from arena_server.core.news import NewProgram, News
from arena_server.core.overview import NO_VERSION
from arena_server.core.parts.leases import LeasedGames
from arena_server.core.parts.part import Part, Unpaired, bot_of_fact
from arena_server.core.peers import Bot, NotFree, Outbox


class Succession(Part):
    """The versions of the bots of one contest."""

    def __init__(
        self, bots: Mapping[str, Bot], games: GameManager, connections: Connections, out: Outbox
    ) -> None:
        self._bots = bots
        self._games = games
        self._leased = isinstance(games, LeasedGames)
        self._connections = connections
        self._out = out
        #: What waits for the end of the running games, by bot.
        self._waiting: dict[str, Replace] = {}

    # -- what is asked of a `Part`

    def may_pair(self, bot: Bot) -> bool:
        return not bot.lacks_version  # its slots are held while another version waits

    def take(self, event: Event | News, now: int) -> bool:
        if not isinstance(event, Replace):
            return False
        bot = self._bots[event.bot]
        self._waiting[bot.name] = event
        for slot in bot.slots:
            slot.hold(NotFree.SUCCEEDED)
        self._games.notes.bot(bot)
        return True

    def due(self, now: int, *, may_start: bool) -> None:
        for order in list(self._waiting.values()):
            bot = self._bots[order.bot]
            if self._leased or bot.version is None or all(slot.game is None for slot in bot.slots):
                self._succeed(bot, order, now)

    def restore(self, fact: ContestFact) -> bool:
        if isinstance(fact, Sent):  # the token follows; until the first version it logs nothing in
            bot_of_fact(self._bots, fact.name).take_versions(ponders=fact.ponders)
        return False

    def shown(self, bot: Bot) -> Unpaired:
        return Unpaired(NO_VERSION, "absent", absent=True) if bot.lacks_version else Unpaired()

    # -- the next program

    def _succeed(self, bot: Bot, order: Replace, now: int) -> None:
        del self._waiting[bot.name]
        if bot.version is not None:
            self._games.notes.add(NewProgram(bot))
        bot.succeed(order.token_sha256, order.version, order.image)
        self._out.effects.append(BotReplaced(bot.name, order.version))
        for slot in bot.slots:
            slot.release(NotFree.SUCCEEDED)
            if slot.peer is not None:
                self._connections.close(slot.peer, ByeReason.REPLACED, now)
        if self._leased:
            self._connections.arrived(bot)
        else:
            self._connections.drop_keys(bot)
        self._games.notes.bot(bot)
