"""Sums over the results of a contest, made by the database: what a table and a fit of ratings are made of.

The database groups the games by who sat where and in which order they ended, so that a million games are
some ten thousand rows here: they take 2 to 3 seconds, and took 40 when each was read. The digests of rows
are not compared for that (`Results`); `arena verify` does it, and compares each row with its record. A void
game adds nothing.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any, Final

from sqlalchemy import ColumnElement, Integer, Text, cast, func, literal_column, null, select
from sqlalchemy.orm import Session
from sqlalchemy.sql.expression import case

from arena_protocol.codec import WORD
from arena_protocol.games import make_game
from arena_protocol.record import VOID
from arena_server.core.standings import GameResult
from arena_server.ratings import Observation, Outcome, places_of, version_of
from arena_server.store.checks import check_form, entrants
from arena_server.store.preflight import ADDED
from arena_server.store.schema import ContestRow, FaultRow, GameRow

#: Signs of a comparison of the totals of two seats.
_MORE, _LESS, _EQUAL = ">", "<", "="


class Sums:
    """The sums of one contest, in a database of this layout.

    The methods raise ValueError for damaged rows.
    """

    def __init__(self, session: Session, contest: ContestRow, layout: int) -> None:
        self._session = session
        self._contest = contest
        self._layout = layout
        self._seats: Final = make_game(contest.game, contest.config["options"]).seats
        self._bots = frozenset(entrants(session, contest))
        #: What the texts of JSON say: there are few different ones.
        self._seated: dict[str, tuple[str, ...]] = {}
        self._players: dict[tuple[str, str | None], tuple[str, ...]] = {}

    def results(self, after: int = 0, last: int | None = None) -> Iterator[GameResult]:
        """The games at the places beyond `after` up to `last`, without faults: a value for each kind."""
        totals = [GameRow.totals[seat].as_integer() for seat in range(self._seats)]
        used = [self._added("used_ms")[seat].as_integer() for seat in range(self._seats)]
        # A sum with a total that is not there is null.
        whole = func.count(sum(totals, start=literal_column("0", Integer)))
        columns = (cast(GameRow.names, Text).label("seated"), self._ending().label("ending"), func.count())
        sums = [func.sum(each) for each in (*totals, *used)]
        query = select(*columns, whole, *sums).where(*self._counted(after, last))
        for seated, _, games, counted, *found in self._session.execute(query.group_by("seated", "ending")):
            names, points, used_ms = self._names(seated), found[: self._seats], found[self._seats :]
            if counted != games:
                raise ValueError(f"games of {', '.join(names)}: expected a total for each seat")
            if None in used_ms:  # of games that an earlier version has stored
                used_ms = [ms or 0 for ms in used_ms]
            yield GameResult(names, tuple(points), (), tuple(used_ms), games)

    def faults(self, after: int = 0, last: int | None = None) -> Iterator[tuple[str, str, int]]:
        """How many faults of each kind each bot has: name, kind, count. Those of the server are no bot's."""
        seated = cast(GameRow.names, Text).label("seated")
        query = select(seated, FaultRow.seat, FaultRow.kind, func.count()).join(
            GameRow, FaultRow.game_pk == GameRow.id
        )
        mine = query.where(*self._counted(after, last), FaultRow.seat > 0)
        for text, seat, kind, count in self._session.execute(
            mine.group_by("seated", FaultRow.seat, FaultRow.kind)
        ):
            names = self._names(text)
            check_form(f"contest {self._contest.id}", "faults", WORD.pattern, kind)
            if seat > len(names):
                raise ValueError(f"games of {', '.join(names)}: a fault of seat {seat}")
            yield names[seat - 1], kind, count

    def observations(
        self, deals: Mapping[str, int] | None, *, versions: bool = False, last: int | None = None
    ) -> Counter[Observation]:
        """How often the games of a pairing have ended in each way, up to the place `last`.

        `deals` has the number of the deal of each game where it is known; None: no two games have one deal.
        With `versions` each version of a bot is a player of its own.
        """
        agents = cast(self._added("agents"), Text) if versions else cast(null(), Text)
        kind = (
            cast(GameRow.names, Text).label("seated"),
            agents.label("programs"),
            self._ending().label("ending"),
        )
        counted = self._counted(0, last)
        counts: Counter[Observation] = Counter()
        if deals is None:
            query = select(*kind, func.count()).where(*counted).group_by("seated", "programs", "ending")
            for *texts, games in self._session.execute(query):
                counts[(self._outcome(*texts),)] += games
            return counts
        pairings: dict[tuple[tuple[str, ...], int], list[Outcome]] = {}
        for *texts, game_id in self._session.execute(select(*kind, GameRow.game_id).where(*counted)):
            outcome, deal = self._outcome(*texts), deals.get(game_id, 0)
            if deal:
                pairings.setdefault((tuple(sorted(self._names(texts[0]))), deal), []).append(outcome)
            else:
                counts[(outcome,)] += 1
        counts.update(tuple(sorted(each)) for each in pairings.values())
        return counts

    def check_complete(self) -> None:
        """Raise ValueError if the row of a result is missing."""
        mine = GameRow.contest_id == self._contest.id
        ends = select(func.count(), func.min(GameRow.place), func.max(GameRow.place)).where(mine)
        count, first, last = self._session.execute(ends).one()
        if count and (first, last) != (1, count):
            places = self._session.scalars(select(GameRow.place).where(mine).order_by(GameRow.place))
            gap = next(place for place, found in enumerate(places, start=1) if found != place)
            raise ValueError(f"result {gap} of contest {self._contest.id} is missing")

    # -- parts of the queries

    def _counted(self, after: int, last: int | None) -> list[ColumnElement[bool]]:
        rows = [GameRow.contest_id == self._contest.id, GameRow.end != VOID]
        rows += [GameRow.place > after] if after else []
        return rows + ([] if last is None else [GameRow.place <= last])

    def _added(self, column: str) -> Any:
        """A column that databases of earlier layouts do not have."""
        of_table = getattr(GameRow, column)
        return of_table if self._layout >= ADDED[f"games.{column}"] else cast(null(), of_table.type)

    def _ending(self) -> ColumnElement[str]:
        """The order of the totals as text: a sign for each two seats."""
        totals = [GameRow.totals[seat].as_integer() for seat in range(self._seats)]
        # Literals: PostgreSQL does not know an expression with parameters again.
        more, less, equal = (literal_column(f"'{sign}'", Text) for sign in (_MORE, _LESS, _EQUAL))
        signs = [
            case((one > other, more), (one < other, less), else_=equal)
            for one, other in combinations(totals, 2)
        ]
        return sum(signs, start=literal_column("''", Text))

    # -- what is read

    def _names(self, text: str) -> tuple[str, ...]:
        names = self._seated.get(text)
        if names is None:
            names = self._seated[text] = tuple(json.loads(text))
            if len(names) != self._seats or not self._bots.issuperset(names):
                raise ValueError(f"a game's names are not those of bots of contest {self._contest.id}")
        return names

    def _versions(self, seated: str, programs: str | None) -> tuple[str, ...]:
        """The players of a game; `programs`: their versions, or without."""
        players = self._players.get((seated, programs))
        if players is None:
            players = self._names(seated)
            if agents := json.loads(programs or "[]"):
                for agent in agents:
                    check_form(
                        f"games of {', '.join(players)}", "agents", f"(?:{WORD.pattern})?", agent or ""
                    )
                players = tuple(version_of(*each) for each in zip(players, agents, strict=True))
            self._players[seated, programs] = players
        return players

    def _outcome(self, seated: str, programs: str | None, ending: str) -> Outcome:
        ahead = [0] * self._seats
        for (one, other), sign in zip(combinations(range(self._seats), 2), ending, strict=True):
            ahead[one] += sign == _MORE
            ahead[other] += sign == _LESS
        return self._versions(seated, programs), places_of(ahead)
