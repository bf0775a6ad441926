"""SQLAlchemy engines over a database of results: one for readers, and one for the writer."""

from __future__ import annotations

import sqlite3
import time
from contextlib import suppress
from functools import lru_cache, partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import URL, Engine, create_engine, event
from sqlalchemy.pool import NullPool

from arena_server.store.database import BUSY_STEP_S, BUSY_TIMEOUT_S, Database, Postgres, dial
from arena_server.store.head import create_private
from arena_server.store.preflight import is_read_only


def open_engine(database: Database, *, writing: bool = False) -> Engine:
    """An engine over `database`; with `writing` it is for the writer, which decides when to sync.

    With SQLite neither its commits nor checkpoints then wait for the disk, which takes 4 to 16 ms. With
    PostgreSQL every commit waits, also where the server's own default is not to.

    All who read, or write, a database have one engine: it keeps the SQL of every query, which takes 4 ms to
    make, a half of what a contest takes to be found. It keeps no connection.
    """
    if not writing:
        return _reading_engine(database)
    if not isinstance(database, Path):
        return _postgres_writer(database)
    create_private(database)
    return _sqlite_writer(URL.create("sqlite", database=str(database.absolute())))


class _ReadCursor(sqlite3.Cursor):
    def close(self) -> None:
        # Rows that are not read to their end, as after Ctrl-C, are closed behind the session; SQLAlchemy
        # prints the traceback of an error there.
        with suppress(sqlite3.ProgrammingError):
            super().close()


class _ReadConnection(sqlite3.Connection):
    def cursor(self, factory: Any = _ReadCursor) -> Any:
        return super().cursor(factory)


@lru_cache(maxsize=8)
def _postgres_writer(database: Postgres) -> Engine:
    engine = create_engine("postgresql+psycopg://", creator=partial(dial, database), poolclass=NullPool)
    event.listen(engine, "connect", _commit_synchronously)
    return engine


@lru_cache(maxsize=8)
def _sqlite_writer(url: URL) -> Engine:
    engine = create_engine(url, connect_args={"timeout": BUSY_TIMEOUT_S}, poolclass=NullPool)
    event.listen(engine, "connect", _set_pragmas)
    return engine


@lru_cache(maxsize=8)
def _postgres_reader(database: Postgres) -> Engine:
    """What a session reads is one moment of the database."""
    options: Any = {"poolclass": NullPool, "isolation_level": "REPEATABLE READ"}
    return create_engine("postgresql+psycopg://", creator=partial(dial, database), **options)


@lru_cache(maxsize=8)
def _sqlite_reader(url: URL) -> Engine:
    """As `_postgres_reader`."""
    # Without a transaction of ours the driver would read each query at a moment of its own.
    options: Any = {"timeout": BUSY_TIMEOUT_S, "isolation_level": None, "factory": _ReadConnection}
    engine = create_engine(url, connect_args=options, poolclass=NullPool)
    event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN"))
    return engine


def _reading_engine(database: Database) -> Engine:
    if not isinstance(database, Path):
        return _postgres_reader(database)
    url = URL.create("sqlite", database=str(database.absolute()))
    if is_read_only(database):
        url = url.set(database=f"file:{quote(str(database.absolute()))}").update_query_dict(
            {"immutable": "1", "uri": "true"}
        )
    return _sqlite_reader(url)


def _commit_synchronously(connection: Any, _record: object) -> None:
    connection.execute("SET synchronous_commit = on")
    connection.commit()  # a rollback would undo it


def _set_pragmas(connection: Any, _record: object) -> None:
    _use_wal(connection)
    for pragma in ("synchronous=NORMAL", "wal_autocheckpoint=0", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}").close()


def _use_wal(connection: Any) -> None:
    """SQLite itself does not wait where another connection begins to use the same new file."""
    until = time.monotonic() + BUSY_TIMEOUT_S
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL").close()
            return
        except sqlite3.OperationalError:
            if time.monotonic() >= until:
                raise
            time.sleep(BUSY_STEP_S)
