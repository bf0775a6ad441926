"""Is an unfinished contest the one that the configuration describes? Asked before a server listens, too.

It must not know: SQLAlchemy, where a plan is kept.

The same questions as `probe`, asked of a PostgreSQL server. It must not know: tables.

A comment on the table of contests says that the database is ours, and which layout it has.

Is this database ours, whole and writable? Asked before a server listens; of a file, in milliseconds.

It uses the driver beneath SQLAlchemy, which alone would take longer to import than a server
has to start. It must not know: tables.

A glance at the tables before a server listens: are they ours, can the contest go on? In a millisecond.

    tables      each is there with its columns, and gives a row if it has one
    plan        an unfinished contest of this name was begun with this configuration
    claim       no other server plays it
    journal     its last rows match their digests

The rest is found when the contest is taken up, for it takes longer than a server has to start:
older rows, and what they say. It uses the drivers beneath SQLAlchemy, as `probe` does, and writes
nothing. It must not know: SQLAlchemy, how a contest goes on.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from arena_server.core.config import ContestPlan
from arena_server.errors import ConfigError, StoreError
from arena_server.store import database as parameters
from arena_server.store.database import APPLICATION_ID, LAYOUT, Database, Server, check_unclaimed, opened

#: What may differ: the seed may be a drawn one, and a newer version may go on with an older one's contest.
_MAY_DIFFER = ("seed", "software")


@dataclass(frozen=True, slots=True)
class Begun:
    """A contest as it was begun: the number and name of its row, its seed as text, its `plain_plan`."""

    number: int
    name: str
    seed: str
    plan: Mapping[str, Any]


def plain_plan(plan: ContestPlan, names: Sequence[str]) -> dict[str, Any]:
    """All of a plan that has to be the same for a contest to be taken up again, as JSON has it."""
    plain = {**asdict(plan), "bots": list(names)}
    for key in _MAY_DIFFER:
        del plain[key]
    copy: dict[str, Any] = json.loads(json.dumps(plain))
    return copy


def check_same(
    database: Database, begun: Begun, plan: ContestPlan, names: Sequence[str], seeded: bool
) -> None:
    """Raise StoreError, naming the difference, unless `begun` was begun with this plan."""
    before = {**begun.plan, "seed": begun.seed}
    given = {**plain_plan(plan, names), "seed": str(plan.seed) if seeded else begun.seed}
    for key in given:
        if given[key] != before.get(key):
            raise StoreError(
                f"{database}: contest {begun.number} {begun.name} is unfinished, and was begun with "
                f"{key}={before.get(key)!r} where there is {given[key]!r} now; "
                "go on with the same configuration, or begin a new contest by --new"
            )


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


#: What SQLite says of a file that is not whole; tables of ours are never without their columns.
_DAMAGE = ("malformed", "not a database", "no such table", "no such column", "UTF-8")


def probe(database: Database) -> None:
    """Check that results can be written to `database`; a file is made if there is none.

    Raises StoreError with one line that says what is wrong and what to do.
    """
    if isinstance(database, Path):
        _probe_file(database)
    else:
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
        probe_server(database, LAYOUT, writing=False)


def _probe_readable_file(path: Path) -> None:
    if not path.exists():
        raise StoreError(f"{path}: no such database; has a contest been played here? Try --database")
    uri = f"file:{quote(str(path))}{'?immutable=1' * is_sealed(path)}"
    with told(path), closing(sqlite3.connect(uri, timeout=parameters.BUSY_TIMEOUT_S, uri=True)) as database:
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
    return sqlite3.connect(path, timeout=parameters.BUSY_TIMEOUT_S, isolation_level=None)


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


#: The columns of every table (`tables.py`, which would load SQLAlchemy).
COLUMNS: Final[Mapping[str, Sequence[str]]] = {
    "contests": (
        *("id", "name", "game", "options", "format", "games_per_pair", "games", "scoring", "seed"),
        *("clock_ms", "increment_ms", "margin_ms", "software", "plan", "started_at", "ended_at"),
        *("status", "head"),
    ),
    "bots": ("id", "contest_id", "name"),
    "games": (
        *("id", "contest_id", "game_id", "names", "totals", "end", "plies", "stored_at", "record"),
        *("place", "chain"),
    ),
    "faults": ("id", "game_pk", "bot_id", "seat", "ply", "kind", "line"),
    "journal": ("id", "contest_id", "payload"),
}
#: So many of the journal's rows are looked at, the newest; a thousand take 2 ms.
JOURNAL_ROWS: Final = 1000
FINISHED: Final = "finished"


def glance(database: Database, plan: ContestPlan, names: Sequence[str], *, new: bool, seeded: bool) -> None:
    """Raise StoreError, with one line, for tables that are not ours or a contest that cannot go on.

    `names` are the bots', in order; `new` and `seeded` as in `writer.Opening`. A database
    without tables is fine: they will be made.
    """
    with _connected(database) as connection:
        asked = _Asked(database, connection)
        if not asked.laid_out():
            return
        asked.look_at_tables()
        begun = None if new else asked.unfinished(plan.name)
        if begun is None:
            return
        check_same(database, begun, plan, names, seeded)
        check_unclaimed(database, connection, begun.number)
        asked.check_journal(begun.number)


@contextmanager
def _connected(database: Database) -> Iterator[Any]:
    """A connection of the driver's own; its errors become one line."""
    if isinstance(database, Path):
        with (
            told(database),
            closing(sqlite3.connect(database, timeout=parameters.BUSY_TIMEOUT_S)) as connection,
        ):
            yield connection
        return

    with connected(database) as connection:
        yield connection


class _Asked:
    """The questions, in the words of both drivers."""

    def __init__(self, database: Database, connection: Any) -> None:
        self._database = database
        self._connection = connection
        self._file = isinstance(database, Path)
        #: What stands for a value.
        self._value = "?" if self._file else "%s"

    def _rows(self, query: str, *values: object) -> Any:
        return self._connection.execute(query, values)

    def laid_out(self) -> bool:
        """Whether there are tables at all."""
        query = (
            "SELECT 1 FROM sqlite_schema"
            if self._file
            else "SELECT 1 WHERE to_regclass('contests') IS NOT NULL"
        )
        return self._rows(query).fetchone() is not None

    def look_at_tables(self) -> None:
        """Ask every table for a row. The driver raises for what is not there or cannot be read."""
        for table, columns in COLUMNS.items():
            # A bare name in quotes would be a text to SQLite where there is no such column.
            wanted = ", ".join(f'{table}."{column}"' for column in columns)
            self._rows(f"SELECT {wanted} FROM {table} LIMIT 1").fetchone()  # noqa: S608 - names of ours

    def unfinished(self, name: str) -> Begun | None:
        """The latest contest of this name, if it is unfinished."""
        mine = f"name = {self._value} ORDER BY id DESC LIMIT 1"
        row = self._rows(f"SELECT id, seed, status, plan FROM contests WHERE {mine}", name).fetchone()  # noqa: S608
        if row is None or row[2] == FINISHED:
            return None
        try:
            plan = json.loads(row[3]) if self._file else row[3]
            int(row[1])
        except (TypeError, ValueError):
            plan = None
        if not isinstance(plan, dict):
            raise damaged(self._database, f"contest {row[0]}: its plan or its seed cannot be read")
        return Begun(row[0], name, row[1], plan)

    def check_journal(self, number: int) -> None:
        """Raise StoreError if one of the last rows is not what was written."""
        mine = f"contest_id = {self._value} ORDER BY id DESC LIMIT {JOURNAL_ROWS}"
        for (payload,) in self._rows(f"SELECT payload FROM journal WHERE {mine}", number):  # noqa: S608
            try:
                opened(bytes(payload))
            except (TypeError, ValueError) as error:
                raise damaged(self._database, str(error)) from None
