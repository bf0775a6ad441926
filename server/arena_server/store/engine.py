"""SQLAlchemy engines over one SQLite file. It must not know: tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sqlalchemy import URL, Engine, create_engine, event

from arena_server.store.probe import BUSY_TIMEOUT_S


def open_engine(path: Path, *, durable: bool = False) -> Engine:
    """An engine over `path`; a `durable` one is for the writer: what it commits survives a power cut.

    Its checkpoints do not come by themselves, for each stalls whoever commits by 8-16 ms.
    """
    url = URL.create("sqlite", database=str(path))
    engine = create_engine(url, connect_args={"timeout": BUSY_TIMEOUT_S})
    if durable:
        event.listen(engine, "connect", _make_durable)
    return engine


def _make_durable(connection: Any, _record: object) -> None:
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "wal_autocheckpoint=0", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}").close()
