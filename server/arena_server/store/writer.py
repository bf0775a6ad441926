"""One contest's write path: a queue in front of the database, and the thread that owns the connection.

    start -> found(contest or None) -> enter -> append, store ... -> end -> close

Records have to be on the disk before a result is announced, so they are written by the thread.
Entries of the journal need not wait for the disk with SQLite: a commit that is with the operating
system survives the end of this process. `append` therefore commits to an SQLite file on the
calling thread, in 10 to 25 us. It queues the entries for the thread instead if the file is busy,
if earlier entries are still queued, and always with PostgreSQL, where a commit waits for the
network, and of a contest that may not keep its caller waiting (`patient`). The thread commits all
that is queued in one transaction. Results wait for each other before, a moment that no move waits.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import chain
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Final

from arena_protocol.record import GameRecord
from arena_protocol.record_codec import encode
from arena_server.core.journal import ORDER, Entry
from arena_server.errors import StoreError
from arena_server.store.database import ContestHeader, Database, damaged, describe
from arena_server.store.open_files import look_again
from arena_server.terms.config import ContestConfig

if TYPE_CHECKING:
    from arena_server.store.contest_store import ContestStore
    from arena_server.store.journal import JournalAppender
    from arena_server.store.reconnect import LastingStore
    from arena_server.store.unfinished import UnfinishedContest

#: Jobs committed together at most; a commit costs 0.2 ms, so a longer batch gains nothing.
BATCH_JOBS = 1024
#: A transaction costs 0.7 ms of CPU and each of its results 0.2 ms, so results wait so long for others. It
#: ends when one of GROUP_SHARE games waits for its OVER: the others keep the loop busy, and fewer games
#: than GROUP_SHARE * 2 have no one to wait for.
GROUP_S = 0.05
GROUP_SHARE = 4
#: The thread looks after the database at least this often: see `ContestStore.maintain`.
MAINTENANCE_S = 0.5


@dataclass(frozen=True, slots=True)
class _Append:
    entries: Sequence[Entry]


@dataclass(frozen=True, slots=True)
class _Store:
    game_id: str
    record: GameRecord


@dataclass(frozen=True, slots=True)
class _Enter:
    config: ContestConfig
    done: Callable[[], None]


@dataclass(frozen=True, slots=True)
class _End:
    status: str
    done: Callable[[], None]
    ago: int


@dataclass(frozen=True, slots=True)
class _Look:
    """Nothing to write: the database may be lost."""


@dataclass(frozen=True, slots=True)
class _Close:
    pass


_Job = _Append | _Store | _Enter | _End | _Look | _Close


#: The kind of an entry; no generator, as each batch of plies asks.
_KIND = itemgetter(1)


class Writer:
    """Writes one contest. Call the methods on one thread, in the order of the module's picture.

    A `patient` one commits nothing on that thread.
    `found(contest)` is called once, with the unfinished contest that goes on or None; or with one that is
    over, of which only facts are written that outlive its journal.
    `committed(batches, game_ids)` is called after each commit by the writer's thread: the first
    `batches` calls of `append` are durable, and so are the records of `game_ids`.
    `failed(error)` is called once, at the first failure; nothing is reported as durable after it.
    `rejoined(seconds, cause)` is called after the connection to the database was lost and made again.
    All are called on the writer's thread; `failed` also within `append`.
    """

    def __init__(
        self,
        database: Database,
        header: ContestHeader,
        *,
        patient: bool = False,
        found: Callable[[UnfinishedContest | None], None],
        committed: Callable[[int, list[str]], None],
        failed: Callable[[StoreError], None],
        rejoined: Callable[[float, BaseException], None] = lambda _seconds, _cause: None,
    ) -> None:
        self._database: Final = database
        self._header: Final = header
        self._patient: Final = patient
        self._found = found
        self._committed = committed
        self._failed = failed
        self._rejoined = rejoined
        self._jobs: queue.SimpleQueue[_Job] = queue.SimpleQueue()
        self._lasting: LastingStore | None = None
        self._over: int | None = None
        #: Held while a job is put or the thread ends, as of a contest that has nothing to write.
        self._gate = threading.Lock()
        self._parked = False
        self._thread = self._make_thread(self._run)
        #: Calls of `append`, and how many of them are durable. Only the thread changes the second
        #: while the two differ, and only `append` while they are equal, so neither needs a lock.
        self._appended = self._durable = 0
        #: Set once entries can be committed on the calling thread.
        self._direct: JournalAppender | None = None
        self._has_failed = False

    @staticmethod
    def _make_thread(work: Callable[[], None]) -> threading.Thread:
        # A daemon: a program that ends without `close` has crashed, and must not hang as well.
        return threading.Thread(target=work, name="store", daemon=True)

    def _put(self, job: _Job) -> None:
        with self._gate:
            self._jobs.put(job)
            if self._parked:
                self._parked = False
                self._thread = self._make_thread(self._go_on)
                self._thread.start()

    def start(self) -> None:
        """Open the database and look for an unfinished contest, on the thread; `found` is next."""
        self._thread.start()

    def enter(self, config: ContestConfig, done: Callable[[], None] = lambda: None) -> None:
        """Begin the contest, or go on with the one that was found, then call `done`. Never waits."""
        self._put(_Enter(config, done))

    def append(self, entries: Sequence[Entry]) -> bool:
        """Commit one batch of entries, all or none, after all earlier ones. Waits APPEND_WAIT_S at most.

        Returns True if this batch, and with it every earlier one, is durable. Returns False if it
        is queued: `committed` reports it, unless `failed` is called first.
        """
        self._appended += 1
        at_once = self._durable == self._appended - 1 and not self._has_failed
        # The answer to an order promises that it and its results are in the tables.
        at_once = at_once and ORDER not in map(_KIND, entries)
        if self._direct is not None and at_once:
            try:
                if self._direct.append(entries):
                    self._durable = self._appended
                    return True
            except Exception as error:  # as in `_run`: after any failure nothing can be promised
                self._fail(error)
        self._put(_Append(entries))
        return False

    def store(self, game_id: str, record: GameRecord) -> None:
        """Write a record to the disk after all entries appended so far; `committed` names it. Never waits.

        The entries of its game are dropped from the journal.
        """
        self._put(_Store(game_id, record))

    def end(self, status: str, done: Callable[[], None] = lambda: None, ago: int = 0) -> None:
        """Set the status of the contest, which has ended `ago` ns, then call `done`. Never waits."""
        self._put(_End(status, done, ago))

    def close(self) -> None:
        """Write what is queued and end the thread. Waits for the disk."""
        if self._thread.ident is None:  # its server ended before
            return
        self._put(_Close())
        self._thread.join()

    def _fail(self, error: Exception) -> None:
        if self._has_failed:
            return
        self._has_failed = True
        if isinstance(self._database, Path):
            look_again(self._database)
        # The driver's own error says more plainly what SQLAlchemy's says around it.
        cause: BaseException = getattr(error, "orig", None) or error
        if isinstance(error, StoreError):
            self._failed(error)
        elif isinstance(cause, ValueError):  # no JSON, no text, a wrong digest
            self._failed(damaged(self._database, str(cause)))
        else:
            self._failed(StoreError(describe(self._database, cause)))

    # -- on the thread

    def _run(self) -> None:
        try:
            # Imported on the thread: SQLAlchemy takes longer to load than the port needs to open.
            from arena_server.store.reconnect import LastingStore

            look = partial(self._put, _Look())
            lasting = LastingStore(self._database, self._rejoined, wake=look)
            with ExitStack() as stack:
                stack.enter_context(lasting)
                found = lasting.store.find(self._header)
                if found is None or found.ended is None:
                    self._lasting = lasting
                    stack.pop_all()  # it is left by `_write_on`
                else:
                    self._over = found.contest
            self._found(found)
            self._write_on()
        except Exception as error:  # the boundary of the thread: nothing else would report it
            self._fail(error)

    def _go_on(self) -> None:
        """What the thread does when there is something to write again."""
        try:
            self._write_on()
        except Exception as error:  # as `_run`
            self._fail(error)

    def _write_on(self) -> None:
        """Write until there is nothing to write for a while, or nothing more."""
        if self._lasting is None:
            self._write_of_over()
            return
        lasting = self._lasting
        with ExitStack() as stack:
            stack.push(lasting)
            while not self._has_failed and self._write_batch(lasting):
                if self._parked:
                    stack.pop_all()
                    return

    def _write_of_over(self) -> None:
        """Of a contest that is over nothing is kept open; what it still has to write is rare."""
        from arena_server.store.contest_store import ContestStore

        assert self._over is not None, "it was found"
        while (job := self._next_or_park()) is not None:
            if isinstance(job, _Append):
                with ContestStore(self._database) as store:
                    with store.transaction():
                        store.reopen(self._over)
                        store.add(job.entries, [])
                    store.sync()
                self._report(1, [])

    def _next_or_park(self) -> _Job | None:
        """The next job; without one the thread is to end."""
        with self._gate:
            try:
                return self._jobs.get_nowait()
            except queue.Empty:
                self._parked = True
                return None

    def _park(self, lasting: LastingStore) -> bool:
        """Whether nothing is to be written, and the store has given up what it holds open."""
        with self._gate:
            self._parked = self._jobs.empty() and lasting.store.park()
            return self._parked

    def _write_batch(self, lasting: LastingStore) -> bool:
        """Commit what is queued in one transaction. Returns False after the last job."""
        jobs = self._take(lasting)
        if not jobs:
            return True
        if lasting.store.is_parked:
            if isinstance(jobs[0], _Close):
                return False
            lasting.store.unpark()
        batches = [job.entries for job in jobs if isinstance(job, _Append)]
        results = [(job.game_id, job.record, encode(job.record)) for job in jobs if isinstance(job, _Store)]
        entries = list(chain.from_iterable(batches))
        # Entries alone belong to games without a result: losing them to a power cut is documented,
        # losing a result is not.
        synced = any(isinstance(job, _Store | _Enter | _End) for job in jobs)
        if self._has_failed:
            return False
        ends = [job for job in jobs if isinstance(job, _End)]
        enters = [job.config for job in jobs if isinstance(job, _Enter)]

        def commit(store: ContestStore) -> None:
            whole = synced or ORDER in map(_KIND, entries)
            if not whole and (not entries or (store.appender and store.appender.append(entries))):
                return
            with store.transaction():
                for config in enters:
                    store.enter(self._header, config)
                store.add(entries, results)
                for end in ends:  # everything queued before it belongs to the contest
                    store.end(end.status, end.ago)

        lasting.once(commit)
        if synced:
            lasting.store.sync()
        if isinstance(self._database, Path) and not self._patient:
            self._direct = lasting.store.appender
        self._report(len(batches), [game_id for game_id, _, _ in results])
        for job in jobs:
            if isinstance(job, _Enter | _End):
                job.done()
        lasting.once(lambda store: store.maintain())
        return not isinstance(jobs[-1], _Close)

    def _report(self, batches: int, game_ids: list[str]) -> None:
        if not batches and not game_ids:
            return
        durable = self._durable + batches
        if batches:
            self._durable = durable
        self._committed(durable, game_ids)

    def _take(self, lasting: LastingStore) -> list[_Job]:
        """Wait for a job and take the ones queued behind it; maintain the database meanwhile.

        Returns none once the store is parked.
        """
        jobs: list[_Job] = []
        while not jobs:
            try:
                jobs.append(self._jobs.get(timeout=MAINTENANCE_S))
            except queue.Empty:
                lasting.once(lambda store: store.maintain(idle=True))
                if self._park(lasting):
                    return []
        until = time.monotonic() + GROUP_S
        results_only = True
        while len(jobs) < BATCH_JOBS and not isinstance(jobs[-1], _Close):
            # Entries are moves that players wait for, and their commit takes the results along.
            results_only = results_only and isinstance(jobs[-1], _Store)
            waits = results_only and len(jobs) < lasting.store.running // GROUP_SHARE
            try:
                jobs.append(self._jobs.get(timeout=max(0.0, until - time.monotonic()) if waits else 0))
            except queue.Empty:
                break
        return jobs
