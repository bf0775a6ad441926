"""How long the database has not answered, as people, programs and the log learn of it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any, Final, Protocol

from arena_server.core.log_events import LogEvent
from arena_server.host.log_events import DatabaseAnswers, DatabaseSilent
from arena_server.host.observers import Attachment

NS_PER_S: Final = 1_000_000_000
#: A database that has not made an entry or a record durable for so long is silent: no result is announced,
#: and with PostgreSQL no move either.
SILENT_S: Final = 5
LOOK_S: Final = 1.0


class Unanswered(Protocol):
    @property
    def unanswered_since(self) -> int | None:
        """When the oldest entry or record that is not durable was handed over (monotonic ns), or None."""


class StoreWatch(Attachment):
    """Logs once that the database is silent, and once that it answers again."""

    def __init__(self, run: Unanswered, log: Callable[[LogEvent], None]) -> None:
        self._run = run
        self._log = log
        self._timer: asyncio.TimerHandle | None = None
        self._since: int | None = None

    def waited_s(self, now: int) -> int:
        """How long the oldest of what is not durable has waited, in whole seconds."""
        since = self._run.unanswered_since
        return 0 if since is None else max(0, now - since) // NS_PER_S

    def problem(self, now: int) -> str | None:
        """That the database is silent, in one line; None: it is not."""
        waited = self.waited_s(now)
        return f"the database has not answered for {waited} s" if waited >= SILENT_S else None

    def hold(self) -> list[dict[str, Any]]:
        """The same as a row of the holds that people read (`holds_json`), or no row."""
        problem = self.problem(time.monotonic_ns())
        return [] if problem is None else [{"hold": "database", "until": None, "text": problem}]

    def started(self) -> None:
        self._look_again()

    def _look_again(self) -> None:
        self.look(time.monotonic_ns())
        self._timer = asyncio.get_running_loop().call_later(LOOK_S, self._look_again)

    def look(self, now: int) -> None:
        """Log a change."""
        if self.problem(now) is not None:
            if self._since is None:
                self._since = self._run.unanswered_since
                self._log(DatabaseSilent(self.waited_s(now)))
        elif self._since is not None:
            self._log(DatabaseAnswers((now - self._since) // NS_PER_S))
            self._since = None

    async def detached(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
