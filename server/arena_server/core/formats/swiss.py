"""Swiss: a few rounds, in each of which bots of equal scores meet; no pair meets twice (docs/swiss.md)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain, combinations
from typing import ClassVar, Final, cast

from arena_server.core.facts import Drawn, Forbidden, Paired
from arena_server.core.formats.acceleration import Baku
from arena_server.core.formats.base import Draw
from arena_server.core.formats.by_hand import Groups, PairingRules, after_change, check_names
from arena_server.core.formats.encounters import Encounter, Entry, match_points
from arena_server.core.formats.length import ROUNDS, Length
from arena_server.core.formats.rounds import SEEDING, Rounds
from arena_server.core.formats.rounds_json import BYE, DrawnMatch, Round
from arena_server.core.formats.swiss_ahead import can_be_drawn, most
from arena_server.core.formats.swiss_pairing import FIRST, SECOND, Candidate, allowed, pair, takes_long
from arena_server.stats.tiebreaks import Unplayed
from arena_server.terms.formats import (
    FormatError,
    GroupsOption,
    Option,
    Terms,
    WordOption,
)

#: Of a larger field the bounded search for all rounds tells nothing if it finds none.
MOST_DOUBTED: Final = 24


@dataclass(frozen=True, slots=True)
class SwissDraw(Draw):
    """The first of `rounds` rounds: `players` stand in the order of their scores.

    A round that cannot be made has no groups.
    """

    draw: int
    first: int
    games: int
    players: tuple[Candidate, ...]
    owners_meet: bool
    salt: int
    rounds: int = 1

    @property
    def slow(self) -> bool:
        return takes_long(self.players, self.rounds)

    def run(self) -> Drawn:
        groups = pair(self.players, owners_meet=self.owners_meet, salt=self.salt, rounds=self.rounds)
        return Drawn(self.draw, self.first, self.games, groups or ())


class Swiss(Rounds):
    NAME = "swiss"
    MEANING = "in each round bots of equal scores meet, no pair twice: [the rules](swiss.md)"
    EXTRA = ("swiss", "rustworkx")
    RANKED_BY = "points of the rounds: 1 for a pairing won or a bye, 1/2 for a tied one"
    OPTIONS: ClassVar = {
        "rounds": Option(0, 0, 100, "how many rounds; 0: as many as halve the field to one bot"),
        "seeding": SEEDING,
        "same_owner": WordOption(
            "late", ("late", "never"), "bots of one `owner` meet as `late` as possible, or `never`"
        ),
        "forbidden_pairs": GroupsOption("lists of bots of which [no two meet](swiss.md#forbidden-pairs)"),
        "acceleration": WordOption(
            "none", ("none", "baku"), "`baku`: the better half [meets first](swiss.md#accelerated-rounds)"
        ),
    }

    @classmethod
    def check(cls, terms: Terms) -> None:
        super().check(terms)
        bots, rounds = len(terms.names), cls.option(terms, "rounds")
        most = most_rounds(bots)
        if rounds > most:
            raise FormatError(
                f"contest.rounds: expected at most {most}, as no two of {bots} bots meet twice, got {rounds}"
            )
        for name in sorted({*chain(*_forbidden_groups(terms))} - {*terms.names}):
            raise FormatError(f"contest.forbidden_pairs: no bot of this contest is called {name!r:.40}")

    @classmethod
    def doubt(cls, terms: Terms) -> str:
        rounds, forbidden = _rounds(terms), forbidden_pairs(_forbidden_groups(terms))
        owners_meet = cls.choice(terms, "same_owner") != "never"
        if owners_meet and not forbidden:
            return ""  # all may meet, in as many rounds as are accepted
        field = [
            Candidate(name, met=opponents(name, forbidden), owner=terms.owners.get(name, ""))
            for name in terms.names
        ]
        graph = allowed(field, owners_meet=owners_meet)
        if len(graph) > MOST_DOUBTED or can_be_drawn(graph, rounds):
            return ""
        why = [
            *(["no two bots of one owner meet"] if not owners_meet else ()),
            *(["pairs are forbidden"] if forbidden else ()),
        ]
        return (
            f"contest.rounds: {rounds} rounds cannot be promised where {' and '.join(why)}; "
            "a contest in which no round can be drawn any more ends as short, with status 1"
        )

    def __init__(self, terms: Terms) -> None:
        super().__init__(terms)
        #: How many rounds there are, if as many can be drawn; late entrants do not change it.
        self.planned_rounds = _rounds(terms)
        #: The pairs that do not meet.
        self.forbidden = forbidden_pairs(_forbidden_groups(terms))
        #: The reasons of rounds that were paired by hand, by their numbers.
        self._by_hand: dict[int, str] = {}
        is_baku = self.choice(terms, "acceleration") == "baku"
        self._baku = Baku(terms.seeds, self.planned_rounds, terms.worth) if is_baku else None
        self._penalties: dict[str, Fraction] = {}
        #: How many rounds can be drawn in all, of how many that were drawn and how many bots.
        self._most: tuple[tuple[int, int], int] | None = None

    # -- who takes part

    def join(self, name: str, owner: str = "") -> None:
        if len(self.draws.rounds) >= self.planned_rounds:
            raise FormatError("contest.format: the last round has been drawn")
        owners = {**self.terms.owners, name: owner} if owner else self.terms.owners
        self.terms = replace(self.terms, names=(*self.terms.names, name), owners=owners)
        self.draws.names.add(name)

    @property
    def length(self) -> Length:
        drawn = max(1, len(self.draws.rounds))
        return Length(self.planned_rounds, drawn, self._most_rounds(), ROUNDS, why="no two bots meet twice")

    def _most_rounds(self) -> int:
        """How many rounds can be drawn in all, as far as is known, if no bot is absent."""
        bots, drawn = len(self.terms.names), len(self.draws.rounds)
        bound = most_rounds(bots)
        if bots > MOST_DOUBTED:
            return bound
        if self._most is None or self._most[0] != (drawn, bots):
            graph = allowed(self.candidates(()), self._owners_meet)
            more = bound - drawn if any(graph) else 0
            # `most` counts a round that may not be found as one.
            self._most = (
                (drawn, bots),
                drawn + (most(graph, more) if can_be_drawn(graph, min(1, more)) else 0),
            )
        return self._most[1]

    @property
    def _owners_meet(self) -> bool:
        return self.choice(self.terms, "same_owner") != "never"

    # -- by hand

    def _rules(self, *, last: bool = True) -> PairingRules:
        """What the next round depends on, or without the `last` one the one that replaces it."""
        rounds = self.draws.rounds if last else self.draws.rounds[:-1]
        made = [each for round_ in rounds for each in round_]
        return PairingRules(
            {frozenset(each.names) for each in made if isinstance(each, Encounter)},
            {each for each in made if isinstance(each, str)},
            self.forbidden,
            self.terms.owners,
            self._owners_meet,
        )

    def check_by_hand(self, groups: Groups, here: Collection[str], left: Collection[str]) -> tuple[bool, str]:
        """Whether a round of these replaces the last one; and what of it is a repeat, empty for none.

        `here` are the bots that can play, those of `left` take no part. Raises FormatError for a round that
        cannot be.
        """
        replaces = self.draws.is_open
        if replaces and self.draws.has_begun:
            made = len(self.draws.rounds)
            raise FormatError(f"games of round {made} have begun: it can be paired by hand before that")
        if not replaces and len(self.draws.rounds) >= self.planned_rounds:
            raise FormatError(f"all {self.planned_rounds} rounds have been drawn")
        check_names(groups, {*self.terms.names} - {*left}, here)
        rules = self._rules(last=not replaces)
        if problem := rules.flaw(groups, repeats=True):
            raise FormatError(problem)
        return replaces, rules.flaw(groups, repeats=False)

    def pair(self, paired: Paired) -> None:
        if paired.replaces:
            self.draws.take_back_round()
            self._ready.clear()
        self.draws.add(paired.drawn, is_round=True)
        self._by_hand[len(self.draws.rounds)] = paired.reason
        self._most = None
        for encounter in self.draws.last:
            self._consider(encounter)

    def forbid(self, fact: Forbidden) -> None:
        self.forbidden = after_change(self.forbidden, frozenset(fact.names), forbidden=fact.forbidden)
        self._most = None

    def flaw(self, fact: Drawn | Paired) -> str:
        replaces, repeats = (fact.replaces, fact.repeats) if isinstance(fact, Paired) else (False, False)
        return self._rules(last=not replaces).flaw(fact.groups, repeats=repeats)

    def resize(self, to: int, first: int | None = None) -> None:
        self.planned_rounds = to

    def extend(self, by: int) -> None:
        # The bound of `length` may have been another when the order was given.
        self.resize(replace(self.length, most=most_rounds(len(self.terms.names))).longer(by))

    # -- rounds

    def penalise(self, name: str, points: Fraction) -> None:
        self._penalties[name] = points

    def is_last(self, absent: Collection[str]) -> bool:
        made = self.draws.rounds
        present = sum(name not in absent for name in self.terms.names)
        return len(made) >= self.planned_rounds or self.draws.is_short or present < self.terms.seats

    def next_draw(self, absent: Collection[str]) -> Draw:
        draw = self.draws.count + 1
        return SwissDraw(
            draw,
            self.draws.next_number,
            self.terms.games,
            tuple(self.candidates(absent)),
            self._owners_meet,
            self.terms.lot(f"round:{draw}"),
            self.planned_rounds - len(self.draws.rounds),
        )

    def candidates(self, absent: Collection[str]) -> list[Candidate]:
        """Those who are not absent, in the order of scores and seeds."""
        scores = self.scores()
        for name, points in self.virtual_points(len(self.draws.rounds) + 1).items():
            scores[name] += points
        met = {name: [*opponents(name, self.forbidden)] for name in self.terms.names}
        seats: dict[str, list[int]] = {name: [] for name in self.terms.names}
        byes = {each for made in self.draws.rounds for each in made if isinstance(each, str)}
        walkovers = {each.winner for each in self.draws.encounters if each.lost_by}
        for encounter in self.draws.encounters:
            one, other = encounter.names
            met[one].append(other)
            met[other].append(one)
            seats[one].append(FIRST)
            seats[other].append(SECOND)
        seeds = [name for name in self.terms.seeds if name not in absent]
        return [
            Candidate(
                name,
                int(2 * scores[name]),
                frozenset(met[name]),
                tuple(seats[name]),
                name in byes,
                self.terms.owners.get(name, ""),
                name in walkovers,
            )
            for name in sorted(seeds, key=lambda name: -scores[name])
        ]

    def virtual_points(self, number: int) -> dict[str, Fraction]:
        """What each bot that is accelerated has more in the pairing of round `number` (1, 2, ...)."""
        if self._baku is None or not (points := self._baku.points(number)):
            return {}
        return dict.fromkeys(self._baku.upper(self.terms.seeds), points)

    # -- what is to come

    def most_to_come(self) -> int:
        made = sum(map(bool, self.draws.rounds))  # one that could not be drawn has no places
        return max(0, self.planned_rounds - made) * (len(self.terms.names) // 2) * self.terms.games

    def has_games(self, name: str) -> bool:
        return (self.most_to_come() > 0 and not self.draws.is_short) or super().has_games(name)

    # -- for readers

    @property
    def ranked_by(self) -> str:
        worth = self.terms.worth
        if not worth.has_values:
            return super().ranked_by
        values = " and ".join(f"{float(each):g}" for each in (worth.draw, worth.loss))
        return (
            f"points of the rounds: {float(worth.win):g} for a pairing won, {values} for a tied and a lost "
            f"one, {float(worth.bye):g} for a bye"
        )

    def rounds(self) -> list[Round]:
        return [
            Round(f"round {number}", "round", tuple(map(_match, made)), by_hand=self._by_hand.get(number))
            for number, made in enumerate(self.draws.rounds, start=1)
            if made
        ]

    def scores(self) -> dict[str, Fraction]:
        """What each pairing is worth, which was won by games or walkover, tied or lost, and each bye.

        Penalty points are taken from it.
        """
        worth = self.terms.worth
        scores = match_points(self.terms.names, self.draws.encounters, worth)
        for made in self.draws.rounds:
            for each in made:
                if isinstance(each, str):
                    scores[each] += worth.bye
        for name, points in self._penalties.items():
            scores[name] -= points
        return scores

    def not_played(self) -> dict[str, list[Unplayed]]:
        """For each bot what it had not played of each round: a bye, a walkover, or a round without it."""
        found: dict[str, list[Unplayed]] = {name: [] for name in self.terms.names}
        rounds = [made for made in self.draws.rounds if made]
        worth, games = self.terms.worth, self.terms.games
        drawn_all = len(rounds) * worth.draw
        drawn_later: set[str] = set()
        for made in reversed(rounds):
            drawn = {each for each in made if isinstance(each, str)}
            for name in drawn:
                found[name].append(Unplayed(games, worth.bye, limit=drawn_all))
            for each in (each for each in made if isinstance(each, Encounter)):
                drawn.update(each.names)
                for name in each.names if each.lost_by else ():
                    found[name].append(_walkover(each, name, worth.win, drawn_all))
            drawn_later |= drawn
            for name in found.keys() - drawn:
                departed = name not in drawn_later
                found[name].append(Unplayed(games, 0, limit=drawn_all, voluntary=True, departed=departed))
        return {name: unplayed[::-1] for name, unplayed in found.items()}


def _walkover(encounter: Encounter, name: str, win: Fraction, drawn_all: Fraction) -> Unplayed:
    """What one of its bots has not played of a pairing that was lost by walkover."""
    games = len(encounter.waiting)
    if name == encounter.winner:
        return Unplayed(games, win, absent=encounter.lost_by[0])
    return Unplayed(games, 0, limit=drawn_all, voluntary=name in encounter.lost_by)


def _match(entry: Entry) -> DrawnMatch:
    return entry.match() if isinstance(entry, Encounter) else DrawnMatch((entry, None), BYE, winner=entry)


def _forbidden_groups(terms: Terms) -> Sequence[Sequence[str]]:
    return cast("Sequence[Sequence[str]]", terms.options.get("forbidden_pairs", ()))


def forbidden_pairs(groups: Iterable[Sequence[str]]) -> frozenset[frozenset[str]]:
    """Every two of each group."""
    return frozenset(frozenset(pair) for group in groups for pair in combinations(group, 2))


def opponents(name: str, pairs: Iterable[frozenset[str]]) -> frozenset[str]:
    return frozenset(other for pair in pairs if name in pair for other in pair - {name})


def is_promised(swiss: Swiss, forbidden: frozenset[frozenset[str]]) -> bool:
    """Whether the rounds that are left can be drawn with these forbidden pairs, as far as is known."""
    players = [each._replace(met=each.met | opponents(each.name, forbidden)) for each in swiss.candidates(())]
    if len(players) > MOST_DOUBTED:
        return True
    owners_meet = swiss.choice(swiss.terms, "same_owner") != "never"
    return can_be_drawn(allowed(players, owners_meet), swiss.planned_rounds - len(swiss.draws.rounds))


def _rounds(terms: Terms) -> int:
    return Swiss.option(terms, "rounds") or (len(terms.names) - 1).bit_length()


def most_rounds(bots: int) -> int:
    """How many rounds are possible at most: all have met all."""
    return bots - 1 + bots % 2
