"""A connection that is lost at any statement or commit: what is begun is durable once, in its order."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import event, text

from arena_protocol.record_codec import encode
from arena_server.core.journal import CONTEST, ORDER, Entry
from arena_server.errors import StoreError
from arena_server.store import contest_store, reopening
from arena_server.store.contest_store import ContestStore
from arena_server.store.database import Database, is_lost
from arena_server.store.engines import open_engine
from arena_server.store.journal import PostgresAppender
from arena_server.store.ownership import ContestLock
from arena_server.store.reconnect import PATIENCE_S, STEP_S, LastingStore

from ...slices import rows
from ..postgres import Cluster
from ..records import game, opening

BEFORE, AFTER = "before", "after"
MANY_STEPS = 200


class LostError(Exception):
    """What the scripted connection raises to a file, which has no connection that could be lost."""


@dataclass
class Wire:
    """Loses the connection before or after the steps of a script: statements, commits, and connecting.

    What comes after the loss on the same connection fails, too.
    """

    script: dict[int, str]
    armed: bool = False
    step: int = 0
    losses: int = 0
    dead: set[int] = field(default_factory=set)

    @contextmanager
    def over(self, connection: Any) -> Iterator[None]:
        """A step on this connection of a driver."""
        if id(connection) in self.dead:
            raise self._error(connection)
        self.step += self.armed
        moment = self.script.get(self.step) if self.armed else None
        if moment == BEFORE:
            raise self._lose(connection)
        yield
        if moment == AFTER:
            raise self._lose(connection)

    def _lose(self, connection: Any) -> Exception:
        self.losses += 1
        if connection is not None:
            self.dead.add(id(connection))
            if not isinstance(self._error(connection), LostError):
                connection.close()
        return self._error(connection)

    def _error(self, connection: Any) -> Exception:
        if connection is None or type(connection).__module__.startswith("sqlite3"):
            return LostError()
        import psycopg

        return psycopg.OperationalError("server closed the connection unexpectedly")

    def open(self, database: Database, *, writing: bool = False) -> Any:
        with self.over(None):
            engine = open_engine(database, writing=writing)
        execute, commit = engine.dialect.do_execute, engine.dialect.do_commit

        def on_execute(cursor: Any, statement: Any, parameters: Any, context: Any = None) -> None:
            with self.over(cursor.connection):
                execute(cursor, statement, parameters, context)

        def on_commit(connection: Any) -> None:
            with self.over(getattr(connection, "driver_connection", connection)):
                commit(connection)

        engine.dialect.do_execute = on_execute  # type: ignore[method-assign]
        engine.dialect.do_commit = on_commit  # type: ignore[method-assign,assignment]
        event.listen(engine, "connect", lambda connection, _: self.dead.discard(id(connection)))
        return engine

    def is_lost(self, error: BaseException) -> bool:
        return isinstance(error, LostError) or is_lost(error)


Job = Callable[[ContestStore], None]


def transaction(*entries: Entry, results: Sequence[int] = (), status: str = "") -> Job:
    records = [(f"g{number}", game(number), encode(game(number))) for number in results]

    def work(store: ContestStore) -> None:
        with store.transaction():
            store.add(entries, records)
            if status:
                store.end(status)

    return work


def append(*entries: Entry) -> Job:
    def work(store: ContestStore) -> None:
        if isinstance(store.appender, PostgresAppender):
            assert store.appender.append(entries)
        else:  # a file commits on the caller's thread, or as here
            transaction(*entries)(store)

    return work


def jobs(random: Random) -> list[Job]:
    """A contest's: games are offered, moves made, results stored, orders given; and it ends, or not."""
    made: list[Job] = []
    running: list[int] = []
    for number in range(1, random.randint(2, 6)):
        made.append(append((number, "offer", ("a", "b"), number, ())))
        running.append(number)
        if random.random() < 0.5:
            made.append(append((number, "ready", 1)))
        if random.random() < 0.3:
            entry = (CONTEST, ORDER, number, "pause", "", "me", number, "")
            made.append(transaction(entry))
        if random.random() < 0.2:
            made.append(lambda store: store.maintain(idle=True))
        if random.random() < 0.7:
            stored, running = running, []
            more = ((number + 100, "offer", ("a", "b"), number + 100, ()),) if random.random() < 0.5 else ()
            made.append(transaction(*more, results=stored))
    status = random.choice(["", "stopped", "finished"])
    return [*made, transaction(status=status)] if status else made


def play(database: Database, made: Sequence[Job], wire: Wire) -> int:
    """Do all jobs; how many were reported as done."""
    header = opening(new=False)

    def enter(store: ContestStore) -> None:
        with store.transaction():
            store.enter(header, header.config)

    done = 0
    with (
        patch.object(contest_store, "open_engine", wire.open),
        patch.object(PostgresAppender, "_insert", _over(wire, PostgresAppender._insert)),
    ):
        lasting = LastingStore(database, lambda *_: None, lost=wire.is_lost, sleep=lambda _: None)
        with lasting:
            lasting.store.find(header)
            wire.armed = True
            for job in [enter, *made]:
                lasting.once(job)
                done += 1
            wire.armed = False
    return done


def _over(wire: Wire, insert: Callable[..., bool]) -> Callable[..., bool]:
    def scripted(appender: PostgresAppender, place: int, data: bytes) -> bool:
        with wire.over(appender._connection):
            return insert(appender, place, data)

    return scripted


#: What a server has written, without its times; the journal as far as it matters.
_TABLES = (
    'SELECT game_id, place, chain, "end" FROM games ORDER BY place',
    "SELECT name FROM bots ORDER BY id",
    "SELECT place, payload FROM facts ORDER BY place",
    "SELECT game_id, players, deal FROM pairings ORDER BY game_id",
    "SELECT status, head FROM contests",
)


def contents(database: Database) -> list[Any]:
    engine = open_engine(database)
    with engine.connect() as connection:
        found: list[Any] = [connection.execute(text(query)).fetchall() for query in _TABLES]
    engine.dispose()
    with ContestStore(database) as store:
        past = store.find(opening(new=False))
    return [*found, None if past is None else sorted(past.past.entries, key=repr)]


def losses(random: Random, steps: int) -> dict[int, str]:
    """More or fewer of them; several in a row hit the new connection as well."""
    share = random.choice([0.02, 0.1, 0.3])
    return {step: random.choice([BEFORE, AFTER]) for step in range(1, 3 * steps) if random.random() < share}


@given(seed=st.integers(0, 2**32))
def test_a_file_has_what_it_would_have_without_a_loss(
    seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("lost")
    _compare(folder / "plain.db", folder / "lost.db", seed)


@pytest.mark.parametrize("every", rows([13, 1], 2))
def test_a_single_loss_at_a_step(tmp_path: Path, every: int) -> None:
    """Each statement and each commit in turn, before it and after it; or every thirteenth."""
    made = jobs(Random(5))
    whole = Wire({})
    play(tmp_path / "plain.db", made, whole)
    expected = contents(tmp_path / "plain.db")
    assert whole.step > 40
    for step in range(1, whole.step + 1, every):
        for moment in (BEFORE, AFTER):
            path = tmp_path / f"{step}{moment}.db"
            wire = Wire({step: moment})
            assert play(path, made, wire) == len(made) + 1
            assert (wire.losses, contents(path)) == (1, expected), (step, moment)


@pytest.mark.parametrize("every", rows([9, 1], 2))
@pytest.mark.parametrize("first", rows([AFTER, BEFORE], 2))
def test_a_second_loss_at_a_step_of_the_reconnection(tmp_path: Path, first: str, every: int) -> None:
    made = [transaction((1, "offer", ("a", "b"), 1, ()), results=[2])]
    whole = Wire({})
    play(tmp_path / "plain.db", made, whole)
    expected = contents(tmp_path / "plain.db")
    commit = whole.step
    for steps in range(1, MANY_STEPS, every):
        for second in (BEFORE, AFTER):
            path = tmp_path / f"{steps}{second}.db"
            wire = Wire({commit: first, commit + steps: second})
            assert play(path, made, wire) == len(made) + 1
            assert contents(path) == expected, (steps, second)
            if wire.losses == 1:  # it would come after the end
                return
    raise AssertionError("the reconnection has no end")


@pytest.mark.parametrize("seeds", rows([2, 8], 2))
def test_a_database_of_postgresql_has_it_too(postgres: Cluster, seeds: int) -> None:
    for seed in range(seeds):
        _compare(postgres.database(), postgres.database(), seed)


def _rejoin(path: Path, meanwhile: str, away_s: float = 0.0) -> tuple[str | None, list[float]]:
    """Lose the connection of a server while `meanwhile` changes the database; what it raised, and its waits.

    The database is away for so long.
    """
    clock, waits = 0.0, list[float]()

    def sleep(seconds: float) -> None:
        nonlocal clock
        clock += seconds
        waits.append(seconds)

    def open_away(database: Database, *, writing: bool = False) -> Any:
        if clock < away_s:
            raise LostError("it does not answer")
        return open_engine(database, writing=writing)

    def lose(store: ContestStore) -> None:
        if not lost:
            lost.append(True)
            with sqlite3.connect(path) as other:
                other.executescript(meanwhile)
            other.close()
            raise LostError

    header, lost = opening(new=False), list[bool]()
    lasting = LastingStore(
        path,
        lambda *_: None,
        lost=lambda error: isinstance(error, LostError),
        now=lambda: clock,
        sleep=sleep,
    )
    try:
        with lasting:
            lasting.store.find(header)
            with lasting.store.transaction():
                lasting.store.enter(header, header.config)
            transaction((1, "offer", ("a", "b"), 1, ()))(lasting.store)
            with patch.object(contest_store, "open_engine", open_away):
                lasting.once(lose)
    except (StoreError, LostError) as error:
        return str(error), waits
    return None, waits


class TestWhatIsFound:
    def test_another_server_has_taken_the_contest_over(self, path: Path) -> None:
        raised, _ = _rejoin(path, "UPDATE writers SET writer = 'another'")
        assert raised == f"{path}: another server has taken contest 1 over; nothing more can be kept here"

    @pytest.mark.parametrize(
        "change", ["UPDATE writers SET writer = substr(writer, 1, 16) || '-1'", "DELETE FROM writers"]
    )
    def test_what_was_durable_is_gone(self, path: Path, change: str) -> None:
        raised, _ = _rejoin(path, change)
        assert raised == (
            f"{path}: what was durable is gone from the database (a standby that was behind?); "
            "nothing more can be kept here; start arena again: it goes on from what is there"
        )

    def test_it_is_looked_for_until_it_is_back(self, path: Path) -> None:
        assert _rejoin(path, "", away_s=20 * STEP_S) == (None, [STEP_S] * 20)

    def test_after_a_minute_it_is_given_up(self, path: Path) -> None:
        raised, waits = _rejoin(path, "", away_s=PATIENCE_S + 1)
        assert (raised, sum(waits)) == ("it does not answer", PATIENCE_S)

    def test_a_lock_of_the_lost_connection_is_waited_for(self, path: Path) -> None:
        """The database may not have noticed yet that the connection is lost."""
        refusals = iter([True, True, False])
        lock = ContestLock

        def taken(*arguments: Any) -> Any:
            if next(refusals):
                raise StoreError("taken")
            return lock(*arguments)

        with ContestStore(path) as first:
            first.find(opening(new=False))
            with first.transaction():
                first.enter(opening(), opening().config)
        lasting = LastingStore(
            path, lambda *_: None, lost=lambda error: isinstance(error, LostError), sleep=lambda _: None
        )
        tries = list[int]()

        def lose(_store: ContestStore) -> None:
            tries.append(1)
            if len(tries) == 1:
                raise LostError

        with lasting:
            lasting.store.find(opening(new=False))
            with patch.object(reopening, "ContestLock", taken):
                lasting.once(lose)
        assert (len(tries), next(refusals, None)) == (2, None)


def _compare(plain: Database, lost: Database, seed: int) -> None:
    random = Random(seed)
    made = jobs(random)
    whole = Wire({})
    play(plain, made, whole)
    wire = Wire(losses(random, whole.step))
    assert play(lost, made, wire) == len(made) + 1
    assert contents(lost) == contents(plain), wire.script
