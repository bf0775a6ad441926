"""SQLAlchemy engines over one database. It must not know: tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import URL, Engine, create_engine, event, make_url

from arena_server.store.probe import BUSY_TIMEOUT_S, is_sealed
from arena_server.store.url import Database


def open_engine(database: Database, *, durable: bool = False) -> Engine:
    """An engine over `database`; a `durable` one is for the writer, which decides what waits for the disk.

    On SQLite neither its commits nor checkpoints wait by themselves, for each would hold up
    whoever commits by 4-16 ms. A server of PostgreSQL waits by default (synchronous_commit).
    """
    if not isinstance(database, Path):
        return create_engine(make_url(database.url).set(drivername="postgresql+psycopg"))
    url = URL.create("sqlite", database=str(database))
    if not durable and is_sealed(database):
        url = url.set(database=f"file:{quote(str(database))}").update_query_dict(
            {"immutable": "1", "uri": "true"}
        )
    engine = create_engine(url, connect_args={"timeout": BUSY_TIMEOUT_S})
    if durable:
        event.listen(engine, "connect", _make_durable)
    return engine


def _make_durable(connection: Any, _record: object) -> None:
    for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "wal_autocheckpoint=0", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}").close()
