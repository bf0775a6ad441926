"""Who takes part: bots are added, withdrawn and given new tokens while the contest is played.

Each change is a fact. A bot that is withdrawn keeps its results and its place in the table; under the same
name it can be added again.
"""

from __future__ import annotations

from typing import Final

from arena_protocol.errors import ByeReason
from arena_server.core.connections import Connections
from arena_server.core.events import Replace
from arena_server.core.facts import Joined, Left, Sent, TokenSet
from arena_server.core.games import GameManager
from arena_server.core.journal import JournalError
from arena_server.core.log_events import BotJoined, BotLeft, BotReplaced
from arena_server.core.login import Authenticator, is_digest
from arena_server.core.news import CameBack, NewProgram
from arena_server.core.parts.part import CommandError, bot_of_fact, bot_of_order
from arena_server.core.peers import Bot, Outbox
from arena_server.terms.config import ContestConfigError, Entrant
from arena_server.terms.formats import FormatError

#: What is said of a bot for people.
DETAILS: Final = ("owner", "author", "language", "url")


class Entrants:
    """The bots of one contest. The methods raise CommandError for what cannot be done."""

    def __init__(
        self, authenticator: Authenticator, games: GameManager, connections: Connections, out: Outbox
    ) -> None:
        self._authenticator = authenticator
        self._games = games
        self._connections = connections
        self._out = out
        #: Bots whose successor waits for the end of their games.
        self._succeeding: dict[str, Bot] = {}
        self._count_slots()

    def _count_slots(self) -> None:
        roster = self._authenticator.roster
        bots = (bot for bot in roster if bot.plays and not (bot.withdrawn or bot.hosted))
        #: How many connections the bots may have.
        self.slots = sum(len(bot.slots) for bot in bots)

    def find(self, name: str) -> Bot:
        """A bot that takes part."""
        return bot_of_order(self._authenticator.bots, name)

    def check_new(self, name: str) -> None:
        """A bot that has left is the organiser's to bring back: its name is not free."""
        if name in self._authenticator.bots:
            raise CommandError(f"{name} is a bot of this contest already")

    @property
    def sent(self) -> dict[str, bool]:
        """The bots whose versions are sent by their authors, and whether each takes part."""
        roster = self._authenticator.roster
        return {bot.name: not bot.withdrawn for bot in roster if bot.author_sha256 is not None}

    # -- orders

    def add(self, entrant: Entrant, now: int) -> None:
        """A late entrant, or one that has left and comes again with a new token."""
        assert entrant.key_sha256 is not None
        known = self._authenticator.bots.get(entrant.name)
        if known is not None and not known.withdrawn:
            raise CommandError(f"{entrant.name} is a bot of this contest already")
        bot = self._enter(entrant, now) if known is None else self._readmit(known, now)
        self._games.fixtures.note_total()
        self._count_slots()
        bot.enter_late()
        bot.set_token(entrant.key_sha256)
        self._out.fact(TokenSet(bot.name, entrant.key_sha256))
        self._connections.absent_from(bot, now)
        self._games.notes.bot(bot)
        self._out.effects.append(BotJoined(bot.name))

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

    def _readmit(self, bot: Bot, now: int) -> Bot:
        """One that has left comes again."""
        self._games.fixtures.come_back(bot.name, now)
        bot.readmit()
        self._out.fact(Left(bot.name, left=False))
        self._games.notes.add(CameBack(bot))
        return bot

    def remove(self, bot: Bot, now: int) -> None:
        """Withdraw a bot: its running games are void, and no other is played."""
        bot.withdraw()
        self._out.fact(Left(bot.name, left=True))
        self._connections.send_away(bot, now, ends_games=True)
        self._games.fixtures.leave(bot.name, now)
        self._games.fixtures.note_total()
        self._count_slots()
        self._connections.stop_waiting(bot)
        self._drop_keys(bot)
        self._out.effects.append(BotLeft(bot.name))

    def add_again(self, entrant: Entrant, *, as_described: bool) -> bool:
        """Whether `add` has been carried out for this bot and its token has not been used: it gets a new one.

        The answer with the first token may be lost. `as_described`: only if its details are the same.
        """
        assert entrant.key_sha256 is not None
        bot = self._authenticator.bots.get(entrant.name)
        if bot is None or bot.withdrawn or not bot.untried:
            return False
        if as_described and any(getattr(bot, key) != getattr(entrant, key) for key in DETAILS):
            return False
        bot.set_token(entrant.key_sha256)
        self._out.fact(TokenSet(bot.name, entrant.key_sha256))
        return True

    def takes_part(self, name: str) -> bool:
        bot = self._authenticator.bots.get(name)
        return bot is not None and not bot.withdrawn

    def set_token(self, bot: Bot, digest: str, now: int) -> None:
        """Only the token of this digest logs the bot in: what is connected by the old one is closed."""
        bot.set_token(digest)
        self._out.fact(TokenSet(bot.name, digest))
        self._connections.send_away(bot, now, ends_games=False)
        self._drop_keys(bot)

    def replace(self, order: Replace, now: int) -> None:
        """Have another program play for a bot, once no game of the present one runs."""
        bot = self._authenticator.bots[order.bot]
        bot.await_successor(order.token_sha256, order.version)
        self._succeeding[bot.name] = bot
        self._games.notes.bot(bot)

    def succeed(self, now: int) -> None:
        """Let the programs play whose predecessors have ended their games."""
        for bot in list(self._succeeding.values()):
            if not bot.may_be_succeeded:
                continue
            del self._succeeding[bot.name]
            # After a restart the first program is the one that played before.
            if bot.version is not None:
                self._games.notes.add(NewProgram(bot))
            version = bot.succeed()
            self._out.effects.append(BotReplaced(bot.name, version))
            for slot in bot.slots:
                if slot.peer is not None:
                    self._connections.close(slot.peer, ByeReason.REPLACED, now)
            self._drop_keys(bot)

    def _drop_keys(self, bot: Bot) -> None:
        for slot in bot.slots:
            slot.drop_keys()
        self._out.fact(bot.keys)
        self._out.fact(bot.former_keys)

    # -- an interrupted contest

    def restore_joined(self, joined: Joined) -> None:
        """Bring a late entrant back, without its games. Raises JournalError."""
        name, _, concurrency, *details = joined
        try:
            bot = self._authenticator.enter(Entrant(name, None, True, concurrency, *details))
        except ContestConfigError as error:
            raise JournalError(str(error)) from None
        bot.enter_late()
        self._count_slots()

    def restore_sent(self, sent: Sent) -> None:
        """Take the way in which a late entrant plays; its token follows. Raises JournalError."""
        bot_of_fact(self._authenticator.bots, sent.name).take_versions(ponders=sent.ponders)

    def restore_left(self, name: str, left: bool) -> None:
        """Take what the journal says of a bot; its games are `Fixtures.recall`'s."""
        bot = bot_of_fact(self._authenticator.bots, name)
        if left:
            bot.withdraw()
            self._count_slots()

    def restore_token(self, name: str, digest: str) -> None:
        """Take the token of a bot from the journal."""
        if not is_digest(digest):
            raise JournalError(f"the token of {name!r:.40} is not a SHA-256 digest")
        bot_of_fact(self._authenticator.bots, name).set_token(digest)
