"""Who plays whom, how often, in which seats and on which deal; and which game starts next.

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
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import overload

from arena_server.core.config import SINGLE, ContestConfig

Pair = tuple[str, str]


class Circle(Sequence[Pair]):
    """The pairs of `names` in the order of the rounds, without byes."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = tuple(names)
        self._places = {name: place for place, name in enumerate(names)}
        self._odd = len(names) % 2
        self._m = len(names) + self._odd - 1
        self._a_round = len(names) // 2

    def __len__(self) -> int:
        return self._m * self._a_round

    @overload
    def __getitem__(self, index: int) -> Pair: ...
    @overload
    def __getitem__(self, index: slice) -> list[Pair]: ...

    def __getitem__(self, index: int | slice) -> Pair | list[Pair]:
        if isinstance(index, slice):
            return [self[each] for each in range(*index.indices(len(self)))]
        if not 0 <= index < len(self):
            raise IndexError(f"there are {len(self)} pairs, and no number {index}")
        r, i = divmod(index, self._a_round)
        i += self._odd and i >= self._bye(r)
        first, second = self._player(i, r), self._player(self._m - i, r)
        if i == 0 and r % 2:
            first, second = second, first
        return self._names[first], self._names[second]

    def number(self, one: str, other: str) -> int:
        """The index of the pair of these two. Raises KeyError for who does not play."""
        a, b = sorted((self._places[one], self._places[other]))
        m = self._m
        # Both sit i chairs from chair 0, on either side: a + r = i and b + r = -i (mod m).
        r = -b % m if a == 0 else -(a + b) * (m + 1) // 2 % m
        i = 0 if a == 0 else min((a + r) % m, (b + r) % m)
        return r * self._a_round + i - (self._odd and i > self._bye(r))

    def _player(self, chair: int, r: int) -> int:
        return 1 + (chair - 1 - r) % self._m if chair else 0

    def _bye(self, r: int) -> int:
        """The pair of round `r` in which one of the chairs is empty."""
        return min(r, self._m - r)


Group = tuple[str, ...]


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
        self.groups: Sequence[Group]
        if single:
            self.groups = [tuple(names)]
        elif matches:
            self.groups = [tuple(names[at : at + seats]) for at in range(0, len(names), seats)]
        else:
            self.groups = fair_order(names, seats)
        self.seats = seats
        self.games = games
        self._paired = paired
        self._reverse = matches and seats > 2
        self._numbers = (
            {}
            if isinstance(self.groups, Circle)
            else {frozenset(group): number for number, group in enumerate(self.groups)}
        )

    @property
    def total(self) -> int:
        """How many games there are."""
        return len(self.groups) * self.games

    def group(self, names: Collection[str]) -> int:
        """The number (0, 1, ...) of the group of these players. Raises LookupError if there is none."""
        if isinstance(self.groups, Circle):
            return self.groups.number(*names)
        return self._numbers[frozenset(names)]

    def has_group(self, names: Collection[str]) -> bool:
        """Whether these players, as many as there are seats, play each other."""
        return isinstance(self.groups, Circle) or frozenset(names) in self._numbers

    def number(self, group: int, cycle: int) -> int:
        """The number of the game that group `group` plays in cycle `cycle` (both 0, 1, ...)."""
        return cycle * len(self.groups) + group + 1

    def pairing(self, number: int) -> Pairing:
        """Game `number`."""
        cycle, group = divmod(number - 1, len(self.groups))
        names = self.groups[group]
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


def fair_order(names: Sequence[str], seats: int) -> Sequence[Group]:
    """All groups of `seats` players, so ordered that neighbours share as few players as may be."""
    if seats == 2:
        return Circle(names)
    return [group for round_ in _rounds(names, seats) for group in round_]


def _rounds(names: Sequence[str], seats: int) -> Iterator[list[Group]]:
    """Rounds of groups without a common player, each as full as the first fit makes it.

    The work grows with the square of the number of groups: 20 players at 4 seats, 4,845
    groups, take about a second.
    """
    left = list(combinations(names, seats))
    while left:
        busy: set[str] = set()
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


class Pairer:
    """Hands out the games of a schedule, each once, and those that are to be played again.

    After `take` has returned None no game can start until another player becomes free; so only the
    groups of newly free players are looked at, not the whole schedule.
    """

    def __init__(self, schedule: Schedule, seats: int) -> None:
        self._schedule = schedule
        self._seats = seats
        self._played = array("L", bytes(array("L").itemsize * len(schedule.groups)))
        #: A group that had a game left and no absent player when it was last looked for.
        self._open = 0
        self._again: dict[int, Pairing] = {}
        #: How many games more each player can start that can start any.
        self._free: dict[str, int] = {}
        self._fresh: set[str] = set()

    def free(self, name: str, games: int = 1) -> None:
        """`name` can start this many games from now on; 0: none."""
        if games:
            if games > self._free.get(name, 0):
                self._fresh.add(name)
            self._free[name] = games
        else:
            self._free.pop(name, None)
            self._fresh.discard(name)

    def again(self, pairing: Pairing) -> None:
        """Add a game beyond the schedule."""
        self._again[pairing.number] = pairing
        self._fresh |= self._free.keys() & pairing.names

    def may_start(self, pairing: Pairing) -> bool:
        """Whether `pairing` is to be played again, or is the next game of its group."""
        if pairing.number > self._schedule.total:
            return pairing.number in self._again
        group = self._schedule.group(pairing.names)
        played = self._played[group]
        return played < self._schedule.games and pairing.number == self._schedule.number(group, played)

    def started(self, pairing: Pairing) -> None:
        """Note that a game has been handed out, now or before the server was started again."""
        if self._again.pop(pairing.number, None) is None:
            self._played[self._schedule.group(pairing.names)] += 1

    def take(self) -> Pairing | None:
        """The next game that can start, or None. Each of its players can start one game less from now on."""
        if not self._fresh:
            return None
        numbers = [number for name in self._fresh for number in self._pending(name)]
        numbers += [number for number, game in self._again.items() if self._free.keys() >= set(game.names)]
        if not numbers:
            self._fresh.clear()
            return None
        number = min(numbers)
        pairing = self._again.get(number) or self._schedule.pairing(number)
        self.started(pairing)
        for name in pairing.names:
            self.free(name, self._free[name] - 1)
        return pairing

    def _pending(self, name: str) -> Iterable[int]:
        """The numbers of the games that `name` could play now, one a group."""
        others = self._free.keys() - {name}
        for company in combinations(others, self._seats - 1):
            names = (name, *company)
            if not self._schedule.has_group(names):
                continue
            group = self._schedule.group(names)
            if self._played[group] < self._schedule.games:
                yield self._schedule.number(group, self._played[group])

    def exhausted(self, absent: Collection[str]) -> bool:
        """Whether no game is left that could be played if those of `absent` never come."""
        if any(set(game.names).isdisjoint(absent) for game in self._again.values()):
            return False
        if not self._could_play(self._open, absent):
            groups = range(len(self._played))
            self._open = next((group for group in groups if self._could_play(group, absent)), 0)
        return not self._could_play(self._open, absent)

    def unplayed(self) -> Iterator[tuple[Group, int]]:
        """The groups that have games left in the schedule, with their number."""
        for group, played in enumerate(self._played):
            if played < self._schedule.games:
                yield self._schedule.groups[group], self._schedule.games - played

    def waiting_repeats(self) -> Iterator[Group]:
        """The players of each game that is to be played again and has not started."""
        return (game.names for game in self._again.values())

    def _could_play(self, group: int, absent: Collection[str]) -> bool:
        played_all = self._played[group] >= self._schedule.games
        return not played_all and set(self._schedule.groups[group]).isdisjoint(absent)
