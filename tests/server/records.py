"""Small game records and a writer for tests of storage; the records have the right form only."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from queue import SimpleQueue

from sqlalchemy import text

from arena_protocol.record import FaultRecord, GameRecord, PlyRecord
from arena_server.core.effects import Effect, Journal, Store
from arena_server.core.facts import Separated
from arena_server.core.journal import CONTEST, Entry, entry_of
from arena_server.errors import StoreError
from arena_server.store.database import ContestHeader, Database
from arena_server.store.engines import open_engine
from arena_server.store.unfinished import UnfinishedContest
from arena_server.store.writer import Writer
from arena_server.terms.config import ContestConfig

PATIENCE_S = 150.0


def change(database: Database, *statements: str, **values: object) -> None:
    """Change a database behind the server's back, each time at least a row."""
    engine = open_engine(database)
    with engine.begin() as connection:
        for statement in statements:
            assert connection.execute(text(statement), values).rowcount, statement
    engine.dispose()


class Kept:
    """A writer and queues of its reports: `told` has results and errors, `batches` the durable batches."""

    def __init__(
        self, database: Database, contest: ContestHeader | None = None, *, patient: bool = False
    ) -> None:
        self.opening = contest or opening()
        self.found: SimpleQueue[UnfinishedContest | None] = SimpleQueue()
        self.told: SimpleQueue[list[str] | StoreError] = SimpleQueue()
        self.batches: SimpleQueue[int | StoreError] = SimpleQueue()
        self.threads: set[str] = set()
        self.appended = 0
        self.writer = Writer(
            database,
            self.opening,
            patient=patient,
            found=self.found.put,
            committed=self._committed,
            failed=self._failed,
        )

    def _committed(self, batches: int, game_ids: list[str]) -> None:
        self.threads.add(threading.current_thread().name)
        self.batches.put(batches)
        if game_ids:
            self.told.put(game_ids)

    def _failed(self, error: StoreError) -> None:
        self.told.put(error)
        self.batches.put(error)
        self.found.put(None)

    def start(self) -> UnfinishedContest | None:
        """Begin the contest, or go on with the one returned."""
        found = self.find()
        self.writer.enter(self.opening.config)
        return found

    def find(self) -> UnfinishedContest | None:
        """Open the database; the contest there."""
        self.writer.start()
        return self.found.get(timeout=PATIENCE_S)

    def append(self, *entries: Entry) -> None:
        """Append one batch; `batches` gets its number once it is durable."""
        self.appended += 1
        if self.writer.append(entries):
            self.batches.put(self.appended)

    def wait_for(self, batches: int) -> None:
        """Wait until this many batches are durable."""
        while (number := self.batches.get(timeout=PATIENCE_S)) != batches:
            assert isinstance(number, int)
            assert number < batches

    def next(self) -> list[str] | StoreError:
        """The next report about results."""
        return self.told.get(timeout=PATIENCE_S)

    def close(self, status: str | None = None) -> None:
        """End the contest with `status`, or the writer alone."""
        if status is not None:
            self.writer.end(status)
        self.writer.close()


def keep_played(
    database: Database,
    header: ContestHeader,
    effects: Iterable[Effect],
    change: Callable[[Entry], Entry] = lambda entry: entry,
) -> None:
    """Write the contest that had these effects, as finished; `change` makes other entries of its own."""
    kept = Kept(database, header)
    kept.start()
    for effect in effects:
        if isinstance(effect, Journal):
            kept.append(*map(change, effect.entries))
        elif isinstance(effect, Store):
            kept.writer.store(effect.game_id, effect.record)
            kept.next()  # what follows from a result follows from a stored one
    kept.close("finished")


def opening(
    name: str = "trial",
    scoring: str = "points",
    names: Sequence[str] = ("a", "b", "c"),
    new: bool = True,
) -> ContestHeader:
    """The header of a contest."""
    return ContestHeader(
        ContestConfig(name=name, seed=2**127 + 1, scoring=scoring), {"plies": "1"}, names, games=6, new=new
    )


def game(
    number: int,
    names: tuple[str, ...] = ("a", "b"),
    totals: tuple[int, ...] = (30, 10),
    faults: tuple[FaultRecord, ...] = (),
    end: str = "complete",
) -> GameRecord:
    """A game of one ply."""
    return GameRecord(
        software="insertion-arena/0.1",
        contest="trial",
        game_id=f"g{number}",
        game="insertion",
        options={"plies": "1"},
        names=names,
        seed=7,
        nonce="00" * 16,
        commit="11" * 32,
        board="./././././",
        sequence="1",
        clock_ms=1000,
        increment_ms=0,
        margin_ms=0,
        plies=(PlyRecord(1, "6", 3, 0, 3_000_000, (997, 1000), totals[0], totals, False),),
        faults=faults,
        totals=totals,
        end=end,
        final="././././6",
    )


def tomorrow() -> datetime:
    """A clock at which every result may be seen."""
    return datetime.now(UTC).replace(tzinfo=None) + timedelta(days=1)


def keep(
    database: Database, *games: int, status: str = "finished", contest: ContestHeader | None = None
) -> None:
    """Play a contest of these games into a database."""
    kept = Kept(database, contest)
    kept.start()
    for number in games:
        kept.writer.store(f"g{number}", game(number))
    kept.close(status)


def shown(record: bytes | None) -> bytes:
    """A record that may be shown."""
    assert record is not None
    return record


def keep_early_end(database: Database, ended: str = "finished") -> None:
    """Play two of six games into a database; two are enough for a contest that has `finished`."""
    kept = Kept(database)
    kept.start()
    if ended == "finished":
        kept.append(entry_of(CONTEST, Separated(2, ("a",))))
    for number in (1, 2):
        kept.writer.store(f"g{number}", game(number))
    if ended == "finished":
        kept.wait_for(1)
    kept.close(ended)
