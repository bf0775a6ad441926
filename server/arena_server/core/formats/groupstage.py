"""Groups followed by a knockout: a round-robin in each group, and the first of each come into a bracket.

The seeds come into the groups in rows, every other row the other way round (a snake):

    3 groups of 10 seeds:   1 6 7   2 5 8   3 4 9 10

A row is changed so that bots of one owner come into different groups, if that is possible. In a group a
pairing that is won, by games or walkover, is a point, a tied one half a point. Equal points are separated by
the points against each other, the games won, the points of the games where the contest is scored by points,
and the better seed. All first of a group are better seeds of the bracket than all second, and so on; bots
of one group meet again as late as possible.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from fractions import Fraction
from typing import ClassVar, Final

from arena_server.core.facts import Drawn
from arena_server.core.formats.base import Draw
from arena_server.core.formats.encounters import Encounter, Entry, match_points
from arena_server.core.formats.knockout import Knockout
from arena_server.core.formats.rounds import SEEDING, KnownDraw
from arena_server.core.formats.rounds_json import Round
from arena_server.terms.formats import FormatError, Option, Terms

#: The least players of a group, and how many it has without the key `groups`.
LEAST: Final = 3
USUAL: Final = 4


class GroupStage(Knockout):
    NAME = "groups"
    ROUND = "stage"
    MEANING = "a round-robin in each of some groups, then a knockout of the first of each"
    RANKED_BY = (
        "1 for a place in the bracket and 1 for each of its levels passed; "
        "without one the share of the points of the group"
    )
    OPTIONS: ClassVar = {
        "groups": Option(0, 0, 1000, "how many groups; 0: as many as can have four bots each"),
        "advance": Option(2, 1, 1000, "how many of each group come into the bracket"),
        "seeding": SEEDING,
        **{key: Knockout.OPTIONS[key] for key in ("extra_pairs", "tie", "third_place", "play_all")},
    }

    def __init__(self, terms: Terms) -> None:
        super().__init__(terms, largest=len(terms.names))
        #: The groups, once they are drawn.
        self.groups: tuple[tuple[str, ...], ...] = ()

    @classmethod
    def check(cls, terms: Terms) -> None:
        super().check(terms)
        bots, groups, advance = len(terms.names), _groups(terms), cls.option(terms, "advance")
        if bots < LEAST:
            raise FormatError(f'bot: expected at least {LEAST} for "groups", got {bots}')
        if groups > bots // LEAST:
            raise FormatError(
                f"contest.groups: expected at most {bots // LEAST} for {bots} bots, so that each group has "
                f"{LEAST}, got {groups}"
            )
        most = bots // groups - 1
        if advance > most:
            raise FormatError(
                f"contest.advance: expected at most {most} of a group of {most + 1}, so that one is out, "
                f"got {advance}"
            )
        if groups * advance == 1:
            raise FormatError(
                "contest.advance: expected at least 2 of a single group, so that there is a final"
            )

    # -- the bracket

    # -- rounds

    def next_draw(self, absent: Collection[str]) -> Draw:
        if self.draws.rounds:
            return super().next_draw(absent)
        return KnownDraw(Drawn(1, 1, self.terms.games, snake(self.terms)))

    def drawn(self, drawn: Drawn) -> None:
        super().drawn(drawn)
        if not self.groups:
            self.groups = drawn.groups

    # -- the bracket

    @property
    def levels(self) -> Sequence[Sequence[Entry]]:
        return self.draws.rounds[1:]

    @property
    def places(self) -> int:
        return _groups(self.terms) * self.option(self.terms, "advance")

    def seeds(self) -> list[str]:
        """All first of a group, then all second, ...; of one place those with the greater share of points."""
        rankings, shares = [self._ranking(group) for group in self.groups], self._shares()
        rows = zip(*(ranking[: self.option(self.terms, "advance")] for ranking in rankings), strict=True)
        seeds = self.terms.seeds
        return [
            name for row in rows for name in sorted(row, key=lambda name: (-shares[name], seeds.index(name)))
        ]

    def labels(self) -> list[str]:
        group_of = {name: str(number) for number, group in enumerate(self.groups) for name in group}
        return [group_of[name] for name in self.seeds()]

    # -- the groups

    @property
    def _stage(self) -> list[Encounter]:
        return list(self.draws.pairings(0)) if self.groups else []

    def _shares(self) -> dict[str, Fraction]:
        """The share of the points that each bot has won of those of its group that it could have."""
        worth = self.terms.worth
        points = match_points(self.terms.names, self._stage, worth)
        return {
            name: points[name] / (worth.win * (len(group) - 1)) for group in self.groups for name in group
        }

    def _ranking(self, group: tuple[str, ...]) -> list[str]:
        """The players of a group, the first first."""
        played = [each for each in self._stage if each.names[0] in group]
        worth = self.terms.worth
        points = match_points(group, played, worth)
        among = {}
        for name in group:
            tied = {other for other in group if points[other] == points[name]}
            inside = (each for each in played if tied.issuperset(each.names))
            among[name] = match_points(group, inside, worth)[name]
        mine = {name: [each for each in played if name in each.names] for name in group}
        won = {name: sum((each.scores[name] for each in mine[name]), Fraction(0)) for name in group}
        own = {name: sum(each.points[name] for each in mine[name]) * self.terms.by_points for name in group}
        seeds = self.terms.seeds
        return sorted(
            group, key=lambda name: (-points[name], -among[name], -won[name], -own[name], seeds.index(name))
        )

    # -- what is to come

    def most_to_come(self) -> int:
        bracket = super().most_to_come()
        if self.draws.rounds:
            return bracket
        pairs = sum(len(group) * (len(group) - 1) // 2 for group in snake(self.terms))
        return pairs * self.terms.games + bracket

    # -- for readers

    def rounds(self) -> list[Round]:
        rounds = []
        for number, group in enumerate(self.groups, start=1):
            matches = tuple(each.match() for each in self._stage if each.names[0] in group)
            rounds.append(Round(f"group {number}", "group", matches, tuple(self._ranking(group))))
        return rounds + super().rounds()

    def scores(self) -> dict[str, Fraction]:
        scores = dict.fromkeys(self.terms.names, Fraction(0)) | self._shares()
        passed = super().scores()
        entries = self.levels[0] if self.levels else ()
        for name in (name for each in entries if each for name in _names(each)):
            scores[name] = 1 + passed[name]
        return scores


def _names(entry: Encounter | str) -> tuple[str, ...]:
    return entry.names if isinstance(entry, Encounter) else (entry,)


def _groups(terms: Terms) -> int:
    """How many groups there are."""
    return GroupStage.option(terms, "groups") or max(1, len(terms.names) // USUAL)


def snake(terms: Terms) -> tuple[tuple[str, ...], ...]:
    """The players of each group, the best seed first."""
    count = _groups(terms)
    groups: list[list[str]] = [[] for _ in range(count)]
    for row, begin in enumerate(range(0, len(terms.seeds), count)):
        free = list(range(count))[:: -1 if row % 2 else 1]
        for name in terms.seeds[begin : begin + count]:
            owner = terms.owners.get(name)
            best = min(
                free, key=lambda group: sum(owner == terms.owners.get(each, "") for each in groups[group])
            )
            free.remove(best)
            groups[best].append(name)
    return tuple(map(tuple, groups))
