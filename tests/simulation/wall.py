"""The clock on the wall of a simulated world, for everything that writes and reads its database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final, Self

import pytest

#: The moment 0 of the simulation.
BEGIN: Final = datetime(2026, 1, 1)
BEGIN_MS: Final = int(BEGIN.replace(tzinfo=UTC).timestamp() * 1000)
#: Modules that ask the clock by `datetime.now`.
READERS = (
    "arena_server.web.shown_results",
    "arena_server.web.stored",
    "arena_cli.export",
    "arena_cli.publish",
    "arena_cli.report",
    "arena_cli.site_links",
)


class Wall:
    """It stands still at `moment`, in ns, until that is changed."""

    def __init__(self) -> None:
        self.moment = 0

    def set(self, moment: int) -> None:
        self.moment = moment

    def now(self) -> datetime:
        """UTC without a zone."""
        return BEGIN + timedelta(microseconds=self.moment // 1000)

    def at(self, moment: int) -> float:
        """What it shows at a moment, in seconds since 1970."""
        return BEGIN_MS / 1000 + moment / 1e9

    @contextmanager
    def in_place(self) -> Iterator[Self]:
        """All that writes and reads databases looks at this clock."""
        wall = self

        class Virtual(datetime):
            @classmethod
            def now(cls, tz: tzinfo | None = None) -> Virtual:
                there = wall.now()
                return cls.combine(there.date(), there.time(), tz)

        with pytest.MonkeyPatch.context() as patch:
            for module in READERS:
                patch.setattr(f"{module}.datetime", Virtual)
            for module in ("schema", "contest_store"):
                patch.setattr(f"arena_server.store.{module}.now", self.now)
            yield self
