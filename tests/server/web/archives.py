"""Databases of a contest, and a clock for what the site shows of them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from arena_protocol.record import FaultRecord
from arena_server.web.archive import Archive

from ..records import Kept, game, opening

ILLEGAL = (FaultRecord(2, 1, "illegal", b"MOVE 16"),)


class Clock:
    def __init__(self) -> None:
        self.now = datetime.now(UTC).replace(tzinfo=None)

    def __call__(self) -> datetime:
        return self.now

    def forward(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


def fill(path: Path, status: str | None = "finished", name: str = "trial", delay_ms: int = 0) -> None:
    header = opening(name)
    kept = Kept(path, replace(header, config=replace(header.config, spectator_delay_ms=delay_ms)))
    kept.start()
    kept.writer.store("g1", game(1, ("a", "b"), (30, 10), ILLEGAL))
    kept.writer.store("g2", game(2, ("c", "a"), (20, 20)))
    kept.writer.store("g3", game(3, ("b", "c"), (900, 0), end="void"))
    kept.close(status)


def later(path: Path) -> tuple[Archive, Clock]:
    clock = Clock()
    clock.forward(10)
    return Archive(path, clock), clock
