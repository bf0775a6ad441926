"""The database as a server writes it: one contest, on the writer's thread, and the short way beside it.

    transaction, add, sync, tidy, settle      the writer's thread; they may wait for the disk
    jot                                       any thread; entries to an SQLite file, at once or not at all

Every method raises what SQLAlchemy or its driver raises; the writer makes one line of it.
It must not know: queues, when something is to be written.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Final, Self

from sqlalchemy import delete, func, insert, select, text
from sqlalchemy.orm import Session

from arena_protocol.record import GameRecord
from arena_server.core.config import ContestPlan
from arena_server.core.deal import number_of
from arena_server.core.journal import Entry, Live
from arena_server.store import schema
from arena_server.store.chain import GENESIS, extend
from arena_server.store.database import APPLICATION_ID, LAYOUT, Claim, Database
from arena_server.store.journal import Log, Pen, pack
from arena_server.store.preflight import LAYOUT_QUERY, MARK, check_comment, check_same
from arena_server.store.reader import Unfinished, begun, find, load
from arena_server.store.schema import contest_row, fault_row, game_row, now, open_engine
from arena_server.store.writer import Opening

#: Under a load that never pauses SQLite's log would grow for ever: checkpoint after so many rows (40 MB).
CHECKPOINT_ROWS = 10_000
#: The journal is rewritten once it has so many entries, and four times as many as still matter.
COMPACT_ENTRIES = 20_000
#: Entries written anew, and rows dropped, at a time: the loop waits no longer than for one step.
STEP_ENTRIES, STEP_ROWS = 500, 1_000
#: How long `jot` waits for the writer's thread to be done with a transaction.
JOT_S = 0.002


class Book:
    """An open database; use it in a `with` statement. `unsettled` counts rows since the last checkpoint.

    `pen` is the short way, once a contest has been entered; a server of PostgreSQL has none.
    """

    def __init__(self, database: Database) -> None:
        self.unsettled = 0
        self.pen: Pen | None = None
        self._database: Final = database
        self._lock = Lock()
        self._log: Log | None = None
        self._engine = open_engine(database, durable=True)
        self._claim: Claim | None = None
        self._contest = 0
        self._bots: dict[str, int] = {}
        self._place, self._chain = 0, GENESIS
        self._live = Live()
        self._entries = 0
        self._found: Unfinished | None = None

    def __enter__(self) -> Self:
        self._connection = self._engine.connect()
        if isinstance(self._database, Path):
            self._log = Log(self._database, self._connection)
        try:
            with self._connection.begin():
                self._lay_out()
        except BaseException as error:
            self.__exit__(type(error), error, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            with self._lock:
                if self.pen is not None:
                    self.pen.close()
                    self.pen = None
            if self._log is not None:
                self._log.close(whole=error is None)
        finally:
            self._connection.close()
            self._engine.dispose()
            if self._claim is not None:
                self._claim.release()

    def _lay_out(self) -> None:
        """Make the tables if there are none, and say that they are ours."""
        connection = self._connection
        if isinstance(self._database, Path):
            schema.Base.metadata.create_all(connection)
            connection.exec_driver_sql(f"PRAGMA application_id={APPLICATION_ID}")
            connection.exec_driver_sql(f"PRAGMA user_version={LAYOUT}")
            return
        check_comment(self._database, connection.execute(text(LAYOUT_QUERY)).fetchone(), LAYOUT)
        schema.Base.metadata.create_all(connection)
        connection.execute(text(f"COMMENT ON TABLE contests IS '{MARK} {LAYOUT}'"))

    @contextmanager
    def transaction(self, *, hard: bool = True) -> Iterator[None]:
        """What is written in it is committed at its end, all or none.

        From then on it survives the end of this process; a `hard` one survives a power cut, too,
        and all before it, once `sync` has returned.
        """
        with self._lock, self._connection.begin():
            if self._log is None and not hard:
                self._connection.execute(text("SET LOCAL synchronous_commit = off"))
            yield

    def sync(self) -> None:
        """Wait until the disk has all that was committed; others may write meanwhile.

        A server of PostgreSQL has waited in the commit already. Raises OSError.
        """
        if self._log is not None:
            self._log.sync()

    # -- a contest

    def look(self, opening: Opening) -> Unfinished | None:
        """The unfinished contest that is to go on, claimed; None if a new one is to begin.

        Raises StoreError if there is one that was begun with another plan, or that another
        server plays, and ValueError for a damaged journal.
        """
        with self._connection.begin(), self._session() as session:
            contest = None if opening.new else find(session, opening.plan.name)
            if contest is None:
                return None
            check_same(self._database, begun(contest), opening.plan, opening.names, opening.seeded)
            self._claim = Claim(self._database, self._connection, contest.id)
            self._found = load(session, contest)
        return self._found

    def enter(self, opening: Opening, plan: ContestPlan) -> None:
        """Begin the contest, or go on with the one that was found."""
        with self._session() as session:
            if self._found is None:
                self._begin(session, opening, plan)
            else:
                self._go_on(session, self._found)
            session.flush()
            bots = select(schema.Bot).where(schema.Bot.contest_id == self._contest)
            self._bots = {bot.name: bot.id for bot in session.scalars(bots)}
        if isinstance(self._database, Path):
            self.pen = Pen(self._database, self._contest)

    def _session(self) -> Session:
        """Open a session within the transaction of the connection, which outlives it."""
        return Session(self._connection)

    def _begin(self, session: Session, opening: Opening, plan: ContestPlan) -> None:
        contest = contest_row(opening, plan)
        session.add(contest)
        session.flush()
        self._contest = contest.id
        session.add_all(schema.Bot(contest_id=contest.id, name=name) for name in opening.names)
        self._claim = Claim(self._database, self._connection, contest.id)

    def _go_on(self, session: Session, found: Unfinished) -> None:
        contest = session.get_one(schema.Contest, found.contest)
        contest.status, contest.ended_at, contest.head = schema.RUNNING, None, None
        self._contest = found.contest
        self._live.add(found.past.entries)
        for game in found.past.results:
            self._live.forget(game.number)
        mine = select(schema.Game.place, schema.Game.chain).where(schema.Game.contest_id == contest.id)
        if last := session.execute(mine.order_by(schema.Game.place.desc()).limit(1)).first():
            self._place, self._chain = last
        self._compact()
        self._found = None  # it may be large, and is not needed any more

    def end(self, status: str) -> None:
        """Mark the contest as over; of one that is finished nothing has to be taken up any more."""
        with self._session() as session:
            contest = session.get_one(schema.Contest, self._contest)
            contest.status, contest.ended_at, contest.head = status, now(), self._chain
            session.flush()
        if status == schema.FINISHED:
            self._live = Live()
            self._compact()

    # -- entries and records

    def add(self, entries: Sequence[Entry], results: Sequence[tuple[str, GameRecord, bytes]]) -> None:
        """Write entries and records, these also as bytes; of a game that is kept no entry matters more."""
        if entries:
            self._add_row(entries)
            self._note(entries)
        for game_id, record, data in results:
            self._add_result(game_id, record, data)
            self._live.forget(number_of(game_id))

    def jot(self, entries: Sequence[Entry]) -> bool:
        """Commit entries by the pen. Returns False if that would mean to wait; nothing is kept then."""
        if not self._lock.acquire(timeout=JOT_S):
            return False
        try:
            written = self.pen is not None and self.pen.write(pack(entries))
            if written:
                self._note(entries)
        finally:
            self._lock.release()
        return written

    def _note(self, entries: Sequence[Entry]) -> None:
        self._live.add(entries)
        self._entries += len(entries)
        self.unsettled += 1

    def _add_row(self, entries: Sequence[Entry]) -> None:
        row = {"contest_id": self._contest, "payload": pack(entries)}
        self._connection.execute(insert(schema.JournalRow), row)

    def _add_result(self, game_id: str, record: GameRecord, data: bytes) -> None:
        self._place, self._chain = self._place + 1, extend(self._chain, data)
        game = game_row(self._contest, game_id, record, data, (self._place, self._chain))
        (key,) = self._connection.execute(insert(schema.Game).returning(schema.Game.id), game).one()
        if record.faults:
            faults = [fault_row(key, record.names, self._bots, each) for each in record.faults]
            self._connection.execute(insert(schema.Fault), faults)
        self.unsettled += 1

    # -- tidiness

    def tidy(self) -> None:
        """Keep journal and log small, between two commits."""
        if self._entries > COMPACT_ENTRIES and self._entries > 4 * len(self._live):
            steps = self._rewriting()
            going_on = True
            while going_on:
                with self.transaction(hard=False):
                    going_on = next(steps, False)
        if self.unsettled >= CHECKPOINT_ROWS:
            self.settle()

    def _compact(self) -> None:
        """Write anew what still matters, and drop all older rows, at once."""
        for _ in self._rewriting():
            pass

    def _rewriting(self) -> Iterator[bool]:
        """Do the same in steps; after each of them the journal says the same as before.

        For the last about each thing counts, and a game begins anew with its first entry.
        """
        mine, rows = schema.JournalRow.contest_id == self._contest, schema.JournalRow.id
        last = self._connection.scalar(select(func.max(rows)).where(mine)) or 0
        if contest := self._live.contest:
            self._add_row(contest)
        size = 0
        for number in list(self._live.games):
            entries = self._live.games.get(number, [])  # none if it was stored between two steps
            if entries:
                self._add_row(entries)
            size += len(entries)
            if size >= STEP_ENTRIES:
                size = 0
                yield True
        self._entries = len(self._live)
        old = select(rows).where(mine, rows <= last).order_by(rows).limit(STEP_ROWS)
        while self._connection.execute(delete(schema.JournalRow).where(rows.in_(old))).rowcount:
            yield True

    def settle(self) -> None:
        """Nothing is to be written for a while, or too much was: fold SQLite's log into the file."""
        self.unsettled = 0
        if self._log is not None:
            self._log.fold(self._lock)
