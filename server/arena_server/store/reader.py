"""Reading a database of results, for the commands and the pages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from itertools import islice
from types import TracebackType
from typing import Any, Final, Self

import msgpack
from sqlalchemy import ColumnElement, func, select
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from arena_protocol.plugins import PluginError
from arena_protocol.record import VOID, FaultRecord, RecordError
from arena_server.core.deal import game_id
from arena_server.core.facts import Annulled, ContestFact, Order, Separated, Validated
from arena_server.core.formats.base import Pairing
from arena_server.core.formats.history import History
from arena_server.core.formats.scheduled import Scheduled
from arena_server.core.journal import fact_of
from arena_server.errors import StoreError
from arena_server.stats.rated_games import Games
from arena_server.stats.results import PastGame
from arena_server.stats.standings import Row, Standings
from arena_server.store import bot_games
from arena_server.store.bot_games import BotGame
from arena_server.store.chain import GENESIS, verify_checksum
from arena_server.store.checks import (
    check_contest_row,
    check_game,
    check_result,
    checked_games,
    entrants,
    faults_by_game,
    game_columns,
)
from arena_server.store.database import Database, describe
from arena_server.store.deals import Deals, WithheldError
from arena_server.store.plans import grown_format, history_of, plain_plan, planned, table_of
from arena_server.store.preflight import ADDED, check_readable
from arena_server.store.schema import BotRow, ContestRow, FaultRow, GameRow, open_engine
from arena_server.store.sums import Endings, Sums
from arena_server.store.unfinished import kept_entries, past_games

#: A row is compared with its digest in 35 us. Of more games `arena verify` alone does that: a table of a
#: million took 39 s.
CHECKED_GAMES: Final = 20_000


class Results:
    """A database of results, open for reading; use it in a `with` statement.

    Unless `losses_accepted`, it has all that was announced. The methods, and the end of the `with`
    statement, raise StoreError with one line for what is missing or cannot be read.
    """

    def __init__(self, database: Database, *, losses_accepted: bool = False) -> None:
        layout = check_readable(database, losses_accepted=losses_accepted)
        self._layout = int(layout)
        self._database = database
        self._session = Session(open_engine(database))
        self._deals: dict[int, Deals] = {}
        self._histories: dict[tuple[int, int | None], History] = {}
        #: The contests whose rows have been compared with their digests.
        self._checked: set[int] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._session.close()
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
        return list(self._session.scalars(select(ContestRow).order_by(ContestRow.id)))

    def contest(self, selector: str | None = None) -> ContestRow:
        """The contest with this id, else the latest of this name; without a selector the latest of all."""
        found = self._find(selector)
        if found is None:
            known = ", ".join(f"{contest.id} {contest.name}" for contest in self.contests()[-10:])
            wanted = "contest" if selector is None else f"contest {selector!r:.40}"
            raise StoreError(f"{self._database}: no {wanted} here; there are: {known or 'none'}")
        check_contest_row(found)
        return found

    def _find(self, selector: str | None) -> ContestRow | None:
        if selector is not None and selector.isascii() and selector.isdigit() and len(selector) < 10:
            by_id = self._session.get(ContestRow, int(selector))
            if by_id is not None:
                return by_id
        query = select(ContestRow).order_by(ContestRow.id.desc()).limit(1)
        return self._session.scalar(query if selector is None else query.where(ContestRow.name == selector))

    def latest(self, name: str) -> ContestRow | None:
        """The latest contest of this name, which may be a number; None if there is none."""
        query = select(ContestRow).where(ContestRow.name == name).order_by(ContestRow.id.desc())
        return self._session.scalar(query.limit(1))

    def deals(self, contest: ContestRow) -> Deals:
        """Which deal each game of this contest has, and whether it may be shown."""
        if contest.id not in self._deals:
            self._deals[contest.id] = Deals(self._session, contest, earlier=self._layout < ADDED["pairings"])
        return self._deals[contest.id]

    def facts(self, contest: ContestRow) -> list[ContestFact]:
        """The facts of the contest that outlive its journal, in their order."""
        if self._layout < ADDED["facts"]:
            return []
        return [fact_of(entry) for entry in kept_entries(self._session, contest.id)]  # type: ignore[misc] # of the contest

    def orders(self, contest: ContestRow) -> list[Order]:
        """What the organiser has ordered."""
        return [fact for fact in self.facts(contest) if isinstance(fact, Order)]

    def annulled(self, contest: ContestRow) -> dict[str, str]:
        """The games whose stored results were taken back by their ids, with the worker that had played them.

        They are void; their records stay as they are.
        """
        facts = (fact for fact in self.facts(contest) if isinstance(fact, Annulled))
        return {game_id(fact.number): fact.worker for fact in facts}

    def validations(self, contest: ContestRow) -> dict[str, Validated]:
        """The validation games that are over by their ids, in the order of their ends."""
        facts = (fact for fact in self.facts(contest) if isinstance(fact, Validated))
        return {game_id(-fact.number): fact for fact in facts}

    def separated(self, contest: ContestRow) -> Separated | None:
        """That the contest ended early because it is certain who is first."""
        return next((fact for fact in self.facts(contest) if isinstance(fact, Separated)), None)

    def planned(self, contest: ContestRow, first: int, end: int) -> list[Pairing]:
        """The games with the numbers `first` to `end - 1` of those that are planned, begun or not.

        Without those of bots that have left, all of which are played or void.
        """
        return planned(contest, self.facts(contest), first, end)

    def last_planned(self, contest: ContestRow) -> int:
        """The highest number of a planned game; 0 if none is planned. Those between may be repeats."""
        form = grown_format(contest, self.facts(contest))
        return form.next_number - 1 if isinstance(form, Scheduled) else 0

    def games_played(self, contest: ContestRow) -> int:
        """The number of games with a result; void games do not count."""
        return self._sums(contest).games()

    def games_stored(self, contest: ContestRow, until: datetime | None = None) -> int:
        """The number of games with a record, void ones included: the place of the last one.

        `until` (UTC): of the last one that was stored up to then.
        """
        query = select(GameRow.place).where(GameRow.contest_id == contest.id)
        if until is not None:
            query = query.where(GameRow.stored_at <= until)
        return self._session.scalar(query.order_by(GameRow.place.desc()).limit(1)) or 0

    def shown(self, contest: ContestRow, now: datetime, *, live: bool) -> int:
        """The place of the last result that may be seen now (UTC): see `core/cut.py`."""
        return self.games_stored(contest, self.deals(contest).results_until(now, live=live))

    def table(self, contest: ContestRow, scoring: str | None = None, last: int | None = None) -> Standings:
        """The table of the games so far, by `scoring` or else as the contest scores them.

        `last`: of those up to this place.
        """
        history = self.history(contest, last)
        self._check_games(contest)
        table = table_of(contest, self.bots(contest), scoring, history)
        self.add_results(table, contest, 0, self.games_stored(contest) if last is None else last)
        return table

    def add_results(self, table: Standings, contest: ContestRow, after: int, last: int) -> None:
        """Count the games at the places beyond `after` up to `last` in a table of the contest."""
        self._sums(contest).add_to(table, after, last)

    def _check_games(self, contest: ContestRow) -> None:
        """Raise ValueError for a missing row and, up to CHECKED_GAMES of them, for a changed one."""
        if contest.id in self._checked:
            return
        if self.games_stored(contest) > CHECKED_GAMES:
            self._sums(contest).check_complete()
        else:
            for _ in checked_games(self._session, contest, self._layout):
                pass
        self._checked.add(contest.id)

    def _sums(self, contest: ContestRow) -> Sums:
        return Sums(self._session, contest, self._layout)

    def history(self, contest: ContestRow, last: int | None = None) -> History | None:
        """What was drawn, with all results or those up to the place `last`; None: the format has no draws."""
        history = history_of(contest)
        if history is not None and (contest.id, last) not in self._histories:
            # The results first: a fact is stored before the results that follow it.
            games = past_games(self._session, contest, self.deals(contest).numbers(), self._layout)
            for game in islice(games, last):
                history.add(game)
            history.extend(self.facts(contest))
            self._histories[contest.id, last] = history
            if last is None:
                self._checked.add(contest.id)
        return self._histories.get((contest.id, last))

    def plan(self, contest: ContestRow, last: int | None = None) -> dict[str, Any] | None:
        """What an export needs to check the rounds; None: the format draws nothing.

        `last`: nothing that follows from results beyond this place.
        """
        history = None if last is None else self.history(contest, last)
        return plain_plan(contest, self.facts(contest) if history is None else history.taken)

    def total(self, contest: ContestRow) -> int | None:
        """How many games there are, of a format that draws at most from now on; None: it is open."""
        history = self.history(contest)
        return contest.total if history is None else history.form.total

    def standings(self, contest: ContestRow, scoring: str | None = None) -> tuple[Row, ...]:
        """The rows of `table`."""
        return self.table(contest, scoring).rows()

    def rated(self, contest: ContestRow, *, versions: bool = False, until: datetime | None = None) -> Games:
        """The games with a result, for `ratings.fit_counted`; it needs numpy.

        With `versions` each version of a bot is a player of its own. `until` (UTC): of games stored up to
        then.
        """
        self._check_games(contest)
        last = self.games_stored(contest, until)
        return self._sums(contest).rated(last, versions=versions)

    def rated_steps(
        self, contest: ContestRow, endings: Endings, places: Sequence[int]
    ) -> Iterator[tuple[int, datetime, Games, Games | None]]:
        """The same of bots and of versions up to each of `places`, with the time of the game there (UTC).

        `endings` has the sums of the games before the first of them, and grows up to the last.
        """
        self._check_games(contest)
        for place, bots, versions in self._sums(contest).rated_steps(endings, places):
            yield place, self.stored_last(contest, place), bots, versions

    def contests_of(self, bot: str) -> list[int]:
        """The numbers of the contests that a bot of this name is in, the newest first."""
        return bot_games.contests_of(self._session, bot)

    def details(self, contest: ContestRow, bot: str) -> dict[str, str]:
        """What the author of a bot says of it: see `bot_games.details`."""
        return bot_games.details(contest, self.facts(contest), bot)

    def newest_games(self, contest: ContestRow, bot: str, until: datetime, limit: int) -> list[BotGame]:
        """The newest games of a bot that were stored up to `until`: see `bot_games.newest_games`."""
        return bot_games.newest_games(self._session, contest, self._layout, bot, until, limit)

    def head(self, contest: ContestRow, place: int) -> bytes:
        """The value of the chain at the record at this place; at 0 it is GENESIS."""
        mine = select(GameRow.chain).where(GameRow.contest_id == contest.id, GameRow.place == place)
        found = self._session.scalar(mine)
        return GENESIS if found is None else bytes(found)

    def records(self, contest: ContestRow, last: int | None = None) -> Iterator[tuple[str, bytes | None]]:
        """The id and the encoded record of every game in the order of the schedule; None may not be shown.

        `last`: of the games up to this place.
        """
        query = select(GameRow.game_id, GameRow.record).where(*_stored(contest, last))
        # g10 comes after g9.
        ordered = query.order_by(func.length(GameRow.game_id), GameRow.game_id)
        with self._session.execute(ordered.execution_options(yield_per=100)) as rows:
            for row in rows:
                yield row.game_id, row.record if self.deals(contest).may_show(row.game_id) else None

    def played(self, contest: ContestRow) -> Iterator[tuple[PastGame, str]]:
        """Every stored game with the worker that played it (empty: the server), in the order of storing.

        The numbers of the deals are not read: they are 0. Not all games are in memory at once.
        """
        games = past_games(self._session, contest, {}, self._layout)
        mine = select(GameRow.record).where(GameRow.contest_id == contest.id).order_by(GameRow.place)
        with self._session.scalars(mine.execution_options(yield_per=100)) as records:
            for game, record in zip(games, records, strict=True):
                # A whole record takes a hundred times as long.
                yield game, str(msgpack.unpackb(verify_checksum(bytes(record))).get("worker", ""))

    def rows(
        self,
        contest: ContestRow,
        game_id: str | None = None,
        *,
        last: int | None = None,
        checked: bool = True,
        withheld: bool = False,
    ) -> Iterator[dict[str, Any]]:
        """The row of each game, or of one, as a dictionary; `faults` are (seat, ply, kind, line).

        `last`: of the games up to this place. `digest` is the SHA-256 of the `record`, which is None if it
        may not be shown; `withheld` gives those too. Raises ValueError for a changed row, unless it is not
        `checked`: then `damage` is a line about it, else None.
        """
        faults, names = faults_by_game(self._session, contest, game_id), set(self.bots(contest))
        games = select(*game_columns(self._layout)).where(*_stored(contest, last))
        if game_id is not None:
            games = games.where(GameRow.game_id == game_id)
        ordered = games.order_by(func.length(GameRow.game_id), GameRow.game_id)
        with self._session.execute(ordered.execution_options(yield_per=100)) as rows:
            for game in rows:
                damage = None
                try:
                    check_game(contest, names, game, faults.get(game.id, []))
                    verify_checksum(game.record)
                except ValueError as error:
                    if checked:
                        raise
                    damage = str(error)
                columns = ("game_id", "names", "totals", "end", "plies", "place", "chain", "used_ms")
                may_show = withheld or self.deals(contest).may_show(game.game_id)
                yield {
                    **{key: getattr(game, key) for key in columns},
                    "record": game.record if may_show else None,
                    "digest": sha256(game.record).digest(),
                    "faults": faults.get(game.id, []),
                    **({} if checked else {"damage": damage}),
                }

    def bots(self, contest: ContestRow) -> list[str]:
        """The names of the entrants: those of the configuration in its order, then the late ones."""
        return entrants(self._session, contest)

    def summaries(self, contest: ContestRow, after: int, last: int) -> list[GameSummary]:
        """The games at the places beyond `after` up to `last`, in order."""
        wanted = ("id", "game_id", "names", "totals", "end", "plies", "stored_at", "used_ms")
        columns = (column for column in game_columns(self._layout) if column.name in wanted)
        places = GameRow.place.between(after + 1, last)
        shown = select(*columns).where(GameRow.contest_id == contest.id, places).order_by(GameRow.place)
        rows = self._session.execute(shown).all()
        faults: dict[int, list[tuple[int, int, str]]] = {}
        if rows:
            query = select(FaultRow.game_pk, FaultRow.seat, FaultRow.ply, FaultRow.kind).order_by(FaultRow.id)
            known = query.where(FaultRow.game_pk >= rows[0].id, FaultRow.game_pk <= rows[-1].id)
            for game, seat, ply, kind in self._session.execute(known):
                faults.setdefault(game, []).append((seat, ply, kind))
        names = set(self.bots(contest))
        for row in rows:
            check_result(contest, names, row, faults.get(row.id, []))
        return [
            GameSummary(
                row.game_id,
                tuple(row.names),
                tuple(row.totals),
                row.end,
                row.plies,
                row.stored_at,
                tuple(faults.get(row.id, ())),
                tuple(row.used_ms or ()),
            )
            for row in rows
        ]

    def digests(self, contest: ContestRow, after: int, limit: int) -> list[bytes]:
        """The SHA-256 digests of the records at the places after `after` of the chain, at most `limit`.

        They prove a record and show nothing of it: each holds a nonce.
        """
        places = GameRow.place.between(after + 1, after + limit)
        query = select(GameRow.record).where(GameRow.contest_id == contest.id, places).order_by(GameRow.place)
        rows = self._session.scalars(query.execution_options(yield_per=100))
        return [sha256(record).digest() for record in rows]

    def stored_at(self, contest: ContestRow, game_id: str) -> datetime | None:
        """When the record of this game was stored (UTC); None if there is none."""
        query = select(GameRow.stored_at).where(GameRow.contest_id == contest.id, GameRow.game_id == game_id)
        return self._session.scalar(query)

    def stored_last(self, contest: ContestRow, place: int) -> datetime:
        """When the record at this place (1, 2, ...) of the chain was stored (UTC)."""
        query = select(GameRow.stored_at).where(GameRow.contest_id == contest.id, GameRow.place == place)
        return self._session.scalars(query).one()

    def first_faults(self, contest: ContestRow) -> dict[str, tuple[str, FaultRecord]]:
        """The first fault of each bot that has one, with the id of its game."""
        joined = select(func.min(FaultRow.id)).join(GameRow, FaultRow.game_pk == GameRow.id)
        numbers = joined.where(*self._of_bots(contest)).group_by(FaultRow.bot_id)
        query = select(
            GameRow.game_id, GameRow.names, FaultRow.seat, FaultRow.ply, FaultRow.kind, FaultRow.line
        )
        games = query.join(GameRow, FaultRow.game_pk == GameRow.id).where(FaultRow.id.in_(numbers))
        return {
            row.names[row.seat - 1]: (row.game_id, FaultRecord(row.seat, row.ply, row.kind, row.line))
            for row in self._session.execute(games.order_by(FaultRow.id))
        }

    def faults(
        self, contest: ContestRow, until: datetime, limit: int
    ) -> list[tuple[str, list[str], FaultRecord]]:
        """The latest faults of bots in games stored up to `until` (UTC), the newest first, at most `limit`.

        Each with the id of its game and the names of its seats; `line` is empty where the record of the game
        may not be shown, because it can tell of the deal.
        """
        columns = (GameRow.game_id, GameRow.names, FaultRow.seat, FaultRow.ply, FaultRow.kind, FaultRow.line)
        query = select(*columns).join(GameRow, FaultRow.game_pk == GameRow.id).order_by(FaultRow.id.desc())
        mine = query.where(*self._of_bots(contest))
        found = []
        for row in self._session.execute(mine.where(GameRow.stored_at <= until).limit(limit)):
            line = bytes(row.line) if self.deals(contest).may_show(row.game_id) else b""
            found.append((row.game_id, row.names, FaultRecord(row.seat, row.ply, row.kind, line)))
        return found

    @staticmethod
    def _of_bots(contest: ContestRow) -> tuple[ColumnElement[bool], ...]:
        """The faults that count for a bot. By its bots: by its games all of them would be looked at."""
        bots = select(BotRow.id).where(BotRow.contest_id == contest.id)
        return FaultRow.bot_id.in_(bots), GameRow.end != VOID, FaultRow.seat > 0

    def record(self, contest: ContestRow, game_id: str) -> bytes:
        """The encoded record of one game. Raises WithheldError for one that may not be shown."""
        query = select(GameRow.record).where(GameRow.contest_id == contest.id, GameRow.game_id == game_id)
        found = self._session.scalar(query)
        if found is None:
            raise StoreError(f"{self._database}: no game {game_id!r} in contest {contest.id} {contest.name}")
        if not self.deals(contest).may_show(game_id):
            raise WithheldError(game_id)
        return found


def _stored(contest: ContestRow, last: int | None) -> Sequence[ColumnElement[bool]]:
    """The games of a contest, up to the place `last`."""
    mine = GameRow.contest_id == contest.id
    return (mine,) if last is None else (mine, GameRow.place <= last)


@dataclass(frozen=True, slots=True)
class GameSummary:
    """A game without its record. `faults` are (seat, ply, kind), `stored_at` is UTC."""

    game_id: str
    names: tuple[str, ...]
    totals: tuple[int, ...]
    end: str
    plies: int
    stored_at: datetime
    faults: tuple[tuple[int, int, str], ...]
    used_ms: tuple[int, ...] = ()
