"""Is this database ours, whole and writable? Asked before a server listens; of a file, in milliseconds.

It uses the driver beneath SQLAlchemy, which alone would take longer to import than a server
has to start. It must not know: tables.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

from arena_server.errors import StoreError
from arena_server.store.url import Database

#: Written into the header of the file (`PRAGMA application_id`): "Aren".
APPLICATION_ID = 0x4172656E
#: The layout of the tables (`PRAGMA user_version`); a change that old readers would misread adds one.
LAYOUT = 3
#: How long another program may hold the database before it counts as locked.
BUSY_TIMEOUT_S = 2.0
#: What SQLite says of a file that is not whole; tables of ours are never without their columns.
_DAMAGE = ("malformed", "not a database", "no such table", "no such column", "UTF-8")


def probe(database: Database) -> None:
    """Check that results can be written to `database`; a file is made if there is none.

    Raises StoreError with one line that says what is wrong and what to do.
    """
    if isinstance(database, Path):
        _probe_file(database)
    else:
        from arena_server.store.postgres import probe_server

        probe_server(database, LAYOUT, writing=True)


def _probe_file(path: Path) -> None:
    with told(path), closing(_connect(path)) as database:
        database.execute("BEGIN IMMEDIATE")
        _is_laid_out(path, database)
        database.execute("ROLLBACK")


def probe_readable(database: Database) -> None:
    """Check that `database` is one of ours to read from. Raises StoreError."""
    if isinstance(database, Path):
        _probe_readable_file(database)
    else:
        from arena_server.store.postgres import probe_server

        probe_server(database, LAYOUT, writing=False)


def _probe_readable_file(path: Path) -> None:
    if not path.exists():
        raise StoreError(f"{path}: no such database; has a contest been played here? Try --database")
    uri = f"file:{quote(str(path))}{'?immutable=1' * is_sealed(path)}"
    with told(path), closing(sqlite3.connect(uri, timeout=BUSY_TIMEOUT_S, uri=True)) as database:
        if not _is_laid_out(path, database):
            raise StoreError(f"{path}: an empty database; has a contest been played here? Try --database")


def is_sealed(path: Path) -> bool:
    """Whether nobody here can write to this file: then it is read as it is.

    SQLite would else make a file beside it even to read, and could not. One with a log of its
    own beside it is not whole without that.
    """
    writable = os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)
    return not writable and not Path(f"{path}-wal").exists()


def _connect(path: Path) -> sqlite3.Connection:
    if not path.parent.is_dir():
        raise StoreError(f"{path}: the folder {path.parent} does not exist")
    return sqlite3.connect(path, timeout=BUSY_TIMEOUT_S, isolation_level=None)


def _is_laid_out(path: Path, database: sqlite3.Connection) -> bool:
    """Whether there are tables; False for a new file. Raises StoreError if they are not ours."""
    (application,) = database.execute("PRAGMA application_id").fetchone()
    (layout,) = database.execute("PRAGMA user_version").fetchone()
    (tables,) = database.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    if tables == 0:
        return False
    if application != APPLICATION_ID:
        raise StoreError(f"{path}: a database of another program; choose a file of its own by --database")
    if layout != LAYOUT:
        raise StoreError(f"{path}: results of layout {layout}, and this version reads layout {LAYOUT}")
    return True


@contextmanager
def told(path: Path) -> Iterator[None]:
    """Make StoreError, in one line, of what the driver raises."""
    try:
        yield
    except sqlite3.Error as error:
        raise StoreError(describe(path, error)) from None


def damaged(database: Database, what: str) -> StoreError:
    """For a contest whose rows are there, but say what nobody wrote."""
    return StoreError(
        f"{database}: the database is damaged ({what}); restore it, or begin a new contest by --new"
    )


def describe(database: Database, error: BaseException) -> str:
    """One line for an error of the driver, with the next step where there is one."""
    if not isinstance(database, Path):
        from arena_server.store.postgres import describe_server

        return describe_server(database, error)
    path, text = database, str(error)
    if "locked" in text:
        return f"{path}: the database is locked by another program; stop it or choose another --database"
    if any(sign in text for sign in _DAMAGE):
        return f"{path}: the database is damaged ({text}); restore it or choose another --database"
    if "readonly" in text or "unable to open" in text:
        return f"{path}: the database cannot be written ({text}); check the rights on the file and its folder"
    if "full" in text or "No space left" in text:
        return f"{path}: the disk is full; nothing more can be kept"
    if "disk I/O error" in text:
        return f"{path}: the disk fails ({text}); nothing more can be kept"
    return f"{path}: {text}"
