"""Gauntlet: a few challengers play against every bot of a field, which does not play among itself."""

from __future__ import annotations

from typing import ClassVar

from arena_server.core.formats.balance import Bounds
from arena_server.core.formats.groups import Group, GroupList, companions
from arena_server.core.formats.scheduled import Scheduled
from arena_server.terms.formats import FormatError, Option, Terms


class Gauntlet(Scheduled):
    NAME = "gauntlet"
    MEANING = "the challengers, the first bots of the file, play against all others; no two challengers meet"
    BY_LOT = False
    OPTIONS: ClassVar = {
        "challengers": Option(1, 1, 10_000, "how many bots, the first of the file, are challengers")
    }

    def __init__(self, terms: Terms) -> None:
        self.check(terms)
        # A challenger plays more games than a bot of the field: only groups can be level with each other.
        super().__init__(terms, GroupList(_groups(terms)), Bounds.GROUPS)

    def late_groups(self, player: int) -> list[Group]:
        challengers = self.option(self.terms, "challengers")
        others = companions(challengers, player, self.terms.seats - 2)
        return [(challenger, *some, player) for some in others for challenger in range(challengers)]

    @classmethod
    def check(cls, terms: Terms) -> None:
        super().check(terms)
        challengers, most = cls.option(terms, "challengers"), len(terms.names) - terms.seats + 1
        if challengers > most:
            raise FormatError(
                f"contest.challengers: expected at most {most} of {len(terms.names)} bots, so that a field "
                f"is left for {terms.seats} seats, got {challengers}"
            )


def _groups(terms: Terms) -> list[Group]:
    """One challenger and as many of the field as there are seats left, so that neighbours share few bots."""
    challengers = Gauntlet.option(terms, "challengers")
    others = companions(challengers, len(terms.names), terms.seats - 1)
    return [
        (challenger, *others[(at + challenger) % len(others)])
        for at in range(len(others))
        for challenger in range(challengers)
    ]
