"""Sums over the results of a contest: what a table and a fit of ratings are made of.

The database groups the games by who sat where, with which versions, and in which order they ended. Of a
million games that takes 2 to 3 seconds, and 40 where each is read. The digests of rows are not compared for
that (`Results`); `arena verify` does it, and compares each row with its record. A void game adds nothing.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, combinations, repeat
from typing import Any, Final

from sqlalchemy import ColumnElement, Integer, Text, cast, func, literal_column, null, select
from sqlalchemy.orm import Session
from sqlalchemy.sql.expression import case

from arena_protocol.games import make_game
from arena_protocol.kinds import WORD
from arena_protocol.record import VOID
from arena_server.stats.rated_games import (
    Games,
    GrowingGames,
    Observation,
    Outcome,
    places_of,
    version_of,
)
from arena_server.stats.results import GameResult
from arena_server.stats.standings import Standings
from arena_server.store.checks import check_form, entrants
from arena_server.store.deals import Deals
from arena_server.store.preflight import ADDED
from arena_server.store.schema import ContestRow, FaultRow, GameRow

#: Signs of a comparison of the totals of two seats.
_MORE, _LESS, _EQUAL = ">", "<", "="

#: Games of a kind: who sat where, with which versions (empty: no bot has said one), and a sign for each two
#: seats.
Kind = tuple[tuple[str, ...], tuple[str | None, ...], str]
#: The players of a deal, in order, and its number.
Deal = tuple[tuple[str, ...], int]


@dataclass(slots=True)
class Endings:
    """How the games up to `place` have ended.

    `complete` counts the pairings all of whose games have a result, each as the kinds of its games in
    ascending order; `begun` has the kinds of the others. Without paired deals every game is a pairing.
    """

    place: int = 0
    complete: Counter[tuple[Kind, ...]] = field(default_factory=Counter)
    begun: dict[Deal, list[Kind]] = field(default_factory=dict)

    def add(self, kind: Kind, deal: Deal | None) -> None:
        """Add a game, on a deal that is played from every seat or on one of its own."""
        if deal is None:
            self.complete[(kind,)] += 1
            return
        kinds = self.begun.setdefault(deal, [])
        kinds.append(kind)
        if len(kinds) == len(kind[0]):
            self.complete[tuple(sorted(self.begun.pop(deal), key=repr))] += 1


class Sums:
    """The sums of one contest, in a database of this layout.

    The methods raise ValueError for damaged rows.
    """

    def __init__(self, session: Session, contest: ContestRow, layout: int) -> None:
        self._session = session
        self._contest = contest
        self._layout = layout
        self._seats: Final = make_game(contest.game, contest.config["options"]).seats
        self._names = frozenset(entrants(session, contest))
        #: What the texts of JSON say: there are few different ones.
        self._seated: dict[str, tuple[str, ...]] = {}
        self._programs: dict[str | None, tuple[str | None, ...]] = {}
        #: The places of the seats, by what the comparisons of their totals say.
        self._places: dict[str, tuple[int, ...]] = {}

    def add_to(self, table: Standings, after: int, last: int) -> None:
        """Count the games at the places beyond `after` up to `last` in a table of the contest."""
        totals = [GameRow.totals[seat].as_integer() for seat in range(self._seats)]
        used = [self._added("used_ms")[seat].as_integer() for seat in range(self._seats)]
        # A sum with a total that is not there is null.
        whole = func.count(sum(totals, start=literal_column("0", Integer)))
        seated, _, ending = self._kind()
        sums = [func.sum(each) for each in (*totals, *used)]
        plies = func.sum(GameRow.plies)
        query = select(seated, ending, func.count(), whole, plies, *sums).where(*self._counted(after, last))
        for text, _, games, counted, length, *found in self._session.execute(
            query.group_by("seated", "ending")
        ):
            names = self._names_in(text)
            if counted != games:
                raise ValueError(f"games of {', '.join(names)}: expected a total for each seat")
            # The time of games that an earlier version has stored is null.
            points, used_ms = found[: self._seats], [each or 0 for each in found[self._seats :]]
            table.add(GameResult(names, tuple(points), (), tuple(used_ms), games, int(length)))
        self._count_faults(table, after, last)
        if table.counts_deals:
            table.set_pairs(self._pairs_won(last))

    def _pairs_won(self, last: int) -> Counter[str]:
        """The deals both of whose games each bot has won, up to the place `last`."""
        endings, won = Endings(), Counter[str]()
        self._count_endings(endings, last)
        for kinds, deals in endings.complete.items():
            winners = {names[0 if sign == _MORE else 1] for names, _, sign in kinds if sign in (_MORE, _LESS)}
            drawn = any(sign == _EQUAL for _, _, sign in kinds)
            if len(kinds) == 2 and len(winners) == 1 and not drawn:
                won[winners.pop()] += deals
        return won

    def games(self) -> int:
        """How many games have a result."""
        rows = [GameRow.contest_id == self._contest.id, GameRow.end != VOID]
        return self._session.scalars(select(func.count(GameRow.id)).where(*rows)).one()

    def rated(self, last: int, *, versions: bool = False) -> Games:
        """The games up to the place `last` as ratings see them; it needs numpy.

        With `versions` each version of a bot is a player of its own.
        """
        endings = Endings()
        self._count_endings(endings, last)
        return self._rated_endings(endings, versions=versions)

    def rated_steps(
        self, endings: Endings, places: Iterable[int]
    ) -> Iterator[tuple[int, Games, Games | None]]:
        """The games up to each of `places`, of bots and of versions; `endings` grows with them.

        None while no bot has had two versions: then these are the bots.
        """
        bots = GrowingGames(partial(self._observation, versions=False))
        versions = GrowingGames(partial(self._observation, versions=True))
        programs: set[tuple[str, str | None]] = set()
        several = False
        new = Counter(endings.complete)
        for place in places:
            step = replace(endings, complete=Counter())
            self._count_endings(step, place)
            endings.complete.update(step.complete)
            endings.place = step.place
            new.update(step.complete)
            for kinds, games in new.items():
                bots.add(kinds, games)
            if not several:
                programs.update(_programs(chain(new, endings.begun.values())))
                several = len(programs) > len({name for name, _ in programs})
                new = endings.complete
            for kinds, games in new.items() if several else ():
                versions.add(kinds, games)
            begun = Endings(begun=endings.begun)
            parts = [
                Games.joined((grown.games(), self._rated_endings(begun, versions=by)))
                for grown, by in ((bots, False), (versions, True))
            ]
            yield place, parts[0], parts[1] if several else None
            new = Counter()

    def _rated_endings(self, endings: Endings, *, versions: bool) -> Games:
        counts: Counter[Observation] = Counter()
        for kinds, games in chain(endings.complete.items(), zip(endings.begun.values(), repeat(1))):
            counts[self._observation(kinds, versions=versions)] += games
        return Games.of(counts)

    def _observation(self, kinds: Iterable[Kind], *, versions: bool) -> Observation:
        return tuple(sorted(self._outcome(kind, versions=versions) for kind in kinds))

    def check_complete(self) -> None:
        """Raise ValueError if the row of a result is missing."""
        mine = GameRow.contest_id == self._contest.id
        ends = select(func.count(), func.min(GameRow.place), func.max(GameRow.place)).where(mine)
        count, first, last = self._session.execute(ends).one()
        if count and (first, last) != (1, count):
            places = self._session.scalars(select(GameRow.place).where(mine).order_by(GameRow.place))
            gap = next(place for place, found in enumerate(places, start=1) if found != place)
            raise ValueError(f"result {gap} of contest {self._contest.id} is missing")

    # -- counting

    def _count_faults(self, table: Standings, after: int, last: int) -> None:
        """Those of the server are no bot's."""
        seated = cast(GameRow.names, Text).label("seated")
        query = select(seated, FaultRow.seat, FaultRow.kind, func.count()).join(
            GameRow, FaultRow.game_pk == GameRow.id
        )
        mine = query.where(*self._counted(after, last), FaultRow.seat > 0)
        for text, seat, kind, count in self._session.execute(
            mine.group_by("seated", FaultRow.seat, FaultRow.kind)
        ):
            names = self._names_in(text)
            check_form(f"contest {self._contest.id}", "faults", WORD.pattern, kind)
            if seat > len(names):
                raise ValueError(f"games of {', '.join(names)}: a fault of seat {seat}")
            table.add_faults(names[seat - 1], kind, count)

    def _count_endings(self, endings: Endings, last: int) -> None:
        """Add the games beyond those that are counted in `endings`, up to `last`."""
        counted = self._counted(endings.place, last)
        if self._contest.config.get("deals") == "fresh":  # every game has a deal of its own
            query = select(*self._kind(), func.count()).where(*counted)
            query = query.group_by("seated", "programs", "ending")
            for seated, programs, ending, count in self._session.execute(query):
                endings.complete[(self._kind_in(seated, programs, ending),)] += count
        else:
            deals = Deals(self._session, self._contest, earlier=self._layout < ADDED["pairings"])
            numbers = deals.numbers(endings.place)
            games = select(*self._kind(), GameRow.game_id).where(*counted).order_by(GameRow.place)
            for seated, programs, ending, game_id in self._session.execute(games):
                kind, deal = self._kind_in(seated, programs, ending), numbers.get(game_id, 0)
                endings.add(kind, (tuple(sorted(kind[0])), deal) if deal else None)
        endings.place = last

    # -- parts of the queries

    def _counted(self, after: int, last: int) -> list[ColumnElement[bool]]:
        rows = [GameRow.contest_id == self._contest.id, GameRow.end != VOID, GameRow.place <= last]
        return rows + ([GameRow.place > after] if after else [])

    def _added(self, column: str) -> Any:
        """A column that databases of earlier layouts do not have."""
        of_table = getattr(GameRow, column)
        return of_table if self._layout >= ADDED[f"games.{column}"] else cast(null(), of_table.type)

    def _kind(self) -> tuple[ColumnElement[str], ColumnElement[str], ColumnElement[str]]:
        """Names, versions and ending of a game, as texts; the ending has a sign for each two seats."""
        totals = [GameRow.totals[seat].as_integer() for seat in range(self._seats)]
        # Literals: PostgreSQL does not know an expression with parameters again.
        more, less, equal = (literal_column(f"'{sign}'", Text) for sign in (_MORE, _LESS, _EQUAL))
        signs = [
            case((one > other, more), (one < other, less), else_=equal)
            for one, other in combinations(totals, 2)
        ]
        ending: ColumnElement[str] = sum(signs, start=literal_column("''", Text))
        seated, agents = cast(GameRow.names, Text), cast(self._added("agents"), Text)
        return seated.label("seated"), agents.label("programs"), ending.label("ending")

    # -- what is read

    def _names_in(self, text: str) -> tuple[str, ...]:
        names = self._seated.get(text)
        if names is None:
            names = self._seated[text] = tuple(json.loads(text))
            if len(names) != self._seats or not self._names.issuperset(names):
                raise ValueError(f"a game's names are not those of bots of contest {self._contest.id}")
        return names

    def _kind_in(self, seated: str, programs: str | None, ending: str) -> Kind:
        names, agents = self._names_in(seated), self._programs.get(programs)
        if agents is None:
            given = json.loads(programs or "[]") or []
            for agent in given:
                check_form(f"games of {', '.join(names)}", "agents", f"(?:{WORD.pattern})?", agent or "")
            agents = self._programs[programs] = tuple(given) if any(given) else ()
        if len(agents) not in (0, len(names)):
            raise ValueError(f"games of {', '.join(names)}: agents: expected one for each seat")
        return names, agents, ending

    def _outcome(self, kind: Kind, *, versions: bool) -> Outcome:
        names, agents, ending = kind
        return _players(names, agents) if versions else names, self._places_of(ending)

    def _places_of(self, ending: str) -> tuple[int, ...]:
        places = self._places.get(ending)
        if places is None:
            ahead = [0] * self._seats
            for (one, other), sign in zip(combinations(range(self._seats), 2), ending, strict=True):
                ahead[one] += sign == _MORE
                ahead[other] += sign == _LESS
            places = self._places[ending] = places_of(ahead)
        return places


def _programs(observations: Iterable[Iterable[Kind]]) -> Iterator[tuple[str, str | None]]:
    """The bots of these games, each with what it calls its program, if it does."""
    for kinds in observations:
        for names, agents, _ in kinds:
            yield from zip(names, agents or repeat(None), strict=False)


def _players(names: tuple[str, ...], agents: tuple[str | None, ...]) -> tuple[str, ...]:
    """Each version of a bot as a player of its own, where one is known."""
    return tuple(map(version_of, names, agents)) if agents else names
