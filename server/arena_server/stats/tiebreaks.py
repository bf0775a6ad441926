"""Tie-breaks: what separates players with the same score, in the order in which the contest names them.

    points             points of all games
    wins               games in which a player alone had the most points
    match-points       2 for each opponent against whom it has more than half of the score, 1 for half
    head-to-head       the score against those with the same score, if all of these have met equally often
    direct-match       match-points against those with the same score, if all of these have met
    pairs-won          deals both of whose games were won, where a deal is played from both seats
    won-plies          minus the mean number of plies of the games won; -1,000,000 without one
    sonneborn-berger   for each game the score of the opponent's whole contest, times the own in the game
    buchholz           for each game the score of the opponent's whole contest
    buchholz-cut-1     the same without all games against the lowest opponent
    median-buchholz    the same without all games against the highest and the lowest opponent
    fewest-faults      minus the number of faults
    time-used          minus the seconds that the clocks of all games have charged
    lot                drawn from the contest's secret: it separates all

The score of a game is 1 against each player that has fewer points in it, 1/2 against one with as many, and
0 otherwise, or what the contest's `Scoring` says; with two seats these are a win, a draw and a loss. Where
the table ranks by a mean the values are means, too: a game, and match-points an opponent. A game that was not
played in a round of a Swiss (`Unplayed`) is one against a virtual opponent with the player's own score or
less, for sonneborn-berger and the Buchholz values. Names and values are those of the FIDE handbook, C.07;
docs/configuration.md has the differences. Values are exact (`Fraction`). Packages add others
(`arena.tie_breaks`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from hashlib import sha256
from types import MappingProxyType
from typing import Final

from arena_protocol.plugins import PluginError, Plugins
from arena_server.stats.scoring import BY_WINS, Scoring


@dataclass(slots=True)
class HeadToHead:
    """The games of a player against another: their number, its score in them in halves, those drawn."""

    games: int = 0
    halves: int = 0
    draws: int = 0

    @property
    def score(self) -> Fraction:
        return Fraction(self.halves, 2)

    def worth(self, scoring: Scoring) -> Fraction:
        """Its score in them by these values."""
        if not scoring.has_values:
            return self.score
        return scoring.of(self.games, (self.halves - self.draws) // 2, self.draws)


@dataclass(slots=True)
class PlayerSums:
    """The sums of a player: its own, faults by kind, and those `against` each opponent; `met` is of all.

    `draws` are the games in which others had the most points, too. `won_plies` are those of the games won,
    `pairs` the deals both of whose games were won. A game that was not played, as a walkover,
    has no clock and adds nothing to `used_ms`.
    """

    points: int = 0
    games: int = 0
    wins: int = 0
    used_ms: int = 0
    won_plies: int = 0
    pairs: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    against: dict[str, HeadToHead] = field(default_factory=dict)
    met: HeadToHead = field(default_factory=HeadToHead)
    draws: int = 0

    @property
    def score(self) -> Fraction:
        return self.met.score

    def meet(self, other: str, own: int, others: int, games: int = 1) -> None:
        """Count `games` against `other`; in each of them `own` points are to `others` as here."""
        pair = self.against.get(other)
        if pair is None:
            pair = self.against[other] = HeadToHead()
        halves = 2 * games if own > others else games if own == others else 0
        # The table is asked for at every news of the page; a sum over all pairs grows with their square.
        for each in (pair, self.met):
            each.games += games
            each.halves += halves
            each.draws += games if own == others else 0
        if not pair.games:  # taken back
            del self.against[other]


@dataclass(frozen=True, slots=True)
class Unplayed:
    """Games of a round that a player did not play, and what it scored for each of them.

    `absent` is who lost them by walkover, if the player won them. `limit` is the most that the virtual
    opponent has otherwise. `voluntary`: the player was not there. `departed`: it was not drawn, then or
    later.
    """

    games: int
    score: Fraction | int
    absent: str = ""
    limit: Fraction | None = None
    voluntary: bool = False
    departed: bool = False


@dataclass(frozen=True, slots=True)
class Field:
    """All players of a contest by name, its secret, and those with the same score (`tied`).

    `scores` are those of the whole contest; with `by_mean` they are means, and so are the values. `scoring`
    says what a game is worth.
    """

    entrants: Mapping[str, PlayerSums]
    scores: Mapping[str, Fraction]
    secret: int
    tied: Sequence[str]
    by_mean: bool = False
    unplayed: Mapping[str, Sequence[Unplayed]] = field(default_factory=dict)
    scoring: Scoring = BY_WINS

    def seen(self, name: str) -> Fraction:
        """The score that a player has as an opponent: the rounds after it has left are draws."""
        gone = sum(each.departed for each in self.unplayed.get(name, ()))
        return self.scores[name] + gone * self.scoring.draw

    def scaled(self, value: Fraction | int, count: int) -> Fraction:
        """A sum over `count` games, or over as many opponents, on the scale of the score."""
        return Fraction(value) / max(1, count) if self.by_mean else Fraction(value)


def _a_game(value: Callable[[PlayerSums], Fraction | int]) -> Callable[[str, Field], Fraction]:
    """The rule that takes a sum over the games of a player."""

    def rule(name: str, field: Field) -> Fraction:
        sums = field.entrants[name]
        return field.scaled(value(sums), sums.games)

    return rule


def _match_points(name: str, field: Field) -> Fraction:
    pairs = field.entrants[name].against.values()
    points = sum(2 if 2 * each.score > each.games else 2 * each.score == each.games for each in pairs)
    return field.scaled(points, len(pairs))


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
    met_all = (against[other] for other in field.tied if other != name)
    return sum((each.worth(field.scoring) for each in met_all), Fraction(0))


def _direct_match(name: str, field: Field) -> Fraction:
    """What `match-points` counts, against the tied alone; 0 unless all of them have met."""
    against = field.entrants[name].against
    if any(
        other not in field.entrants[one].against for one in field.tied for other in field.tied if one != other
    ):
        return Fraction(0)
    pairs = (against[other] for other in field.tied if other != name)
    return Fraction(sum(2 if 2 * each.score > each.games else 2 * each.score == each.games for each in pairs))


#: The value of `won-plies` without a game won: more than any game has.
NO_WIN: Final = Fraction(-1_000_000)


def _won_plies(name: str, field: Field) -> Fraction:
    sums = field.entrants[name]
    return -Fraction(sums.won_plies, sums.wins) if sums.wins else NO_WIN


@dataclass(frozen=True, slots=True, order=True)
class _Opponent:
    """The score of an opponent's whole contest, the number of games against it, and the score in them."""

    strength: Fraction
    games: int
    score: Fraction
    voluntary: bool = False


def _opponents(name: str, field: Field) -> list[_Opponent]:
    """The opponents in the order of a cut, the first one first; each unplayed round has a virtual one.

    The rounds in which the player was not there come before all others, which ascend by their scores.
    """
    pairs = field.entrants[name].against.items()
    real = [_Opponent(field.seen(other), pair.games, pair.worth(field.scoring)) for other, pair in pairs]
    own = field.scores[name]
    virtual = [
        _Opponent(_virtual(own, each, field), each.games, Fraction(each.games * each.score), each.voluntary)
        for each in field.unplayed.get(name, ())
    ]
    return sorted(real + virtual, key=lambda each: (not each.voluntary, each))


def _virtual(own: Fraction, unplayed: Unplayed, field: Field) -> Fraction:
    """The score of a virtual opponent."""
    limit = field.seen(unplayed.absent) if unplayed.absent else unplayed.limit
    return own if limit is None else min(own, limit)


def _sonneborn_berger(name: str, field: Field) -> Fraction:
    opponents = _opponents(name, field)
    value = sum((each.score * each.strength for each in opponents), Fraction(0))
    return field.scaled(value, sum(each.games for each in opponents))


def _strength(opponents: Sequence[_Opponent], field: Field) -> Fraction:
    value = sum((each.games * each.strength for each in opponents), Fraction(0))
    return field.scaled(value, sum(each.games for each in opponents))


def _buchholz(name: str, field: Field) -> Fraction:
    return _strength(_opponents(name, field), field)


def _buchholz_cut_1(name: str, field: Field) -> Fraction:
    return _strength(_opponents(name, field)[1:], field)


def _median_buchholz(name: str, field: Field) -> Fraction:
    return _strength(sorted(_opponents(name, field)[1:])[:-1], field)


def _lot(name: str, field: Field) -> Fraction:
    digest = sha256(f"lot:{field.secret}:{name}".encode("ascii")).digest()
    # Few enough bits to be read in a table; two players draw the same once in 4 billion times.
    return Fraction(int.from_bytes(digest[:4]))


#: The value of a player; the greater one is better. It depends on its arguments alone, and raises nothing.
TieBreak = Callable[[str, Field], Fraction]

_BUILT_IN: Final[Mapping[str, TieBreak]] = {
    "points": _a_game(lambda sums: sums.points),
    "wins": _a_game(lambda sums: sums.wins),
    "match-points": _match_points,
    "head-to-head": _head_to_head,
    "direct-match": _direct_match,
    "pairs-won": _a_game(lambda sums: sums.pairs),
    "won-plies": _won_plies,
    "sonneborn-berger": _sonneborn_berger,
    "buchholz": _buchholz,
    "buchholz-cut-1": _buchholz_cut_1,
    "median-buchholz": _median_buchholz,
    "fewest-faults": _a_game(lambda sums: -sums.faults.total()),
    "time-used": _a_game(lambda sums: Fraction(-sums.used_ms, 1000)),
    "lot": _lot,
}


def _usable(name: str, found: object) -> TieBreak:
    """A tie-break of a package is a function whose values are numbers. Raises TypeError for anything else."""
    if name in _BUILT_IN:
        return _BUILT_IN[name]
    if not callable(found):
        raise TypeError(f"{found!r:.80} is no function")
    return lambda name, field: Fraction(found(name, field))


#: Each tie-break by its name in the configuration: those of above, and what installed packages add.
TIE_BREAKS: Final[Plugins[TieBreak]] = Plugins("arena.tie_breaks", _BUILT_IN, _usable)


def check(names: Iterable[str]) -> tuple[str, ...]:
    """The tie-breaks of a configuration. Raises PluginError for an unknown, ValueError for a repeated one."""
    chosen = tuple(names)
    for place, name in enumerate(chosen):
        if name not in TIE_BREAKS:
            raise PluginError(f"a tie-break is one of {', '.join(TIE_BREAKS)}, not {name!r:.40}")
        TIE_BREAKS[name]  # raises PluginError, a ValueError, for one that cannot be loaded
        if name in chosen[:place]:
            raise ValueError(f"the tie-break {name} is there twice")
    return chosen


def values(
    tie_breaks: Sequence[str],
    entrants: Mapping[str, PlayerSums],
    scores: Mapping[str, Fraction],
    secret: int,
    whole: Mapping[str, Fraction] | None = None,
    *,
    by_mean: bool = False,
    unplayed: Mapping[str, Sequence[Unplayed]] = MappingProxyType({}),
    scoring: Scoring = BY_WINS,
) -> dict[str, tuple[Fraction, ...]]:
    """The values of each player, in the order of `tie_breaks`; `scores` are what the table ranks by.

    `whole` is the score of the whole contest where it is not that of the games: byes and walkovers count.
    `by_mean`: `scores` are means, and so are the values.

    Head-to-head looks at those that the tie-breaks before it leave together.
    """
    if whole is None:
        whole = {name: _own_score(entrant, scoring, by_mean=by_mean) for name, entrant in entrants.items()}
    found: dict[str, tuple[Fraction, ...]] = dict.fromkeys(entrants, ())
    for tie_break in tie_breaks:
        rule = TIE_BREAKS[tie_break]
        groups: dict[tuple[Fraction, ...], list[str]] = {}
        for name in entrants:
            groups.setdefault((scores[name], *found[name]), []).append(name)
        for tied in groups.values():
            field = Field(entrants, whole, secret, tied, by_mean, unplayed, scoring)
            for name in tied:
                found[name] = (*found[name], rule(name, field))
    return found


def _own_score(sums: PlayerSums, scoring: Scoring, *, by_mean: bool) -> Fraction:
    return sums.met.worth(scoring) / (max(1, sums.met.games) if by_mean else 1)
