"""Round-robin: every set of bots that fills the seats plays."""

from __future__ import annotations

from arena_server.core.formats.groups import Group, companions, fair_order
from arena_server.core.formats.scheduled import Scheduled
from arena_server.terms.formats import Terms


class RoundRobin(Scheduled):
    NAME = "round-robin"
    MEANING = "every set of bots that fills the seats plays"

    def __init__(self, terms: Terms) -> None:
        self.check(terms)
        super().__init__(terms, fair_order(len(terms.names), terms.seats))

    @classmethod
    def games_multiple(cls, terms: Terms) -> int:
        # In one game of each pair every bot has each seat equally often, give or take one (`CirclePairs`).
        # Two bots have one pair, and no other in which the seats are made even.
        if terms.seats == 2 and len(terms.names) > 2 and not terms.paired:
            return 1
        return terms.seats

    def late_groups(self, player: int) -> list[Group]:
        others = companions(0, player, self.terms.seats - 1)
        return [(player, *some) if at % 2 else (*some, player) for at, some in enumerate(others)]
