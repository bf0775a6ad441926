"""Reading sums over the results of contests: tables, rounds, what ratings are fitted to."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from itertools import islice
from typing import Any, Final

from arena_server.core.formats.history import History
from arena_server.stats.rated_games import Games
from arena_server.stats.standings import Row, Standings
from arena_server.store.checks import checked_games, entrants
from arena_server.store.fact_reader import FactReader
from arena_server.store.game_reader import GameReader
from arena_server.store.plans import history_of, plan_json, table_of, without_pairs
from arena_server.store.schema import ContestRow
from arena_server.store.sources import GameTables
from arena_server.store.sums import Endings, Sums
from arena_server.store.unfinished import past_games

#: A row is compared with its digest in 35 us. Of more games `arena verify` alone does that: a table of a
#: million took 39 s.
CHECKED_GAMES: Final = 20_000


class SumReader:
    """Sums over the results of the contests of a database; `source` says where the games of one are."""

    def __init__(
        self, source: Callable[[ContestRow], GameTables], games: GameReader, facts: FactReader
    ) -> None:
        self._source = source
        self._games = games
        self._facts = facts
        self._histories: dict[tuple[int, int | None], History] = {}
        #: The contests whose rows have been compared with their digests.
        self._checked: set[int] = set()

    def games_played(self, contest: ContestRow) -> int:
        """The number of games with a result; void games do not count."""
        return self._sums(contest).games()

    def table(self, contest: ContestRow, scoring: str | None = None, last: int | None = None) -> Standings:
        """The table of the games so far, by `scoring` or else as the contest scores them.

        `last`: of those up to this place.
        """
        history = self.history(contest, last)
        self._check_games(contest)
        table = table_of(contest, entrants(self._source(contest).session, contest), scoring, history)
        for name, points in self._facts.penalties(contest).items():
            table.penalise(name, points)
        self.add_results(table, contest, 0, self._games.games_stored(contest) if last is None else last)
        return table

    def add_results(self, table: Standings, contest: ContestRow, after: int, last: int) -> None:
        """Count the games at the places beyond `after` up to `last` in a table of the contest."""
        self._sums(contest).add_to(table, after, last)

    def _check_games(self, contest: ContestRow) -> None:
        """Raise ValueError for a missing row and, up to CHECKED_GAMES of them, for a changed one."""
        if contest.id in self._checked:
            return
        if self._games.games_stored(contest) > CHECKED_GAMES:
            self._sums(contest).check_complete()
        else:
            source = self._source(contest)
            for _ in checked_games(source.session, contest, source.layout):
                pass
        self._checked.add(contest.id)

    def _sums(self, contest: ContestRow) -> Sums:
        source = self._source(contest)
        return Sums(source.session, contest, source.layout)

    def history(self, contest: ContestRow, last: int | None = None) -> History | None:
        """What was drawn, with all results or those up to the place `last`; None: the format has no draws."""
        history = history_of(contest)
        if history is not None and (contest.id, last) not in self._histories:
            # The results first: a fact is stored before the results that follow it.
            source, deals = self._source(contest), self._games.deals(contest).numbers()
            games = past_games(source.session, contest, deals, source.layout)
            for game in islice(games, last):
                history.add(game)
            facts = self._facts.all(contest)
            is_shown = last is None or self._games.deals(contest).may_name
            history.extend(facts if is_shown else without_pairs(facts))
            self._histories[contest.id, last] = history
            if last is None:
                self._checked.add(contest.id)
        return self._histories.get((contest.id, last))

    def plan(self, contest: ContestRow, last: int | None = None) -> dict[str, Any] | None:
        """What an export needs to check the rounds; None: the format draws nothing.

        `last`: nothing that follows from results beyond this place.
        """
        history = None if last is None else self.history(contest, last)
        return plan_json(contest, self._facts.all(contest) if history is None else history.taken)

    def total(self, contest: ContestRow) -> int | None:
        """How many games there are, of a format that draws at most from now on; None: it is open."""
        history = self.history(contest)
        return contest.total if history is None else history.form.total

    def standings(self, contest: ContestRow, scoring: str | None = None) -> tuple[Row, ...]:
        """The rows of `table`."""
        return self.table(contest, scoring).rows()

    def rated(self, contest: ContestRow, *, versions: bool = False) -> Games:
        """The games with a result, for `ratings.fit_counted`; it needs numpy.

        With `versions` each version of a bot is a player of its own.
        """
        self._check_games(contest)
        return self._sums(contest).rated(self._games.games_stored(contest), versions=versions)

    def rated_both(self, contest: ContestRow, until: datetime) -> tuple[Games, Games]:
        """The same of games stored up to `until` (UTC), of bots and of versions, counted once.

        Where no bot has had two versions, both are of bots.
        """
        self._check_games(contest)
        last = self._games.games_stored(contest, until)
        ((_, bots, versions),) = self._sums(contest).rated_steps(Endings(), [last])
        return bots, bots if versions is None else versions

    def rated_steps(
        self, contest: ContestRow, endings: Endings, places: Sequence[int]
    ) -> Iterator[tuple[int, datetime, Games, Games | None]]:
        """The same of bots and of versions up to each of `places`, with the time of the game there (UTC).

        `endings` has the sums of the games before the first of them, and grows up to the last.
        """
        self._check_games(contest)
        for place, bots, versions in self._sums(contest).rated_steps(endings, places):
            yield place, self._games.stored_last(contest, place), bots, versions
