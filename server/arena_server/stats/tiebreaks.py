"""Tie-breaks: what separates players with the same score, in the order in which the contest names them.

    points             points of all games
    wins               games in which a player alone had the most points
    match-points       2 for each opponent against whom it has more than half of the score, 1 for half
    head-to-head       the score against those with the same score, if all of these have met equally often
    sonneborn-berger   for each game the score of the opponent's whole contest, times the own in the game
    buchholz           for each game the score of the opponent's whole contest
    median-buchholz    the same without the highest and the lowest opponent
    fewest-faults      minus the number of faults
    time-used          minus the seconds that the clocks of all games have charged
    lot                drawn from the contest's secret: it separates all

The score of a game is 1 against each player that has fewer points in it, 1/2 against one with as many, and
0 otherwise; with two seats these are a win, a draw and a loss. Names and values are those of the FIDE
handbook, C.07. Values are exact (`Fraction`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from hashlib import sha256
from typing import Final


@dataclass(slots=True)
class Meetings:
    """The games of a player against another: their number, and its score in them in halves."""

    games: int = 0
    halves: int = 0

    @property
    def score(self) -> Fraction:
        return Fraction(self.halves, 2)


@dataclass(slots=True)
class PlayerSums:
    """The sums of a player: its own, faults by kind, and those `against` each opponent; `halves` is of all.

    A game that was not played, as a walkover, has no clock and adds nothing to `used_ms`.
    """

    points: int = 0
    games: int = 0
    wins: int = 0
    used_ms: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    against: dict[str, Meetings] = field(default_factory=dict)
    halves: int = 0

    @property
    def score(self) -> Fraction:
        return Fraction(self.halves, 2)

    def meet(self, other: str, own: int, others: int, games: int = 1) -> None:
        """Count `games` against `other`; in each of them `own` points are to `others` as here."""
        pair = self.against.get(other)
        if pair is None:
            pair = self.against[other] = Meetings()
        pair.games += games
        if not pair.games:  # taken back
            del self.against[other]
        halves = 2 * games if own > others else games if own == others else 0
        pair.halves += halves
        # The table is asked for at every news of the page; a sum over all pairs grows with their square.
        self.halves += halves

    def merge(self, more: PlayerSums) -> None:
        """Add the sums of other games."""
        self.points += more.points
        self.games += more.games
        self.wins += more.wins
        self.used_ms += more.used_ms
        self.halves += more.halves
        self.faults.update(more.faults)
        for name, met in more.against.items():
            pair = self.against.setdefault(name, Meetings())
            pair.games += met.games
            pair.halves += met.halves


@dataclass(frozen=True, slots=True)
class Field:
    """All players of a contest by name, its secret, and those with the same score (`tied`)."""

    entrants: Mapping[str, PlayerSums]
    scores: Mapping[str, Fraction]
    secret: int
    tied: Sequence[str]


def _match_points(name: str, field: Field) -> Fraction:
    pairs = field.entrants[name].against.values()
    return Fraction(sum(2 if 2 * each.score > each.games else 2 * each.score == each.games for each in pairs))


def _head_to_head(name: str, field: Field) -> Fraction:
    met = {
        field.entrants[one].against[other].games if other in field.entrants[one].against else 0
        for one in field.tied
        for other in field.tied
        if one != other
    }
    if len(met) > 1 or met == {0}:
        return Fraction(0)  # who has met more of the others would be ahead by that
    against = field.entrants[name].against
    return sum((against[other].score for other in field.tied if other != name), Fraction(0))


def _sonneborn_berger(name: str, field: Field) -> Fraction:
    against = field.entrants[name].against
    return sum((pair.score * field.scores[other] for other, pair in against.items()), Fraction(0))


def _opponents(name: str, field: Field) -> list[Fraction]:
    """The score of each opponent, once for each game, in ascending order."""
    against = field.entrants[name].against
    return sorted(field.scores[other] for other, pair in against.items() for _ in range(pair.games))


def _buchholz(name: str, field: Field) -> Fraction:
    return sum(_opponents(name, field), Fraction(0))


def _median_buchholz(name: str, field: Field) -> Fraction:
    return sum(_opponents(name, field)[1:-1], Fraction(0))


def _lot(name: str, field: Field) -> Fraction:
    digest = sha256(f"lot:{field.secret}:{name}".encode("ascii")).digest()
    # Few enough bits to be read in a table; two players draw the same once in 4 billion times.
    return Fraction(int.from_bytes(digest[:4]))


#: Each tie-break by its name in the configuration: the greater value is the better one.
TIE_BREAKS: Final[Mapping[str, Callable[[str, Field], Fraction]]] = {
    "points": lambda name, field: Fraction(field.entrants[name].points),
    "wins": lambda name, field: Fraction(field.entrants[name].wins),
    "match-points": _match_points,
    "head-to-head": _head_to_head,
    "sonneborn-berger": _sonneborn_berger,
    "buchholz": _buchholz,
    "median-buchholz": _median_buchholz,
    "fewest-faults": lambda name, field: Fraction(-field.entrants[name].faults.total()),
    "time-used": lambda name, field: Fraction(-field.entrants[name].used_ms, 1000),
    "lot": _lot,
}


def check(names: Iterable[str]) -> tuple[str, ...]:
    """The tie-breaks of a configuration. Raises ValueError for an unknown or a repeated one."""
    chosen = tuple(names)
    for place, name in enumerate(chosen):
        if name not in TIE_BREAKS:
            raise ValueError(f"a tie-break is one of {', '.join(TIE_BREAKS)}, not {name!r:.40}")
        if name in chosen[:place]:
            raise ValueError(f"the tie-break {name} is there twice")
    return chosen


def values(
    tie_breaks: Sequence[str],
    entrants: Mapping[str, PlayerSums],
    scores: Mapping[str, Fraction],
    secret: int,
    whole: Mapping[str, Fraction] | None = None,
) -> dict[str, tuple[Fraction, ...]]:
    """The values of each player, in the order of `tie_breaks`; `scores` are what the table ranks by.

    `whole` is the score of the whole contest where it is not that of the games: byes and walkovers count.

    Head-to-head looks at those that the tie-breaks before it leave together.
    """
    if whole is None:
        whole = {name: entrant.score for name, entrant in entrants.items()}
    found: dict[str, tuple[Fraction, ...]] = dict.fromkeys(entrants, ())
    for tie_break in tie_breaks:
        rule = TIE_BREAKS[tie_break]
        groups: dict[tuple[Fraction, ...], list[str]] = {}
        for name in entrants:
            groups.setdefault((scores[name], *found[name]), []).append(name)
        for tied in groups.values():
            field = Field(entrants, whole, secret, tied)
            for name in tied:
                found[name] = (*found[name], rule(name, field))
    return found
