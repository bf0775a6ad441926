"""Matches: the bots play in groups of their own, which have nothing to do with each other."""

from __future__ import annotations

from arena_server.core.formats.balance import Bounds
from arena_server.core.formats.groups import GroupList
from arena_server.core.formats.scheduled import Scheduled
from arena_server.terms.config import SINGLE
from arena_server.terms.formats import FormatError, Terms


class Matches(Scheduled):
    NAME = "matches"
    MEANING = (
        "the bots play in groups in the order of the file, with two seats the first with the second, the "
        "third with the fourth"
    )
    BY_LOT = False

    def __init__(self, terms: Terms) -> None:
        self.check(terms)
        seats, everyone = terms.seats, range(len(terms.names))
        groups = GroupList([tuple(everyone[at : at + seats]) for at in everyone[::seats]])
        # Else, with three seats and more, a player would always follow the same other.
        super().__init__(terms, groups, Bounds.NONE, reverse=seats > 2)

    @classmethod
    def check(cls, terms: Terms) -> None:
        super().check(terms)
        if len(terms.names) % terms.seats:
            raise FormatError(
                f'contest.format: expected a multiple of {terms.seats} bots for "matches" in {terms.seats} '
                f"seats, got {len(terms.names)}"
            )


class Single(Scheduled):
    """One game of all bots in the order of their seats: that of a visitor of the page."""

    NAME = SINGLE
    MEANING = "one game of all bots in the order of their seats"

    def __init__(self, terms: Terms) -> None:
        self.check(terms)
        super().__init__(terms, GroupList([tuple(range(terms.seats))]), Bounds.NONE)

    @classmethod
    def check(cls, terms: Terms) -> None:
        seats, bots, games = terms.seats, len(terms.names), terms.games
        if (bots, games) != (seats, 1):
            raise FormatError(f"a single game has {seats} bots, not {bots}, and is one, not {games}")
