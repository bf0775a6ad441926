"""Double elimination: who has lost a pairing goes on in a second bracket, and is out after the second one.

A bracket of 2^k places has k rounds for those who have lost none, and 2k - 2 for those who have lost one:

    draw   without a defeat   with one
    1      8 places
    2      4 winners          4 losers of draw 1
    3      2 winners          2 winners of them, each with a loser of the second round
    4                         2 winners
    5                         the winner, with the loser of the third round
    6      the final of the two that are left; the one without a defeat has to be beaten twice (`reset`)

The rounds of both are drawn together. The losers come in from the other end in every other round, so that two
that have met meet again late. A pairing is won, and a tie decided, as in a knockout.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from fractions import Fraction
from typing import ClassVar

from arena_server.core.facts import Drawn
from arena_server.core.formats.base import Draw
from arena_server.core.formats.encounters import Encounter, Entry
from arena_server.core.formats.knockout import Knockout, bracket, title_of_level
from arena_server.core.formats.rounds import KnownDraw, Rounds
from arena_server.core.formats.rounds_json import TO_COME, DrawnMatch, Round
from arena_server.terms.formats import FlagOption, Terms

_SHARED = ("seeding", "extra_pairs", "tie", "play_all", "same_owner")


class DoubleElimination(Knockout):
    NAME = "double-elimination"
    MEANING = "who has lost two pairings is out: [the brackets](knockout.md#double-elimination)"
    RANKED_BY = "rounds survived until the second defeat"
    OPTIONS: ClassVar = {
        **{key: Knockout.OPTIONS[key] for key in _SHARED},
        "reset": FlagOption(True, "who comes into the final without a defeat is out only after two in it"),
    }

    def __init__(self, terms: Terms, *, largest: int = 2) -> None:
        super().__init__(terms, largest=largest)
        self._depth = (len(terms.names) - 1).bit_length()
        self._resets = bool(terms.options.get("reset", True))

    # -- the places of a draw (1, 2, ...)

    def _first(self, draw: int) -> Sequence[Entry]:
        """Those without a defeat."""
        return self.draws.rounds[draw - 1][: 2**self._depth >> draw]

    def _second(self, draw: int) -> Sequence[Entry]:
        """Those with one."""
        return self.draws.rounds[draw - 1][2**self._depth >> draw :]

    def _finished(self) -> bool:
        """Whether the final is decided, and with it who has won."""
        drawn, final = len(self.draws.rounds), 2 * self._depth
        if drawn < final or self.draws.is_open or self._tied():
            return False
        match = self.draws.rounds[final - 1][0]
        beaten = isinstance(match, Encounter) and self._going_on(match) == match.names[1]
        return drawn > final or not (self._resets and beaten)

    # -- rounds

    def is_last(self, absent: Collection[str]) -> bool:
        return self._finished()

    def next_draw(self, absent: Collection[str]) -> Draw:
        if self._tied():
            return super().next_draw(absent)
        places = self._places(len(self.draws.rounds) + 1)
        groups = tuple(
            tuple(name for name in pair if name is not None)
            for pair in zip(places[::2], places[1::2], strict=True)
        )
        return KnownDraw(Drawn(self.draws.count + 1, self.draws.next_number, self.terms.games, groups))

    def _places(self, draw: int) -> list[str | None]:
        """Who is drawn, two for each match; an empty match tells a round from games of the last one."""
        if draw == 1:
            return bracket(self.seeds(), self.labels())
        if draw > 2 * self._depth:
            match = self.draws.rounds[-1][0]
            assert isinstance(match, Encounter)
            return [*match.names, None, None]
        if draw == 2 * self._depth:
            return [*map(self._going_on, self._first(self._depth)), self._challenger(), None, None]
        places = [self._going_on(each) for each in self._first(draw - 1)] if draw <= self._depth else []
        if draw == 2:
            return places + [self._out(each) for each in self._first(1)]
        winners = [self._going_on(each) for each in self._second(draw - 1)]
        if draw % 2 == 0:
            return places + winners
        losers = [self._out(each) for each in self._first(draw // 2 + 1)]
        others = losers[::-1] if draw % 4 == 3 else losers
        return places + [name for pair in zip(winners, others, strict=True) for name in pair]

    def _challenger(self) -> str | None:
        """Who comes into the final with a defeat."""
        if self._depth == 1:
            return self._out(self._first(1)[0])
        return self._going_on(self._second(2 * self._depth - 1)[0])

    # -- what is to come

    def most_to_come(self) -> int:
        if self._finished():
            return 0
        drawn = sum(isinstance(each, Encounter) for made in self.draws.rounds for each in made)
        matches = 2 * (len(self.terms.names) - 1) + self._resets - drawn
        return matches * self.terms.games + self._further_to_come()

    def has_games(self, name: str) -> bool:
        return Rounds.has_games(self, name) or (not self._finished() and name not in self._out_at())

    def _out_at(self) -> dict[str, int]:
        """For each that has lost twice in which round: who has no opponent for good has lost both at once."""
        defeats: dict[str, int] = {}
        out: dict[str, int] = {}
        for number, made in enumerate(self.draws.rounds, start=1):
            for each in made:
                if not isinstance(each, Encounter) or not each.is_over:
                    continue
                if number == len(self.draws.rounds) and self._plays_on(each):
                    continue
                winner = self._going_on(each)
                for name in each.names:
                    defeats[name] = defeats.get(name, 0) + (2 if winner is None else name != winner)
                    if defeats[name] > 1:
                        out.setdefault(name, number)
        return out

    # -- for readers

    def rounds(self) -> list[Round]:
        if not self.draws.rounds:
            return []
        count, depth = len(self.draws.rounds), self._depth
        found = []
        for draw in range(1, depth + 1):
            size = 2**depth >> draw
            matches = tuple(map(self._match, self._first(draw))) if draw <= count else _to_come(size)
            found.append(Round(f"winners' {title_of_level(size)}", "level", matches))
        for draw in range(2, min(count, 2 * depth - 1) + 1):
            matches = tuple(map(self._match, self._second(draw)))
            found.append(Round(f"losers' round {draw - 1}", "round", matches))
        for draw, title in ((2 * depth, "grand final"), (2 * depth + 1, "deciding match")):
            if draw <= count:
                found.append(Round(title, "level", (self._match(self.draws.rounds[draw - 1][0]),)))
        return found

    def scores(self) -> dict[str, Fraction]:
        """The rounds that each bot has survived."""
        out, count = self._out_at(), len(self.draws.rounds)
        scores = {name: Fraction(out.get(name, count) - (name in out)) for name in self.terms.names}
        if self._finished():
            winner = self._going_on(self.draws.rounds[-1][0])
            for name in scores.keys() - out - {winner}:
                scores[name] = Fraction(count - 1)
        elif self.draws.is_open or self._tied():
            for name in scores.keys() - out:
                scores[name] = Fraction(count - 1)
        return scores


def _to_come(matches: int) -> tuple[DrawnMatch, ...]:
    return (DrawnMatch((None, None), TO_COME),) * matches
