"""What has been drawn: rounds of pairings of two players, and the games of each pairing.

In a round of groups every two players of a group are a pairing; else each player has one.

Game k (0, 1, ...) of pairing i has the number first + k * pairings + i, so all pairings have their first game
before their second. The seats change from game to game. A deal has the number of its first game, so no two
deals of a pair have the same, also if it meets again.

    round 1, from g1 on, 2 games of (ann, bob), (cid, dan):   g1 ann-bob  g2 cid-dan  g3 bob-ann  g4 dan-cid

The facts may come in any order that has `drawn` before the games of a draw: nothing is computed of results
before it is asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, zip_longest

from arena_server.core.facts import Drawn, Walkover
from arena_server.core.formats.base import Pairing, PairingError
from arena_server.core.formats.groups import CirclePairs
from arena_server.core.formats.rounds_json import BY_POINTS, BY_SEED, OPEN, OVER, WALKOVER, DrawnMatch
from arena_server.stats.results import PastGame
from arena_server.stats.scoring import Scoring
from arena_server.terms.formats import Terms


class Encounter:
    """A pairing of a round: `names` in the order of the seats of its first game, and its games by number.

    With `early` it is over once the rest cannot change who has won more games; with `by_points` points decide
    between as many games won. `waiting` have not begun, `open` have no result yet, `void` have none and are
    not played again. `scores` are the games won (a draw is half of one). `absent`: who loses by walkover what
    is left.
    """

    def __init__(self, names: tuple[str, ...], *, early: bool, by_points: bool) -> None:
        self.names = names
        self._early, self._by_points = early, by_points
        self.waiting: dict[int, Pairing] = {}
        self.open: set[int] = set()
        self.void: set[int] = set()
        self.played: list[int] = []
        self.scores = dict.fromkeys(names, Fraction(0))
        self.points = dict.fromkeys(names, 0)
        self.absent: tuple[str, ...] = ()
        #: How often games were drawn for it.
        self.draws = 0
        #: Games that others replace.
        self._replaced: set[int] = set()

    def begin(self, number: int) -> None:
        """A game has been handed out."""
        del self.waiting[number]
        if number not in self.void and number not in self._replaced:
            self.open.add(number)

    def add(self, game: PastGame) -> None:
        """A game has a result."""
        self.open.discard(game.number)
        self.played.append(game.number)
        self._score(game, 1)

    def take_back(self, game: PastGame) -> None:
        """A game has its result no more, and is void."""
        self.played.remove(game.number)
        self.void.add(game.number)
        self._score(game, -1)

    def change(self, game: PastGame, new: PastGame) -> None:
        """A game has another result."""
        self._score(game, -1)
        self._score(new, 1)

    def _score(self, game: PastGame, sign: int) -> None:
        best = max(game.totals)
        share = Fraction(1, game.totals.count(best))
        for name, total in zip(game.names, game.totals, strict=True):
            self.scores[name] += sign * share if total == best else 0
            self.points[name] += sign * total

    def break_off(self, number: int) -> None:
        """A game has no result."""
        self.open.discard(number)
        self.void.add(number)

    def replace(self, void: int, pairing: Pairing) -> None:
        """A game is played again."""
        self.void.discard(void)
        self._replaced.add(void)
        self.waiting[pairing.number] = pairing

    @property
    def lost_by(self) -> tuple[str, ...]:
        """Who lost by walkover: a reader may know of it before the results of games that were played."""
        return self.absent if self.waiting else ()

    @property
    def is_void(self) -> bool:
        """Whether it has no winner because both were absent: the games that are left are missing."""
        return len(self.lost_by) == len(self.names)

    @property
    def is_decided(self) -> bool:
        """Whether no further game is to begin: it is lost by walkover, or the rest cannot change it."""
        first, second = self.scores.values()
        left = len(self.waiting) + len(self.open)
        return bool(self.lost_by) or (self._early and abs(first - second) > left)

    @property
    def begun(self) -> bool:
        """Whether a game of it has been handed out."""
        return bool(self.open or self.played or self.void or self._replaced)

    @property
    def is_over(self) -> bool:
        """Whether nothing is left to be played."""
        return not self.open and (not self.waiting or self.is_decided)

    @property
    def games(self) -> int:
        """How many games it has had, and will have."""
        begun = len(self.played) + len(self.void) + len(self.open)
        return begun if self.is_decided and not self.is_void else begun + len(self.waiting)

    def match(self, winner: str | None = None) -> DrawnMatch:
        """What there is to show; `winner` is who goes on from a tie."""
        state = OPEN if not self.is_over else WALKOVER if self.lost_by else OVER
        winner = (self.winner or winner) if self.is_over else None
        return DrawnMatch(
            self.names,
            state,
            tuple(self.scores.values()),
            tuple(self.points.values()),
            tuple(self.played),
            winner,
            self._decided_by() if winner and state == OVER else None,
        )

    def _decided_by(self) -> str | None:
        """What decides between as many games won; None where one has won more."""
        if len(set(self.scores.values())) > 1:
            return None
        return BY_SEED if self.winner is None else BY_POINTS

    @property
    def winner(self) -> str | None:
        """Who has won more games; of as many, if points decide, who has more points. None: a draw.

        By walkover the other wins; if both are absent there is no winner.
        """
        if self.lost_by:
            return next((name for name in self.names if name not in self.lost_by), None)
        first, second = self.names
        if self.scores[first] != self.scores[second]:
            return first if self.scores[first] > self.scores[second] else second
        if self._by_points and self.points[first] != self.points[second]:
            return first if self.points[first] > self.points[second] else second
        return None


def shown(names: Iterable[str]) -> str:
    """Names in a line; those of a journal whose digests are right may still hold any character."""
    return ", ".join(names).encode("unicode_escape").decode("ascii")


def match_points(
    names: Iterable[str], encounters: Iterable[Encounter], worth: Scoring
) -> dict[str, Fraction]:
    """What each pairing is worth that is won, tied or lost; nothing to who has lost by walkover."""
    points = dict.fromkeys(names, Fraction(0))
    for each in encounters:
        if not each.is_over:
            continue
        winner = each.winner
        for name in each.names:
            if name == winner:
                points[name] += worth.win
            elif not each.lost_by:
                points[name] += worth.draw if winner is None else worth.loss
    return points


def _pairs(groups: Iterable[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """The pairings of all groups, so that neighbours can play at the same time."""
    circles = [(group, CirclePairs(len(group))) for group in groups if len(group) > 1]
    of_groups = (
        [tuple(group[player] for player in circle[place]) for place in range(len(circle))]
        for group, circle in circles
    )
    places = zip_longest(*of_groups)
    return [pair for row in places for pair in row if pair is not None]


#: A place of a round: a pairing, who has a bye, or empty.
Entry = Encounter | str | None


class Draws:
    """The rounds of a contest from its facts. A group has up to `largest` players.

    `by_points` says whether points decide pairings; in groups of more than two the scoring does.

    Games that are drawn for pairings of the last round belong to that round, unless it was one of groups.
    """

    def __init__(self, terms: Terms, *, early: bool, by_points: bool | None = None, largest: int = 2) -> None:
        self._terms = terms
        self._by_points = terms.by_points if by_points is None else by_points
        self.names = set(terms.names)
        self._early = early
        self._largest = largest
        self.next_number = 1
        #: The places of each round in the order of the draw.
        self.rounds: list[list[Entry]] = []
        #: How often has been drawn, and how often for the last round.
        self.count = self.of_last_round = 0
        #: The number of the first game of the last draw.
        self.first_of_last = 1
        #: Every pairing, and those of each player in the last round.
        self.encounters: list[Encounter] = []
        self.current: dict[str, list[Encounter]] = {}
        #: The groups of the last round, if it was one of groups.
        self.groups: tuple[tuple[str, ...], ...] = ()
        self._by_number: dict[int, Encounter] = {}
        self._round_of_draw: list[int] = []

    def add(self, drawn: Drawn, *, is_round: bool = False) -> None:
        """Take what was drawn, which `is_round` of its own. Raises PairingError for what cannot have been."""
        self._check(drawn)
        pairs = _pairs(drawn.groups)
        # An empty place tells a round of the same two from more games of the last one.
        of_last = not is_round and not self.groups and bool(pairs) and all(drawn.groups)
        if of_last and self._current(pairs[0]) is not None:
            self.of_last_round += 1
        else:
            self._begin_round(drawn.groups, pairs)
        self.count += 1
        self.first_of_last = drawn.first
        self._round_of_draw.append(len(self.rounds) - 1)
        for place, names in enumerate(pairs):
            encounter = self._current(names)
            assert encounter is not None
            encounter.draws += 1
            for game in range(drawn.games):
                # The deal of game 2k + 1 is that of game 2k if it is played from every seat.
                first = game - game % 2 if self._terms.paired else game
                number = drawn.first + game * len(pairs) + place
                deal = drawn.first + first * len(pairs) + place
                seats = names[::-1] if game % 2 else names
                encounter.waiting[number] = Pairing(number, seats, deal)
                self._by_number[number] = encounter
        self.next_number = drawn.first + drawn.games * len(pairs)

    @property
    def has_begun(self) -> bool:
        """Whether the last round has been played in part."""
        return any(each.begun or each.lost_by for each in self.last)

    def take_back_round(self) -> None:
        """The last round, of which no game has begun, is none. Raises PairingError if there is no such."""
        if not self.rounds or self.has_begun or not self.last:
            raise PairingError(f"draw {self.count}: expected a round of which no game has begun")
        for encounter in self.last:
            self.encounters.remove(encounter)
            for number in encounter.waiting:
                del self._by_number[number]
        self.rounds.pop()

    def _current(self, names: tuple[str, ...]) -> Encounter | None:
        """The pairing of these two in the last round."""
        return next((each for each in self.current.get(names[0], ()) if names[1] in each.names), None)

    def _begin_round(self, groups: tuple[tuple[str, ...], ...], pairs: Iterable[tuple[str, ...]]) -> None:
        self.current, self.of_last_round = {}, 1
        self.groups = groups if any(len(group) > 2 for group in groups) else ()
        early = self._early and not self.groups
        by_points = self._terms.by_points if self.groups else self._by_points
        for names in pairs:
            encounter = Encounter(names, early=early, by_points=by_points)
            self.encounters.append(encounter)
            for name in names:
                self.current.setdefault(name, []).append(encounter)
        self.rounds.append(list(self._entries(groups)))

    def _entries(self, groups: tuple[tuple[str, ...], ...]) -> Iterator[Entry]:
        for group in groups:
            if len(group) < 2:
                yield group[0] if group else None
            for names in combinations(group, 2):
                yield self._current(names)

    def _check(self, drawn: Drawn) -> None:
        place = f"draw {drawn.draw}"
        names = [name for group in drawn.groups for name in group]
        if drawn.draw != self.count + 1 or drawn.first != self.next_number:
            expected = f"expected draw {self.count + 1}, from g{self.next_number} on"
            raise PairingError(f"{place}, from g{drawn.first} on: {expected}")
        if drawn.games < 1 or any(len(group) > self._largest for group in drawn.groups):
            raise PairingError(f"{place}: expected groups of up to {self._largest}, with games")
        if len(set(names)) < len(names) or not set(names) <= self.names:
            raise PairingError(f"{place}: expected every bot once, and none that is not of this contest")

    def pairings(self, round_: int) -> Iterator[Encounter]:
        """The pairings of a round (0, 1, ...)."""
        return (each for each in self.rounds[round_] if isinstance(each, Encounter))

    @property
    def last(self) -> list[Encounter]:
        """The pairings of the last round; none before the first."""
        return list(self.pairings(-1)) if self.rounds else []

    @property
    def is_short(self) -> bool:
        """Whether a round that was planned could not be drawn, so that the contest is over."""
        return bool(self.rounds) and not self.rounds[-1]

    @property
    def is_open(self) -> bool:
        """Whether something of the last round is left."""
        return not all(each.is_over for each in self.last)

    def find(self, number: int) -> Encounter:
        """The pairing of a game. Raises PairingError if there is none."""
        if number not in self._by_number:
            raise PairingError(f"g{number} is not a game of this contest")
        return self._by_number[number]

    def begin(self, pairing: Pairing) -> None:
        """A game was handed out; deal 0 is not known. Raises PairingError for an impossible one."""
        number = pairing.number
        encounter = self.find(number)
        known = encounter.waiting.get(number)
        if known is None:
            raise PairingError(f"g{number} was started twice")
        if pairing not in (known, replace(known, deal=0)):
            raise PairingError(
                f"g{number} was played by {shown(pairing.names)} on deal {pairing.deal}, and the draw "
                f"has {shown(known.names)} on deal {known.deal}"
            )
        encounter.begin(number)

    def repeat(self, pairing: Pairing, void: int) -> Encounter:
        """`pairing` is played instead of game `void`."""
        encounter = self._by_number[pairing.number] = self.find(void)
        encounter.replace(void, pairing)
        self.next_number += 1
        return encounter

    def walk_over(self, walkover: Walkover) -> None:
        """Those who are absent lose. Raises PairingError for a round that was not drawn."""
        if not 1 <= walkover.draw <= self.count:
            raise PairingError(f"draw {walkover.draw} of a walkover has not been made")
        for encounter in self.pairings(self._round_of_draw[walkover.draw - 1]):
            lost = tuple(name for name in encounter.names if name in walkover.absent)
            encounter.absent = encounter.absent or lost
