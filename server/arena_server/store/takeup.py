"""An unfinished contest in a database: is there one, is it the same, and what is durable of it.

It must not know: how a contest goes on, who writes the rows.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from arena_server.core.ids import number_of
from arena_server.core.journal import Entry, Past, PastGame
from arena_server.core.plan import ContestPlan
from arena_server.errors import StoreError
from arena_server.store.payload import unpack
from arena_server.store.tables import FINISHED, Bot, Contest, Fault, Game, JournalRow
from arena_server.store.url import Database

#: What may differ: the seed may be a drawn one, and a newer version may go on with an older one's contest.
_MAY_DIFFER = ("seed", "software")


@dataclass(frozen=True, slots=True)
class Unfinished:
    """A contest that is not over: its row's number, its seed, and all that is durable of it."""

    contest: int
    seed: int
    past: Past


def plain_plan(plan: ContestPlan, names: Sequence[str]) -> dict[str, Any]:
    """All of a plan that has to be the same for a contest to be taken up again, as JSON has it."""
    plain = {**asdict(plan), "bots": list(names)}
    for key in _MAY_DIFFER:
        del plain[key]
    copy: dict[str, Any] = json.loads(json.dumps(plain))
    return copy


def find(session: Session, name: str) -> Contest | None:
    """The latest contest of this name, if it is unfinished."""
    query = select(Contest).where(Contest.name == name).order_by(Contest.id.desc()).limit(1)
    latest = session.scalar(query)
    return latest if latest is not None and latest.status != FINISHED else None


def check_same(
    database: Database, contest: Contest, plan: ContestPlan, names: Sequence[str], seeded: bool
) -> None:
    """Raise StoreError, naming the difference, unless `contest` was begun with this plan."""
    begun: Mapping[str, Any] = {**contest.plan, "seed": contest.seed}
    given: Mapping[str, Any] = {
        **plain_plan(plan, names),
        "seed": str(plan.seed) if seeded else contest.seed,
    }
    for key in given:
        if given[key] != begun.get(key):
            raise StoreError(
                f"{database}: contest {contest.id} {contest.name} is unfinished, and was begun with "
                f"{key}={begun.get(key)!r} where there is {given[key]!r} now; "
                "go on with the same configuration, or begin a new contest by --new"
            )


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
