"""Knockout: who loses a pairing is out; the winners of neighbouring pairings meet on the next level.

The bracket is the usual one: the best seed meets the last, and the first two can meet in the final alone.

    8 seeds:   1-8  4-5  2-7  3-6   ->   winners of 1-8 and 4-5, of 2-7 and 3-6   ->   final

With fewer bots than places the best seeds have byes on the first level. A pairing is won by more games won
(a draw is half of one); `ties.py` says what decides if both have won as many. With `third_place` the losers
of the semi-finals meet, too, beside the final.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import ClassVar

from arena_server.core.facts import Drawn
from arena_server.core.formats.base import Draw
from arena_server.core.formats.encounters import Draws, Encounter, Entry
from arena_server.core.formats.rounds import SEEDING, KnownDraw, Rounds
from arena_server.core.formats.rounds_json import (
    BY_SUDDEN_DEATH,
    BYE,
    OPEN,
    OVER,
    TO_COME,
    VACANT,
    DrawnMatch,
    Round,
)
from arena_server.core.formats.ties import check_tie, read_further, tie_rule
from arena_server.terms.formats import FlagOption, FormatError, Option, Terms, TextOption, WordOption


class Knockout(Rounds):
    NAME = "knockout"
    MEANING = "the loser of a pairing, which plays at most `games_per_pair` games, is out"
    ROUND = "level"
    EARLY_END = True
    RANKED_BY = "levels of the bracket passed"
    OPTIONS: ClassVar = {
        "seeding": SEEDING,
        "extra_pairs": Option(2, 0, 100, "how often a tied pairing plays two more games"),
        "tie": TextOption(
            "", check_tie, "[what decides a tied pairing](knockout.md), instead of `extra_pairs`"
        ),
        "third_place": FlagOption(False, "the losers of the semi-finals play for the third place"),
        "play_all": FlagOption(False, "a pairing plays all of its games, also when it is decided"),
        "same_owner": WordOption(
            "late", ("late", "ignore"), "bots of one `owner` meet as `late` as possible, or this is `ignore`d"
        ),
    }

    @classmethod
    def check(cls, terms: Terms) -> None:
        super().check(terms)
        if terms.options.get("tie") and "extra_pairs" in terms.options:
            raise FormatError(
                "contest.extra_pairs: expected either it or contest.tie, which also says how many, got both"
            )

        if terms.paired and any(games % 2 for games, _ in read_further(terms)):
            raise FormatError(
                'contest.tie: expected no sudden-death with deals = "paired", because a single game leaves '
                "the other seat of its deal unplayed"
            )

    def __init__(self, terms: Terms, *, largest: int = 2) -> None:
        super().__init__(terms, largest=largest)
        self.tie = tie_rule(terms, self.option(terms, "extra_pairs"))
        self.has_third = bool(terms.options.get("third_place"))
        early = not terms.options.get("play_all")
        self.draws = Draws(terms, early=early, by_points=self.tie.by_points, largest=largest)

    def penalise(self, name: str, points: Fraction) -> None:
        raise FormatError(f'contest.format: "{self.NAME}" has no points to take: forfeit a game instead')

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

    def _matches(self, level: int) -> Sequence[Entry]:
        """The places of a level (0, 1, ...) of the bracket, without the match for the third place."""
        entries = self.levels[level]
        return entries[:1] if self.has_third and level and len(self.levels[level - 1]) == 2 else entries

    @property
    def _last(self) -> Sequence[Entry]:
        """The places of the last level that was drawn."""
        return self._matches(len(self.levels) - 1)

    def is_last(self, absent: Collection[str]) -> bool:
        return bool(self.levels) and len(self._last) == 1 and not self._tied()

    def next_draw(self, absent: Collection[str]) -> Draw:
        draws = self.draws
        if tied := self._tied():
            return KnownDraw(Drawn(draws.count + 1, draws.next_number, self._further[0], tuple(tied)))
        if self.levels:
            places = [self._going_on(each) for each in self._last]
            if self.has_third and len(places) == 2:
                places += [self._out(each) for each in self._last]
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

    def _out(self, entry: Entry) -> str | None:
        """Who is out at a place that is over, and has a chance of the third place."""
        if not isinstance(entry, Encounter) or entry.is_void:
            return None
        winner = self._going_on(entry)
        return next(name for name in entry.names if name != winner)

    @property
    def _further(self) -> tuple[int, str]:
        """How many games those play that are still tied, and what that is; none: (0, "")."""
        played = self.draws.of_last_round
        return self.tie.further[played - 1] if played <= len(self.tie.further) else (0, "")

    def _tied(self) -> list[tuple[str, ...]]:
        """The pairings of the last level that are to play on, the seats of one game in turn."""
        if not self.levels or not self._further[0]:
            return []
        drawn = self.terms.games + sum(games for games, _ in self.tie.further[: self.draws.of_last_round - 1])
        sign = -1 if self._further[1] == BY_SUDDEN_DEATH and drawn % 2 else 1
        return [each.names[::sign] for each in self.draws.last if each.winner is None and not each.lost_by]

    def _plays_on(self, entry: Entry) -> bool:
        """Whether it is one of those."""
        return isinstance(entry, Encounter) and any(set(entry.names) == set(names) for names in self._tied())

    # -- what is to come

    def most_to_come(self) -> int:
        matches = (len(self._last) if self.levels else self.places) - 1
        rest = matches + self._third_to_come() + self._without_opponent()
        return rest * self.terms.games + self._further_to_come()

    def _further_to_come(self) -> int:
        """How many games the tied pairings of a level that is played are still to play, and will."""
        tied = [] if self.draws.is_open else self._tied()
        return len(tied) * self._further[0] if tied else 0

    def _third_to_come(self) -> bool:
        """Whether a match for the third place may be drawn: both semi-finals have, or may have, a loser."""
        if not self.has_third or not self.levels:
            return self.has_third and self.places > 3
        if len(self._last) == 2:
            return all(isinstance(each, Encounter) for each in self._last)
        return len(self._last) > 2

    def _without_opponent(self) -> int:
        """How many matches after the first level are missing, as no bot came from a pairing before them."""
        missing = 0
        for before, level in pairwise(self.levels):
            # A semi-final that was a bye has no loser, and a match for the third place was not planned.
            planned = level if all(isinstance(each, Encounter) for each in before) else level[:1]
            third = self.has_third and len(before) == 2
            missing += sum(not isinstance(each, Encounter) for each in (planned if third else level))
        return missing

    def has_games(self, name: str) -> bool:
        if not self.levels or super().has_games(name):
            return True
        level = self._last
        if len(level) == 1:
            return any(name in names for names in self._tied())
        third = [self._out(each) for each in level] if self.has_third and len(level) == 2 else []
        return name in third or any(self._going_on(each) == name for each in level)

    # -- for readers

    def rounds(self) -> list[Round]:
        if not self.levels:
            return []  # who meets whom is a fact, or not known
        count = len(self.levels)
        levels = [[self._match(each) for each in self._matches(level)] for level in range(count)]
        third = [self._match(each) for each in self.levels[-1][len(self._last) :]]
        level = levels[-1]
        while len(level) > 1:
            level = [_next_match(pair) for pair in _pairs([each.winner for each in level])]
            levels.append(level)
        found = [Round(title_of_level(len(matches)), "level", tuple(matches)) for matches in levels]
        return found + ([Round("third place", "round", tuple(third))] if third else [])

    def _match(self, entry: Entry) -> DrawnMatch:
        if not isinstance(entry, Encounter):
            return DrawnMatch((entry, None), VACANT if entry is None else BYE, winner=entry)
        match = entry.match(self._going_on(entry))
        if entry in self.draws.last and self._plays_on(entry):
            return replace(match, state=OPEN, winner=None, decided_by=None)
        if match.state == OVER and match.decided_by is None and entry.draws > 1:
            return replace(match, decided_by=self.tie.further[entry.draws - 2][1])
        return match

    @property
    def ranked_by(self) -> str:
        return super().ranked_by + (", and 1/2 for the third place" if self.has_third else "")

    def scores(self) -> dict[str, Fraction]:
        """The levels that each bot has survived; the third place counts as half of one."""
        survived = dict.fromkeys(self.terms.names, Fraction(0))
        for number, level in enumerate(self.levels):
            matches = len(self._matches(number))
            for place, each in enumerate(level):
                if isinstance(each, Encounter) and not each.is_over:
                    continue
                if number == len(self.levels) - 1 and self._plays_on(each):
                    continue
                if (name := self._going_on(each)) is not None:
                    survived[name] += 1 if place < matches else Fraction(1, 2)
        return survived


def _pairs(places: Sequence[str | None]) -> list[tuple[str | None, ...]]:
    return list(zip(places[::2], places[1::2], strict=True))


def _next_match(names: tuple[str | None, ...]) -> DrawnMatch:
    """A match that has not been drawn."""
    return DrawnMatch(names, TO_COME)


def title_of_level(matches: int) -> str:
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
