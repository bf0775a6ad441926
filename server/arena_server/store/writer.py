"""Entries and records in, word of their durability out: the database, and the thread that waits for it.

Records wait for the disk, so they are the thread's. Entries do not, for what the system has
survives a crash of the server: to an SQLite file they are committed by the caller itself,
which costs a twentieth of a word to the thread and back. On a server of PostgreSQL a commit
means waiting for the network, and all is the thread's; what waits there is committed together,
in its order. The error contract: after the first failure `failed` is called once, and nothing
is reported as durable that is not.
It must not know: the loop, the contest's rules.

    start -> look (is there an unfinished contest?) -> found -> enter -> journal, put ... -> close

What the writer is still to be given: entries and records, in their order, a few at a time.

Each commit costs, so what one turn of the loop brings is given together; but not more than a
few groups, so that whoever moved first in a turn need not wait for all who moved in it.
It must not know: what the entries mean, who waits for them.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Final

from arena_protocol.record import GameRecord, encode
from arena_server.core.config import ContestPlan
from arena_server.core.journal import Entry
from arena_server.errors import StoreError
from arena_server.store.database import Database
from arena_server.store.preflight import damaged, describe

if TYPE_CHECKING:
    from arena_server.store.contest_store import Book
    from arena_server.store.reader import Unfinished

#: Jobs committed together at most; a commit costs 0.2 ms, so more gains nothing.
BATCH = 1024
#: Nothing to write for so long: time for a checkpoint.
IDLE_S = 1.0
#: The thread looks after the journal every so many rows that did not come through it.
LOOK_ROWS = 1000


@dataclass(frozen=True, slots=True)
class Opening:
    """What is known of a contest at its start.

    `options` are the game's own, as GAME prints them; `games` is how many are to be played.
    An unfinished contest of the same name is taken up unless a `new` one is wanted; its seed
    may be any unless this one's was `seeded` on purpose.
    """

    plan: ContestPlan
    options: Mapping[str, str]
    names: Sequence[str]
    games: int
    new: bool = False
    seeded: bool = True


@dataclass(frozen=True, slots=True)
class Result:
    """A record to be kept."""

    game_id: str
    record: GameRecord


@dataclass(frozen=True, slots=True)
class _Enter:
    plan: ContestPlan


@dataclass(frozen=True, slots=True)
class _End:
    status: str


@dataclass(frozen=True, slots=True)
class _Look:
    """There may be something to tidy."""


@dataclass(frozen=True, slots=True)
class _Close:
    """The last job."""


#: A record to be kept, as it is and as bytes.
Bytes = tuple[str, GameRecord, bytes]
Job = tuple[tuple[Entry, ...], ...] | Result | _Enter | _End | _Look | _Close


class Writer:
    """Keeps one contest.

    Call `start`; once `found` was called `enter`; then `journal` and `put` any number of times,
    `end` when the contest is over, and `close`.

    `found(unfinished)` tells what there is to take up, None if nothing. `committed(groups,
    game_ids)` is called after each commit: so many groups of `journal` are durable by now, and
    the records of these games; `failed(error)` at the first failure. All are called on the
    writer's own thread, or out of `journal` on that of its caller.
    """

    def __init__(
        self,
        database: Database,
        opening: Opening,
        *,
        found: Callable[[Unfinished | None], None],
        committed: Callable[[int, list[str]], None],
        failed: Callable[[StoreError], None],
    ) -> None:
        self._database: Final = database
        self._opening: Final = opening
        self._found = found
        self._committed = committed
        self._failed = failed
        self._jobs: queue.SimpleQueue[Job] = queue.SimpleQueue()
        # A daemon: whoever ends without `close` has crashed, and must not hang on top of that.
        self._thread = threading.Thread(target=self._run, name="store", daemon=True)
        self._groups = 0
        self._short = isinstance(database, Path)
        #: The short way, once the contest is entered.
        self._book: Book | None = None
        #: It has failed, and writes no more.
        self._over = False

    def start(self) -> None:
        """Open the database and look for the contest, on the thread; failures come by `failed`."""
        self._thread.start()

    def enter(self, plan: ContestPlan) -> None:
        """Begin the contest, or go on with the one that was found."""
        self._jobs.put(_Enter(plan))

    def journal(self, groups: Sequence[tuple[Entry, ...]]) -> bool:
        """Take groups of entries, each of which becomes durable all or none; never waits.

        Returns False if they cannot be taken now: come again with them, in a millisecond or so.
        """
        if not self._short:
            self._jobs.put(tuple(groups))
            return True
        if not self._jot(groups):
            return self._over
        self._groups += len(groups)
        self._committed(self._groups, [])
        return True

    def _jot(self, groups: Sequence[tuple[Entry, ...]]) -> bool:
        """Commit groups by the short way, if it is open."""
        book = self._book
        if book is None or self._over:
            return False
        try:
            jotted = book.jot(list(chain.from_iterable(groups)))
        except Exception as error:  # as on the thread: whatever it is, nothing can be promised any more
            self._fail(error)
            return False
        if jotted and (book.unsettled == 1 or book.unsettled % LOOK_ROWS == 0):
            self._jobs.put(_Look())
        return jotted

    def put(self, game_id: str, record: GameRecord) -> None:
        """Queue a record; never waits. The entries of its game are dropped once it is kept."""
        self._jobs.put(Result(game_id, record))

    def end(self, status: str) -> None:
        """Mark the contest as `finished` or `stopped`; never waits."""
        self._jobs.put(_End(status))

    def close(self) -> None:
        """Write what is queued and end. Waits for the disk."""
        self._jobs.put(_Close())
        self._thread.join()

    def _fail(self, error: Exception) -> None:
        """Tell of the first failure; after it nothing is written any more."""
        if self._over:
            return
        self._over = True
        # SQLAlchemy wraps what the driver said; the driver says it more plainly.
        cause: BaseException = getattr(error, "orig", None) or error
        if isinstance(error, StoreError):
            self._failed(error)
        elif isinstance(cause, ValueError):  # what was read is no JSON, no text, not its digest's
            self._failed(damaged(self._database, str(cause)))
        else:
            self._failed(StoreError(describe(self._database, cause)))

    # -- on the thread

    def _run(self) -> None:
        try:
            self._write_all()
        except Exception as error:  # the thread's boundary: nobody else would hear of it
            self._fail(error)

    def _write_all(self) -> None:
        # Imported here, on the thread: SQLAlchemy takes longer than the port needs to open.
        from arena_server.store.contest_store import Book

        with Book(self._database) as book:
            self._found(book.look(self._opening))
            while not self._over and self._write_batch(book):
                pass

    def _write_batch(self, book: Book) -> bool:
        """Commit what waits, all together. Returns False at the end."""
        jobs = self._take(book)
        groups = [group for job in jobs if isinstance(job, tuple) for group in job]
        results = [(job.game_id, job.record, encode(job.record)) for job in jobs if isinstance(job, Result)]
        # Only entries: those of plies that no result hangs on yet. A power cut may take back what
        # was told of a game that is not over, but never a result.
        hard = any(isinstance(job, Result | _Enter | _End) for job in jobs)
        if self._over:
            return False
        if hard or groups:
            with book.transaction(hard=hard):
                self._write(book, jobs, list(chain.from_iterable(groups)), results)
        if hard:
            book.sync()
        self._book = book
        if groups:
            self._groups += len(groups)
        if groups or results:
            self._committed(self._groups, [game_id for game_id, _, _ in results])
        book.tidy()
        return not isinstance(jobs[-1], _Close)

    def _write(self, book: Book, jobs: Sequence[Job], entries: list[Entry], results: list[Bytes]) -> None:
        for job in jobs:
            if isinstance(job, _Enter):
                book.enter(self._opening, job.plan)
        book.add(entries, results)
        for job in jobs:
            if isinstance(job, _End):  # what was queued before it counts to the contest
                book.end(job.status)

    def _take(self, book: Book) -> list[Job]:
        """Wait for a job, and take with it what else is there."""
        jobs = [self._first(book)]
        while len(jobs) < BATCH and not isinstance(jobs[-1], _Close):
            try:
                jobs.append(self._jobs.get_nowait())
            except queue.Empty:
                break
        return jobs

    def _first(self, book: Book) -> Job:
        """Wait for a job; once nothing has been written for a while, use the time."""
        while True:
            before = book.unsettled
            try:
                return self._jobs.get(timeout=IDLE_S if before else None)
            except queue.Empty:
                if book.unsettled == before:
                    book.settle()


#: Groups of entries given together at most: a commit costs a tenth of a ply.
GROUPS = 8
#: How soon the writer is asked again that could not take entries at once.
RETRY_S = 0.001


class Inbox:
    """Stands before a writer, on the loop's thread; neither method ever waits."""

    def __init__(self, writer: Writer, loop: asyncio.AbstractEventLoop) -> None:
        self._writer = writer
        self._loop = loop
        self._waiting: deque[tuple[Entry, ...] | Result] = deque()
        #: Whether `_come` is called by itself.
        self._coming = False

    def journal(self, entries: tuple[Entry, ...]) -> None:
        """Have a group of entries written. The writer may say at once that it is durable."""
        self._waiting.append(entries)
        if len(self._waiting) == GROUPS:
            self._pass_on()
        elif not self._coming:
            self._coming = True
            self._loop.call_soon(self._come)

    def store(self, game_id: str, record: GameRecord) -> None:
        """Have a record written, behind the entries that lead to it."""
        self._waiting.append(Result(game_id, record))
        self._pass_on()

    def _come(self) -> None:
        self._coming = False
        self._pass_on()

    def _pass_on(self) -> None:
        while self._waiting:
            groups = self._take_groups()
            if groups and not self._writer.journal(groups):
                self._waiting.extendleft(reversed(groups))
                self._come_again()
                return
            while self._waiting and isinstance(result := self._waiting[0], Result):
                self._waiting.popleft()
                self._writer.put(result.game_id, result.record)

    def _take_groups(self) -> list[tuple[Entry, ...]]:
        """Take all entries up to the next record."""
        groups: list[tuple[Entry, ...]] = []
        while self._waiting and not isinstance(first := self._waiting[0], Result):
            groups.append(first)
            self._waiting.popleft()
        return groups

    def _come_again(self) -> None:
        if not self._coming:
            self._coming = True
            self._loop.call_later(RETRY_S, self._come)
