"""Which database a URL names, and one line for each of its errors.

Nothing here loads SQLAlchemy, which takes longer than a server has to start.
"""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, unquote, urlsplit

from arena_protocol.errors import needs_extra
from arena_server.errors import ConfigError, StoreError
from arena_server.store.head import losses
from arena_server.terms.config import ContestConfig

#: Written into the header of an SQLite file (`PRAGMA application_id`): "Aren".
APPLICATION_ID = 0x4172656E
#: The layout of the tables (`PRAGMA user_version`); a change that older readers would misread adds one.
LAYOUT = 9
#: Layouts that are read. A server that plays into an older one brings it to LAYOUT first (`migration.py`).
#: Layout 8 has a table `sums`, of sums over the first games of a contest, which is not read any more.
#: Up to layout 6 there is no table `facts`, `games` has no time used and no agents, and `offer` entries of
#: the journal have no agents.
#: Up to layout 5 there is no table `pairings`, and `offer` entries of the journal have no names and no deal.
#: In layout 4 the digest of a contest is without its status, end and head, and there is no table `writers`.
EARLIER = ("4", "5", "6", "7", "8")
READABLE = (*EARLIER, str(LAYOUT))
#: How long another program may hold an SQLite file before it counts as locked.
BUSY_TIMEOUT_S = 2.0
#: How long to wait before it is tried again where SQLite does not wait.
BUSY_STEP_S = 0.01
#: How a connection to PostgreSQL is made unless the URL says otherwise: how long a server may take to answer
#: at all, and when a machine counts as gone that says nothing (after 11 s at rest, 10 s in a query).
_CONNECTION: Final[Mapping[str, int]] = {
    "connect_timeout": 5,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
}
#: SQLSTATE of a connection that ends or cannot be had, of a server that starts or stops, and of a standby.
_LOST: Final = ("57P01", "57P02", "57P03", "57P05", "53300", "25006")
_CONNECTION_CLASS: Final = "08"

DEFAULT_URL = "sqlite:///arena.db"
_SQLITE = "sqlite:///"
_POSTGRES = ("postgresql", "postgres")


@dataclass(frozen=True, slots=True)
class Postgres:
    """A database on a PostgreSQL server. Its text is the URL without the password.

    With `async_journal` the journal is committed without waiting for the server's disk: faster, but
    a crash of PostgreSQL loses moves of the last 0.6 s or so that were announced already.
    """

    url: str = field(repr=False)
    async_journal: bool = False

    def __str__(self) -> str:
        place = urlsplit(self.url).netloc  # empty if the query has a socket's folder
        return self.url.replace(f"://{place}", f"://{place.rpartition('@')[2]}", 1)


#: An SQLite file, or a database on a PostgreSQL server.
Database = Path | Postgres


def database_of(url: str, *, async_journal: bool = False) -> Database:
    """The file of `sqlite:///relative.db` or `sqlite:////absolute.db`, or the server of `postgresql://...`.

    Raises ConfigError for any other URL, and for an SQLite file with `async_journal`.
    """
    scheme, _, rest = url.partition("://")
    if scheme in _POSTGRES and _names_a_database(url):
        return Postgres(f"postgresql://{rest}", async_journal)
    path = unquote(url.removeprefix(_SQLITE))
    # A folder as "/" has no name of a file, and no system takes a NUL.
    if not url.startswith(_SQLITE) or not Path(path).name or path == ":memory:" or {"?", "\0"} & set(path):
        raise ConfigError(
            f"--database: expected a URL such as {DEFAULT_URL} or postgresql://host/name, got {url!r}"
        )
    if async_journal:
        raise ConfigError(
            'server.journal_commit: "async" is for PostgreSQL; with an SQLite file no move waits for the disk'
        )
    return Path(path)


def home_of(database: Database) -> Path:
    """The path whose name begins those of a server's other files: of the database, else `arena.db` here."""
    return database if isinstance(database, Path) else Path("arena.db")


def _names_a_database(url: str) -> bool:
    try:
        return bool(urlsplit(url).path.strip("/"))
    except ValueError:  # brackets without an address in them
        return False


@dataclass(frozen=True, slots=True)
class ContestHeader:
    """What is known of a contest before it is found in the database or begun.

    `options` are the game's, as GAME prints them; `games` is the number to be played, 0 if it is open.
    An unfinished contest of the same name goes on unless `new` is set. Its seed has to be the config's
    only if `seeded`: the organiser chose the seed. With `keep` the latest one is found, also if it is over.
    One that is `closed` is over though games of it are left (`store.stages`).
    """

    config: ContestConfig
    options: Mapping[str, str]
    names: Sequence[str]
    games: int
    new: bool = False
    seeded: bool = True
    keep: bool = False
    closed: bool = False


# -- errors

#: The first part of the `-shm` of SQLite, which readers need, too.
SHARED_BYTES: Final = 32 * 1024

#: What SQLite says of a file that is damaged; our tables always have their columns.
_DAMAGE = ("malformed", "not a database", "no such table", "no such column", "UTF-8")


#: Those of pages that are missing or are not what other pages say.
_UNREADABLE = ("malformed", "not a database")


def describe(database: Database, error: BaseException) -> str:
    """One line for an error of the driver's or the system's, with the next step where there is one."""
    text = " ".join(str(error).split())
    if isinstance(database, Postgres):
        return f"{database}: {_describe_postgres(text)}"
    lost = losses(database) if any(sign in text for sign in _UNREADABLE) else ""
    if "disk I/O error" in text and _is_full(database):
        text = "full"
    return f"{database}: {_describe_sqlite(text)}{lost}"


def _is_full(database: Path) -> bool:
    """Whether its disk has no room for the files beside it: SQLite says the same of a broken disk."""
    try:
        disk = os.statvfs(database.parent)
    except OSError:
        return False
    return disk.f_bavail * disk.f_frsize < SHARED_BYTES


def no_room(error: BaseException, copy: Path) -> OSError | None:
    """The error of a full disk on which `copy` is written; None for any other one.

    SQLite does not say which file it means, and the database that is read has another disk.
    """
    if getattr(error, "sqlite_errorcode", None) != sqlite3.SQLITE_FULL:
        return None
    return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(copy))


def _describe_sqlite(text: str) -> str:
    if "locked" in text:
        return "the database is locked by another program; stop it or choose another --database"
    if any(sign in text for sign in _DAMAGE):
        return f"the database is damaged ({text}); restore it or choose another --database"
    if "readonly" in text or "unable to open" in text:
        return f"the database cannot be written ({text}); check the rights on the file and its folder"
    if "full" in text or "No space left" in text:
        return "the disk is full; nothing more can be kept"
    if "disk I/O error" in text:
        return f"the disk fails ({text}); nothing more can be kept"
    return text


def _describe_postgres(text: str) -> str:
    if "No space left" in text:
        return "the disk is full; nothing more can be kept"
    if "does not exist" in text and ("relation" in text or "column" in text):
        return f"the database is damaged ({text}); restore it or choose another --database"
    if "connection" in text:
        return f"the database does not answer ({text}); is it running? Start it, then arena again"
    return text


def damaged(database: Database, what: str) -> StoreError:
    """For a contest whose rows can be read but hold what no server has written."""
    return StoreError(
        f"{database}: the database is damaged ({what}); restore it, or begin a new contest by --new"
    )


@contextmanager
def connect_sqlite(path: Path, *, read_only: bool = False) -> Iterator[sqlite3.Connection]:
    """A connection of sqlite3's own in autocommit mode. Its errors become StoreError.

    With `read_only` the file is read as it is, without the files that SQLite makes beside it.
    """
    uri = f"file:{quote(str(path))}{'?immutable=1' * read_only}"
    try:
        with closing(
            sqlite3.connect(uri, timeout=BUSY_TIMEOUT_S, isolation_level=None, uri=True)
        ) as connection:
            yield connection
    except sqlite3.Error as error:
        raise StoreError(describe(path, error)) from None


def dial(database: Postgres, **options: Any) -> Any:
    """A connection of psycopg's own, made as the URL says. Raises psycopg.Error."""
    import psycopg
    from psycopg.conninfo import conninfo_to_dict

    given = conninfo_to_dict(database.url)
    options |= {key: value for key, value in _CONNECTION.items() if key not in given}
    return psycopg.connect(database.url, **options)


def is_lost(error: BaseException) -> bool:
    """Whether it says that PostgreSQL is away, or will be: what it was asked for may have been done."""
    try:
        import psycopg
    except ImportError:
        return False
    cause = getattr(error, "orig", None) or error
    if not isinstance(cause, psycopg.Error):
        return False
    if cause.sqlstate is None:
        return isinstance(cause, psycopg.OperationalError | psycopg.InterfaceError)
    return cause.sqlstate in _LOST or cause.sqlstate.startswith(_CONNECTION_CLASS)


@contextmanager
def connect_postgres(database: Postgres) -> Iterator[Any]:
    """A connection of psycopg's own. Its errors become StoreError; ConfigError without psycopg."""
    try:
        import psycopg
    except ImportError:
        raise ConfigError(needs_extra(str(database), "postgres")) from None
    try:
        with dial(database) as connection:
            yield connection
    except psycopg.Error as error:
        raise StoreError(describe(database, error)) from None
