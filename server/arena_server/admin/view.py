"""A running server as its organiser's pages see it; everything here is for the loop's thread.

It must not know: threads, HTTP, how anything is shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from arena_server.admin.monitor import Counts, Monitor
from arena_server.core.config import ContestPlan
from arena_server.core.standings import Overview, Progress
from arena_server.server import ServerObserver

if TYPE_CHECKING:
    from arena_server.core.contest import Contest
    from arena_server.driver import Driver
    from arena_server.server import Service


class NotBegunError(Exception):
    """The contest has not begun yet; the text says so in one line."""

    def __init__(self) -> None:
        super().__init__("the contest has not begun yet: the database is being opened")


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One moment of a server; `progress` is None before its contest has begun."""

    contest: Mapping[str, str]
    counts: Counts
    progress: Progress | None
    connections: int
    cap: int


class ServerView(ServerObserver):
    """Looks at a service that is about to run, and has all it does counted."""

    def __init__(self, service: Service, plan: ContestPlan) -> None:
        self._words = {"name": plan.name, "game": plan.game, "software": plan.software}
        self._service = service
        self._monitor = Monitor()
        self._contest: Contest | None = None
        self._host: Driver | None = None
        service.observe(self._monitor)
        service.observe(self)

    def started(self, contest: Contest, driver: Driver) -> None:
        self._contest, self._host = contest, driver

    @property
    def name(self) -> str:
        """What the contest is called."""
        return self._words["name"]

    def host(self) -> Driver:
        """Who takes orders. Raises NotBegunError."""
        if self._host is None:
            raise NotBegunError
        return self._host

    def problem(self) -> str | None:
        """Why no bot can play, in one line; None if bots can."""
        if self._service.leaving:
            return "the server is stopping"
        if self._contest is None:
            return str(NotBegunError())
        ended = self._contest.ended
        return None if ended is None else f"the contest is over: {ended}"

    def snapshot(self) -> Snapshot:
        """All that is measured."""
        progress = None if self._contest is None else self._contest.progress()
        held, cap = (0, 0) if self._host is None else (len(self._host.entrance), self._host.entrance.cap)
        return Snapshot(self._words, self._monitor.counts(), progress, held, cap)

    def overview(self) -> tuple[Overview, int]:
        """What an organiser wants to see, and how many connections are held. Raises NotBegunError."""
        if self._contest is None:
            raise NotBegunError
        return self._contest.overview(), len(self.host().entrance)
