"""What is durable of a contest, for the server that goes on with it, or shows how it has ended."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from arena_server.core.deal import game_id as id_of
from arena_server.core.deal import number_of
from arena_server.core.journal import Entry, Past
from arena_server.core.life import FINAL, INCOMPLETE
from arena_server.stats.results import PastGame
from arena_server.store.checks import FaultFields, check_contest_row, checked_games
from arena_server.store.database import LAYOUT, Database
from arena_server.store.deals import Deals
from arena_server.store.journal import unpack
from arena_server.store.preflight import StoredContest
from arena_server.store.schema import ContestRow, FactRow, GameRow, JournalRow, now
from arena_server.store.sources import GameTables, archived_or

#: Games that are looked for by one query.
ASKED_AT_ONCE = 1_000


@dataclass(frozen=True, slots=True)
class UnfinishedContest:
    """The number of its row, its seed, and everything durable of it.

    `lost_rows` is the number of journal rows that were announced and did not survive a power cut. `ended`:
    how it has ended for good, `ended_ago` ns; None: it goes on.
    """

    contest: int
    seed: int
    past: Past
    lost_rows: int = 0
    ended: str | None = None
    ended_ago: int = 0


def find_unfinished(session: Session, name: str, *, over_too: bool = False) -> ContestRow | None:
    """The latest contest of this name, `over_too` or only if it is unfinished.

    Raises ValueError for a changed row.
    """
    query = select(ContestRow).where(ContestRow.name == name).order_by(ContestRow.id.desc()).limit(1)
    latest = session.scalar(query)
    if latest is not None:
        check_contest_row(latest)  # its status decides whether it goes on
    return latest if latest is not None and (over_too or latest.status not in FINAL) else None


def stored_contest(contest: ContestRow) -> StoredContest:
    return StoredContest(contest.id, contest.name, contest.seed, contest.config, contest.status)


def is_over(contest: ContestRow, *, closed: bool = False) -> bool:
    """Whether no server goes on with it; `closed`: nor if it is incomplete."""
    return contest.status in FINAL or (closed and contest.status == INCOMPLETE)


def load_unfinished(
    session: Session, contest: ContestRow, database: Database, *, closed: bool = False
) -> UnfinishedContest:
    """`closed` is as in `is_over`.

    Raises ValueError for a changed or missing row, StoreError for an archive that is not there.
    """
    with archived_or(GameTables(session, LAYOUT), database, contest) as (games, layout):
        results = tuple(past_games(games, contest, Deals(games, contest).numbers(), layout))
    if is_over(contest, closed=closed):  # it needs no journal any more
        past = Past(results, tuple(kept_entries(session, contest.id)))
        ago = timedelta() if contest.ended_at is None else max(timedelta(), now() - contest.ended_at)
        ago_ns = ago // timedelta(microseconds=1) * 1000
        return UnfinishedContest(contest.id, int(contest.seed), past, ended=contest.status, ended_ago=ago_ns)
    return UnfinishedContest(
        contest.id, int(contest.seed), Past(results, tuple(journal_entries(session, contest)))
    )


def kept_entries(session: Session, contest: int) -> Iterator[Entry]:
    """The table of facts of a contest. Raises ValueError for a changed or missing row."""
    columns = (FactRow.place, FactRow.payload)
    rows = select(*columns).where(FactRow.contest_id == contest).order_by(FactRow.place)
    for number, (place, payload) in enumerate(session.execute(rows), start=1):
        if place != number:
            raise ValueError(f"fact {number} of contest {contest} is missing")
        yield from unpack(payload)


def journal_entries(session: Session, contest: ContestRow) -> Iterator[Entry]:
    """The journal of a contest. Raises ValueError for a changed or missing row."""
    columns = (JournalRow.place, JournalRow.payload)
    rows = select(*columns).where(JournalRow.contest_id == contest.id).order_by(JournalRow.place)
    last = None
    for place, payload in session.execute(rows):
        if last is not None and place != last + 1:
            raise ValueError(f"row {last + 1} of the journal is missing")
        last = place
        yield from unpack(payload)


def stored_numbers(session: Session, contest: ContestRow, numbers: Sequence[int]) -> Iterator[int]:
    """Which of these games have a result."""
    for at in range(0, len(numbers), ASKED_AT_ONCE):
        ids = [id_of(number) for number in numbers[at : at + ASKED_AT_ONCE]]
        query = select(GameRow.game_id).where(GameRow.contest_id == contest.id, GameRow.game_id.in_(ids))
        yield from map(number_of, session.scalars(query))


def past_games(
    session: Session, contest: ContestRow, deals: Mapping[str, int], layout: int = LAYOUT
) -> Iterator[PastGame]:
    """Every game with a record, in the order of storing; `deals` has the number of its deal, by its id.

    Raises ValueError for a changed or missing row.
    """
    for row, found in checked_games(session, contest, layout):
        yield past_game(row, found, deals.get(row.game_id, 0))


def past_game(row: Any, faults: Sequence[FaultFields], deal: int) -> PastGame:
    """A row of a game, which was checked."""
    by_name = ((row.names[seat - 1], kind) for seat, _, kind, _ in faults if seat)
    return PastGame(
        number_of(row.game_id),
        tuple(row.names),
        deal,
        tuple(row.totals),
        row.end,
        row.plies,
        tuple(by_name),
        tuple(row.used_ms or ()),
        tuple(row.agents or ()),
    )
