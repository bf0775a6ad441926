"""One thread that owns the database: entries and records in, word of their durability out.

A commit waits for the disk, so it must not happen on the loop's thread. Whatever waits is
committed together, in its order; entries alone do not wait for it, for what the system has
survives a crash of the server. The error contract: after the first failure `failed` is
called once, and nothing is reported as durable that is not.
It must not know: the loop, the contest's rules.

    start -> look (is there an unfinished contest?) -> found -> enter -> journal, put ... -> close
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Final

from arena_protocol.record import GameRecord
from arena_server.core.journal import Entry
from arena_server.core.plan import ContestPlan
from arena_server.errors import StoreError
from arena_server.store.probe import describe
from arena_server.store.url import Database

if TYPE_CHECKING:
    from arena_server.store.book import Book
    from arena_server.store.takeup import Unfinished

#: Jobs committed together at most; a commit costs 0.2 ms, so more gains nothing.
BATCH = 1024
#: Nothing to write for so long: time for a checkpoint.
IDLE_S = 1.0


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
class _Close:
    """The last job."""


Job = tuple[tuple[Entry, ...], ...] | Result | _Enter | _End | _Close


class Writer:
    """Keeps one contest.

    Call `start`; once `found` was called `enter`; then `journal` and `put` any number of times,
    `end` when the contest is over, and `close`.

    `found(unfinished)` tells what there is to take up, None if nothing. `committed(groups,
    game_ids)` is called after each commit: so many groups of `journal` are durable by now, and
    the records of these games; `failed(error)` at the first failure. All are called on the
    writer's own thread.
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

    def start(self) -> None:
        """Open the database and look for the contest, on the thread; failures come by `failed`."""
        self._thread.start()

    def enter(self, plan: ContestPlan) -> None:
        """Begin the contest, or go on with the one that was found."""
        self._jobs.put(_Enter(plan))

    def journal(self, groups: Sequence[tuple[Entry, ...]]) -> None:
        """Queue groups of entries, each of which is durable all or none; never waits."""
        self._jobs.put(tuple(groups))

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

    # -- on the thread

    def _run(self) -> None:
        try:
            self._write_all()
        except StoreError as error:
            self._failed(error)
        except Exception as error:  # the thread's boundary: nobody else would hear of it
            # SQLAlchemy wraps what the driver said; the driver says it more plainly.
            cause: BaseException = getattr(error, "orig", None) or error
            self._failed(StoreError(describe(self._database, cause)))

    def _write_all(self) -> None:
        # Imported here, on the thread: SQLAlchemy takes longer than the port needs to open.
        from arena_server.store.book import Book

        with Book(self._database) as book:
            self._found(book.look(self._opening))
            while self._write_batch(book):
                pass

    def _write_batch(self, book: Book) -> bool:
        """Commit what waits, all together. Returns False at the end."""
        jobs = self._take(book)
        groups = 0
        entries: list[Entry] = []
        results: list[Result] = []
        # Only entries: those of plies that no result hangs on yet. A power cut may take back what
        # was told of a game that is not over, but never a result.
        hard = not all(isinstance(job, tuple) for job in jobs)
        with book.transaction(hard=hard):
            for job in jobs:
                if isinstance(job, tuple):
                    groups += len(job)
                    entries += chain.from_iterable(job)
                elif isinstance(job, Result):
                    results.append(job)
                elif isinstance(job, _Enter):
                    book.enter(self._opening, job.plan)
            book.add(entries, [(result.game_id, result.record) for result in results])
            for job in jobs:
                if isinstance(job, _End):  # what was queued before it counts to the contest
                    book.end(job.status)
        self._groups += groups
        if entries or results:
            self._committed(self._groups, [result.game_id for result in results])
        book.tidy()
        return not isinstance(jobs[-1], _Close)

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
        try:
            return self._jobs.get(timeout=IDLE_S if book.unsettled else None)
        except queue.Empty:
            book.settle()
            return self._jobs.get()
