"""Is an unfinished contest the one that the configuration describes? Asked before a server listens, too.

It must not know: SQLAlchemy, where a plan is kept.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from arena_server.core.plan import ContestPlan
from arena_server.errors import StoreError
from arena_server.store.url import Database

#: What may differ: the seed may be a drawn one, and a newer version may go on with an older one's contest.
_MAY_DIFFER = ("seed", "software")


@dataclass(frozen=True, slots=True)
class Begun:
    """A contest as it was begun: the number and name of its row, its seed as text, its `plain_plan`."""

    number: int
    name: str
    seed: str
    plan: Mapping[str, Any]


def plain_plan(plan: ContestPlan, names: Sequence[str]) -> dict[str, Any]:
    """All of a plan that has to be the same for a contest to be taken up again, as JSON has it."""
    plain = {**asdict(plan), "bots": list(names)}
    for key in _MAY_DIFFER:
        del plain[key]
    copy: dict[str, Any] = json.loads(json.dumps(plain))
    return copy


def check_same(
    database: Database, begun: Begun, plan: ContestPlan, names: Sequence[str], seeded: bool
) -> None:
    """Raise StoreError, naming the difference, unless `begun` was begun with this plan."""
    before = {**begun.plan, "seed": begun.seed}
    given = {**plain_plan(plan, names), "seed": str(plan.seed) if seeded else begun.seed}
    for key in given:
        if given[key] != before.get(key):
            raise StoreError(
                f"{database}: contest {begun.number} {begun.name} is unfinished, and was begun with "
                f"{key}={before.get(key)!r} where there is {given[key]!r} now; "
                "go on with the same configuration, or begin a new contest by --new"
            )
