"""A glance at the tables before a server listens: are they ours, can the contest go on? In a millisecond.

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
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final

from arena_server.core.plan import ContestPlan
from arena_server.store.claim import check_unclaimed
from arena_server.store.probe import BUSY_TIMEOUT_S, damaged, told
from arena_server.store.sameness import Begun, check_same
from arena_server.store.seal import opened
from arena_server.store.url import Database

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
        with told(database), closing(sqlite3.connect(database, timeout=BUSY_TIMEOUT_S)) as connection:
            yield connection
        return
    from arena_server.store.postgres import connected

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
