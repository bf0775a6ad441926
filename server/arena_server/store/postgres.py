"""The same questions as `probe`, asked of a PostgreSQL server. It must not know: tables.

A comment on the table of contests says that the database is ours, and which layout it has.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from arena_server.errors import ConfigError, StoreError
from arena_server.store.url import Server

#: How long the server may take to answer at all.
CONNECT_TIMEOUT_S = 5
MARK = "insertion-arena layout"
#: Gives the comment, or null; no row where there is no such table.
LAYOUT_QUERY = (
    "SELECT obj_description(oid) FROM pg_class "
    "WHERE relname = 'contests' AND relnamespace = current_schema()::regnamespace"
)


def probe_server(server: Server, layout: int, *, writing: bool) -> None:
    """Check that `server` is there, and that its database is ours or empty. Raises StoreError."""
    with connected(server) as connection:
        row = connection.execute(LAYOUT_QUERY).fetchone()
        read_only = connection.execute("SHOW transaction_read_only").fetchone()
    check_comment(server, row, layout)
    if row is None and not writing:
        raise StoreError(f"{server}: an empty database; has a contest been played here? Try --database")
    if writing and read_only == ("on",):
        raise StoreError(f"{server}: the database can only be read; choose another --database")


@contextmanager
def connected(server: Server) -> Iterator[Any]:
    """A connection of psycopg's to `server`; its errors become StoreError, in one line."""
    with _told(server) as driver, driver.connect(server.url, connect_timeout=CONNECT_TIMEOUT_S) as connection:
        yield connection


def check_comment(server: Server, row: Any, layout: int) -> None:
    """Raise StoreError if there is a table and its comment, a row of LAYOUT_QUERY, is not ours."""
    if row is None:
        return
    words = (row[0] or "").rpartition(" ")
    if words[0] != MARK:
        raise StoreError(f"{server}: a database of another program; choose one of its own by --database")
    if words[2] != str(layout):
        raise StoreError(f"{server}: results of layout {words[2]}, and this version reads layout {layout}")


@contextmanager
def _told(server: Server) -> Iterator[Any]:
    try:
        import psycopg
    except ImportError:
        raise ConfigError(
            f'{server}: PostgreSQL needs more than is installed: pip install "insertion-arena[postgres]"'
        ) from None
    try:
        yield psycopg
    except psycopg.Error as error:
        raise StoreError(describe_server(server, error)) from None


def describe_server(server: Server, error: BaseException) -> str:
    """One line for an error of the driver, with the next step where there is one."""
    text = " ".join(str(error).split())
    if "No space left" in text:
        return f"{server}: the disk is full; nothing more can be kept"
    if "does not exist" in text and ("relation" in text or "column" in text):
        return f"{server}: the database is damaged ({text}); restore it or choose another --database"
    if "connection" in text:
        return f"{server}: the database does not answer ({text}); is it running? Start it, then arena again"
    return f"{server}: {text}"
