"""Reading a database of results, for the commands and the pages."""

from __future__ import annotations

from datetime import datetime
from types import TracebackType
from typing import Final, Self

from sqlalchemy import select
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from arena_protocol.plugins import PluginError
from arena_protocol.record import RecordError
from arena_server.core.life import RUNNING
from arena_server.errors import StoreError
from arena_server.store import bot_games
from arena_server.store.checks import check_contest_row, entrants
from arena_server.store.database import Database, describe
from arena_server.store.deals import Deals, PublicReader
from arena_server.store.engines import open_engine
from arena_server.store.fact_reader import FactReader
from arena_server.store.game_reader import GameReader
from arena_server.store.preflight import ADDED, check_readable
from arena_server.store.schema import ContestRow
from arena_server.store.sources import GameSources, GameTables
from arena_server.store.sum_reader import SumReader


class Results:
    """A database of results, open for reading; use it in a `with` statement.

    It is one moment of the database. Its own methods find a contest; the readers `facts`, `games` and `sums`
    read what is in it, also where its games are in an archive. Unless `losses_accepted`, it has all that was
    announced. With a `public` reader each contest is as all see it: it runs until its end is seen, and a
    stage of a season is not there before its beginning is. All methods, and the end of the `with` statement,
    raise StoreError with one line for what is missing or cannot be read.
    """

    def __init__(
        self, database: Database, *, losses_accepted: bool = False, public: PublicReader | None = None
    ) -> None:
        layout = check_readable(database, losses_accepted=losses_accepted)
        self._database = database
        self._public = public
        self._session = Session(open_engine(database))
        self._sources = GameSources(database, GameTables(self._session, int(layout)))
        self._deals: dict[int, Deals] = {}
        self.facts: Final = FactReader(self._session, int(layout))
        self.games: Final = GameReader(database, self._sources.of, self.deals)
        self.sums: Final = SumReader(self._sources.of, self.games, self.facts)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._sources.close()
        if isinstance(error, DBAPIError):
            raise StoreError(describe(self._database, error.orig or error)) from None
        if isinstance(error, PluginError):
            remedy = "install the package that adds it, where this command runs"
            raise StoreError(f"{self._database}: {error}; {remedy}") from None
        if isinstance(error, ValueError) and not isinstance(error, RecordError):
            # A column that is no JSON, no UTF-8 or no time.
            raise StoreError(f"{self._database}: the database is damaged ({error}); restore it") from None

    def contests(self) -> list[ContestRow]:
        """All contests, the oldest first."""
        found = list(self._session.scalars(select(ContestRow).order_by(ContestRow.id)))
        if (public := self._public) is None:
            return found
        numbered = {contest.id: contest for contest in found}
        return [self._as_seen(each, public) for each in found if public.sees_begin(each, numbered)]

    def _as_seen(self, contest: ContestRow, public: PublicReader) -> ContestRow:
        """The row of a contest as it was when nothing was known of its end."""
        if contest.status != RUNNING and not public.sees_end(contest):
            self._session.expunge(contest)  # what changes now is not to be written
            contest.status, contest.ended_at, contest.head = RUNNING, None, None
        return contest

    def contest(self, selector: str | None = None) -> ContestRow:
        """The contest with this id, else the latest of this name; without a selector the latest of all."""
        found = self._find(selector)
        if found is None:
            known = ", ".join(f"{contest.id} {contest.name}" for contest in self.contests()[-10:])
            if not known:
                raise StoreError(f"{self._database}: no contest has begun here")
            raise StoreError(f"{self._database}: no contest {selector!r:.40} here; there are: {known}")
        check_contest_row(found)
        return found if self._public is None else self._as_seen(found, self._public)

    def _find(self, selector: str | None) -> ContestRow | None:
        if selector is not None and selector.isascii() and selector.isdigit() and len(selector) < 10:
            by_id = self._session.get(ContestRow, int(selector))
            if by_id is not None:
                return by_id
        query = select(ContestRow).order_by(ContestRow.id.desc()).limit(1)
        return self._session.scalar(query if selector is None else query.where(ContestRow.name == selector))

    def latest(self, name: str) -> ContestRow | None:
        """The latest contest of this name, which may be a number; None if there is none.

        Nor if a spectator does not see yet that it has begun.
        """
        query = select(ContestRow).where(ContestRow.name == name).order_by(ContestRow.id.desc())
        found = self._session.scalar(query.limit(1))
        if found is None or self._public is None:
            return found
        number = found.id
        return next((contest for contest in self.contests() if contest.id == number), None)

    def ended_at(self, contest: ContestRow) -> datetime | None:
        """When a contest ended, also before that is seen; None: it runs."""
        return self._session.scalar(select(ContestRow.ended_at).where(ContestRow.id == contest.id))

    def deals(self, contest: ContestRow) -> Deals:
        """Which deal each game of this contest has, and whether it may be shown."""
        if contest.id not in self._deals:
            session, layout = self._sources.of(contest)
            self._deals[contest.id] = Deals(session, contest, earlier=layout < ADDED["pairings"])
        return self._deals[contest.id]

    def contests_of(self, bot: str) -> list[int]:
        """The numbers of the contests that a bot of this name is in, the newest first."""
        there = {contest.id for contest in self.contests()}
        return [number for number in bot_games.contests_of(self._session, bot) if number in there]

    def bots(self, contest: ContestRow) -> list[str]:
        """The names of the entrants: those of the configuration in its order, then the late ones."""
        return entrants(self._session, contest)
