"""The results of a database as the site shows them: contests, standings, lists of games.

Everything here blocks; the web application calls it on one thread of its own. The table of a contest stays
in memory, and so do the parts of the list of its games that were asked for: they are JSON in chunks of
CHUNK games, and a chunk that is full never changes.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from arena_server.core.deal import number_of
from arena_server.core.formats.history import History
from arena_server.core.formats.player_cards import cards_of
from arena_server.core.life import RUNNING
from arena_server.core.rulings import OF_A_GAME
from arena_server.errors import EmptyDatabaseError, StoreError
from arena_server.stats.pace import LAST_GAMES, pace_json
from arena_server.stats.results import PastGame
from arena_server.stats.standings import Standings, row_json
from arena_server.stats.teams import team_json, team_rows
from arena_server.store.database import Database
from arena_server.store.game_reader import GameSummary
from arena_server.store.plans import history_of, table_of, without_pairs
from arena_server.store.reader import Results
from arena_server.store.schema import ContestRow, plain_time
from arena_server.web.documents import contest_json, encoded, game_json
from arena_server.web.shown_results import NotFoundError, ShownResults, utc_now

#: Games in one file of the list of games.
CHUNK: Final = 2000
#: Contests in the document of a bot.
MOST_CONTESTS: Final = 50


@dataclass(slots=True)
class _GameIndex:
    """What has been read of one contest: the games up to the place `last` are in the table."""

    contest: dict[str, Any]
    bots: list[str]
    table: Standings
    #: Of a format that draws: what has been drawn so far, as far as it may be shown.
    history: History | None
    #: The highest number of a game that is known in advance.
    planned: int | None = None
    #: All planned games with a lower number are over.
    open_from: int = 1
    last: int = 0
    #: Made when a page asks for them: the place of the last game, and the rows up to it as JSON.
    chunks: dict[int, tuple[int, bytes]] = field(default_factory=dict)
    chain: dict[int, bytes] = field(default_factory=dict)
    #: The rows of the table, as made of how many games, facts and bots.
    rows: tuple[tuple[int, int, int], list[dict[str, Any]]] | None = None
    #: How many facts are known, and the document of the rounds that was made of how many results and facts.
    facts: int = 0
    rounds: tuple[tuple[int, int], bytes] | None = None
    #: How many results had been changed or taken back when it was made.
    changed: int = 0
    #: Whether it may be seen who plays whom.
    named: bool = True
    #: A contest that is over, all of whose games have been read, is not looked at again.
    complete: bool = False


class Archive(ShownResults):
    """With the tables and the lists of games, of which it keeps what it has read: on one thread.

    With `by_name` its contests have their name as their id: they have numbers of another database.
    """

    def __init__(
        self,
        database: Database,
        clock: Callable[[], datetime] = utc_now,
        *,
        by_name: bool = False,
        live: bool = False,
    ) -> None:
        super().__init__(database, clock, live=live)
        self._by_name = by_name
        self._indexes: dict[int, _GameIndex] = {}

    def contests(self) -> list[dict[str, Any]]:
        """All contests, the newest first. Raises StoreError."""
        try:
            opened = self.open()
        except EmptyDatabaseError:  # as in `_names`
            return []
        with opened as results:
            found = [self._listed(results, contest) for contest in results.contests()]
        return found[::-1]

    def _listed(self, results: Results, contest: ContestRow) -> dict[str, Any]:
        try:
            index = self._read(results, contest)
        except StoreError:
            if contest.archive is None:
                raise
            # Its file is not here: the other contests are shown all the same.
            return self._plain(contest) | {"games_played": contest.archive["games"]}
        return index.contest | {"games_played": index.table.games}

    def recent(self, most: int) -> list[dict[str, Any]]:
        """The latest `most` contests, the newest first, with the rows of their games. Raises StoreError.

        For a database of casual games, each a contest of one game.
        """
        found = []
        with self.open() as results:
            for contest in results.contests()[: -most - 1 : -1]:
                index = self._read(results, contest)
                rows = json.loads(_chunk(results, contest, index, 0))
                found.append(index.contest | {"bots": index.bots, "rows": rows})
        return found

    def contest(self, number: int) -> dict[str, Any]:
        """A contest with its standings. Raises NotFoundError and StoreError."""
        with self.open() as results:
            contest = self.find(results, number)
            index = self._read(results, contest)
            pace = self._pace(results, contest, index)
            teams = (
                team_rows(index.table, results.facts.owners(contest), best) if (best := contest.teams) else ()
            )
            jury = self._jury(results, contest)
            newest = results.games.summaries(contest, index.last - 1, index.last)
        places = {name: place for place, name in enumerate(index.bots)}
        called = contest.called
        return (
            index.contest
            | {
                "games_played": index.table.games,
                "games_void": index.last - index.table.games,
                "pace": pace,
                "standings": [row | {"bot": called.get(row["bot"], row["bot"])} for row in self._rows(index)],
                "bots": [called.get(name, name) for name in index.bots],
                "list": {"games": index.last, "chunk": CHUNK},
                "schedule": {"games": index.planned, "chunk": CHUNK},
                "latest": game_json(newest[0], places) if newest else None,
                "changes": index.changed,
                **jury,
            }
            | ({} if index.history is None else {"ranked_by": index.history.form.ranked_by})
            | ({"teams": {"best": best, "rows": [*map(team_json, teams)]}} if best else {})
        )

    def _jury(self, results: Results, contest: ContestRow) -> dict[str, Any]:
        """What the jury has decided, and the games whose result is not that of the record, by their order.

        Of games that may not be seen yet it says nothing.
        """
        if not results.deals(contest).may_name:
            return {"jury": [], "ruled": {}}
        changed = results.facts.ruled(contest)
        annulled = dict.fromkeys(results.facts.annulled(contest), 0)
        ruled = {name: order for name, order in changed.items() if self.is_over(results, contest, name)}
        of_games = {order.number for order in results.facts.decisions(contest) if order.verb in OF_A_GAME}
        hidden = of_games & set(changed.values()) - set(ruled.values())
        jury = [
            {"number": order.number, "verb": order.verb, "target": order.target, "reason": order.reason}
            for order in results.facts.decisions(contest)
            if order.number not in hidden
        ]
        return {"jury": jury, "ruled": annulled | ruled}

    def rounds(self, number: int) -> bytes:
        """What a format has drawn, as JSON: see `core/formats/rounds_json.py`. Raises NotFoundError.

        A Swiss has the cards of its players, too (`core/formats/player_cards.py`).
        It is made when it is asked for after a change: of 2,000 bots in 11 rounds that takes 0.4 s.
        """
        with self.open() as results:
            index = self._index(results, number)
        if index.history is None:
            raise NotFoundError(f"contest {number} draws no rounds")
        known = index.last, index.facts
        if index.rounds is None or index.rounds[0] != known:
            cards = cards_of(index.history, self._rows(index))
            index.rounds = (
                known,
                encoded(index.history.document() | ({} if cards is None else {"cards": cards})),
            )
        return index.rounds[1]

    def games(self, number: int, chunk: int) -> bytes:
        """Chunk `chunk` (0, 1, ...) of the games in the order of storing, as JSON. Raises NotFoundError.

        A row is [game id, seats as places in `bots`, totals, end, plies, seconds since 1970, faults, used]
        with faults as [seat, ply, kind], and the milliseconds charged to each seat, none if not known.
        """
        with self.open() as results:
            contest = self.find(results, number)
            index = self._read(results, contest)
            if 0 <= chunk <= index.last // CHUNK:
                return _chunk(results, contest, index, chunk)
        raise NotFoundError(f"contest {number} has no games of chunk {chunk}")

    def chain(self, number: int, chunk: int) -> bytes:
        """The SHA-256 digests of the records of chunk `chunk`, in the order of `games`, as JSON.

        They lead to the head of a contest that is over. Raises NotFoundError before.
        """
        with self.open() as results:
            contest = self.find(results, number)
            index = self._read(results, contest)
            if not index.complete or contest.head is None:
                raise NotFoundError(f"the chain of contest {number} is published when the contest is over")
            if chunk not in index.chain and 0 <= chunk * CHUNK < index.last:
                digests = results.games.digests(contest, chunk * CHUNK, CHUNK)
                index.chain[chunk] = json.dumps([digest.hex() for digest in digests]).encode()
        if chunk not in index.chain:
            raise NotFoundError(f"contest {number} has no games of chunk {chunk}")
        return index.chain[chunk]

    def pairs(self, number: int, chunk: int) -> bytes:
        """Which games were played on the same deal, of those of chunk `chunk` of `games`, as JSON.

        A row is [game id, the ids of the other games on its deal]; a game whose record may not be shown has
        none. It is read each time: a game that is over adds to an earlier row. Raises NotFoundError.
        """
        return encoded([*self.same_deals(number, chunk * CHUNK, CHUNK).items()])

    def schedule(self, number: int, chunk: int) -> bytes:
        """Chunk `chunk` of the schedule in its order, as JSON, played or not. Raises NotFoundError.

        A row is [game id, seats as places in `bots`]. It has what the format has planned. Games that are
        played again have numbers beyond the schedule. There is none while it may not be seen who plays whom.
        """
        with self.open() as results:
            contest = self.find(results, number)
            index = self._read(results, contest)
            if not results.deals(contest).may_name:
                return encoded([])
            planned = results.facts.planned(contest, chunk * CHUNK + 1, (chunk + 1) * CHUNK + 1)
        if not planned and chunk * CHUNK >= (index.planned or 0):
            raise NotFoundError(f"contest {number} has no games of chunk {chunk} in its schedule")
        places = {name: place for place, name in enumerate(index.bots)}
        return encoded(
            [
                [f"g{pairing.number}", [places[name] for name in pairing.names]]
                for pairing in planned
                if places.keys() >= set(pairing.names)  # a bot may have joined since
            ]
        )

    def upcoming(self, number: int) -> list[tuple[str, tuple[str, ...]]]:
        """The next games that are planned, CHUNK at most: id and names. Raises NotFoundError.

        None of a contest that is over or stands still, or where it may not be seen who plays whom.
        """
        found: list[tuple[str, tuple[str, ...]]] = []
        with self.open() as results:
            contest = self.find(results, number)
            index = self._read(results, contest)
            if contest.status != RUNNING or index.contest["frozen_at"] is not None or not index.named:
                return found
            shown, last = self.last_shown(results, contest), index.planned or 0
            for first in range(index.open_from, last + 1, CHUNK):
                planned = results.facts.planned(contest, first, first + CHUNK)
                over = results.games.over(contest, [f"g{game.number}" for game in planned], shown)
                named = [(f"g{game.number}", game.names) for game in planned]
                found += [each for each in named if each[0] not in over]
                if len(found) >= CHUNK:
                    break
                if not found and first + CHUNK <= last:
                    index.open_from = first + CHUNK
        return found[:CHUNK]

    def bot_contests(self, name: str) -> dict[str, Any]:
        """The rows of all bots of this name, the newest contest first, at most MOST_CONTESTS."""
        found = []
        with self.open() as results:
            for number in results.contests_of(name)[:MOST_CONTESTS]:
                index = self._index(results, number)
                row = next(row for row in self._rows(index) if row["bot"] == name)
                found.append(index.contest | {"of": len(index.bots), "row": row})
        if not found:
            raise NotFoundError(f"no bot {name:.40}")
        return {"contests": found}

    def _rows(self, index: _GameIndex) -> list[dict[str, Any]]:
        known = index.last, index.facts, len(index.bots)
        if index.rows is None or index.rows[0] != known:
            index.rows = known, [row_json(row) for row in index.table.rows()]
        return index.rows[1]

    def _pace(self, results: Results, contest: ContestRow, index: _GameIndex) -> dict[str, Any] | None:
        """How fast the games of a running contest ended, as far as it is shown; see `pace_json`."""
        if contest.status != RUNNING:
            return None
        before = max(0, index.last - LAST_GAMES)
        since = results.games.stored_last(contest, before) if before else contest.started_at
        total = index.contest["games"]
        left = None if total is None else total - index.table.games
        return pace_json(index.last - before, (self.until(results, contest) - since).total_seconds(), left)

    # -- reading

    def _plain(self, contest: ContestRow) -> dict[str, Any]:
        return contest_json(contest) | ({"id": contest.name} if self._by_name else {})

    def _index(self, results: Results, number: int) -> _GameIndex:
        return self._read(results, self.find(results, number))

    def _read(self, results: Results, contest: ContestRow) -> _GameIndex:
        """Read on in a contest."""
        index, changed = self._indexes.get(contest.id), results.facts.changes(contest)
        named = results.deals(contest).may_name
        # Results that were changed are counted in it as they were.
        if index is None or (index.changed, index.named) != (changed, named):
            bots, history = results.bots(contest), history_of(contest)
            table = table_of(contest, bots, history=history)
            for name, points in results.facts.penalties(contest).items():
                table.penalise(name, points)
            index = _GameIndex(self._plain(contest), bots, table, history, changed=changed, named=named)
            self._indexes[contest.id] = index
        if index.complete:
            return index
        before, index.contest = index.contest["games"], self._plain(contest)
        frozen = results.deals(contest).frozen_at
        if frozen is not None and frozen <= self._clock():
            index.contest["frozen_at"] = plain_time(frozen)
        if not named:
            index.contest["anonymous"], index.planned = True, 0
        elif index.planned is None or contest.total != before:
            index.planned = results.facts.last_planned(contest)
        for name in results.bots(contest)[len(index.bots) :]:
            index.bots.append(name)
            index.table.join(name)
        until = self.until(results, contest)
        _add_results(results, contest, index, self.last_shown(results, contest))
        over = contest.ended_at is not None and contest.ended_at <= until
        if over and (separated := results.facts.separated(contest)) is not None:
            index.contest["separated"] = separated._asdict()
        index.complete = contest.status != RUNNING and over
        if not index.complete:
            index.contest["head"] = None  # it is that of results which are not shown yet
        return index


def _add_results(results: Results, contest: ContestRow, index: _GameIndex, last: int) -> None:
    """The results up to the place `last`, and what was drawn."""
    if last > index.last:
        results.sums.add_results(index.table, contest, index.last, last)
        if index.history is not None:
            for game in results.games.summaries(contest, index.last, last):
                index.history.add(_past_game(game))
        index.last = last
    if index.history is not None:
        facts = results.facts.all(contest)
        index.facts = len(facts)
        index.history.extend(facts if index.named else without_pairs(facts))
        index.contest["games"] = index.history.form.total


def _chunk(results: Results, contest: ContestRow, index: _GameIndex, chunk: int) -> bytes:
    """The rows of a chunk, as JSON."""
    last = min(index.last, (chunk + 1) * CHUNK)
    if index.chunks.get(chunk, (-1,))[0] != last:
        places = {name: place for place, name in enumerate(index.bots)}
        rows = [game_json(game, places) for game in results.games.summaries(contest, chunk * CHUNK, last)]
        index.chunks[chunk] = last, encoded(rows)
    return index.chunks[chunk][1]


def _past_game(game: GameSummary) -> PastGame:
    return PastGame(number_of(game.game_id), game.names, 0, game.totals, game.end, game.plies)
