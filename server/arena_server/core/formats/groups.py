"""The groups of players that meet in a format, numbered so that neighbours can play at the same time.

All pairs of a round-robin come from the circle method, computed instead of stored: 2,000 players
make two million pairs. One player stays, the others move round it a chair a round; no pair meets
twice.

    chair   0   1   2   3      round r:  in chair 0 sits player 0,
    chair   7   6   5   4                in chair j > 0 player 1 + (j - 1 - r) mod m, m = chairs - 1

Opposite chairs, i and m - i, play. With an odd number of players the last chair is empty at first,
and the player opposite to it has a bye. The player that stays changes sides every round, or it
would sit first in all its games.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Protocol

#: Players by their places among the names of the contest (0, 1, ...), in the order of the seats.
Group = tuple[int, ...]


class Groups(Protocol):
    """Groups numbered 0, 1, ..."""

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


class CirclePairs:
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
        """The opponents of one player by round, without an end; the empty chair is one more than the last."""
        r = 0
        while True:
            chair = 1 + (player - 1 + r) % self._m if player else 0
            yield self._player(self._m - chair, r)
            r += 1

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


class GrownGroups:
    """The groups of the first `players` players, and behind them those of each later one, in their order."""

    def __init__(self, groups: Groups, players: int) -> None:
        self._first = groups
        self._players = players
        self._later: list[GroupList] = []
        #: The number of the first group of each part.
        self._begins = [0]
        self._size = len(groups)

    def add(self, groups: Sequence[Group]) -> None:
        """One more player; `groups` are those that it makes up with players before it."""
        self._later.append(GroupList(groups))
        self._begins.append(self._size)
        self._size += len(groups)

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, index: int, /) -> Group:
        part = bisect_right(self._begins, index) - 1
        groups = self._later[part - 1] if part else self._first
        return groups[index - self._begins[part]]

    def number(self, *players: int) -> int:
        part = max(0, max(players) - self._players + 1)
        groups = self._later[part - 1] if part else self._first
        return self._begins[part] + groups.number(*players)

    def first(self, players: Group, others: int) -> int:
        early = others & (1 << self._players) - 1
        if early and max(players) < self._players:
            return self._first.first(players, early)  # no later group has a lower number
        return min(members(others), key=lambda other: self.number(*players, other))


def companions(first: int, end: int, count: int) -> list[Group]:
    """All groups of `count` of the players `first` to `end - 1`, so that neighbours share few."""
    field = end - first
    if count == 0:
        return [()]
    if count == 1:
        return [(player,) for player in range(first, end)]
    if count >= field:
        return [tuple(range(first, end))] * (count == field)
    order = fair_order(field, count)
    return [tuple(first + player for player in order[number]) for number in range(len(order))]


def fair_order(players: int, seats: int) -> Groups:
    """All groups of `seats` players, so ordered that neighbours share as few players as may be."""
    if seats == 2:
        return CirclePairs(players)
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
