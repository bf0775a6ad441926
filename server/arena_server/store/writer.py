"""One thread that owns the database: records in, word of their durability out.

A commit waits for the disk, so it must not happen on the loop's thread. Whatever waits is
committed together. The error contract: after the first failure `failed` is called once, and
nothing is reported as stored that is not. It must not know: the loop, the contest's rules.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from arena_protocol.record import GameRecord, encode
from arena_server.core.plan import ContestPlan
from arena_server.errors import StoreError
from arena_server.store.probe import APPLICATION_ID, LAYOUT, describe

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine
    from sqlalchemy.orm import Session

#: Games committed together at most; a commit costs 0.2 ms, so more gains nothing.
BATCH = 256
#: Nothing to write for so long: time for a checkpoint.
IDLE_S = 1.0
#: Under a load that never pauses the log would grow for ever: checkpoint after so many games.
CHECKPOINT_GAMES = 5_000


@dataclass(frozen=True, slots=True)
class Opening:
    """What is known of a contest at its start.

    `options` are the game's own, as GAME prints them; `games` is how many are to be played.
    """

    plan: ContestPlan
    options: Mapping[str, str]
    names: Sequence[str]
    games: int


@dataclass(frozen=True, slots=True)
class _Result:
    game_id: str
    record: GameRecord


@dataclass(frozen=True, slots=True)
class _End:
    status: str


class Writer:
    """Keeps one contest. Call `start`, then `put` any number of times, then `close`.

    `stored(game_ids)` is called after each commit, `failed(error)` at the first failure; both
    on the writer's own thread.
    """

    def __init__(
        self,
        path: Path,
        opening: Opening,
        *,
        stored: Callable[[list[str]], None],
        failed: Callable[[StoreError], None],
    ) -> None:
        self._path: Final = path
        self._opening: Final = opening
        self._stored = stored
        self._failed = failed
        self._jobs: queue.SimpleQueue[_Result | _End] = queue.SimpleQueue()
        # A daemon: whoever ends without `close` has crashed, and must not hang on top of that.
        self._thread = threading.Thread(target=self._run, name="store", daemon=True)
        self._bots: dict[str, int] = {}
        self._contest = 0
        self._unsettled = 0

    def start(self) -> None:
        """Open the database and enter the contest, on the thread; failures come by `failed`."""
        self._thread.start()

    def put(self, game_id: str, record: GameRecord) -> None:
        """Queue a record; never waits."""
        self._jobs.put(_Result(game_id, record))

    def close(self, status: str) -> None:
        """Write what is queued, mark the contest as `finished` or `stopped`, and end. Waits for the disk."""
        self._jobs.put(_End(status))
        self._thread.join()

    # -- on the thread

    def _run(self) -> None:
        try:
            self._write_all()
        except Exception as error:  # the thread's boundary: nobody else would hear of it
            # SQLAlchemy wraps what the driver said; the driver says it more plainly.
            cause: BaseException = getattr(error, "orig", None) or error
            self._failed(StoreError(describe(self._path, cause)))

    def _write_all(self) -> None:
        from arena_server.store.engine import open_engine

        engine = open_engine(self._path, durable=True)
        try:
            self._enter(engine)
            while self._write_batch(engine):
                pass
            with engine.connect() as connection:
                self._checkpoint(connection, "TRUNCATE")
        finally:
            engine.dispose()

    def _enter(self, engine: Engine) -> None:
        """Make the tables if there are none, and the rows of this contest and its bots."""
        from sqlalchemy.orm import Session

        from arena_server.store import tables

        with engine.begin() as connection:
            tables.Base.metadata.create_all(connection)
            connection.exec_driver_sql(f"PRAGMA application_id={APPLICATION_ID}")
            connection.exec_driver_sql(f"PRAGMA user_version={LAYOUT}")
        with Session(engine) as session:
            contest = tables.Contest(**_contest_columns(self._opening), started_at=_now())
            session.add(contest)
            session.flush()
            bots = [tables.Bot(contest_id=contest.id, name=name) for name in self._opening.names]
            session.add_all(bots)
            session.commit()
            self._contest = contest.id
            self._bots = {bot.name: bot.id for bot in bots}

    def _write_batch(self, engine: Engine) -> bool:
        """Commit what waits, all together. Returns False at the end."""
        from sqlalchemy.orm import Session

        jobs = self._take(engine)
        results = [job for job in jobs if isinstance(job, _Result)]
        end = next((job for job in jobs if isinstance(job, _End)), None)
        with Session(engine) as session:
            for result in results:
                self._add(session, result)
            if end is not None:
                self._end(session, end.status)
            session.commit()
        self._unsettled += len(results)
        if results:
            self._stored([result.game_id for result in results])
        return end is None

    def _take(self, engine: Engine) -> list[_Result | _End]:
        """Wait for a job, and take with it what else is there."""
        jobs = [self._first(engine)]
        while len(jobs) < BATCH and not isinstance(jobs[-1], _End):
            try:
                jobs.append(self._jobs.get_nowait())
            except queue.Empty:
                break
        return jobs

    def _first(self, engine: Engine) -> _Result | _End:
        if self._unsettled == 0:
            return self._jobs.get()
        try:
            return self._jobs.get(timeout=0 if self._unsettled >= CHECKPOINT_GAMES else IDLE_S)
        except queue.Empty:
            with engine.connect() as connection:
                self._checkpoint(connection, "PASSIVE")
            return self._jobs.get()

    def _checkpoint(self, connection: Connection, mode: str) -> None:
        connection.exec_driver_sql(f"PRAGMA wal_checkpoint({mode})")
        self._unsettled = 0

    def _add(self, session: Session, result: _Result) -> None:
        from arena_server.store import tables

        record = result.record
        game = tables.Game(
            contest_id=self._contest,
            game_id=result.game_id,
            names=list(record.names),
            totals=list(record.totals),
            end=record.end,
            plies=len(record.plies),
            stored_at=_now(),
            record=encode(record),
        )
        session.add(game)
        session.flush()
        for fault in record.faults:
            bot = self._bots[record.names[fault.seat - 1]] if fault.seat else None
            session.add(
                tables.Fault(
                    game_pk=game.id,
                    bot_id=bot,
                    seat=fault.seat,
                    ply=fault.ply,
                    kind=str(fault.kind),
                    line=fault.line,
                )
            )

    def _end(self, session: Session, status: str) -> None:
        from arena_server.store import tables

        contest = session.get_one(tables.Contest, self._contest)
        contest.status = status
        contest.ended_at = _now()


def _contest_columns(opening: Opening) -> dict[str, Any]:
    plan = opening.plan
    return {
        "name": plan.name,
        "game": plan.game,
        "options": dict(opening.options),
        "format": plan.format,
        "games_per_pair": plan.games_per_pair,
        "games": opening.games,
        "scoring": plan.scoring,
        "seed": str(plan.seed),
        "clock_ms": plan.clock_ms,
        "increment_ms": plan.increment_ms,
        "margin_ms": plan.margin_ms,
        "software": plan.software,
    }


def _now() -> datetime:
    return datetime.now(UTC).replace(tzinfo=None)
