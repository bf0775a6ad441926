"""The database as a server writes it: the rows of one contest.

All methods are for the writer's thread and may wait for the disk; `appender` is for any thread. Every
method raises what SQLAlchemy or its driver raises; the writer makes one line of it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Any, Final, Self, cast

from sqlalchemy import Connection, func, select, text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from arena_protocol.record import GameRecord
from arena_server.core.deal import number_of
from arena_server.core.journal import KEPT, Entry
from arena_server.core.life import FINAL, RUNNING
from arena_server.errors import StoreError
from arena_server.store import schema
from arena_server.store.database import ContestHeader, Database, Postgres
from arena_server.store.engines import open_engine
from arena_server.store.fact_rows import FactRows, not_in_table
from arena_server.store.fence import Claim, Fence
from arena_server.store.head import FileId, HeadFile, check_files, identify_files, missing_rows, read_head
from arena_server.store.journal import JournalAppender, PostgresAppender, SqliteAppender
from arena_server.store.journal_rows import JournalRows
from arena_server.store.migration import create_tables
from arena_server.store.open_files import OpenFile
from arena_server.store.ownership import LOCK_CLASS, ContestLock, is_played
from arena_server.store.preflight import check_same_config
from arena_server.store.result_rows import ResultRows
from arena_server.store.schema import contest_row, now
from arena_server.store.unfinished import (
    UnfinishedContest,
    find_unfinished,
    is_over,
    load_unfinished,
    stored_contest,
)
from arena_server.store.wal import WriteAheadLog
from arena_server.terms.config import ContestConfig

#: Under a load without pauses the WAL would grow without limit: checkpoint after this many rows (40 MB).
CHECKPOINT_ROWS = 10_000
#: How long another program may hold the SQLite file of a contest that is played: results and moves wait, and
#: an end of the server would void its games.
LOCK_WAIT_S = 60.0


class ContestStore:
    """An open database; use it in a `with` statement. Call `find`, then `enter`, then the rest."""

    def __init__(self, database: Database) -> None:
        self._database: Final = database
        self._engine = open_engine(database, writing=True)
        #: Held during every transaction: who appends waits for it, and no other transaction begins.
        self._lock = Lock()
        self._wal: WriteAheadLog | None = None
        self._open: OpenFile | None = None
        self._contest_lock: ContestLock | None = None
        self._claim: Claim | None = None
        #: Shared with the store that takes this one's place (`rejoin`).
        self.fence = Fence()
        self._found: UnfinishedContest | None = None
        self._contest = 0
        self._name = ""
        self._head: HeadFile | None = None
        self._files: list[tuple[Path, FileId]] = []
        #: Whether the contest has ended for good: it has no journal, and facts alone are added.
        self._is_final = False
        #: Whether the contest's rows are known without `enter`.
        self._has_rejoined = False
        #: Rows written at the last checkpoint and at the last call of `maintain`.
        self._saved = self._written_before = 0

    def __enter__(self) -> Self:
        connection = self._engine.connect()
        self._journal = JournalRows(connection)
        self._results = ResultRows(connection)
        self._facts = FactRows(connection, self._results)
        self._connect(connection)
        if isinstance(self._database, Postgres):
            self._session_id = self._driver_connection.info.backend_pid
            self.fence.sessions.add(self._session_id)
        try:
            with self._connection.begin():
                self._exclude_others()
                create_tables(self._database, self._connection)
        except BaseException as error:
            self.__exit__(type(error), error, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            with self._lock:
                self._close_files()
            if self._wal is not None and self._open is not None:
                # A contest that is over was only read, and while others have the file open the last one
                # waits for all: the wait for the disk would be for the others' rows.
                self._wal.close(truncate=error is None and self._contest != 0 and self._open.is_alone)
            if isinstance(self._database, Postgres):
                # The end of the connection frees the lock later, when the database server comes to it.
                with suppress(SQLAlchemyError):  # the connection is lost already
                    self._connection.execute(text("SELECT pg_advisory_unlock_all()"))
        finally:
            self._connection.close()
            if self._open is not None:
                self._open.leave()
            if self._contest_lock is not None:
                self._contest_lock.release()

    def _connect(self, connection: Connection) -> None:
        """Have this connection, and all that goes by it."""
        self._connection = connection
        for each in (self._journal, self._results, self._facts, self._claim):
            if each is not None:
                each.connection = connection
        if isinstance(self._database, Path):
            self._open = OpenFile.enter(self._database)
            self._wal = WriteAheadLog(self._database, connection, self._open.kept)

    def _close_files(self) -> None:
        """Append nothing more; the caller holds the lock."""
        self._journal.close()
        if self._head is not None:
            self._head.close()
            self._head = None

    def _exclude_others(self) -> None:
        """Have other servers wait here until the transaction ends, which this call begins."""
        if isinstance(self._database, Path):
            self._connection.exec_driver_sql("BEGIN IMMEDIATE")
        else:
            lock = text("SELECT pg_advisory_xact_lock(:class, 0)")  # no contest has the number 0
            self._connection.execute(lock, {"class": LOCK_CLASS})

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit what is written in it, all or none.

        It survives the end of this process, and a power cut once `sync` has returned.
        """
        with self._lock:
            before = self.fence.mark
            try:
                with self._connection.begin():
                    if self._claim is not None:
                        self._claim.check()
                    yield
            except BaseException:
                if isinstance(self._database, Path):
                    # It is rolled back, and its mark with it: who appends now would name another server as
                    # the cause, and not the full disk. A lost connection may have committed: `settle` asks.
                    self.fence.mark = before
                raise
            if self._head is not None:
                self._head.write_journal(self._journal.newest)

    def sync(self) -> None:
        """Wait until everything committed is on the disk; `append` works meanwhile. Raises OSError."""
        if self._wal is not None:
            self._wal.sync()
        if self._head is not None:
            self._head.write_results(self._results.place, self._results.chain)
            self._head.sync()

    # -- the contest

    def find(self, header: ContestHeader) -> UnfinishedContest | None:
        """The unfinished contest that goes on, locked, or one that is over; None if a new one begins.

        Raises StoreError if it has another configuration or another server plays it, and
        ValueError for a damaged journal.
        """
        with self._connection.begin(), self._session() as session:
            name = header.config.name
            contest = None if header.new else find_unfinished(session, name, over_too=header.keep)
            if contest is None:
                return None
            check_same_config(
                self._database, stored_contest(contest), header.config, header.names, header.seeded
            )
            if is_over(contest, closed=header.closed):
                return load_unfinished(session, contest, self._database, closed=header.closed)
            self._own(contest.id)
            found = load_unfinished(session, contest, self._database)
            self._found = replace(found, lost_rows=self._lost_rows(contest.id))
        return self._found

    def _own(self, contest: int) -> None:
        """Become the one server of a contest, before its rows are read."""
        self._contest = contest
        self._contest_lock = ContestLock(self._database, self._connection, contest)
        self._claim = Claim(self._database, self._connection, contest, self.fence)
        self._claim.make()

    def _lost_rows(self, contest: int) -> int:
        if not isinstance(self._database, Path):
            return 0
        driver = cast(sqlite3.Connection, self._connection.connection.dbapi_connection)
        announced = [each for each in read_head(self._database) if each.contest == contest]
        return sum(missing_rows(each, driver) for each in announced)

    def enter(self, header: ContestHeader, config: ContestConfig) -> None:
        """Begin the contest, or go on with the one that `find` returned."""
        with self._session() as session:
            if self._has_rejoined:
                self._go_on(session, config)
            elif self._found is None:
                self._begin(session, header, config)
            else:
                self._resume(session, self._found, config)
            session.flush()
            self._facts.begin(session, self._contest)
        if list(self._facts.bots)[: len(header.names)] != list(header.names):
            raise ValueError(f"the bots of contest {self._contest} are not those of its configuration")
        if not self._has_rejoined:
            self._open_appender(config.name)

    @property
    def _driver_connection(self) -> Any:
        return self._connection.connection.driver_connection

    def _open_appender(self, name: str) -> None:
        self._name = name
        assert self._claim is not None
        if isinstance(self._database, Postgres):
            self._journal.appender = PostgresAppender(
                self._database, self._claim, self._journal.newest, self._lock
            )
            return
        self._driver_connection.execute(f"PRAGMA busy_timeout={int(LOCK_WAIT_S * 1000)}").close()
        self._head = HeadFile(self._database, self._contest, name)
        self._journal.appender = SqliteAppender(
            self._database, self._claim, self._journal.newest, self._lock, self._head
        )
        self._files = identify_files(self._database)

    def reopen(self, contest: int) -> None:
        """Have a contest that has ended for good, as its one server."""
        self._own(contest)
        self._contest, self._is_final = contest, True
        with self._session() as session:
            if (archive := session.get_one(schema.ContestRow, contest).archive) is not None:
                where = f"{self._database}: contest {contest} is archived in {archive['file']}"
                raise StoreError(f"{where}: nothing is added to it; start its server again")
            self._facts.resume(session, contest)

    def _session(self) -> Session:
        """A session within the transaction of the connection; the connection outlives it."""
        return Session(self._connection)

    def _begin(self, session: Session, header: ContestHeader, config: ContestConfig) -> None:
        self._exclude_others()
        begun = None if header.new else find_unfinished(session, config.name)
        if begun is not None:  # since `find`
            raise is_played(self._database, begun.id)
        contest = contest_row(header, config)
        session.add(contest)
        session.flush()
        self._contest = contest.id
        self._journal.begin(contest.id)
        self._results.begin(contest.id)
        session.add_all(schema.BotRow(contest_id=contest.id, name=name) for name in header.names)
        self._own(contest.id)

    def _go_on(self, session: Session, config: ContestConfig) -> schema.ContestRow:
        contest = session.get_one(schema.ContestRow, self._contest)
        schema.set_about(contest, config.about)
        schema.set_status(contest, RUNNING, None, None)
        return contest

    def _resume(self, session: Session, found: UnfinishedContest, config: ContestConfig) -> None:
        contest = self._go_on(session, config)
        newest = select(func.max(schema.JournalRow.place)).where(schema.JournalRow.contest_id == contest.id)
        self._journal.begin(contest.id, session.scalar(newest) or 0, found.past)
        self._results.resume(session, contest)
        kept = self._facts.resume(session, contest.id)
        self._journal.kept = not_in_table(kept, self._journal.live.contest)
        self._journal.compact()
        self._found = None  # it may be large

    def end(self, status: str, ago: int = 0) -> None:
        """Set the status of the contest, which has ended `ago` ns. One that is over needs no journal."""
        self._journal.count_recent()
        self._keep()
        with self._session() as session:
            contest = session.get_one(schema.ContestRow, self._contest)
            ended_at = now() - timedelta(microseconds=ago // 1000)
            schema.set_status(contest, status, ended_at, self._results.chain)
            session.flush()
        if status in FINAL:
            if self._head is not None:
                self._head.write_journal(0)  # before the rows are gone
            # What the contest adds now waits for this thread: a row of a journal would not be read again.
            self._journal.close()
            self._journal.delete()
            self._is_final = True

    # -- entries and records

    @property
    def appender(self) -> JournalAppender | None:
        """Appends entries without waiting, once a contest is entered."""
        return self._journal.appender

    @property
    def running(self) -> int:
        """How many games have begun and have no result here, as of the last transaction or `maintain`."""
        return len(self._journal.live.games)

    def add(self, entries: Sequence[Entry], results: Sequence[tuple[str, GameRecord, bytes]]) -> None:
        """Write entries, then results: game id, record, encoded record. The results' entries are dropped."""
        if self._is_final:
            self._facts.add([entry for entry in entries if entry[1] in KEPT])
            return
        self._journal.count_recent()
        if entries:
            self._journal.add(entries)
        self._keep()
        if results:
            self._results.add(results, self._facts.bots, self._journal.offer)
        for game_id, _, _ in results:
            self._journal.live.forget(number_of(game_id))

    def _keep(self) -> None:
        """Put entries that outlive the journal into the table of facts, within a transaction."""
        self._facts.add(self._journal.kept)
        self._journal.kept = []

    # -- maintenance

    def maintain(self, *, idle: bool = False) -> None:
        """Keep journal and WAL small; call it between transactions, with `idle` after a pause.

        Raises StoreError if the files were deleted, replaced or damaged.
        """
        if isinstance(self._database, Path):
            check_files(self._database, self._files)
        # One of all contests looks for them all.
        if self._wal is not None and self._open is not None and self._open.is_check_due():
            self._wal.check()
        with self._lock:
            self._journal.count_recent()
        if self._journal.kept:
            with self.transaction():
                self._keep()
        if self._journal.is_long:
            steps = self._journal.compaction_steps()
            more = True
            while more:
                with self.transaction():
                    more = next(steps, False)
        written = self._journal.written + self._results.written
        at_rest = idle and written > self._saved and written == self._written_before
        self._written_before = written
        if at_rest or written - self._saved >= CHECKPOINT_ROWS:
            self._saved = written
            if self._wal is not None:
                self._wal.checkpoint(self._lock)
