"""Where the games of a contest are read: in the database, or in the file of `arena archive`.

The file is an SQLite database of its own with the same tables and the same numbers, of that contest alone.
The row of the contest, its bots and its facts stay in the database as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from sqlalchemy.orm import Session

from arena_server.errors import StoreError
from arena_server.store.database import Database
from arena_server.store.engines import open_engine
from arena_server.store.preflight import check_readable
from arena_server.store.schema import ContestRow


class GameTables(NamedTuple):
    """A session on the tables of games, and their layout."""

    session: Session
    layout: int


class GameSources:
    """The sources of all contests of `database`, whose tables are `own`; archives are opened when needed."""

    def __init__(self, database: Database, own: GameTables) -> None:
        self._database = database
        self._own = own
        self._archives: dict[Path, GameTables] = {}

    def of(self, contest: ContestRow) -> GameTables:
        """Raises StoreError with one line for an archive that is missing or not the one that was written."""
        if contest.archive is None:
            return self._own
        path = Path(contest.archive["file"])
        if path not in self._archives:
            self._archives[path] = open_archive(self._database, contest)
        return self._archives[path]

    def close(self) -> None:
        for source in (*self._archives.values(), self._own):
            source.session.close()


@contextmanager
def archived_or(own: GameTables, database: Database, contest: ContestRow) -> Iterator[GameTables]:
    """The archive of a contest if it has one, else `own`, which stays open. Raises as `GameSources.of`."""
    source = own if contest.archive is None else open_archive(database, contest)
    try:
        yield source
    finally:
        if source is not own:
            source.session.close()


def open_archive(database: Database, contest: ContestRow) -> GameTables:
    """The archive of a contest that has one. Raises StoreError as `GameSources.of`."""
    assert contest.archive is not None
    path = Path(contest.archive["file"])
    what = f"{database}: the games of contest {contest.id} {contest.name} are archived in {path}"
    if not path.exists():
        raise StoreError(
            f"{what}, and that file is missing; put it back there, or have it found "
            f"by `arena archive {contest.id} --to FOLDER`"
        )
    layout = int(check_readable(path))
    session = Session(open_engine(path))
    found = session.get(ContestRow, contest.id)
    if found is None or (found.name, found.head) != (contest.name, contest.head):
        session.close()
        raise StoreError(f"{what}, and that file has another contest; put the right one back there")
    return GameTables(session, layout)
