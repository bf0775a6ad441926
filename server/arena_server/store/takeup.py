"""An unfinished contest in a database: is there one, is it the same, and what is durable of it.

It must not know: how a contest goes on, who writes the rows.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from arena_server.core.ids import number_of
from arena_server.core.journal import Entry, Past, PastGame
from arena_server.store.payload import unpack
from arena_server.store.sameness import Begun
from arena_server.store.tables import FINISHED, Bot, Contest, Fault, Game, JournalRow


@dataclass(frozen=True, slots=True)
class Unfinished:
    """A contest that is not over: its row's number, its seed, and all that is durable of it."""

    contest: int
    seed: int
    past: Past


def find(session: Session, name: str) -> Contest | None:
    """The latest contest of this name, if it is unfinished."""
    query = select(Contest).where(Contest.name == name).order_by(Contest.id.desc()).limit(1)
    latest = session.scalar(query)
    return latest if latest is not None and latest.status != FINISHED else None


def begun(contest: Contest) -> Begun:
    """How `contest` was begun."""
    return Begun(contest.id, contest.name, contest.seed, contest.plan)


def load(session: Session, contest: Contest) -> Unfinished:
    """All that is durable of `contest`. Raises ValueError for a damaged row."""
    results = tuple(_results(session, contest))
    return Unfinished(contest.id, int(contest.seed), Past(results, tuple(_entries(session, contest))))


def _results(session: Session, contest: Contest) -> list[PastGame]:
    faults: dict[int, list[tuple[str, str]]] = {}
    rows = select(Fault.game_pk, Bot.name, Fault.kind).join(Bot, Fault.bot_id == Bot.id).order_by(Fault.id)
    for game, bot, kind in session.execute(rows.where(Bot.contest_id == contest.id)):
        faults.setdefault(game, []).append((bot, kind))
    columns = (Game.id, Game.game_id, Game.names, Game.totals, Game.end, Game.plies)
    games = select(*columns).where(Game.contest_id == contest.id).order_by(Game.id)
    return [
        PastGame(
            number_of(row.game_id),
            tuple(row.names),
            tuple(row.totals),
            row.end,
            row.plies,
            tuple(faults.get(row.id, ())),
        )
        for row in session.execute(games)
    ]


def _entries(session: Session, contest: Contest) -> list[Entry]:
    rows = select(JournalRow.payload).where(JournalRow.contest_id == contest.id).order_by(JournalRow.id)
    return [entry for payload in session.scalars(rows) for entry in unpack(payload)]
