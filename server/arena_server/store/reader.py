"""Reading a database: results for the commands, and an unfinished contest for the server that goes on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from types import TracebackType
from typing import Any, Self

from sqlalchemy import func, select
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from arena_protocol.record import RecordError
from arena_server.core.deal import number_of
from arena_server.core.journal import Entry, Past, PastGame
from arena_server.core.standings import Result, Row, standings
from arena_server.errors import StoreError
from arena_server.store.database import Database, describe
from arena_server.store.journal import unpack
from arena_server.store.preflight import StoredContest, check_readable
from arena_server.store.schema import FINISHED, Bot, Contest, Fault, Game, JournalRow, open_engine

VOID = "void"


class Results:
    """A database of results, open for reading; use it in a `with` statement.

    The methods, and the end of the `with` statement, raise StoreError with one line for what is missing
    or cannot be read.
    """

    def __init__(self, database: Database) -> None:
        check_readable(database)
        self._database = database
        self._engine = open_engine(database)
        self._session = Session(self._engine)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._session.close()
        self._engine.dispose()
        if isinstance(error, DBAPIError):
            raise StoreError(describe(self._database, error.orig or error)) from None
        if isinstance(error, ValueError) and not isinstance(error, RecordError):
            # A column that is no JSON, no UTF-8 or no time.
            raise StoreError(f"{self._database}: the database is damaged ({error}); restore it") from None

    def contests(self) -> list[Contest]:
        """All contests, the oldest first."""
        return list(self._session.scalars(select(Contest).order_by(Contest.id)))

    def contest(self, selector: str | None = None) -> Contest:
        """The contest with this id, else the latest of this name; without a selector the latest of all."""
        found = self._find(selector)
        if found is None:
            known = ", ".join(f"{contest.id} {contest.name}" for contest in self.contests()[-10:])
            wanted = "contest" if selector is None else f"contest {selector!r}"
            raise StoreError(f"{self._database}: no {wanted} here; there are: {known or 'none'}")
        return found

    def _find(self, selector: str | None) -> Contest | None:
        if selector is not None and selector.isascii() and selector.isdigit():
            by_id = self._session.get(Contest, int(selector))
            if by_id is not None:
                return by_id
        query = select(Contest).order_by(Contest.id.desc()).limit(1)
        return self._session.scalar(query if selector is None else query.where(Contest.name == selector))

    def games_played(self, contest: Contest) -> int:
        """The number of games with a result; void games do not count."""
        query = select(func.count()).where(Game.contest_id == contest.id, Game.end != VOID)
        return self._session.scalar(query.select_from(Game)) or 0

    def standings(self, contest: Contest) -> tuple[Row, ...]:
        """The table of the games so far, as the contest scores them."""
        names = self._session.scalars(select(Bot.name).where(Bot.contest_id == contest.id).order_by(Bot.id))
        return standings(list(names), self._results(contest), contest.scoring)

    def _results(self, contest: Contest) -> Iterator[Result]:
        faults = _faults(self._session, contest)
        games = select(Game.id, Game.names, Game.totals).where(
            Game.contest_id == contest.id, Game.end != VOID
        )
        for game, names, totals in self._session.execute(games):
            yield Result(tuple(names), tuple(totals), tuple(faults.get(game, ())))

    def records(self, contest: Contest) -> Iterator[tuple[str, bytes]]:
        """The id and the encoded record of every game, in the order of the schedule."""
        query = select(Game.game_id, Game.record).where(Game.contest_id == contest.id)
        # g10 comes after g9.
        ordered = query.order_by(func.length(Game.game_id), Game.game_id)
        for row in self._session.execute(ordered.execution_options(yield_per=100)):
            yield row.game_id, row.record

    def rows(self, contest: Contest, game_id: str | None = None) -> Iterator[dict[str, Any]]:
        """The row of each game, or of one, as a dictionary; `faults` are (seat, ply, kind, line)."""
        faults: dict[int, list[tuple[int, int, str, bytes]]] = {}
        query = select(Fault).join(Game, Fault.game_pk == Game.id).where(Game.contest_id == contest.id)
        for fault in self._session.scalars(query.order_by(Fault.id)):
            faults.setdefault(fault.game_pk, []).append((fault.seat, fault.ply, fault.kind, fault.line))
        games = select(Game).where(Game.contest_id == contest.id).execution_options(yield_per=100)
        if game_id is not None:
            games = games.where(Game.game_id == game_id)
        for game in self._session.scalars(games.order_by(func.length(Game.game_id), Game.game_id)):
            columns = ("game_id", "names", "totals", "end", "plies", "record", "place", "chain")
            yield {**{key: getattr(game, key) for key in columns}, "faults": faults.get(game.id, [])}

    def bots(self, contest: Contest) -> list[str]:
        """The names of the entrants, in the order of the configuration."""
        return list(
            self._session.scalars(select(Bot.name).where(Bot.contest_id == contest.id).order_by(Bot.id))
        )

    def summaries(self, contest: Contest, after: int, until: datetime, limit: int) -> list[GameSummary]:
        """The games of rows beyond number `after`, stored up to `until` (UTC), at most `limit`, in order."""
        columns = (Game.id, Game.game_id, Game.names, Game.totals, Game.end, Game.plies, Game.stored_at)
        games = select(*columns).where(Game.contest_id == contest.id, Game.id > after)
        shown = games.where(Game.stored_at <= until).order_by(Game.id).limit(limit)
        rows = self._session.execute(shown).all()
        faults: dict[int, list[tuple[int, int, str]]] = {}
        if rows:
            query = select(Fault.game_pk, Fault.seat, Fault.ply, Fault.kind).order_by(Fault.id)
            known = query.where(Fault.game_pk >= rows[0].id, Fault.game_pk <= rows[-1].id)
            for game, seat, ply, kind in self._session.execute(known):
                faults.setdefault(game, []).append((seat, ply, kind))
        return [
            GameSummary(
                row.id,
                row.game_id,
                tuple(row.names),
                tuple(row.totals),
                row.end,
                row.plies,
                row.stored_at,
                tuple(faults.get(row.id, ())),
            )
            for row in rows
        ]

    def stored_at(self, contest: Contest, game_id: str) -> datetime | None:
        """When the record of this game was stored (UTC); None if there is none."""
        query = select(Game.stored_at).where(Game.contest_id == contest.id, Game.game_id == game_id)
        return self._session.scalar(query)

    def record(self, contest: Contest, game_id: str) -> bytes:
        """The encoded record of one game."""
        query = select(Game.record).where(Game.contest_id == contest.id, Game.game_id == game_id)
        found = self._session.scalar(query)
        if found is None:
            raise StoreError(f"{self._database}: no game {game_id!r} in contest {contest.id} {contest.name}")
        return found


@dataclass(frozen=True, slots=True)
class GameSummary:
    """A game without its record; `number` is its row. `faults` are (seat, ply, kind), `stored_at` is UTC."""

    number: int
    game_id: str
    names: tuple[str, ...]
    totals: tuple[int, ...]
    end: str
    plies: int
    stored_at: datetime
    faults: tuple[tuple[int, int, str], ...]


def _faults(session: Session, contest: Contest) -> dict[int, list[tuple[str, str]]]:
    """The faults of bots, (name, kind) in their order, by the row of their game."""
    faults: dict[int, list[tuple[str, str]]] = {}
    rows = select(Fault.game_pk, Bot.name, Fault.kind).join(Bot, Fault.bot_id == Bot.id).order_by(Fault.id)
    for game, bot, kind in session.execute(rows.where(Bot.contest_id == contest.id)):
        faults.setdefault(game, []).append((bot, kind))
    return faults


# -- a contest that goes on


@dataclass(frozen=True, slots=True)
class UnfinishedContest:
    """The number of its row, its seed, and everything durable of it."""

    contest: int
    seed: int
    past: Past


def find_unfinished(session: Session, name: str) -> Contest | None:
    """The latest contest of this name, if it is unfinished."""
    query = select(Contest).where(Contest.name == name).order_by(Contest.id.desc()).limit(1)
    latest = session.scalar(query)
    return latest if latest is not None and latest.status != FINISHED else None


def stored_contest(contest: Contest) -> StoredContest:
    return StoredContest(contest.id, contest.name, contest.seed, contest.plan)


def load_unfinished(session: Session, contest: Contest) -> UnfinishedContest:
    """Raises ValueError for a damaged row."""
    results = tuple(_past_games(session, contest))
    return UnfinishedContest(contest.id, int(contest.seed), Past(results, tuple(_entries(session, contest))))


def _past_games(session: Session, contest: Contest) -> Iterator[PastGame]:
    faults = _faults(session, contest)
    columns = (Game.id, Game.game_id, Game.names, Game.totals, Game.end, Game.plies)
    games = select(*columns).where(Game.contest_id == contest.id).order_by(Game.id)
    for row in session.execute(games):
        yield PastGame(
            number_of(row.game_id),
            tuple(row.names),
            tuple(row.totals),
            row.end,
            row.plies,
            tuple(faults.get(row.id, ())),
        )


def _entries(session: Session, contest: Contest) -> Iterator[Entry]:
    rows = select(JournalRow.payload).where(JournalRow.contest_id == contest.id).order_by(JournalRow.id)
    for payload in session.scalars(rows):
        yield from unpack(payload)
