"""What is attached to the run of a contest: observers, readers of transcripts, places of bots, workers."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Protocol

from arena_protocol.record import GameRecord, UsageRecord
from arena_server.core.effects import Assign, ExcludeWorker, SetFrozen, StartDraw, Withdraw
from arena_server.core.events import Event
from arena_server.core.log_events import LogEvent
from arena_server.core.transcript import Transcript
from arena_server.errors import ArenaError
from arena_server.store.database import Database
from arena_server.terms.spec import ContestSpec

#: What a contest wants done outside of its core, by the attachments of its run.
Errand = SetFrozen | StartDraw | Assign | Withdraw | ExcludeWorker


class Attachment:
    """Base class of what is attached to the run of a contest; all methods are for the loop's thread.

    started -> happened, closing, recorded, replied, carry_out ... -> finished -> stored -> detached
    """

    def started(self) -> None:
        """The contest exists; bots can log in from now on."""

    def happened(self, event: LogEvent) -> None:
        """The contest or its host logged an event."""

    def closing(self, conn: int) -> None:
        """The contest ends this connection; all that it sends there is sent."""

    def recorded(self, record: GameRecord) -> None:
        """A record is durable."""

    def replied(self, number: int, problem: str | None) -> None:
        """The event Command or Observe of this number is done, or `problem` says why not."""

    def carry_out(self, errand: Errand) -> bool:
        """Do this, if it is for this attachment; False: it is not."""
        return False

    def finished(self, problem: str | None) -> None:
        """No more games are played; `problem` says why if the contest failed. It may come twice."""

    def stored(self) -> None:
        """The contest is over, and how it ended is stored."""

    async def detached(self) -> None:
        """The contest is no part of its host any more."""


class TranscriptReader(Attachment):
    """Base class of what reads transcripts while an event Observe is in force."""

    def shown(self, transcript: Transcript, end: int) -> None:
        """The lines of a transcript before line `end` may be shown to any visitor."""
        raise NotImplementedError

    def closed(self, problem: str | None) -> None:
        """Nothing of the contest follows; `problem` says why if it failed. It may come twice."""
        raise NotImplementedError

    def finished(self, problem: str | None) -> None:
        if problem is not None:  # else lines still become old enough for visitors
            self.closed(problem)

    async def detached(self) -> None:
        self.closed(None)


class BotPlaces(Attachment):
    """Base class of what runs bots: it carries out SetFrozen for `bots`, and measures them."""

    bots: Collection[str]

    def measures(self, game: str) -> bool:
        """Whether what bots use in this game is measured."""
        raise NotImplementedError

    async def used_in(self, game: str) -> list[UsageRecord]:
        """What its bots have used in a game that is over and has no record yet, as far as is known soon."""
        raise NotImplementedError


class PlayedElsewhere(Attachment):
    """Base class of what plays the games of a contest elsewhere, so that no bot logs in.

    It carries out Assign, Withdraw and ExcludeWorker. A worker that is silent for `lease_ms` loses its game.
    """

    lease_ms: int

    def status(self) -> dict[str, Any]:
        """What the organiser is shown, as JSON types: lists `workers` (that stand out) and `benches`."""
        raise NotImplementedError


class ObservedContest(Protocol):
    """What a place where bots run needs of a contest of a host."""

    def attach(self, attachment: Attachment) -> None:
        """Attach something; call it before the contest starts."""

    def feed(self, event: Event) -> None:
        """Let the contest handle an event; one that has not started takes none."""

    def log(self, event: LogEvent) -> None:
        """Log an event of the contest, and have its attachments see it."""


class DispatchedContest(Protocol):
    """What `PlayedElsewhere` needs of its contest."""

    spec: ContestSpec
    database: Database
    #: How many games have a durable result; the one that is `recorded` is counted.
    results: int

    def feed(self, event: Event) -> None:
        """Let the contest handle an event."""

    def log(self, event: LogEvent) -> None:
        """Log an event of the contest, and have its attachments see it."""

    def fail(self, error: ArenaError) -> None:
        """Nothing more can be promised: end the contest."""
