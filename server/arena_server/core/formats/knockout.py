"""Knockout: who loses a pairing is out; the winners of neighbouring pairings meet on the next level.

The bracket is the usual one: the best seed meets the last, and the first two can meet in the final alone.

    8 seeds:   1-8  4-5  2-7  3-6   ->   winners of 1-8 and 4-5, of 2-7 and 3-6   ->   final

With fewer bots than places the best seeds have byes on the first level. A pairing is won by more games won
(a draw is half of one). If both have won as many, the first of these decides: more points, where the contest
is scored by points; two more games, up to `extra_pairs` times; the better seed.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import ClassVar

from arena_server.core.facts import Drawn
from arena_server.core.formats.base import Draw
from arena_server.core.formats.document import BYE, OPEN, TO_COME, VACANT, DrawnMatch, Round
from arena_server.core.formats.encounters import Encounter, Entry
from arena_server.core.formats.rounds import SEEDING, KnownDraw, Rounds
from arena_server.terms.formats import Option, WordOption


class Knockout(Rounds):
    NAME = "knockout"
    MEANING = "the loser of a pairing, which plays at most `games_per_pair` games, is out"
    ROUND = "level"
    EARLY_END = True
    RANKED_BY = "levels of the bracket passed"
    OPTIONS: ClassVar = {
        "seeding": SEEDING,
        "extra_pairs": Option(2, 0, 100, "how often a tied pairing plays two more games"),
        "same_owner": WordOption(
            "late", ("late", "ignore"), "bots of one `owner` meet as `late` as possible, or this is `ignore`d"
        ),
    }

    # -- the bracket, which may have another stage before it

    @property
    def levels(self) -> Sequence[Sequence[Entry]]:
        """The rounds of the bracket."""
        return self.draws.rounds

    @property
    def places(self) -> int:
        """How many players the bracket has."""
        return len(self.terms.names)

    def seeds(self) -> Sequence[str]:
        """Its players, the best seed first; known when the first level is to be drawn."""
        return self.terms.seeds

    def labels(self) -> Sequence[str]:
        """Of each of the seeds: those of one label, which is not empty, meet as late as possible."""
        owners = self.terms.owners if self.choice(self.terms, "same_owner") == "late" else {}
        return [owners.get(name, "") for name in self.seeds()]

    # -- rounds

    def is_last(self, absent: Collection[str]) -> bool:
        return bool(self.levels) and len(self.levels[-1]) == 1 and not self._tied()

    def next_draw(self, absent: Collection[str]) -> Draw:
        draws = self.draws
        if tied := self._tied():
            return KnownDraw(Drawn(draws.count + 1, draws.next_number, 2, tuple(tied)))
        if self.levels:
            places = [self._going_on(each) for each in self.levels[-1]]
        else:
            places = bracket(self.seeds(), self.labels())
        # Who is absent is drawn, too: that is a walkover of the opponent.
        groups = tuple(
            tuple(name for name in pair if name is not None)
            for pair in zip(places[::2], places[1::2], strict=True)
        )
        return KnownDraw(Drawn(draws.count + 1, draws.next_number, self.terms.games, groups))

    def _going_on(self, entry: Entry) -> str | None:
        """Who comes to the next level from a place that is over."""
        if not isinstance(entry, Encounter):
            return entry
        if entry.winner is None and not entry.lost_by:
            return min(entry.names, key=self.seeds().index)
        return entry.winner

    def _tied(self) -> list[tuple[str, ...]]:
        """The pairings of the last level that are to play two more games."""
        if not self.levels or self.draws.of_last_round > self.option(self.terms, "extra_pairs"):
            return []
        return [each.names for each in self.draws.last if each.winner is None and not each.lost_by]

    # -- what is to come

    def most_to_come(self) -> int:
        matches = (len(self.levels[-1]) if self.levels else self.places) - 1
        return (matches + self._without_opponent()) * self.terms.games

    def _without_opponent(self) -> int:
        """How many matches after the first level are missing, as no bot came from a pairing before them."""
        return sum(not isinstance(each, Encounter) for level in self.levels[1:] for each in level)

    def has_games(self, name: str) -> bool:
        if not self.levels or super().has_games(name):
            return True
        level = self.levels[-1]
        if len(level) == 1:
            return any(name in names for names in self._tied())
        return any(self._going_on(each) == name for each in level)

    # -- for readers

    def rounds(self) -> list[Round]:
        levels = [[self._match(each) for each in level] for level in self.levels]
        if not levels:
            return []  # who meets whom is a fact, or not known
        level = levels[-1]
        while len(level) > 1:
            level = [_next_match(pair) for pair in _pairs([each.winner for each in level])]
            levels.append(level)
        return [Round(_title(len(matches)), "level", tuple(matches)) for matches in levels]

    def _match(self, entry: Entry) -> DrawnMatch:
        if not isinstance(entry, Encounter):
            return DrawnMatch((entry, None), VACANT if entry is None else BYE, winner=entry)
        tied = entry in self.draws.last and entry.names in self._tied()
        match = entry.match(self._going_on(entry))
        return replace(match, state=OPEN, winner=None, decided_by=None) if tied else match

    def scores(self) -> dict[str, Fraction]:
        """The levels that each bot has survived."""
        survived = dict.fromkeys(self.terms.names, Fraction(0))
        tied = self._tied()
        for level in self.levels:
            for each in level:
                if isinstance(each, Encounter) and (not each.is_over or each.names in tied):
                    continue
                if (name := self._going_on(each)) is not None:
                    survived[name] += 1
        return survived


def _pairs(places: Sequence[str | None]) -> list[tuple[str | None, ...]]:
    return list(zip(places[::2], places[1::2], strict=True))


def _next_match(names: tuple[str | None, ...]) -> DrawnMatch:
    """A match that has not been drawn."""
    return DrawnMatch(names, TO_COME)


def _title(matches: int) -> str:
    """What a level of this many matches is called."""
    names = {1: "final", 2: "semi-finals", 4: "quarter-finals"}
    return names.get(matches, f"last {2 * matches}")


def bracket_order(places: int) -> list[int]:
    """The seeds (0, 1, ...) of a bracket from top to bottom; `places` is a power of two."""
    order = [0]
    while len(order) < places:
        size = 2 * len(order)
        order = [seed for each in order for seed in (each, size - 1 - each)]
    return order


def bracket(seeds: Sequence[str], owners: Sequence[str]) -> list[str | None]:
    """The places of the first level from top to bottom, None for a bye.

    Seeds of one tier (3-4, 5-8, 9-16, ...) change places so that bots of one owner ("" has none) meet as late
    as possible; without owners every seed has its usual place.
    """
    size = 2 ** (len(seeds) - 1).bit_length()
    usual = {seed: place for place, seed in enumerate(bracket_order(size))}
    places: list[str | None] = [None] * size
    owned: dict[str, list[int]] = {}
    begin = 0
    while begin < len(seeds):
        end = max(1, 2 * begin)
        free = [usual[seed] for seed in range(begin, min(end, len(seeds)))]
        for seed in range(begin, min(end, len(seeds))):
            taken = owned.get(owners[seed], []) if owners[seed] else []
            # The level on which two places meet is the length of the first bits that they do not share.
            best = max(
                free,
                key=lambda place: (
                    min((_level(place, other) for other in taken), default=0),
                    place == usual[seed],
                    -free.index(place),
                ),
            )
            free.remove(best)
            places[best] = seeds[seed]
            owned.setdefault(owners[seed], []).append(best)
        begin = end
    return places


def _level(one: int, other: int) -> int:
    """The level (1, 2, ...) on which the winners from two places meet."""
    return (one ^ other).bit_length()
