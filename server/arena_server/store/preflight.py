"""Checks of a database before a server listens, or a command reads it, in milliseconds.

    check_writable, check_readable      the database is there, ours, and has this version's layout
    check_contest                       the tables are whole, and the contest of this name can go on:
                                        same configuration, no other server, newest journal rows intact

Older rows, and what the entries mean, are checked when the contest is loaded. The checks use the
drivers below SQLAlchemy, write nothing but an empty SQLite file, and raise StoreError with one line.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Final

from arena_protocol.games import EPOCH, GAMES
from arena_server.core.life import FINAL
from arena_server.errors import EmptyDatabaseError, OtherConfigError, StoreError
from arena_server.store.chain import verify_checksum
from arena_server.store.database import (
    APPLICATION_ID,
    LAYOUT,
    READABLE,
    Database,
    Postgres,
    connect_postgres,
    connect_sqlite,
    damaged,
)
from arena_server.store.head import (
    Announced,
    check_announced,
    check_not_lost,
    check_nothing_announced,
    create_private,
    read_head,
)
from arena_server.store.ownership import check_unlocked
from arena_server.terms.config import ContestConfig
from arena_server.terms.terms import HouseTerms, terms_of

# -- is the database ours


def check_writable(database: Database) -> None:
    """Check that results can be written to `database`; a missing SQLite file is created."""
    if isinstance(database, Postgres):
        _check_postgres(database, writing=True)
        return
    if not database.parent.is_dir():
        raise StoreError(f"{database}: the folder {database.parent} does not exist")
    check_not_lost(database)
    create_private(database)
    announced = read_head(database)
    with connect_sqlite(database) as connection:
        connection.execute("BEGIN IMMEDIATE")
        if _has_tables(database, connection, announced):
            check_announced(database, announced, connection)
        else:
            check_nothing_announced(database, "has no tables", announced)
        connection.execute("ROLLBACK")


def check_readable(database: Database, *, losses_accepted: bool = False) -> str:
    """The layout of `database`; it holds results, unless `losses_accepted` all announced ones."""
    if isinstance(database, Postgres):
        return _check_postgres(database, writing=False)
    if not losses_accepted:
        check_not_lost(database)
    if not database.exists():
        raise StoreError(f"{database}: no such database; has a contest been played here? Try --database")
    # Before the database: a server may be writing both.
    announced = [] if losses_accepted else read_head(database)
    with connect_sqlite(database, read_only=is_read_only(database)) as connection:
        if not _has_tables(database, connection, announced):
            check_nothing_announced(database, "has no tables", announced)
            raise _empty(database)
        if not losses_accepted:
            check_announced(database, announced, connection, again=True)
        return str(connection.execute("PRAGMA user_version").fetchone()[0])


def is_read_only(path: Path) -> bool:
    """Whether this process may not write to the SQLite file, so that it has to be read as it is.

    To read it in the ordinary way SQLite would create files beside it. A file with a WAL beside it
    is incomplete without it.
    """
    writable = os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)
    return not writable and not Path(f"{path}-wal").exists()


def _has_tables(path: Path, connection: Any, announced: list[Announced]) -> bool:
    """Whether there are tables; False for a new file. Raises StoreError if they are not ours."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (layout,) = connection.execute("PRAGMA user_version").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    if tables == 0:
        return False
    if application != APPLICATION_ID:
        check_nothing_announced(path, "is damaged", announced)
        raise StoreError(f"{path}: a database of another program; choose a file of its own by --database")
    _check_layout(path, layout)
    return True


#: The comment on the table of contests is this text and the number of the layout.
COMMENT: Final = "insertion-arena layout"
#: Returns the comment or null; no row where there is no such table.
COMMENT_QUERY: Final = (
    "SELECT obj_description(oid) FROM pg_class "
    "WHERE relname = 'contests' AND relnamespace = current_schema()::regnamespace"
)


def _check_postgres(database: Postgres, *, writing: bool) -> str:
    with connect_postgres(database) as connection:
        row = connection.execute(COMMENT_QUERY).fetchone()
        read_only = connection.execute("SHOW transaction_read_only").fetchone()
    layout = check_comment(database, row)
    if row is None and not writing:
        raise _empty(database)
    if writing and read_only == ("on",):
        raise StoreError(f"{database}: the database can only be read; choose another --database")
    return layout


def check_comment(database: Postgres, row: Any) -> str:
    """The layout in the result of COMMENT_QUERY, empty without tables.

    Raises StoreError for tables that are not ours.
    """
    if row is None:
        return ""
    text, _, layout = (row[0] or "").rpartition(" ")
    if text != COMMENT:
        raise StoreError(f"{database}: a database of another program; choose one of its own by --database")
    _check_layout(database, layout)
    return layout


def _check_layout(database: Database, layout: object) -> None:
    if str(layout) not in READABLE:
        known = f"{READABLE[0]} to {READABLE[-1]}"
        raise StoreError(f"{database}: results of layout {layout}, and this version reads layouts {known}")


def _empty(database: Database) -> StoreError:
    return EmptyDatabaseError(
        f"{database}: an empty database; has a contest been played here? Try --database"
    )


# -- is an unfinished contest the one that the configuration describes

#: The seed may be drawn, and a newer version may go on with an older one's contest. What is dealt by another
#: contest is never taken up.
_NOT_COMPARED = ("seed", "software", "dealt")


#: How a contest treats its bots and spectators while it is played.
_HOUSE: Final = frozenset(each.name for each in fields(HouseTerms))


@dataclass(frozen=True, slots=True)
class StoredContest:
    """A contest that is to go on, or is over: its row, its seed as text, its `config_json`."""

    number: int
    name: str
    seed: str
    config: Mapping[str, Any]
    status: str


def config_json(config: ContestConfig, names: Sequence[str]) -> dict[str, Any]:
    """The config as JSON has it, without what may change when the contest goes on."""
    plain = {**asdict(config), "bots": list(names)}
    for key in _NOT_COMPARED:
        del plain[key]
    if (epoch := GAMES[config.game].EPOCH) != 1:
        plain[EPOCH] = epoch
    copy: dict[str, Any] = json.loads(json.dumps(plain))
    return copy


def check_same_config(
    database: Database, stored: StoredContest, config: ContestConfig, names: Sequence[str], seeded: bool
) -> None:
    """Raise OtherConfigError, naming the first difference, unless `stored` was begun with this config.

    A key that the version did not have which began it counts as its default.
    """
    before = {**config_json(ContestConfig(name="", seed=0), ()), EPOCH: 1, **stored.config}
    before["seed"] = stored.seed
    given = {EPOCH: 1, **config_json(config, names), "seed": str(config.seed) if seeded else stored.seed}
    is_over = stored.status in FINAL
    # Words about a bot and the contest may change, and what decides nothing any more.
    free = {"details", "about"} | (_HOUSE if is_over else frozenset())
    for key in given:
        if key not in free and given[key] != before.get(key):
            state = f"over ({stored.status})" if is_over else "unfinished"
            same = "show it by the same configuration" if is_over else "go on with the same configuration"
            joins = not is_over and key == "bots"
            more = "; bots join by `arena admin add`, without a change of the file" if joins else ""
            if key == "absent_ms":
                more = "; arena tournament has absent = '30s' where the file has none"
            name, was, now = _as_written(key, before.get(key), given[key])
            raise OtherConfigError(
                f"{database}: contest {stored.number} {stored.name} is {state}, and was begun with "
                f"{name}={was} where there is {now} now; "
                f"{same}, or begin a new contest by --new{more}"
            )


def _as_written(key: str, *values: object) -> tuple[str, ...]:
    """A key of the config and two of its values, as the file has them."""
    from arena_server.terms.tables import format_duration

    source = next((source for field, source in terms_of(ContestConfig) if field.name == key), None)
    is_duration = source is not None and source.read is None and key.endswith("_ms")

    def text(value: object) -> str:
        if value is None:
            return "none"
        return repr(format_duration(value) if is_duration and isinstance(value, int) else value)

    return (source.key.rpartition(".")[2] if source else "") or key, *map(text, values)


# -- can the contest go on

#: The columns of every table (`schema.py`, which would load SQLAlchemy).
COLUMNS: Final[Mapping[str, Sequence[str]]] = {
    "contests": (
        *("id", "name", "game", "options", "format", "games_per_pair", "games", "scoring", "seed"),
        *("clock_ms", "increment_ms", "margin_ms", "software", "config", "started_at"),
        *("checksum", "ended_at", "status", "head"),
    ),
    "bots": ("id", "contest_id", "name"),
    "games": (
        *("id", "contest_id", "game_id", "names", "totals", "end", "plies", "stored_at", "record"),
        *("place", "chain", "checksum", "used_ms", "agents"),
    ),
    "faults": ("id", "game_pk", "bot_id", "seat", "ply", "kind", "line"),
    "journal": ("id", "contest_id", "place", "payload"),
    "writers": ("contest_id", "writer"),
    "pairings": ("contest_id", "game_id", "players", "deal"),
    "facts": ("contest_id", "place", "payload"),
}
#: The layout that has brought a table, or a column of one that was there.
ADDED: Final[Mapping[str, int]] = {
    "writers": 5,
    "pairings": 6,
    "facts": 7,
    "games.used_ms": 7,
    "games.agents": 7,
}
#: How many of the newest journal rows are checked; a thousand take 2 ms.
JOURNAL_ROWS: Final = 1000


def check_contest(
    database: Database,
    config: ContestConfig,
    names: Sequence[str],
    *,
    new: bool,
    seeded: bool,
    keep: bool = False,
) -> str | None:
    """The status of the contest that goes on, or is shown as it has ended; None if one begins.

    `names` are the bots', in order; `new`, `seeded` and `keep` as in `ContestHeader`. A database without
    tables is accepted: the server creates them. Raises StoreError for tables that are not whole or a contest
    that cannot go on.
    """
    with _connected(database) as connection:
        queries = _Queries(database, connection)
        layout = queries.layout()
        if not layout:
            return None
        queries.read_tables(layout)
        stored = None if new else queries.latest(config.name)
        if stored is not None and stored.status in FINAL and not keep:
            stored = None
        # A server of the older version would go on in the layout that it knows.
        numbers = queries.running() if layout != str(LAYOUT) else []
        if stored is not None:
            check_same_config(database, stored, config, names, seeded)
            if stored.status not in FINAL:
                queries.check_journal(stored.number)
                numbers.append(stored.number)
        if isinstance(database, Postgres):
            _check_unlocked(database, connection, numbers)
    if isinstance(database, Path):
        _check_unlocked(database, None, numbers)
    return None if stored is None else stored.status


def latest_contests(database: Database, names: Iterable[str]) -> dict[str, StoredContest]:
    """The latest contest of each of these names; a database that is not there, or has no tables, has none.

    Raises StoreError for a damaged row.
    """
    if isinstance(database, Path) and not database.exists():
        return {}
    with _connected(database) as connection:
        queries = _Queries(database, connection)
        if not queries.layout():
            return {}
        found = {name: queries.latest(name) for name in names}
        return {name: contest for name, contest in found.items() if contest is not None}


def _check_unlocked(database: Database, connection: Any, numbers: Sequence[int]) -> None:
    for number in numbers:
        check_unlocked(database, connection, number)


@contextmanager
def _connected(database: Database) -> Iterator[Any]:
    if isinstance(database, Path):
        with connect_sqlite(database) as connection:
            yield connection
    else:
        with connect_postgres(database) as connection:
            yield connection


class _Queries:
    """The queries of `check_contest`, for both drivers."""

    def __init__(self, database: Database, connection: Any) -> None:
        self._database = database
        self._connection = connection
        self._is_file = isinstance(database, Path)
        self._parameter = "?" if self._is_file else "%s"

    def _rows(self, query: str, *values: object) -> Any:
        return self._connection.execute(query, values)

    def layout(self) -> str:
        """The layout of the tables; empty if there are none."""
        if isinstance(self._database, Postgres):
            return check_comment(self._database, self._rows(COMMENT_QUERY).fetchone())
        if self._rows("SELECT 1 FROM sqlite_schema").fetchone() is None:
            return ""
        return str(self._rows("PRAGMA user_version").fetchone()[0])

    def read_tables(self, layout: str) -> None:
        """Read one row of every table. The driver raises for a missing table, column or page."""
        for table, columns in COLUMNS.items():
            if int(layout) < ADDED.get(table, 0):
                continue
            # Qualified, because SQLite takes an unknown bare name in quotes for a string.
            known = (each for each in columns if int(layout) >= ADDED.get(f"{table}.{each}", 0))
            wanted = ", ".join(f'{table}."{column}"' for column in known)
            self._rows(f"SELECT {wanted} FROM {table} LIMIT 1").fetchone()  # noqa: S608 - names of ours

    def running(self) -> list[int]:
        """The contests that a server plays, or played when it was killed."""
        return [number for (number,) in self._rows("SELECT id FROM contests WHERE status = 'running'")]

    def latest(self, name: str) -> StoredContest | None:
        mine = f"name = {self._parameter} ORDER BY id DESC LIMIT 1"
        row = self._rows(f"SELECT id, seed, status, config FROM contests WHERE {mine}", name).fetchone()  # noqa: S608
        if row is None:
            return None
        try:
            config = json.loads(row[3]) if self._is_file else row[3]
            int(row[1])
        except (TypeError, ValueError):
            config = None
        if not isinstance(config, dict):
            raise damaged(self._database, f"contest {row[0]}: its config or its seed cannot be read")
        return StoredContest(row[0], name, row[1], config, row[2])

    def check_journal(self, number: int) -> None:
        """Raise StoreError if one of the newest rows was changed."""
        mine = f"contest_id = {self._parameter} ORDER BY id DESC LIMIT {JOURNAL_ROWS}"
        for (payload,) in self._rows(f"SELECT payload FROM journal WHERE {mine}", number):  # noqa: S608
            try:
                verify_checksum(bytes(payload))
            except (TypeError, ValueError) as error:
                raise damaged(self._database, str(error)) from None
