"""What may be shown now of the results of a database; nothing is kept from one call to the next.

Everything here blocks, and may be called on any thread. Games are shown once the spectator delay of their
contest has passed since they were stored, so that no page shows anything before a spectator could have
seen it, also not the page of another contest in the same database.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from arena_protocol.games import GAMES
from arena_protocol.record import GameRecord, describe_fault
from arena_protocol.record_codec import decode
from arena_server.core.life import RUNNING
from arena_server.errors import EmptyDatabaseError, PublicError
from arena_server.stats.rated_games import Games
from arena_server.store.bot_games import BotGame
from arena_server.store.database import Database
from arena_server.store.deals import PublicReader, WithheldError
from arena_server.store.game_reader import GameSummary
from arena_server.store.reader import Results
from arena_server.store.schema import ContestRow
from arena_server.store.sums import Endings
from arena_server.web.documents import plain_seconds

#: States of a game that has ended.
OVER, WITHHELD = "over", "withheld"
#: Faults in one document.
MOST_FAULTS: Final = 500


def utc_now() -> datetime:
    return datetime.now(UTC).replace(tzinfo=None)


class NotFoundError(PublicError):
    """No such contest or game, or it may not be shown yet; the text is one line."""


class ShownResults:
    """Reads one database, as far as it may be seen (`core/cut.py`, also for `live`); `clock` is in UTC."""

    def __init__(
        self,
        database: Database,
        clock: Callable[[], datetime] = utc_now,
        *,
        live: bool = False,
    ) -> None:
        self._live = live
        self._database = database
        self._clock = clock

    def open(self) -> Results:
        """The database as a spectator sees it now. Raises StoreError."""
        return Results(self._database, public=PublicReader(self._clock(), self._live))

    def exists(self) -> bool:
        """Whether there is a database: that of casual games is made by the first one."""
        return not isinstance(self._database, Path) or self._database.exists()

    def faults(self, number: int) -> dict[str, Any]:
        """The latest faults of a contest, the newest first, at most MOST_FAULTS. Raises NotFoundError.

        A row is [game id, place in `bots`, ply, kind, the whole in words with the line].
        """
        with self.open() as results:
            contest = self.find(results, number)
            bots = results.bots(contest)
            found = results.games.faults(contest, self.last_shown(results, contest), MOST_FAULTS)
        zombie_move, called = GAMES[contest.game].zombie_move, contest.called
        rows = []
        for game_id, names, (seat, ply, kind, line) in found:
            name = names[seat - 1]
            text = describe_fault(called.get(name, name), kind, ply, line, zombie_move=zombie_move)
            rows.append([game_id, bots.index(name), ply, kind, text])
        return {"faults": rows}

    def shown_state(self, number: int) -> tuple[bytes, int]:
        """What says that the results that may be shown now are the same; on any thread. Raises NotFoundError.

        It is the head of the chain of their records, and how often results were changed.
        """
        with self.open() as results:
            contest = self.find(results, number)
            head = results.games.head(contest, self.last_shown(results, contest))
            return head, results.facts.changes(contest)

    def _rated(self, results: Results, number: int) -> ContestRow:
        """The contest, of whose games ratings are made. Raises NotFoundError."""
        contest = self.find(results, number)
        if not contest.is_rated:
            raise NotFoundError("this contest is not rated: its games are practice")
        return contest

    def rated(self, number: int) -> tuple[Games, Games]:
        """The games that may be shown now, of bots and of their versions; on any thread."""
        with self.open() as results:
            contest = self._rated(results, number)
            return results.sums.rated_both(contest, self.until(results, contest))

    def shown_place(self, number: int) -> tuple[int, int]:
        """The place of the last game that may be shown now, and how often results were changed.

        On any thread.
        """
        with self.open() as results:
            contest = self.find(results, number)
            return self.last_shown(results, contest), results.facts.changes(contest)

    def rated_steps(
        self, number: int, endings: Endings, places: Sequence[int]
    ) -> Iterator[tuple[int, int, Games, Games | None]]:
        """The games up to each of `places`, as `SumReader.rated_steps` has them; on any thread.

        Times are seconds since 1970.
        """
        with self.open() as results:
            for place, at, bots, versions in results.sums.rated_steps(
                self._rated(results, number), endings, places
            ):
                yield place, plain_seconds(at), bots, versions

    def name(self, number: int, place: int) -> str:
        """The name of the bot at this place of `bots`; on any thread. Raises NotFoundError."""
        with self.open() as results:
            return self._name(results, self.find(results, number), place)

    def _name(self, results: Results, contest: ContestRow, place: int) -> str:
        bots = results.bots(contest)
        if place >= len(bots):
            raise NotFoundError(f"contest {contest.id} has no bot {place}")
        return bots[place]

    def appearances(self, number: int, place: int, limit: int) -> tuple[dict[str, Any], list[BotGame]]:
        """Name and details of the bot at this place of `bots`, and its newest games; on any thread."""
        with self.open() as results:
            contest = self.find(results, number)
            name = self._name(results, contest, place)
            games = results.games.newest_games(contest, name, self.last_shown(results, contest), limit)
            return {"name": name, **results.facts.details(contest, name)}, games

    def records(self, number: int, games: Sequence[str]) -> Iterator[tuple[str, bytes]]:
        """The records of games that are over, as far as they may be shown; on any thread."""
        with self.open() as results:
            contest = self.find(results, number)
            last = self.last_shown(results, contest)
            for game_id in games:
                with suppress(WithheldError):
                    yield game_id, results.games.record(contest, game_id, last)

    def past(self, number: int, after: int, last: int) -> list[GameSummary]:
        """The games at the places beyond `after` up to `last`, which `shown_place` gave; on any thread."""
        with self.open() as results:
            return results.games.summaries(self.find(results, number), after, last)

    def same_deals(self, number: int, after: int, limit: int) -> dict[str, list[str]]:
        """The other games on the deal of each game: see `Deals.sharing`. Raises NotFoundError."""
        with self.open() as results:
            contest = self.find(results, number)
            if not contest.is_paired:
                raise NotFoundError(f"contest {number} deals each game afresh")
            last = self.last_shown(results, contest)
            if after and after >= last:
                raise NotFoundError(f"contest {number} has no games beyond {last}")
            return results.deals(contest).sharing(after, limit, last)

    def record(self, number: int, game_id: str) -> bytes:
        """The record of a game as `arena export` writes it. Raises NotFoundError."""
        with self.open() as results:
            contest = self.find(results, number)
            if not self.is_over(results, contest, game_id):
                raise NotFoundError(f"no game {game_id} with a result in contest {number}")
            try:
                return results.games.record(contest, game_id, self.last_shown(results, contest))
            except WithheldError as error:
                raise NotFoundError(str(error)) from None

    def called_record(self, number: int, game_id: str) -> GameRecord:
        """A record with its players as the pages call them. Raises NotFoundError and RecordError."""
        record = decode(self.record(number, game_id))
        with self.open() as results:
            called = self.find(results, number).called
        return replace(record, names=tuple(called.get(name, name) for name in record.names))

    def state(self, number: int, game_id: str) -> str | None:
        """`over`, or `withheld` if the record may not be shown yet; None for any other game.

        Raises NotFoundError for an unknown contest.
        """
        with self.open() as results:
            contest = self.find(results, number)
            if not self.is_over(results, contest, game_id):
                return None
            shown = results.deals(contest).may_show(game_id, self.last_shown(results, contest))
            return OVER if shown else WITHHELD

    def is_over(self, results: Results, contest: ContestRow, game_id: str) -> bool:
        # By its place: where the clock was set back an earlier result may have a later time.
        place = results.games.place(contest, game_id)
        return place is not None and place <= self.last_shown(results, contest)

    def last_shown(self, results: Results, contest: ContestRow) -> int:
        """The place of the last result that may be seen."""
        return results.games.games_stored(contest, self.until(results, contest))

    def until(self, results: Results, contest: ContestRow) -> datetime:
        """What was stored later is not shown yet."""
        return results.deals(contest).results_until(self._clock(), live=self._live)

    def running(self) -> dict[str, int]:
        """The numbers of the contests that are not over, by name, the latest of each."""
        return {name: number for name, number, status in self._names() if status == RUNNING}

    def latest(self, name: str) -> int | None:
        """The number of the latest contest of this name; None if there is none."""
        try:
            with self.open() as results:
                found = results.latest(name)
        except EmptyDatabaseError:  # as in `_names`
            return None
        return None if found is None else found.id

    def _names(self) -> list[tuple[str, int, str]]:
        """Name, number and status of all contests, the oldest first."""
        try:
            with self.open() as results:
                return [(contest.name, contest.id, contest.status) for contest in results.contests()]
        except EmptyDatabaseError:  # the server of these pages is about to begin its contest
            return []

    def find(self, results: Results, number: int) -> ContestRow:
        contest = next((each for each in results.contests() if each.id == number), None)
        if contest is None:
            raise NotFoundError(f"no contest {number}")
        return contest
