"""A part of a contest: optional behaviour with its own state, which answers five questions.

    may_pair   may this bot be paired?
    take       an event or a piece of news: what follows from it for this part?
    due        before games of the contest start: what can happen now?
    restore    a fact of an interrupted contest
    shown      why is this bot not paired, for people?

No question is asked for a MOVE. A part answers those about which it has something to say.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import NamedTuple

from arena_server.core.events import Event
from arena_server.core.facts import ContestFact
from arena_server.core.journal import JournalError
from arena_server.core.news import News
from arena_server.core.peers import Bot


class Unpaired(NamedTuple):
    """Why a bot is not paired.

    `where` is a word of `overview.py`, `cause` that of the games which are not played because of it; empty:
    the part has nothing to say. `barred`: no game waits for it, unless it `returns` by itself. `absent`: it
    has to connect again, and counts as not connected until then.
    """

    where: str = ""
    cause: str = ""
    barred: bool = False
    returns: bool = False
    absent: bool = False


class Part(ABC):
    """Optional behaviour of one contest."""

    def may_pair(self, bot: Bot) -> bool:
        """Whether `bot`, which is connected, may be paired."""
        return True

    @abstractmethod
    def take(self, event: Event | News, now: int) -> bool:
        """Do what follows from `event`. Returns whether no other part need see it.

        Raises CommandError for an order that cannot be carried out.
        """

    def due(self, now: int, *, may_start: bool) -> None:  # noqa: B027 - most have nothing to do
        """Do what can be done now; games only if some `may_start`."""

    def restore(self, fact: ContestFact) -> bool:
        """Take a fact of the journal, before results are counted. Returns whether it is this part's alone.

        Raises JournalError for one that no contest has written.
        """
        return False

    def shown(self, bot: Bot) -> Unpaired:
        """What this part says of `bot` to people."""
        return Unpaired()


class CommandError(ValueError):
    """An order that cannot be carried out; the text is one clear line."""


def bot_of_order(bots: Mapping[str, Bot], name: str) -> Bot:
    """A bot that takes part. Raises CommandError."""
    bot = bots.get(name)
    if bot is None or not bot.plays:
        raise CommandError(f"no bot of this contest is called {name!r:.40}")
    if bot.withdrawn:
        raise CommandError(f"{name} has left the contest; arena admin add {name} brings it back")
    return bot


def bot_of_fact(bots: Mapping[str, Bot], name: str) -> Bot:
    """A bot that takes part, or did. Raises JournalError."""
    if name not in bots:
        raise JournalError(f"no bot of this contest is called {name!r:.40}")
    return bots[name]
