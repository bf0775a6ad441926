"""What has happened in the core that its parts (`parts/`) need to know; they get it behind the event."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from arena_protocol.messages import Keep
from arena_server.core.deadlines import DeadlineKind
from arena_server.core.peers import Bot, LiveGame, Slot
from arena_server.stats.results import PastGame


class Begins(NamedTuple):
    """The contest begins, or goes on after a restart: its past has been restored."""


class Expired(NamedTuple):
    """A deadline that a part has set is over."""

    kind: DeadlineKind
    number: int


class Changed(NamedTuple):
    """The slots of `bot` have changed, or whether it may be paired."""

    bot: Bot


class Arrived(NamedTuple):
    """`slot` has logged in."""

    slot: Slot


class Disconnected(NamedTuple):
    """`slot` has lost its connection; another one may have taken its place."""

    slot: Slot


class Moved(NamedTuple):
    """A game of bots that do not ponder has gone on."""

    live: LiveGame


class Counted(NamedTuple):
    """The result of a game of the contest is durable, and counts."""

    game: PastGame


class TakenBack(NamedTuple):
    """The result of a game that has counted does not any more."""

    game: PastGame


class CameBack(NamedTuple):
    """A bot that had left takes part again; `forgiven`: it does so by an order of its own."""

    bot: Bot
    forgiven: bool


class Stores(NamedTuple):
    """A bot has sent STORE on the connection of `slot`."""

    slot: Slot
    message: Keep


class Brought(NamedTuple):
    """A worker's result of a game was accepted, with what its bots have stored, by their names."""

    live: LiveGame
    stored: Mapping[str, bytes]


class NewProgram(NamedTuple):
    """Another program plays for `bot` from now on."""

    bot: Bot


News = (
    Begins
    | Expired
    | Changed
    | Arrived
    | Disconnected
    | Moved
    | Counted
    | TakenBack
    | CameBack
    | NewProgram
    | Stores
    | Brought
)


class Notes:
    """The news of one contest; `changed`: a game may start, or the contest may end, by what has happened."""

    __slots__ = ("_news", "changed")

    def __init__(self) -> None:
        self._news: list[News] = []
        self.changed = True

    def reconsider(self) -> None:
        """What has just changed may let a game start, or the contest end."""
        self.changed = True

    def add(self, news: News) -> None:
        self.changed = True
        self._news.append(news)

    def bot(self, bot: Bot) -> None:
        """The slots of `bot` have changed, or whether it may be paired: that counts from the next game on."""
        self.add(Changed(bot))

    def take(self) -> list[News]:
        """What was added since the last call."""
        news, self._news = self._news, []
        return news
