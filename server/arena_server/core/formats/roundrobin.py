"""Round-robin: every set of bots that fills the seats plays."""

from __future__ import annotations

from arena_server.core.formats.base import Terms
from arena_server.core.formats.groups import fair_order
from arena_server.core.formats.scheduled import Scheduled


class RoundRobin(Scheduled):
    NAME = "round-robin"
    MEANING = "every set of bots that fills the seats plays"

    def __init__(self, terms: Terms) -> None:
        self.check(terms)
        super().__init__(terms, fair_order(len(terms.names), terms.seats))
