"""The deals of a stored contest: on which deal each game is played, and whether it may be shown.

What reads records out of a database (`reader.Results`) asks `Deals.may_show`. The facts it decides by are
durable: the schedule, the journal's repeats of void games, the results, and whether the contest can go on.
"""

from __future__ import annotations

from functools import cached_property, lru_cache

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from arena_protocol.games import make_game
from arena_protocol.record import VOID
from arena_server.core.config import SINGLE
from arena_server.core.deal import game_id, may_show_deal, number_of
from arena_server.core.journal import REPEAT, Repeat, fact_of
from arena_server.core.schedule import Schedule
from arena_server.errors import StoreError
from arena_server.store.journal import unpack
from arena_server.store.schema import FINISHED, RUNNING, ContestRow, GameRow, JournalRow


class WithheldError(StoreError):
    """A record with a deal that may not be shown yet; the text is one line."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f'{name} is shown when all games on its deal have a result: it is played again (deals = "paired")'
        )


class Deals:
    """The deals of one contest. What the methods raise is `Results`' to translate."""

    def __init__(self, session: Session, contest: ContestRow) -> None:
        self._session = session
        self._contest = contest
        # What is not known to be dealt afresh is hidden.
        self._paired = contest.config.get("deals") != "fresh"

    @cached_property
    def is_final(self) -> bool:
        """Whether no game of the contest will be played any more.

        Otherwise a server may go on with it, also when it is stopped or incomplete, unless a later contest
        has its name (`reader.find_unfinished`).
        """
        mine = self._contest
        if mine.status in (FINISHED, RUNNING):
            return mine.status == FINISHED
        latest = select(func.max(ContestRow.id)).where(ContestRow.name == mine.name)
        return self._session.scalar(latest) != mine.id

    def may_show(self, name: str) -> bool:
        """Whether the record of this game, which is over, may be shown."""
        results = seats = 0
        if self._paired and not self.is_final:  # else nothing need be read
            results, seats = self._count_results(number_of(name)), self.schedule.seats
        return may_show_deal(paired=self._paired, results=results, seats=seats, final=self.is_final)

    def number(self, name: str) -> int | None:
        """The number of this game's deal among those of its players; None if an earlier version kept none."""
        number = number_of(name)
        if number <= self.schedule.total:
            return self.schedule.pairing(number).deal
        repeat = self._repeats.get(number)
        return repeat.deal or None if repeat else None

    @property
    def schedule(self) -> Schedule:
        """The schedule of the contest."""
        mine, config = self._contest, self._contest.config
        seats = make_game(mine.game, config["options"]).seats
        return _schedule(tuple(config["bots"]), seats, mine.games_per_pair, self._paired, mine.format)

    def _count_results(self, number: int) -> int:
        """How many games have a result on the deal of game `number`, one a turn of the seats."""
        while number > self.schedule.total and (repeat := self._repeats.get(number)) is not None:
            number = repeat.void
        return sum(map(self._has_result, self.schedule.same_deal(number)))

    def _has_result(self, number: int) -> bool:
        """Whether game `number` has a result, or the one that repeats it."""
        mine = GameRow.contest_id == self._contest.id, GameRow.game_id == game_id(number)
        end = self._session.scalar(select(GameRow.end).where(*mine))
        if end != VOID:
            return end is not None
        again = next((each.number for each in self._repeats.values() if each.void == number), None)
        return again is not None and self._has_result(again)

    @cached_property
    def _repeats(self) -> dict[int, Repeat]:
        """The games that repeat void ones, by their number."""
        payloads = select(JournalRow.payload).where(JournalRow.contest_id == self._contest.id)
        entries = (entry for payload in self._session.scalars(payloads) for entry in unpack(payload))
        facts = (fact_of(entry) for entry in entries if entry[1] == REPEAT)
        return {fact.number: fact for fact in facts if isinstance(fact, Repeat)}


@lru_cache(maxsize=8)
def _schedule(names: tuple[str, ...], seats: int, games: int, paired: bool, form: str) -> Schedule:
    """The schedule as `core.schedule.schedule_of` makes it; one of many groups takes a second."""
    return Schedule(names, seats, games, paired=paired, matches=form == "matches", single=form == SINGLE)
