"""Who takes part: bots are added, withdrawn and given new tokens while the contest is played.

Each change is a fact. A bot that is withdrawn keeps its results and its place in the table; under the same
name it can be added again.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from arena_server.core.connections import Connections
from arena_server.core.events import Command, Event
from arena_server.core.facts import ContestFact, Joined, Left, ResumeKeys, Sent, TokenSet
from arena_server.core.games import GameManager
from arena_server.core.journal import JournalError
from arena_server.core.log_events import BotJoined, BotLeft
from arena_server.core.login import Authenticator, is_digest
from arena_server.core.news import Arrived, CameBack, News
from arena_server.core.parts.part import CommandError, Part, bot_of_fact, bot_of_order
from arena_server.core.peers import Bot, Outbox
from arena_server.terms.config import ContestConfigError, Entrant
from arena_server.terms.formats import FormatError

#: What is said of a bot for people.
DETAILS: Final = ("owner", "author", "language", "url")


def entrant_of(order: Command) -> Entrant:
    """The bot of an order that needs its token. Raises CommandError."""
    entrant = order.entrant
    if entrant is None or entrant.name != order.target or entrant.key_sha256 is None:
        raise CommandError(f"{order.verb} needs the token of {order.target!r:.40}")
    return entrant


class LateEntrants(Part):
    """The bots that come to one contest, leave it, and come again."""

    def __init__(
        self, authenticator: Authenticator, games: GameManager, connections: Connections, out: Outbox
    ) -> None:
        self._authenticator = authenticator
        self._bots = authenticator.bots
        self._games = games
        self._connections = connections
        self._out = out
        #: Those that were added by an order, and have not logged in since.
        self._untried: set[str] = set()
        #: The names of bots that wait for approval.
        self.reserved: Collection[str] = ()
        self._count_slots()

    def _count_slots(self) -> None:
        bots = (bot for bot in self._bots.values() if bot.plays and not bot.withdrawn)
        #: How many connections the bots may have.
        self.slots = 0 if self._authenticator.hosted else sum(len(bot.slots) for bot in bots)

    @property
    def bots(self) -> Mapping[str, Bot]:
        """All bots of the contest, also those that have left."""
        return self._bots

    @property
    def sent(self) -> dict[str, bool]:
        """The bots whose versions are sent by their authors, and whether each takes part."""
        bots = self._bots.values()
        return {bot.name: not bot.withdrawn for bot in bots if bot.author_sha256 is not None}

    def takes_part(self, name: str) -> bool:
        bot = self._bots.get(name)
        return bot is not None and not bot.withdrawn

    def of_owner(self, owner: str) -> list[str]:
        """The bots of this owner that take part."""
        return [bot.name for bot in self._bots.values() if bot.entrant.owner == owner and not bot.withdrawn]

    def is_untried(self, name: str) -> bool:
        """Whether this bot came by an order, takes part, and has not logged in."""
        return name in self._untried and self.takes_part(name)

    # -- what is asked of a `Part`

    def may_pair(self, bot: Bot) -> bool:
        return not bot.withdrawn

    def take(self, event: Event | News, now: int) -> bool:
        match event:
            case Command(_, "add"):
                entrant = entrant_of(event)
                if not self.add_again(entrant, as_described=True):
                    self.add(entrant, now)
            case Command(_, "remove"):
                self.remove(bot_of_order(self._bots, event.target), now)
            case Command(_, "token"):
                entrant = entrant_of(event)
                self._set_token(bot_of_order(self._bots, entrant.name), str(entrant.key_sha256), now)
            case Arrived(slot):
                self._untried.discard(slot.name)
                return False
            case _:
                return False
        return True

    def restore(self, fact: ContestFact) -> bool:
        match fact:
            case Joined(name, _, concurrency):
                try:
                    self._authenticator.enter(Entrant(name, None, True, concurrency, *fact[3:]))
                except ContestConfigError as error:
                    raise JournalError(str(error)) from None
                self._untried.add(name)
            case Left(name, left):
                if bot_of_fact(self._bots, name) and left:
                    self._bots[name].withdraw()
            case TokenSet(name, digest):
                if not is_digest(digest):
                    raise JournalError(f"the token of {name!r:.40} is not a SHA-256 digest")
                bot_of_fact(self._bots, name).set_token(digest)
            case ResumeKeys(name):
                self._untried.discard(name)
            case _:
                return False
        self._count_slots()
        return False

    # -- orders; they raise CommandError

    def check_open(self) -> None:
        """A link by which no bot can come is not given out."""
        if self._authenticator.hosted:
            raise CommandError("the workers of this contest have no program of a bot that comes late")
        try:
            self._games.fixtures.check_late()
        except FormatError as error:
            raise CommandError(str(error)) from None

    def check_new(self, name: str) -> None:
        """A bot that has left is the organiser's to bring back: its name is not free."""
        if name in self._bots:
            raise CommandError(f"{name} is a bot of this contest already")
        if name in self.reserved:
            raise CommandError(f"{name} waits for approval by the organiser already")

    def check_absent(self, name: str) -> None:
        """A bot that takes part cannot be added."""
        if self.takes_part(name):
            raise CommandError(f"{name} is a bot of this contest already")

    def add(self, entrant: Entrant, now: int) -> None:
        """A late entrant, or one that has left and comes again with a new token."""
        assert entrant.key_sha256 is not None
        self.check_absent(entrant.name)
        known = self._bots.get(entrant.name)
        bot = self._enter(entrant, now) if known is None else self._readmit(known, now)
        self._games.fixtures.note_total()
        self._count_slots()
        self._untried.add(bot.name)
        bot.set_token(entrant.key_sha256)
        self._out.fact(TokenSet(bot.name, entrant.key_sha256))
        self._connections.absent_from(bot, now)
        self._games.notes.bot(bot)
        self._out.effects.append(BotJoined(bot.name))

    def add_again(self, entrant: Entrant, *, as_described: bool) -> bool:
        """Whether `add` has been carried out for this bot and its token has not been used: it gets a new one.

        The answer with the first token may be lost. `as_described`: only if its details are the same.
        """
        assert entrant.key_sha256 is not None
        bot = self._bots.get(entrant.name)
        if bot is None or not self.is_untried(bot.name):
            return False
        if as_described and any(getattr(bot.entrant, key) != getattr(entrant, key) for key in DETAILS):
            return False
        bot.set_token(entrant.key_sha256)
        self._out.fact(TokenSet(bot.name, entrant.key_sha256))
        return True

    def _enter(self, entrant: Entrant, now: int) -> Bot:
        """A late entrant. Raises CommandError with nothing changed."""
        if self._authenticator.hosted:
            raise CommandError(f"{entrant.name}: the workers of this contest have no program of it")
        first = self._games.fixtures.next_number
        try:
            self._authenticator.check(entrant)
            self._games.fixtures.join(entrant.name, entrant.owner, now)
        except (ContestConfigError, FormatError) as error:
            raise CommandError(str(error)) from None
        bot = self._authenticator.enter(entrant)
        details = entrant.owner, entrant.author, entrant.language, entrant.url
        self._out.fact(Joined(bot.name, first, entrant.concurrency, *details))
        if entrant.author_sha256 is not None:
            self._out.fact(Sent(bot.name, entrant.ponders))
        return bot

    def _readmit(self, bot: Bot, now: int, *, forgiven: bool = True) -> Bot:
        """One that has left comes again."""
        self._games.fixtures.come_back(bot.name, now)
        bot.readmit()
        self._out.fact(Left(bot.name, left=False))
        self._games.notes.add(CameBack(bot, forgiven))
        return bot

    def bring_back(self, bot: Bot, now: int) -> None:
        """The order by which a bot has left is undone: it has its token, and is kicked if it was."""
        self._readmit(bot, now, forgiven=False)
        self._games.fixtures.note_total()
        self._count_slots()
        self._connections.absent_from(bot, now)
        self._games.notes.bot(bot)
        self._out.effects.append(BotJoined(bot.name))

    def remove(self, bot: Bot, now: int) -> None:
        """Withdraw a bot: its running games are void, and no other is played."""
        bot.withdraw()
        self._out.fact(Left(bot.name, left=True))
        self._connections.send_away(bot, now, ends_games=True)
        self._games.fixtures.leave(bot.name, now)
        self._games.fixtures.note_total()
        self._count_slots()
        self._connections.stop_waiting(bot)
        self._connections.drop_keys(bot)
        self._out.effects.append(BotLeft(bot.name))

    def _set_token(self, bot: Bot, digest: str, now: int) -> None:
        """Only the token of this digest logs the bot in: what is connected by the old one is closed."""
        bot.set_token(digest)
        self._out.fact(TokenSet(bot.name, digest))
        self._connections.send_away(bot, now, ends_games=False)
        self._connections.drop_keys(bot)
