"""A database with results, a receiver that has a script, and a clock."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from arena_protocol.record import FaultRecord
from arena_server.core.log_events import LogEvent
from arena_server.store.database import Database
from arena_server.terms.spec import Webhook
from arena_server.webhooks.delivery import (
    READ_PAUSE_S,
    Cursors,
    Delivery,
    cursors_path,
)
from arena_server.webhooks.message import Cursor, Message

from ..records import Kept, game, opening

HOOK = Webhook("https://example.org/t0ken", "a secret of the receiver")


class World:
    """A database with results, a receiver that answers as `problem` says, and a clock.

    `set_by`: how many seconds the clock of the machine was set.
    """

    def __init__(self, folder: Path, database: Database | None = None) -> None:
        self.path = folder / "arena.db"
        self.database = database or self.path
        self.now = datetime.now(UTC).timestamp() + 1
        self.set_by = 0.0
        self.sent: list[dict[str, Any]] = []
        self.ids: list[str] = []
        self.events: list[LogEvent] = []
        self.problem: str | None = None
        self.attempts = 0

    def store(
        self,
        *numbers: int,
        delay_ms: int = 0,
        freeze_at_ms: int | None = None,
        status: str = "stopped",
    ) -> None:
        header = opening("cup", new=False)
        config = replace(header.config, spectator_delay_ms=delay_ms, freeze_at_ms=freeze_at_ms)
        kept = Kept(self.database, replace(header, config=config))
        kept.start()
        for number in numbers:
            faults = (FaultRecord(2, 1, "illegal", b"MOVE 16"),) if number == 2 else ()
            kept.writer.store(f"g{number}", game(number, faults=faults))
        kept.close(status)
        # Results have the time of the machine: on a slow one the clock of the test must not fall behind them.
        self.now = max(self.now, datetime.now(UTC).timestamp() + 1)

    def cursors(self) -> Cursors:
        return Cursors(cursors_path(self.database, "cup"))

    def delivery(
        self, taken_up: Cursor | None = None, hook: Webhook = HOOK, *, since: float = 0, delay_ms: int = 0
    ) -> Delivery:
        """As a server makes it at its start."""
        cursors = self.cursors()
        cursors.begin(hook, int(since), taken_up)
        return Delivery(
            hook,
            1,
            self.database,
            "cup",
            cursors,
            self.events.append,
            delay_ms=delay_ms,
            send=self.send,
            clock=lambda: self.now + self.set_by,
            steady=lambda: self.now,
        )

    def send(self, message: Message, seconds: int) -> str | None:
        self.attempts += 1
        assert seconds == int(self.now + self.set_by)
        if self.problem is None:
            self.sent.append(json.loads(message.body))
            self.ids.append(message.identity)
        return self.problem

    def run(self, delivery: Delivery) -> float | None:
        """Step until nothing is due; the pause then."""
        self.now += READ_PAUSE_S
        return self.step(delivery)

    def step(self, delivery: Delivery) -> float | None:
        """The same at this moment."""
        while (pause := delivery.step()) == 0:
            pass
        return pause

    @property
    def games(self) -> list[str]:
        return [each["game"]["id"] for each in self.sent]


def store_by_clock(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Results are stored by the clock of `world`, as it is set."""

    def stored_now() -> datetime:
        return datetime.fromtimestamp(world.now + world.set_by, UTC).replace(tzinfo=None)

    monkeypatch.setattr("arena_server.store.schema.now", stored_now)
