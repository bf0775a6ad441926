"""What a host offers to those who observe a contest, read its transcripts, or run its bots.

All of it is called on the loop's thread.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Protocol

from arena_protocol.record import GameRecord, UsageRecord
from arena_server.core.effects import Assign, ExcludeWorker, SetFrozen, Withdraw
from arena_server.core.events import Event
from arena_server.core.log_events import LogEvent
from arena_server.core.transcript import Transcript
from arena_server.errors import ArenaError
from arena_server.store.database import Database
from arena_server.terms.spec import ContestSpec


class ContestObserver:
    """Base class of what observes a contest: every method is called on the loop's thread."""

    def started(self) -> None:
        """The contest exists; bots can log in from now on."""

    def recorded(self, record: GameRecord) -> None:
        """A record is durable."""

    def happened(self, event: LogEvent) -> None:
        """The contest or its host logged an event."""

    def stored(self) -> None:
        """The contest is over, and how it ended is stored."""

    def replied(self, number: int, problem: str | None) -> None:
        """The event Command or Observe of this number is done, or `problem` says why not."""


class TranscriptReader(Protocol):
    """Who reads transcripts in this process, on the loop's thread."""

    def shown(self, transcript: Transcript, end: int) -> None:
        """The lines of a transcript before line `end` may be shown to any visitor."""

    def closed(self, problem: str | None) -> None:
        """Nothing of the contest follows; `problem` says why if it failed. It may come twice."""


class BotPlaces(Protocol):
    """Who can stop the programs of bots for a time, and measure them."""

    bots: Collection[str]

    def set_frozen(self, order: SetFrozen) -> None:
        """Stop a program, or let it go on and then let the contest handle Thawed."""

    def measures(self, game: str) -> bool:
        """Whether what bots use in this game is measured."""

    async def used_in(self, game: str) -> list[UsageRecord]:
        """What its bots have used in a game that is over and has no record yet, as far as is known soon."""


class PlayedElsewhere(ContestObserver):
    """Base class of what plays the games of a contest elsewhere, so that no bot logs in.

    A worker that is silent for `lease_ms` loses its game.
    """

    lease_ms: int

    def dispatch(self, effect: Assign | Withdraw | ExcludeWorker) -> None:
        """Have a game played, take it back, or let a worker play none any more."""
        raise NotImplementedError

    def status(self) -> dict[str, Any]:
        """What the organiser is shown, as JSON types: lists `workers` (that stand out) and `benches`."""
        raise NotImplementedError

    async def close(self) -> None:
        """End all games; nothing is reported any more."""
        raise NotImplementedError


class ObservedContest(Protocol):
    """What a place where bots run needs of a contest of a host."""

    places: list[BotPlaces]

    def observe(self, observer: ContestObserver) -> None:
        """Add an observer; call it before the contest starts."""

    def feed(self, event: Event) -> None:
        """Let the contest handle an event; one that has not started takes none."""

    def log(self, event: LogEvent) -> None:
        """Log an event of the contest, and have its observers see it."""


class DispatchedContest(Protocol):
    """What `PlayedElsewhere` needs of its contest."""

    @property
    def spec(self) -> ContestSpec:
        """What is played, and who may log in."""

    @property
    def results(self) -> int:
        """How many games have a durable result; the one that is `recorded` is counted."""

    @property
    def database(self) -> Database:
        """Where its results are kept."""

    def feed(self, event: Event) -> None:
        """Let the contest handle an event."""

    def log(self, event: LogEvent) -> None:
        """Log an event of the contest, and have its observers see it."""

    def fail(self, error: ArenaError) -> None:
        """Nothing more can be promised: end the contest."""
