"""Formats that draw: rounds of pairings of two players, each drawn when nothing of the last one is left.

    draw_due -> Draw.run, outside of the core -> Drawn -> the games of each pairing, in any order -> ...

There is no order within a round but that of the numbers, among the players that are free. A pairing is over
when none of its games is left; where it decides who goes on (`EARLY_END`), also when the other player cannot
reach the leader any more; and when one of them is absent for good, and nothing else of the round is left (a
walkover).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import ClassVar, Final

from arena_server.core.facts import Drawn, Walkover
from arena_server.core.formats.base import ChangedResults, Draw, DrawnFormat, Format, FreeBots, Pairing
from arena_server.core.formats.encounters import Draws, Encounter
from arena_server.stats.results import PastGame
from arena_server.terms.formats import FormatError, Terms, WordOption

#: An option of the formats that have seeds: see `Terms.seeds`.
SEEDING: Final = WordOption(
    "file", ("file", "lot"), "the order of the seeds: that of the `file`, or drawn by `lot`"
)


@dataclass(frozen=True, slots=True)
class KnownDraw(Draw):
    """A draw that takes no time."""

    drawn: Drawn

    def run(self) -> Drawn:
        return self.drawn


class _DrawnResults(ChangedResults):
    """Results from which rounds are drawn. `draws` has the rounds so far."""

    EARLY_END: ClassVar[bool] = False
    draws: Draws

    def __init__(self) -> None:
        super().__init__()
        #: Numbers of games that might start; those that cannot are left out when they are looked at.
        self._ready: list[int] = []

    def _consider(self, encounter: Encounter) -> None:
        """A game of it might start."""
        if encounter.waiting:
            heappush(self._ready, min(encounter.waiting))

    def may_change(self, number: int) -> bool:
        # Where results decide who goes on, the last draw follows from all games before it.
        return not self.EARLY_END or number >= self.draws.first_of_last

    def change(self, game: PastGame, new: PastGame) -> None:
        encounter = self.draws.find(game.number)
        encounter.change(game, new)
        self._consider(encounter)  # it may be open again


class Rounds(_DrawnResults, FreeBots, DrawnFormat):
    """Base class: a subclass says what is drawn next, and what counts."""

    def __init__(self, terms: Terms, *, largest: int = 2) -> None:
        super().__init__()
        self.check(terms)
        self.terms = terms
        self.draws = Draws(terms, early=self.EARLY_END, largest=largest)

    @classmethod
    def check(cls, terms: Terms) -> None:
        super().check(terms)
        if terms.seats != 2:
            raise FormatError(
                f'contest.format: expected a game of 2 seats for "{cls.NAME}", got one of {terms.seats}; '
                "a round-robin takes it"
            )
        if terms.paired and terms.games % 2:
            raise FormatError(
                f'contest.games_per_pair: expected a multiple of 2 with deals = "paired", got {terms.games}'
            )

    # -- what a subclass decides

    @abstractmethod
    def is_last(self, absent: Collection[str]) -> bool:
        """Whether nothing more is drawn when the rounds so far are over; it takes no time."""

    @abstractmethod
    def next_draw(self, absent: Collection[str]) -> Draw:
        """What is drawn after the rounds so far, which are over and not the last."""

    @abstractmethod
    def most_to_come(self) -> int:
        """How many games the rounds that are not drawn yet can have at most."""

    # -- what is known in advance

    @property
    def total(self) -> int:
        return sum(each.games for each in self.draws.encounters) + self.most_to_come()

    @property
    def next_number(self) -> int:
        return self.draws.next_number

    def planned(self, first: int, end: int) -> Iterator[Pairing]:
        known = (
            pairing
            for each in self.draws.last
            if not each.is_decided
            for number, pairing in each.waiting.items()
            if first <= number < end
        )
        return iter(sorted(known, key=lambda pairing: pairing.number))

    # -- bots

    def free(self, name: str, games: int) -> None:
        super().free(name, games)
        for encounter in self.draws.current.get(name, ()) if games else ():
            self._consider(encounter)

    # -- games

    def next(self) -> Pairing | None:
        while self._ready:
            number = heappop(self._ready)
            encounter = self.draws.find(number)
            pairing = encounter.waiting.get(number)
            if pairing is None or encounter.is_decided:
                continue
            if self.occupy(pairing.names):
                encounter.begin(number)
                self._consider(encounter)
                return pairing
        return None

    def result(self, game: PastGame) -> None:
        self.draws.find(game.number).add(game)

    def void(self, number: int, taken_back: PastGame | None = None) -> bool:
        encounter = self.draws.find(number)
        if taken_back is None:
            encounter.break_off(number)
        elif not self.may_repeat(number):  # what follows from it has been drawn
            return False
        else:
            encounter.take_back(taken_back)
        return True

    def may_repeat(self, number: int) -> bool:
        encounter = self.draws.find(number)
        return encounter in self.draws.last and not encounter.lost_by

    def again(self, pairing: Pairing, void: int) -> None:
        self._consider(self.draws.repeat(pairing, void))

    # -- rounds

    def draw_due(self, absent: Collection[str]) -> Draw | None:
        return None if self.draws.is_open or self.is_last(absent) else self.next_draw(absent)

    def drawn(self, drawn: Drawn) -> None:
        self.draws.add(drawn)
        for encounter in self.draws.last:
            self._consider(encounter)

    def walkover_due(self, absent: Collection[str]) -> Walkover | None:
        left, absent_names = [each for each in self.draws.last if not each.is_over], frozenset(absent)
        if any(absent_names.isdisjoint(each.names) for each in left):
            return None
        lost = dict.fromkeys(name for each in left for name in each.names if name in absent)
        return Walkover(self.draws.count, tuple(lost)) if lost else None

    def walk_over(self, walkover: Walkover) -> None:
        self.draws.walk_over(walkover)

    # -- an interrupted contest

    def started(self, pairing: Pairing) -> None:
        self.draws.begin(pairing)

    # -- what is left

    def has_games(self, name: str) -> bool:
        """Whether a pairing of it is not over; a subclass adds what may be drawn yet."""
        return not all(each.is_over for each in self.draws.current.get(name, ()))

    def exhausted(self, absent: Collection[str]) -> bool:
        # A round in which nothing can be played is not the end: walkovers end it.
        return not self.draws.is_open and self.is_last(absent)

    def unplayed(self) -> Iterator[tuple[tuple[str, ...], int]]:
        for encounter in self.draws.encounters:
            if encounter.is_void or (encounter.waiting and not encounter.is_decided):
                yield encounter.names, len(encounter.waiting)
        if games := self.most_to_come():
            yield (), games  # of pairings that are not known yet


def is_short(form: Format) -> bool:
    """Whether a round that was planned could not be drawn, so that no other follows."""
    return isinstance(form, Rounds) and form.draws.is_short
