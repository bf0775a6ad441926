"""Who plays whom, how often, in which seats and on which deal.

All pairs of a round-robin come from the circle method, computed instead of stored: 2,000 players
make two million pairs. One player stays, the others move round it a chair a round; no pair meets
twice.

    chair   0   1   2   3      round r:  in chair 0 sits player 0,
    chair   7   6   5   4                in chair j > 0 player 1 + (j - 1 - r) mod m, m = chairs - 1

Opposite chairs, i and m - i, play. With an odd number of players the last chair is empty at first,
and the player opposite to it has a bye. The player that stays changes sides every round, or it
would sit first in all its games.

A game of the schedule is known by its number alone: games g1, g2, ... A cycle is one game of every
group; in cycle c the seats are turned c % seats times, so every group plays from every seat equally
often. Its deal is number c ("fresh"), or number c // seats ("paired": the same deal from every seat).

Which game starts next is up to `pairer.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Protocol

from arena_server.core.config import SINGLE, ContestConfig

#: Players by their places among the names of the contest (0, 1, ...), in the order of the seats.
Group = tuple[int, ...]


class Groups(Protocol):
    """The groups of a schedule, numbered 0, 1, ..."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: int, /) -> Group: ...

    def number(self, *players: int) -> int:
        """The number of the group of these players in any order. Raises LookupError if there is none."""

    def first(self, players: Group, others: int) -> int:
        """Of `others`, a bit each, the one whose group with `players` has the lowest number.

        With every one of `others`, of which there is at least one, `players` make up a group.
        """


def members(players: int) -> Iterator[int]:
    """The players of a set that has a bit for each, in ascending order."""
    while players:
        lowest = players & -players
        yield lowest.bit_length() - 1
        players ^= lowest


class Circle:
    """The pairs of `players` players in the order of the rounds, without byes."""

    def __init__(self, players: int) -> None:
        self._odd = players % 2
        self._m = players + self._odd - 1
        self._a_round = players // 2

    def __len__(self) -> int:
        return self._m * self._a_round

    def __getitem__(self, index: int, /) -> Group:
        if not 0 <= index < len(self):
            raise IndexError(f"there are {len(self)} pairs, and no number {index}")
        r, i = divmod(index, self._a_round)
        i += self._odd and i >= self._bye(r)
        first, second = self._player(i, r), self._player(self._m - i, r)
        return (second, first) if i == 0 and r % 2 else (first, second)

    def number(self, *players: int) -> int:
        """The index of the pair of these two."""
        a, b = sorted(players)
        m = self._m
        # Both sit i chairs from chair 0, on either side: a + r = i and b + r = -i (mod m).
        r = -b % m if a == 0 else -(a + b) * (m + 1) // 2 % m
        i = 0 if a == 0 else min((a + r) % m, (b + r) % m)
        return r * self._a_round + i - (self._odd and i > self._bye(r))

    def first(self, players: Group, others: int) -> int:
        """Of `others`, a bit each, the one that the only one of `players` meets first."""
        (player,) = players
        # Of few each is looked up; of many one is met in one of the first rounds, nearly always.
        if others.bit_count() ** 2 <= self._m:
            return min(members(others), key=lambda other: self.number(player, other))
        return next(other for other in self._opponents(player) if others >> other & 1)

    def _opponents(self, player: int) -> Iterator[int]:
        """The opponents of one player by round; the empty chair has the number after the last player's."""
        for r in range(self._m):
            chair = 1 + (player - 1 + r) % self._m if player else 0
            yield self._player(self._m - chair, r)

    def _player(self, chair: int, r: int) -> int:
        return 1 + (chair - 1 - r) % self._m if chair else 0

    def _bye(self, r: int) -> int:
        """The pair of round `r` in which one of the chairs is empty."""
        return min(r, self._m - r)


class GroupList:
    """Groups that are stored."""

    def __init__(self, groups: Sequence[Group]) -> None:
        self._groups = groups
        self._numbers = {frozenset(group): number for number, group in enumerate(groups)}

    def __len__(self) -> int:
        return len(self._groups)

    def __getitem__(self, index: int, /) -> Group:
        return self._groups[index]

    def number(self, *players: int) -> int:
        return self._numbers[frozenset(players)]

    def first(self, players: Group, others: int) -> int:
        return min(members(others), key=lambda other: self.number(*players, other))


@dataclass(frozen=True, slots=True)
class Pairing:
    """Game `number` (1, 2, ...): `names` in the order of the seats, on deal `deal` (1, 2, ...) of theirs."""

    number: int
    names: tuple[str, ...]
    deal: int


class Schedule:
    """A round-robin: every group of `seats` players plays `games` games.

    With `matches` only disjoint groups play: the first `seats` names, the next `seats`, and so on; with
    three seats and more they sit in the reverse order on every other deal, so that no player always
    follows the same other.

    With `single` there is one game, of all `names` in the order of their seats.

    Raises ValueError if `games` is no multiple of `seats`, for then the seats would be unfair,
    if there are fewer players than seats, or if `matches` leave players without a group.
    """

    def __init__(
        self,
        names: Sequence[str],
        seats: int,
        games: int,
        *,
        paired: bool = False,
        matches: bool = False,
        single: bool = False,
    ) -> None:
        if len(names) < seats:
            raise ValueError(f"a game of {seats} seats needs at least {seats} bots, not {len(names)}")
        if matches and len(names) % seats:
            raise ValueError(f"matches of {seats} seats need a multiple of {seats} bots, not {len(names)}")
        if single:
            if (len(names), games) != (seats, 1):
                raise ValueError(f"a single game has {seats} bots, not {len(names)}, and is one, not {games}")
        elif games < seats or games % seats:
            raise ValueError(
                f"games_per_pair must be a multiple of {seats}, so that everyone plays from every seat,"
                f" not {games}"
            )
        everyone = range(len(names))
        self.groups: Groups
        if single:
            self.groups = GroupList([tuple(everyone)])
        elif matches:
            self.groups = GroupList([tuple(everyone[at : at + seats]) for at in everyone[::seats]])
        else:
            self.groups = fair_order(len(names), seats)
        self.seats = seats
        self.names = tuple(names)
        self.games = games
        #: Whether no bot plays in two groups: there is nothing to compare them by.
        self.disjoint = single or matches
        self._places = {name: place for place, name in enumerate(names)}
        self._paired = paired
        self._reverse = matches and seats > 2

    @property
    def total(self) -> int:
        """How many games there are."""
        return len(self.groups) * self.games

    def players(self, names: Iterable[str]) -> Group:
        """The places of these names."""
        return tuple(self._places[name] for name in names)

    def number(self, group: int, cycle: int) -> int:
        """The number of the game that group `group` plays in cycle `cycle` (both 0, 1, ...)."""
        return cycle * len(self.groups) + group + 1

    def pairing(self, number: int) -> Pairing:
        """Game `number`."""
        cycle, group = divmod(number - 1, len(self.groups))
        names = tuple(self.names[player] for player in self.groups[group])
        round_, turn = divmod(cycle, len(names))
        if self._reverse and round_ % 2:
            names = names[::-1]
        deal = round_ if self._paired else cycle
        return Pairing(number, names[turn:] + names[:turn], deal + 1)

    def same_deal(self, number: int) -> list[int]:
        """The numbers of all games on the deal of game `number`; none for a game beyond the schedule."""
        cycle, group = divmod(number - 1, len(self.groups))
        turns = self.seats if self._paired else 1
        first = cycle - cycle % turns
        return [self.number(group, each) for each in range(first, min(first + turns, self.games))]

    def __iter__(self) -> Iterator[Pairing]:
        return map(self.pairing, range(1, self.total + 1))


def schedule_of(config: ContestConfig, names: Sequence[str], seats: int) -> Schedule:
    """The schedule of a contest between `names`. Raises ValueError as `Schedule` does."""
    return Schedule(
        names,
        seats,
        config.games_per_pair,
        paired=config.deals == "paired",
        matches=config.format == "matches",
        single=config.format == SINGLE,
    )


def fair_order(players: int, seats: int) -> Groups:
    """All groups of `seats` players, so ordered that neighbours share as few players as may be."""
    if seats == 2:
        return Circle(players)
    return GroupList([group for round_ in _rounds(players, seats) for group in round_])


def _rounds(players: int, seats: int) -> Iterator[list[Group]]:
    """Rounds of groups without a common player, each as full as the first fit makes it.

    The work grows with the square of the number of groups: 20 players at 4 seats, 4,845
    groups, take about a second.
    """
    left = list(combinations(range(players), seats))
    while left:
        busy: set[int] = set()
        chosen: list[Group] = []
        rest: list[Group] = []
        for group in left:
            if busy.isdisjoint(group):
                busy.update(group)
                chosen.append(group)
            else:
                rest.append(group)
        yield chosen
        left = rest
