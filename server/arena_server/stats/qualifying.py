"""Who comes from contests that are over into the next: a pure function of their final orders.

    FinalOrder(((ann,), (bob, cid)), out={bob})     ann first, bob and cid share a place, bob has left
    Source(("a", "b"), first=2)                     the first of a, of b, the second of a, of b

Bots that share a place are put in order by a lot that follows from the secret of their contest. Who is `out`
is passed over, and so is who has come already: the next one moves up.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from arena_server.stats.ratings import Ratings

#: What a source orders by: the final table of the contest, or the ratings of its games.
TABLE: Final = "table"
RATINGS: Final = "ratings"


@dataclass(frozen=True, slots=True)
class Source:
    """Of each of `stages` the `first` bots behind the first `after`; None: all that are left.

    All first of a stage come before all second, and so on; of one place in the order of `stages`.
    """

    stages: tuple[str, ...]
    first: int | None = None
    after: int = 0
    by: str = TABLE


@dataclass(frozen=True, slots=True)
class FinalOrder:
    """The places of a contest that is over, the best first; those of a place share it.

    `out` may not come on: they were removed, or are not known where they would play. `secret` is the
    contest's.
    """

    places: tuple[tuple[str, ...], ...]
    out: frozenset[str] = frozenset()
    secret: int = 0

    @property
    def names(self) -> list[str]:
        """Who may come on, in order."""
        return [
            name for place in self.places for name in sorted(place, key=self._lot) if name not in self.out
        ]

    def _lot(self, name: str) -> bytes:
        return sha256(f"place:{self.secret}:{name}".encode("ascii")).digest()


def qualified(sources: Iterable[Source], orders: Mapping[tuple[str, str], FinalOrder]) -> list[str]:
    """Who comes, the best seed first; `orders` has those of each stage by its name and what orders it."""
    taken: dict[str, None] = {}
    for source in sources:
        queues = [iter(orders[stage, source.by].names[source.after :]) for stage in source.stages]
        left = source.first
        while queues and (left is None or left > 0):
            queues = [queue for queue in queues if _take(queue, taken)]
            left = None if left is None else left - 1
    return list(taken)


def _take(queue: Iterator[str], taken: dict[str, None]) -> bool:
    """Take the next one that has not come already; False if there is none."""
    name = next((name for name in queue if name not in taken), None)
    if name is not None:
        taken[name] = None
    return name is not None


def describe(sources: Iterable[Source]) -> str:
    """Who comes, in words."""
    return ", then ".join(map(_describe, sources))


def _describe(source: Source) -> str:
    stages = " and ".join(source.stages)
    of = f"of each of {stages}" if len(source.stages) > 1 else f"of {stages}"
    behind = f" behind the first {source.after}" if source.after else ""
    who = "all" if source.first is None else f"{source.first}" if behind else f"the first {source.first}"
    return f"{who} {of}{behind}" + (" by ratings" if source.by == RATINGS else "")


def places_by_rating(table: Sequence[str], ratings: Ratings) -> tuple[tuple[str, ...], ...]:
    """Each bot of a table by its rating, as it is printed; equal ones in the order of the table.

    Who is unbeaten is before all that are rated; who has won nothing, and then who is not connected with the
    others, is behind them.
    """
    from arena_server.stats.ratings import UNBEATEN, WINLESS

    rated = {row.name: round(row.rating, 1) for row in ratings.rows}
    rank = {UNBEATEN: 0, WINLESS: 2}

    def key(name: str) -> tuple[int, float]:
        if name in rated:
            return 1, -rated[name]
        return rank.get(ratings.unrated.get(name, ""), 3), 0.0

    return tuple((name,) for name in sorted(table, key=key))


def placed(ranked: Iterable[tuple[int, str]]) -> tuple[tuple[str, ...], ...]:
    """The places of a table, of its ranks with their bots in order."""
    places: dict[int, list[str]] = {}
    for rank, name in ranked:
        places.setdefault(rank, []).append(name)
    return tuple(tuple(place) for _, place in sorted(places.items()))


def origin_of(
    sources: Sequence[Source], contests: Mapping[str, Sequence[int]], unknown: Collection[str] = ()
) -> dict[str, Any]:
    """What a contest keeps of where its entrants come from, in the types of JSON.

    `contests` has the number of each contest, and how many facts of it there were then; `unknown` are their
    bots that have no table in the file, and were passed over.
    """
    numbers = {name: list(pair) for name, pair in contests.items()}
    return {"from": sources_json(sources), "contests": numbers, "unknown": sorted(unknown)}


def sources_json(sources: Sequence[Source]) -> list[dict[str, Any]]:
    """Where entrants come from, in the types of JSON."""
    return [
        {"stages": list(each.stages), "first": each.first, "after": each.after, "by": each.by}
        for each in sources
    ]


def sources_of(origin: Mapping[str, Any]) -> tuple[Source, ...]:
    """The sources that `origin_of` has kept. Raises ValueError for what it has not made."""
    try:
        return tuple(
            Source(tuple(each["stages"]), each["first"], int(each["after"]), str(each["by"]))
            for each in origin["from"]
        )
    except (KeyError, TypeError) as error:
        raise ValueError(f"the origin of its entrants cannot be read: {error!r}") from None


def contests_of(origin: Mapping[str, Any]) -> dict[str, tuple[int, int]]:
    """The number of each contest, and how many facts it had. Raises ValueError as `sources_of` does."""
    try:
        return {str(name): (int(number), int(facts)) for name, (number, facts) in origin["contests"].items()}
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"the origin of its entrants cannot be read: {error!r}") from None
