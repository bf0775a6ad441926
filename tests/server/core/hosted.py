"""Contests behind a router, as one machine: what the driver does with them, without a batch."""

from __future__ import annotations

from arena_server.core.contest import Contest
from arena_server.core.effects import Effect, Finished
from arena_server.core.events import Event, Flushed, LineTooLong, Lost, Opened, Received, Tick
from arena_server.core.router import Member, Router

Routed = Received | Flushed | LineTooLong | Lost | Opened


class RoutedContest:
    """One contest and its router: `handle` gives an event to whom it concerns."""

    def __init__(self, contest: Contest, *, logs: bool = False) -> None:
        self.contest = contest
        self.router = Router("insertion-arena/0.1")
        self.router.add(Member(contest, logs=logs))

    @property
    def alarm(self) -> int | None:
        return _earliest(self.router.alarm, self.contest.deadlines.alarm)

    @property
    def deadline(self) -> int | None:
        return _earliest(self.router.deadline, self.contest.deadline)

    def handle(self, event: Event, now: int) -> list[Effect]:
        """The effects of the router, which have no journal, come behind those of the contest."""
        if not isinstance(event, Routed):
            if isinstance(event, Tick):
                self.router.feed(event, now)
            self.contest.feed(event, now)
        elif event.conn in self.router.routes:
            self.contest.feed(event, now)
        else:
            self.router.feed(event, now)
        effects = self.contest.take()
        if any(isinstance(effect, Finished) for effect in effects):
            self.router.ended(now)
        return [*effects, *self.router.take()]


def _earliest(*moments: int | None) -> int | None:
    return min((moment for moment in moments if moment is not None), default=None)
