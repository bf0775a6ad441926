"""Contests whose server was killed, and that no server will go on with: games that visitors had started."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from arena_server.core.life import RUNNING, STOPPED
from arena_server.errors import StoreError
from arena_server.store.chain import GENESIS
from arena_server.store.database import LAYOUT, connect_sqlite, describe
from arena_server.store.engines import open_engine
from arena_server.store.ownership import ContestLock
from arena_server.store.preflight import check_readable
from arena_server.store.schema import ContestRow, GameRow, now, set_status


def stop_abandoned(path: Path) -> int:
    """Set contests of an SQLite file that run, and that no server plays, to `stopped`. Returns how many.

    A file of an earlier layout stays as it is. Raises StoreError.
    """
    if not path.exists() or check_readable(path) != str(LAYOUT):
        return 0
    with connect_sqlite(path) as connection:
        running = connection.execute("SELECT id FROM contests WHERE status = ?", (RUNNING,)).fetchall()
    with _unplayed(path, [number for (number,) in running]) as numbers:
        if not numbers:
            return 0
        engine = open_engine(path, writing=True)
        try:
            with Session(engine) as session, session.begin():
                for number in numbers:
                    _stop(session, number)
        except SQLAlchemyError as error:
            raise StoreError(describe(path, getattr(error, "orig", None) or error)) from None
        finally:
            engine.dispose()
    return len(numbers)


@contextmanager
def _unplayed(path: Path, numbers: list[int]) -> Iterator[list[int]]:
    """Those of the contests that no server plays, and none can play meanwhile."""
    locks: dict[int, ContestLock] = {}
    try:
        for number in numbers:
            try:
                locks[number] = ContestLock(path, None, number)
            except StoreError:
                continue  # another server plays it
        yield list(locks)
    finally:
        # After the connection that the caller has closed: a lock ends those of SQLite with it.
        for lock in locks.values():
            lock.release()


def _stop(session: Session, number: int) -> None:
    contest = session.get_one(ContestRow, number)
    mine = select(GameRow.chain).where(GameRow.contest_id == number)
    head = session.scalar(mine.order_by(GameRow.place.desc()).limit(1))
    if contest.status == RUNNING:  # its server has not ended it meanwhile
        set_status(contest, STOPPED, now(), head or GENESIS)
