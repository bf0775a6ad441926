"""The deals of a stored contest: on which deal each game was played, and whether it may be shown.

What reads records out of a database (`GameReader`) asks `Deals.may_show`. The facts it decides by are
durable: the pairings, the results, and whether the contest can go on.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import cached_property
from typing import Final, NamedTuple

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session, aliased

from arena_protocol.record import VOID
from arena_server.core.cut import ALWAYS, end_is_seen, may_name, shown_until
from arena_server.core.deal import may_show_deal, number_of
from arena_server.core.life import FINAL, OVER, RUNNING
from arena_server.errors import StoreError
from arena_server.stats.qualifying import contests_of
from arena_server.store.migration import EarlierPairings
from arena_server.store.schema import ContestRow, GameRow, PairingRow, players_of


class WithheldError(StoreError):
    """A record with a deal that may not be shown yet; the text is one line."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f'{name} is shown when all games on its deal have a result (deals = "paired"), or when the '
            "contest has ended for good"
        )


#: Games in one query; SQLite of old has a limit of 999 values, and of one game there are a few others.
ASKED: Final = 200

EPOCH: Final = datetime(1970, 1, 1)
_MS: Final = timedelta(milliseconds=1)


def _milliseconds(moment: datetime) -> int:
    """Since 1970, UTC; a part of one is left out."""
    return (moment - EPOCH) // _MS


class PublicReader(NamedTuple):
    """Who reads at the moment `now` (UTC) and is not the organiser; `live` is as in `core/cut.py`."""

    now: datetime
    live: bool

    def sees_end(self, contest: ContestRow) -> bool:
        """Whether it is seen that a contest which does not run has ended."""
        if contest.ended_at is None:
            return True  # of a damaged row nothing is known
        return self._sees(contest.ended_at, contest.delay_ms, over=contest.status in OVER)

    def sees_begin(self, contest: ContestRow, before: Mapping[int, ContestRow]) -> bool:
        """Whether it is seen that a contest has begun; `before` has the earlier ones by their numbers.

        A stage of a season begins when others are over, and has those who have come through.
        """
        if not contest.origin:
            return True
        numbers = [number for number, _ in contests_of(contest.origin).values()]
        delays = [before[number].delay_ms for number in numbers if number in before]
        return self._sees(contest.started_at, max(delays, default=0), over=True)

    def _sees(self, at: datetime, delay: int, *, over: bool) -> bool:
        at_ms = -((EPOCH - at) // _MS)  # the next whole one
        return end_is_seen(_milliseconds(self.now), delay, at_ms, over=over, live=self.live)


class Deals:
    """The deals of one contest. What the methods raise is `Results`' to translate."""

    def __init__(self, session: Session, contest: ContestRow, *, earlier: bool = False) -> None:
        """`earlier`: the database has a layout without pairings."""
        self._session = session
        self._contest = contest
        self._earlier = EarlierPairings(session, contest) if earlier else None
        # What is not known to be dealt afresh is hidden.
        self._paired = contest.config.get("deals") != "fresh"
        self._counted: dict[int | None, Mapping[tuple[str, int], list[str]]] = {}

    @cached_property
    def is_final(self) -> bool:
        """Whether no game of the contest will be played any more.

        Otherwise a server may go on with it, also when it is stopped or incomplete, unless a later contest
        has its name (`unfinished.find_unfinished`).
        """
        mine = self._contest
        if mine.status == RUNNING or mine.status in FINAL:
            return mine.status in FINAL
        latest = select(func.max(ContestRow.id)).where(ContestRow.name == mine.name)
        return self._session.scalar(latest) != mine.id

    @property
    def is_over(self) -> bool:
        """Whether it has ended, so that all results are seen: one that is incomplete may go on."""
        return self._contest.status in OVER or self.is_final

    @property
    def frozen_at(self) -> datetime | None:
        """Since when (UTC) the public table stands still; None: it does not, or not any more."""
        frozen: int | None = self._contest.config.get("freeze_at_ms")
        return None if frozen is None or self.is_over else EPOCH + timedelta(milliseconds=frozen)

    @property
    def may_name(self) -> bool:
        """Whether it may be seen who plays whom: see `core/cut.py`."""
        return may_name(anonymous=self._contest.is_anonymous, over=self.is_over)

    def results_until(self, now: datetime, *, live: bool) -> datetime:
        """Until when (UTC) results were stored that may be seen now: see `core/cut.py`."""
        delay = self._contest.delay_ms
        frozen = self._contest.config.get("freeze_at_ms")
        until = shown_until(
            _milliseconds(now), delay, frozen, over=self.is_over, live=live, named=self.may_name
        )
        return datetime.max if until == ALWAYS else EPOCH + timedelta(milliseconds=until)

    def may_show(self, name: str, last: int | None = None) -> bool:
        """Whether the record of this game, which is over, may be shown to who sees results up to `last`.

        `last` is the place of a result; None sees all.
        """
        results = seats = 0
        if self._paired and not self.is_final:  # else nothing need be read
            results, seats = self._count_results(name, last)
        return may_show_deal(paired=self._paired, results=results, seats=seats, final=self.is_final)

    def number(self, name: str) -> int | None:
        """The number of this game's deal among those of its players; None if it is not known."""
        if self._earlier is not None:
            pairing = self._earlier.find(number_of(name))
            return None if pairing is None else pairing.deal
        mine = PairingRow.contest_id == self._contest.id, PairingRow.game_id == name
        return self._session.scalar(select(PairingRow.deal).where(*mine))

    def numbers(self, after: int = 0) -> dict[str, int]:
        """The number of the deal of every game where it is known, by the game's id.

        `after`: of the games at the places beyond it.
        """
        stored = select(GameRow.game_id).where(GameRow.contest_id == self._contest.id, GameRow.place > after)
        if self._earlier is not None:
            names = list(self._session.scalars(stored))
            return {name: deal for name in names if (deal := self.number(name)) is not None}
        rows = select(PairingRow.game_id, PairingRow.deal).where(PairingRow.contest_id == self._contest.id)
        if after:
            rows = rows.where(PairingRow.game_id.in_(stored))
        return {row.game_id: row.deal for row in self._session.execute(rows)}

    def sharing(self, after: int, limit: int, last: int) -> dict[str, list[str]]:
        """By game the other ones with a result on its deal, in the order of storing.

        Of the games at the `limit` places beyond `after` those whose record may be shown to who sees results
        up to `last`.
        """
        if not self._paired:
            return {}
        rows = select(GameRow.game_id, GameRow.names).where(
            GameRow.contest_id == self._contest.id,
            GameRow.place > after,
            GameRow.place <= min(after + limit, last),
        )
        seats = {row.game_id: len(row.names) for row in self._session.execute(rows.order_by(GameRow.place))}
        names = list(seats)
        results: dict[str, list[str]] = {}
        for first in range(0, len(names), ASKED):
            results |= self._results_beside(names[first : first + ASKED], last)
        return {
            name: [each for each in results[name] if each != name]
            for name in seats
            if may_show_deal(paired=True, results=len(results[name]), seats=seats[name], final=self.is_final)
        }

    def _results_beside(self, names: Sequence[str], last: int) -> dict[str, list[str]]:
        """The games with a result up to `last` on the deal of each of these."""
        if self._earlier is not None:
            by_deal = self._earlier_results(last)
            return {name: by_deal[self._earlier_key(name)] for name in names}
        own, other = aliased(PairingRow), aliased(PairingRow)
        found = select(own.game_id, other.game_id.label("other")).join(other, _same_deal(own, other))
        mine = found.where(own.contest_id == self._contest.id, own.game_id.in_(names))
        pairs = self._session.execute(mine).all()
        # Apart, and without a bound of places: SQLite would begin with all games of the contest.
        played = select(GameRow.game_id, GameRow.place).where(
            GameRow.contest_id == self._contest.id,
            GameRow.game_id.in_({row.other for row in pairs}),
            GameRow.end != VOID,
        )
        rows = self._session.execute(played)
        places = {row.game_id: row.place for row in rows if row.place <= last}
        results: dict[str, list[str]] = {name: [] for name in names}
        for row in pairs:
            if row.other in places:
                results[row.game_id].append(row.other)
        return {name: sorted(others, key=places.__getitem__) for name, others in results.items()}

    def _count_results(self, name: str, last: int | None) -> tuple[int, int]:
        """How many games have a result (up to `last`) on the deal of this game, and on how many it is played.

        A deal that is not known counts none.
        """
        mine = GameRow.contest_id == self._contest.id, GameRow.game_id == name
        seats = len(self._session.scalars(select(GameRow.names).where(*mine)).one())
        if self._earlier is not None:
            return len(self._earlier_results(last)[self._earlier_key(name)]), seats
        other = aliased(PairingRow)
        game = (GameRow.contest_id == other.contest_id) & (GameRow.game_id == other.game_id)
        result = game & (GameRow.end != VOID)
        if last is not None:  # that the other game is over is not known yet
            result &= GameRow.place <= last
        count = (
            select(func.count())
            .select_from(PairingRow)
            .join(other, _same_deal(PairingRow, other))
            .join(GameRow, result)
        )
        found = count.where(PairingRow.contest_id == self._contest.id, PairingRow.game_id == name)
        return self._session.scalar(found) or 0, seats

    def _earlier_key(self, name: str) -> tuple[str, int]:
        """The players and the number of a deal, in a database of an earlier layout."""
        assert self._earlier is not None
        pairing = self._earlier.find(number_of(name))
        return ("", 0) if pairing is None else (players_of(pairing.names), pairing.deal)

    def _earlier_results(self, last: int | None) -> Mapping[tuple[str, int], list[str]]:
        """The games with a result on each deal, in a database of an earlier layout."""
        if last not in self._counted:
            played = select(GameRow.game_id).where(GameRow.contest_id == self._contest.id)
            counted = played.where(GameRow.end != VOID, *([] if last is None else [GameRow.place <= last]))
            known: defaultdict[tuple[str, int], list[str]] = defaultdict(list)
            for name in self._session.scalars(counted.order_by(GameRow.place)):
                known[self._earlier_key(name)].append(name)
            # The results of a deal that is not known are not results on one deal.
            known["", 0] = []
            self._counted = {last: known}
        return self._counted[last]


def _same_deal(one: type[PairingRow], other: type[PairingRow]) -> ColumnElement[bool]:
    return (other.contest_id == one.contest_id) & (other.players == one.players) & (other.deal == one.deal)
