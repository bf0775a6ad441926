"""A contest's store that outlives its connection: one that is given up, or one to PostgreSQL that is lost.

A store that has nothing to write is parked: it has its lock, the mark of its last transaction (`fence.py`)
and the state of its rows in memory, and neither a connection nor files.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Final

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from arena_server.core.journal import Past
from arena_server.core.life import FINAL
from arena_server.errors import StoreError
from arena_server.store import schema
from arena_server.store.contest_store import ContestStore
from arena_server.store.database import Database, Postgres
from arena_server.store.fact_rows import not_in_table
from arena_server.store.fence import Claim, end_sessions
from arena_server.store.head import HEAD_SUFFIX, beside, check_files
from arena_server.store.ownership import ContestLock
from arena_server.store.unfinished import journal_entries, stored_numbers


class ReopenedStore(ContestStore):
    """`wake` is called on any thread to have a parked store look at the database: call `unpark` then."""

    def __init__(self, database: Database, wake: Callable[[], None] = lambda: None) -> None:
        super().__init__(database)
        self._wake: Final = wake
        self.is_parked = False

    def park(self) -> bool:
        """Give connection and files up, if no game runs and another store of this process has some.

        A connection to PostgreSQL has the lock of the contest, and stays.
        """
        if self._open is None or self._contest == 0:
            return False
        with self._lock:  # nothing is appended
            self._journal.count_recent()
            at_rest = not (self._journal.live.games or self._journal.kept)
            if not (at_rest and self._open.park(self._wake)):
                return False
            self.is_parked = True
            self._close_files()
        if self._wal is not None:
            self._wal.close(truncate=False)
        self._connection.close()
        return True

    def unpark(self) -> None:
        """Open them again. Raises StoreError if they were deleted or replaced meanwhile."""
        assert self._open is not None, "it was parked"
        assert isinstance(self._database, Path), "it was parked"
        self._open.unpark(self._wake)
        # SQLite deletes and makes its log with the last and the first connection to the file.
        kept = (self._database, beside(self._database, HEAD_SUFFIX))
        check_files(self._database, [each for each in self._files if each[0] in kept])
        self._connect(self._engine.connect())
        self.is_parked = False
        if not self._is_final:
            self._open_appender(self._name)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self.is_parked:
            super().__exit__(kind, error, trace)
            return
        assert self._open is not None, "it was parked"
        self._open.unpark(self._wake)
        if self._contest_lock is not None:
            self._contest_lock.release()

    def rejoin(self, lost: ContestStore) -> bool:
        """Take the place of a store whose connection is lost. Return whether what it had begun is durable.

        Raises StoreError as `Claim.settle`, ConnectionError if it is to be tried again.
        """
        contest, sessions, self.fence = lost._contest, self.fence.sessions, lost.fence
        self.fence.sessions |= sessions
        with self._connection.begin(), self._session() as session:
            self._exclude_others()  # also a transaction that begins the contest, and is still under way
            claim = Claim(self._database, self._connection, contest, self.fence)
            durable = claim.settle()
            if self.fence.mark is None:  # the contest is still to be begun
                return durable
            self._take_lock(contest)
            claim.renew()
            self._claim = claim
            row = session.get_one(schema.ContestRow, contest)
            self._load(session, row)
            name = row.name
        self._has_rejoined = True
        if not self._is_final:
            self._open_appender(name)
        return durable

    def _take_lock(self, contest: int) -> None:
        try:
            self._contest_lock = ContestLock(self._database, self._connection, contest)
        except StoreError as error:
            if isinstance(self._database, Postgres):
                end_sessions(self._connection, contest, self.fence.sessions - {self._session_id})
            raise ConnectionError(str(error)) from None

    def _load(self, session: Session, contest: schema.ContestRow) -> None:
        """Have the rows of a contest that this server plays."""
        self._contest, self._is_final = contest.id, contest.status in FINAL
        kept = self._facts.resume(session, contest.id)
        self._facts.begin(session, contest.id)
        self._results.resume(session, contest)
        if self._is_final:
            return
        newest = select(func.max(schema.JournalRow.place)).where(schema.JournalRow.contest_id == contest.id)
        entries = tuple(journal_entries(session, contest))
        self._journal.begin(contest.id, session.scalar(newest) or 0, Past((), entries))
        for number in stored_numbers(session, contest, list(self._journal.live.games)):
            self._journal.live.forget(number)
        self._journal.kept = not_in_table(kept, self._journal.live.contest)
