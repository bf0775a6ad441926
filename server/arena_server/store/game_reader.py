"""Reading the stored games of contests: records, rows, faults, the chain."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any, Final

import msgpack
from sqlalchemy import ColumnElement, Text, cast, func, select

from arena_protocol.record import VOID, FaultRecord
from arena_server.errors import StoreError
from arena_server.stats.results import PastGame
from arena_server.store import bot_games
from arena_server.store.bot_games import BotGame
from arena_server.store.chain import GENESIS, verify_checksum
from arena_server.store.checks import (
    check_game,
    check_result,
    entrants,
    faults_by_game,
    game_columns,
)
from arena_server.store.database import Database
from arena_server.store.deals import Deals, WithheldError
from arena_server.store.schema import BotRow, ContestRow, FaultRow, GameRow
from arena_server.store.sources import GameTables
from arena_server.store.unfinished import past_game, past_games

#: Games in one query; SQLite of old has a limit of 999.
ASKED: Final = 500
#: What `rows` gives of a game as it is stored.
_OF_A_ROW: Final = ("game_id", "names", "totals", "end", "plies", "place", "chain", "used_ms", "agents")


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


class GameReader:
    """The games of the contests of a database.

    `source` says where those of a contest are; `deals` says of a contest which records may be shown.
    """

    def __init__(
        self,
        database: Database,
        source: Callable[[ContestRow], GameTables],
        deals: Callable[[ContestRow], Deals],
    ) -> None:
        self._database = database
        self._source = source
        self.deals = deals

    def games_stored(self, contest: ContestRow, until: datetime | None = None) -> int:
        """The number of games with a record, void ones included: the place of the last one.

        `until` (UTC): of the last one that was stored up to then.
        """
        query = select(GameRow.place).where(GameRow.contest_id == contest.id)
        if until is not None:
            query = query.where(GameRow.stored_at <= until)
        return self._source(contest).session.scalar(query.order_by(GameRow.place.desc()).limit(1)) or 0

    def shown(self, contest: ContestRow, now: datetime, *, live: bool) -> int:
        """The place of the last result that may be seen now (UTC): see `core/cut.py`."""
        return self.games_stored(contest, self.deals(contest).results_until(now, live=live))

    def head(self, contest: ContestRow, place: int) -> bytes:
        """The value of the chain at the record at this place; at 0 it is GENESIS.

        Raises StoreError if there is no such record.
        """
        mine = select(GameRow.chain).where(GameRow.contest_id == contest.id, GameRow.place == place)
        found = self._source(contest).session.scalar(mine)
        if found is None and place:
            raise StoreError(f"{self._database}: no record {place} in contest {contest.id} {contest.name}")
        return GENESIS if found is None else bytes(found)

    def records(self, contest: ContestRow, last: int | None = None) -> Iterator[tuple[str, bytes | None]]:
        """The id and the encoded record of every game in the order of the schedule; None may not be shown.

        `last`: of the games up to this place.
        """
        query = select(GameRow.game_id, GameRow.record).where(*_stored(contest, last))
        # g10 comes after g9.
        ordered = query.order_by(func.length(GameRow.game_id), GameRow.game_id)
        with self._source(contest).session.execute(ordered.execution_options(yield_per=100)) as rows:
            for row in rows:
                yield row.game_id, row.record if self.deals(contest).may_show(row.game_id, last) else None

    def record(self, contest: ContestRow, game_id: str, last: int | None = None) -> bytes:
        """The encoded record of one game. Raises WithheldError for one that may not be shown.

        `last`: to who sees the results up to this place.
        """
        query = select(GameRow.record).where(GameRow.contest_id == contest.id, GameRow.game_id == game_id)
        found = self._source(contest).session.scalar(query)
        if found is None:
            raise StoreError(f"{self._database}: no game {game_id!r} in contest {contest.id} {contest.name}")
        if not self.deals(contest).may_show(game_id, last):
            raise WithheldError(game_id)
        return found

    def played(self, contest: ContestRow) -> Iterator[tuple[PastGame, str]]:
        """Every stored game with the worker that played it (empty: the server), in the order of storing.

        The numbers of the deals are not read: they are 0. Not all games are in memory at once.
        """
        source = self._source(contest)
        games = past_games(source.session, contest, {}, source.layout)
        mine = select(GameRow.record).where(GameRow.contest_id == contest.id).order_by(GameRow.place)
        with self._source(contest).session.scalars(mine.execution_options(yield_per=100)) as records:
            for game, record in zip(games, records, strict=True):
                # A whole record takes a hundred times as long.
                yield game, str(msgpack.unpackb(verify_checksum(bytes(record))).get("worker", ""))

    def past(
        self, contest: ContestRow, *, game_id: str | None = None, bot: str | None = None
    ) -> list[PastGame]:
        """One stored game, or those of a bot, in the order of storing; none if there is none.

        Raises ValueError for a changed row.
        """
        source = self._source(contest)
        faults = faults_by_game(source.session, contest, game_id)
        names = set(entrants(source.session, contest))
        games = select(*game_columns(source.layout)).where(GameRow.contest_id == contest.id)
        if game_id is not None:
            games = games.where(GameRow.game_id == game_id)
        if bot is not None:
            games = games.where(cast(GameRow.names, Text).contains(f'"{bot}"', autoescape=True))
        found = []
        for row in source.session.execute(games.order_by(GameRow.place)).all():
            check_game(contest, names, row, faults.get(row.id, []))
            deal = self.deals(contest).number(row.game_id) or 0
            found.append(past_game(row, faults.get(row.id, []), deal))
        return found

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
        source = self._source(contest)
        faults = faults_by_game(source.session, contest, game_id)
        names = set(entrants(source.session, contest))
        games = select(*game_columns(source.layout)).where(*_stored(contest, last))
        if game_id is not None:
            games = games.where(GameRow.game_id == game_id)
        ordered = games.order_by(func.length(GameRow.game_id), GameRow.game_id)
        with source.session.execute(ordered.execution_options(yield_per=100)) as rows:
            for game in rows:
                damage = None
                try:
                    check_game(contest, names, game, faults.get(game.id, []))
                    verify_checksum(game.record)
                except ValueError as error:
                    if checked:
                        raise
                    damage = str(error)
                may_show = withheld or self.deals(contest).may_show(game.game_id, last)
                yield {
                    **{key: getattr(game, key) for key in _OF_A_ROW},
                    "record": game.record if may_show else None,
                    "digest": sha256(game.record).digest(),
                    "faults": faults.get(game.id, []),
                    **({} if checked else {"damage": damage}),
                }

    def summaries(self, contest: ContestRow, after: int, last: int) -> list[GameSummary]:
        """The games at the places beyond `after` up to `last`, in order."""
        wanted = ("id", "game_id", "names", "totals", "end", "plies", "stored_at", "used_ms")
        session, layout = self._source(contest)
        columns = (column for column in game_columns(layout) if column.name in wanted)
        places = GameRow.place.between(after + 1, last)
        shown = select(*columns).where(GameRow.contest_id == contest.id, places).order_by(GameRow.place)
        rows = session.execute(shown).all()
        faults: dict[int, list[tuple[int, int, str]]] = {}
        if rows:
            query = select(FaultRow.game_pk, FaultRow.seat, FaultRow.ply, FaultRow.kind).order_by(FaultRow.id)
            known = query.where(FaultRow.game_pk >= rows[0].id, FaultRow.game_pk <= rows[-1].id)
            for game, seat, ply, kind in session.execute(known):
                faults.setdefault(game, []).append((seat, ply, kind))
        names = set(entrants(session, contest))
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
        rows = self._source(contest).session.scalars(query.execution_options(yield_per=100))
        return [sha256(record).digest() for record in rows]

    def place(self, contest: ContestRow, game_id: str) -> int | None:
        """The place (1, 2, ...) of the record of this game in the chain; None if there is none."""
        query = select(GameRow.place).where(GameRow.contest_id == contest.id, GameRow.game_id == game_id)
        return self._source(contest).session.scalar(query)

    def over(self, contest: ContestRow, games: Sequence[str], last: int) -> set[str]:
        """Those of `games` that have a record up to the place `last`."""
        mine = _stored(contest, last)
        parts = (games[first : first + ASKED] for first in range(0, len(games), ASKED))
        session = self._source(contest).session
        queries = (select(GameRow.game_id).where(*mine, GameRow.game_id.in_(part)) for part in parts)
        return {game for query in queries for game in session.scalars(query)}

    def stored_last(self, contest: ContestRow, place: int) -> datetime:
        """When the record at this place (1, 2, ...) of the chain was stored (UTC)."""
        query = select(GameRow.stored_at).where(GameRow.contest_id == contest.id, GameRow.place == place)
        return self._source(contest).session.scalars(query).one()

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
            for row in self._source(contest).session.execute(games.order_by(FaultRow.id))
        }

    def faults(self, contest: ContestRow, last: int, limit: int) -> list[tuple[str, list[str], FaultRecord]]:
        """The latest faults of bots in games up to the place `last`, the newest first, at most `limit`.

        Each with the id of its game and the names of its seats; `line` is empty where the record of the game
        may not be shown, because it can tell of the deal.
        """
        columns = (GameRow.game_id, GameRow.names, FaultRow.seat, FaultRow.ply, FaultRow.kind, FaultRow.line)
        query = select(*columns).join(GameRow, FaultRow.game_pk == GameRow.id).order_by(FaultRow.id.desc())
        mine = query.where(*self._of_bots(contest))
        found = []
        for row in self._source(contest).session.execute(mine.where(GameRow.place <= last).limit(limit)):
            line = bytes(row.line) if self.deals(contest).may_show(row.game_id, last) else b""
            found.append((row.game_id, row.names, FaultRecord(row.seat, row.ply, row.kind, line)))
        return found

    @staticmethod
    def _of_bots(contest: ContestRow) -> tuple[ColumnElement[bool], ...]:
        """The faults that count for a bot. By its bots: by its games all of them would be looked at."""
        bots = select(BotRow.id).where(BotRow.contest_id == contest.id)
        return FaultRow.bot_id.in_(bots), GameRow.end != VOID, FaultRow.seat > 0

    def newest_games(self, contest: ContestRow, bot: str, last: int, limit: int) -> list[BotGame]:
        """The newest games of a bot up to the place `last`: see `bot_games.newest_games`."""
        source = self._source(contest)
        return bot_games.newest_games(source.session, contest, source.layout, bot, last, limit)


def _stored(contest: ContestRow, last: int | None) -> Sequence[ColumnElement[bool]]:
    """The games of a contest, up to the place `last`."""
    mine = GameRow.contest_id == contest.id
    return (mine,) if last is None else (mine, GameRow.place <= last)
