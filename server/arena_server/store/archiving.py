"""Taking the games of a contest that is over out of the database, into a file that is read in their place.

    close     no server adds to the contest any more: the fact `Archived`
    copy      a new SQLite file has the rows of the contest
    mark      the row of the contest says where its games are: from now on they are read there (`sources.py`)
    remove    the games are deleted here, a few in each transaction

Before `mark` the database has everything, after it the file has: a process that is killed in or between these
steps loses nothing, and another one goes on.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from sqlalchemy import URL, Table, create_engine, delete, func, insert, select
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.orm import Session

from arena_server.core.facts import Archived
from arena_server.core.journal import CONTEST, entry_of
from arena_server.errors import StoreError
from arena_server.store import schema
from arena_server.store.chain import GENESIS
from arena_server.store.database import APPLICATION_ID, LAYOUT, Database, describe, no_room
from arena_server.store.engines import open_engine
from arena_server.store.head import create_private
from arena_server.store.journal import pack
from arena_server.store.ownership import ContestLock
from arena_server.store.preflight import check_readable
from arena_server.store.sources import open_archive
from arena_server.store.unfinished import kept_entries

#: Rows that are in memory at once while they are copied.
COPIED_AT_ONCE: Final = 500
#: Games that one transaction deletes: a server that plays beside it waits 5 ms for them.
REMOVED_AT_ONCE: Final = 100
#: Tables whose rows stay: what pages list, who took part, and what was decided.
_KEPT: Final = (schema.ContestRow, schema.BotRow, schema.FactRow)


class Archiving:
    """The right to archive contest `number`, which has ended for good; use it in a `with` statement.

    It has one writer at a time. The statement and all methods raise StoreError with one line. `pause` waits
    the seconds it is given between two transactions, so that a server beside it comes to write; `step` is
    called with each durable step.
    """

    def __init__(
        self,
        database: Database,
        number: int,
        *,
        pause: Callable[[float], None] = time.sleep,
        step: Callable[[str], None] = lambda _: None,
    ) -> None:
        if (layout := check_readable(database)) != str(LAYOUT):
            raise StoreError(
                f"{database}: results of layout {layout}; `arena serve` brings them to layout {LAYOUT}, "
                "then archive the contest"
            )
        self._database = database
        self._number = number
        self._pause = pause
        self._step = step
        self._engine = open_engine(database, writing=True)
        self._lock: ContestLock | None = None

    def __enter__(self) -> Self:
        try:
            self._connection = self._engine.connect()
            with self._connection.begin():
                self._lock = ContestLock(self._database, self._connection, self._number)
        except BaseException as error:
            self.__exit__(type(error), error, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if connection := getattr(self, "_connection", None):
            connection.close()
        self._engine.dispose()
        if self._lock is not None:
            self._lock.release()
        if isinstance(error, SQLAlchemyError):
            raise StoreError(describe(self._database, getattr(error, "orig", None) or error)) from None

    @contextmanager
    def _transaction(self) -> Iterator[Session]:
        with self._connection.begin():
            if isinstance(self._database, Path):
                self._connection.exec_driver_sql("BEGIN IMMEDIATE")
            with Session(self._connection) as session:
                yield session
                session.flush()

    def close(self) -> None:
        """Have no server add anything to the contest, from its next start on."""
        archived = entry_of(CONTEST, Archived(""))
        with self._transaction() as session:
            entries = list(kept_entries(session, self._number))
            if archived not in entries:
                row = {"contest_id": self._number, "place": len(entries) + 1, "payload": pack([archived])}
                session.execute(insert(schema.FactRow), row)
        self._step("closed")

    def copy(self, to: Path) -> None:
        """Write the rows of the contest to the new file `to`, durably. Raises OSError, too."""
        create_private(to)
        engine = create_engine(URL.create("sqlite", database=str(to.absolute())))
        try:
            with engine.begin() as copy, self._connection.begin():
                schema.Base.metadata.create_all(copy)
                for mark in (f"application_id={APPLICATION_ID}", f"user_version={LAYOUT}"):
                    copy.exec_driver_sql(f"PRAGMA {mark}")
                for table, mine in self._tables():
                    few = {"yield_per": COPIED_AT_ONCE}
                    rows = self._connection.execute(select(table).where(mine), execution_options=few)
                    for part in rows.mappings().partitions():
                        copy.execute(insert(table), [dict(row) for row in part])
        except DBAPIError as error:
            raise no_room(error.orig or error, to) or error from None
        finally:
            engine.dispose()
        with to.open("rb") as file:
            os.fsync(file.fileno())
        self._step("copied")

    def _tables(self) -> Iterator[tuple[Table, Any]]:
        """The tables with what a contest keeps, and which rows are its own."""
        for model in (*_KEPT, schema.GameRow, schema.PairingRow, schema.FaultRow):
            yield model.__table__, self._own(model)  # type: ignore[misc] # a table, as SQLAlchemy says elsewhere

    def _own(self, model: Any) -> Any:
        if model is schema.ContestRow:
            return schema.ContestRow.id == self._number
        if model is schema.FaultRow:
            games = select(schema.GameRow.id).where(schema.GameRow.contest_id == self._number)
            return schema.FaultRow.game_pk.in_(games)
        return model.contest_id == self._number

    def mark(self, file: Path) -> None:
        """Have the games of the contest read in `file`, which `copy` has written and nothing has changed."""
        with self._transaction() as session:
            contest = session.get_one(schema.ContestRow, self._number)
            mine = schema.GameRow.contest_id == self._number
            games = session.scalar(select(func.count()).select_from(schema.GameRow).where(mine)) or 0
            known = contest.archive  # which has moved
            schema.set_archive(contest, file, games if known is None else known["games"])
            self._check(contest)
        self._step("marked")

    def _check(self, contest: schema.ContestRow) -> None:
        """Raise StoreError unless the archive of the contest is there, whole."""
        assert contest.archive is not None
        source = open_archive(self._database, contest)
        mine = schema.GameRow.contest_id == self._number
        games = source.session.scalar(select(func.count()).select_from(schema.GameRow).where(mine))
        last = select(schema.GameRow.chain).where(mine, schema.GameRow.place == games)
        head = source.session.scalar(last) or GENESIS
        source.session.close()
        if (games, head) != (contest.archive["games"], contest.head):
            raise StoreError(
                f"{contest.archive['file']}: expected the {contest.archive['games']} games of contest "
                f"{contest.id} {contest.name} with its head, found {games}; restore the file"
            )

    def remove(self) -> int:
        """Delete the games of a contest that is marked; returns how many were left to delete."""
        with self._connection.begin(), Session(self._connection) as session:
            self._check(session.get_one(schema.ContestRow, self._number))
        removed = 0
        while more := self._remove_some():
            removed += more
        with self._transaction() as session:
            for model in (schema.PairingRow, schema.JournalRow):
                session.execute(delete(model).where(self._own(model)))
        self._step("removed")
        return removed

    def _remove_some(self) -> int:
        began = time.monotonic()
        with self._transaction() as session:
            columns = select(schema.GameRow.id, schema.GameRow.game_id)
            rows = session.execute(columns.where(self._own(schema.GameRow)).limit(REMOVED_AT_ONCE)).all()
            if rows:
                games, names = [row.id for row in rows], [row.game_id for row in rows]
                session.execute(delete(schema.FaultRow).where(schema.FaultRow.game_pk.in_(games)))
                known = schema.PairingRow.game_id.in_(names)
                session.execute(delete(schema.PairingRow).where(self._own(schema.PairingRow), known))
                session.execute(delete(schema.GameRow).where(schema.GameRow.id.in_(games)))
        if rows:
            self._step("removed some")
        if len(rows) == REMOVED_AT_ONCE:
            self._pause(time.monotonic() - began)
        return len(rows)
