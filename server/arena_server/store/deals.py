"""The deals of a stored contest: on which deal each game was played, and whether it may be shown.

What reads records out of a database (`GameReader`) asks `Deals.may_show`. The facts it decides by are
durable: the pairings, the results, and whether the contest can go on.
"""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta
from functools import cached_property
from typing import Final

from sqlalchemy import func, select
from sqlalchemy.orm import Session, aliased

from arena_protocol.record import VOID
from arena_server.core.cut import ALWAYS, may_name, shown_until
from arena_server.core.deal import may_show_deal, number_of
from arena_server.core.life import FINAL, OVER, RUNNING
from arena_server.errors import StoreError
from arena_server.store.migration import EarlierPairings
from arena_server.store.schema import ContestRow, GameRow, PairingRow, players_of


class WithheldError(StoreError):
    """A record with a deal that may not be shown yet; the text is one line."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f'{name} is shown when all games on its deal have a result (deals = "paired"), or when the '
            "contest has ended for good"
        )


EPOCH: Final = datetime(1970, 1, 1)


def _milliseconds(moment: datetime) -> int:
    """Since 1970, UTC."""
    return (moment - EPOCH) // timedelta(milliseconds=1)


class Deals:
    """The deals of one contest. What the methods raise is `Results`' to translate."""

    def __init__(self, session: Session, contest: ContestRow, *, earlier: bool = False) -> None:
        """`earlier`: the database has a layout without pairings."""
        self._session = session
        self._contest = contest
        self._earlier = EarlierPairings(session, contest) if earlier else None
        # What is not known to be dealt afresh is hidden.
        self._paired = contest.config.get("deals") != "fresh"
        self._counted: dict[int | None, Counter[tuple[str, int]]] = {}

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
        delay = self._contest.config.get("spectator_delay_ms", 0)
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

    def _count_results(self, name: str, last: int | None) -> tuple[int, int]:
        """How many games have a result (up to `last`) on the deal of this game, and on how many it is played.

        A deal that is not known counts none.
        """
        mine = GameRow.contest_id == self._contest.id, GameRow.game_id == name
        seats = len(self._session.scalars(select(GameRow.names).where(*mine)).one())
        if self._earlier is not None:
            pairing = self._earlier.find(number_of(name))
            key = ("", 0) if pairing is None else (players_of(pairing.names), pairing.deal)
            return self._earlier_results(last)[key], seats
        other = aliased(PairingRow)
        same = (
            (other.contest_id == PairingRow.contest_id)
            & (other.players == PairingRow.players)
            & (other.deal == PairingRow.deal)
        )
        game = (GameRow.contest_id == other.contest_id) & (GameRow.game_id == other.game_id)
        result = game & (GameRow.end != VOID)
        if last is not None:  # that the other game is over is not known yet
            result &= GameRow.place <= last
        count = select(func.count()).select_from(PairingRow).join(other, same).join(GameRow, result)
        found = count.where(PairingRow.contest_id == self._contest.id, PairingRow.game_id == name)
        return self._session.scalar(found) or 0, seats

    def _earlier_results(self, last: int | None) -> Counter[tuple[str, int]]:
        """The results on each deal, by its players and number, in a database of an earlier layout."""
        assert self._earlier is not None
        if last not in self._counted:
            played = select(GameRow.game_id).where(GameRow.contest_id == self._contest.id)
            counted = played.where(GameRow.end != VOID, *([] if last is None else [GameRow.place <= last]))
            found = (self._earlier.find(number_of(name)) for name in self._session.scalars(counted))
            known = Counter((players_of(each.names), each.deal) for each in found if each is not None)
            self._counted = {last: known}
        return self._counted[last]
