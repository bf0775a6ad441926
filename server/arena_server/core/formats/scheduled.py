"""Formats whose games are known from the beginning: each group of players plays the same number of games.

A planned game is known by its number: games g1, g2, ... A cycle is one game of every group; in cycle c
the seats are turned c % seats times, so `seats` cycles have every group in every seat once. Its deal is
number c ("fresh"), or number c // seats ("paired": the same deal from every seat).

Which group plays next is up to `balance.py`: no pair and no bot gets far ahead of the others.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

from arena_server.core.formats.balance import Balance, Bounds
from arena_server.core.formats.base import Format, Pairing, PairingError
from arena_server.core.formats.groups import Group, Groups, GrownGroups
from arena_server.core.formats.length import MOST_GAMES, PAIR_GAMES, Length
from arena_server.terms.formats import FormatError, Terms


@dataclass(frozen=True, slots=True)
class _Block:
    """Games that were planned together: `cycles` cycles of `groups` groups.

    `first` is the number of the first game, `group` and `cycle` are those of it.
    """

    first: int
    group: int
    groups: int
    cycle: int
    cycles: int

    @property
    def end(self) -> int:
        return self.first + self.groups * self.cycles


class GameNumbers:
    """Which number each planned game has: those of a block follow each other, cycle by cycle."""

    def __init__(self, groups: int, cycles: int) -> None:
        self._blocks = [_Block(1, 0, groups, 0, cycles)]

    def add(self, first: int, group: int, groups: int, cycle: int, cycles: int) -> int:
        """Plan a block whose first game has number `first`. Returns the number behind its last."""
        self._blocks.append(_Block(first, group, groups, cycle, cycles))
        return self._blocks[-1].end

    def shorten(self, cycles: int) -> None:
        """Plan no game of cycle `cycles` (0, 1, ...) or a later one; no other game gets its number."""
        self._blocks = [
            replace(block, cycles=max(0, min(block.cycles, cycles - block.cycle))) for block in self._blocks
        ]

    def between(self, first: int, end: int) -> Iterator[int]:
        """The numbers from `first` to `end - 1` that planned games have."""
        for block in self._blocks:
            yield from range(max(block.first, first), min(end, block.end))

    def find(self, number: int) -> tuple[int, int] | None:
        """Group and cycle of a game; None if no planned game has this number."""
        block = self._blocks[bisect_right(self._blocks, number, key=lambda block: block.first) - 1]
        if not block.first <= number < block.end:
            return None
        cycle, group = divmod(number - block.first, block.groups)
        return block.group + group, block.cycle + cycle

    def number(self, group: int, cycle: int) -> int | None:
        """The number of the game that a group plays in a cycle (both 0, 1, ...); None if none is planned."""
        for block in self._blocks:
            if 0 <= group - block.group < block.groups and 0 <= cycle - block.cycle < block.cycles:
                return block.first + (cycle - block.cycle) * block.groups + group - block.group
        return None


class Scheduled(Format):
    """Hands out the games of `groups` among the bots that are present and free.

    With `reverse` the players sit in the reverse order on every other deal.
    """

    MAY_STOP = True
    READS_OWNERS = False

    def __init__(
        self, terms: Terms, groups: Groups, bounds: Bounds = Bounds.BOTH, *, reverse: bool = False
    ) -> None:
        self.terms = terms
        self.groups = groups
        self._reverse = reverse
        self._names = list(terms.names)
        self.places = {name: place for place, name in enumerate(terms.names)}
        #: How many games each group plays, and the most that any has started.
        self._games = terms.games
        self._most_played = 0
        #: The games from the beginning, those of each late entrant, and those by which all were extended.
        self.numbers = GameNumbers(len(groups), terms.games)
        self._balance = Balance(groups, len(terms.names), bounds)
        #: How many of its planned games each group has started.
        self._played = array("L", bytes(array("L").itemsize * len(groups)))
        #: The games to be played again that have not started, by group, in the order of their numbers;
        #: they follow the other games of their group.
        self._again: dict[int, dict[int, Pairing]] = {}
        #: The next number that is free.
        self._next = len(groups) * terms.games + 1
        #: The players that have left, and how many games are not played for it.
        self._left: set[int] = set()
        self._dropped = 0
        #: The bots that are present, and how many games more each of them can start.
        self._free: dict[str, int] = {}

    @classmethod
    def check(cls, terms: Terms) -> None:
        super().check(terms)
        multiple = cls.games_multiple(terms)
        if terms.games < multiple or terms.games % multiple:
            raise FormatError(
                f"contest.games_per_pair: expected a multiple of {multiple}, so that every bot has each "
                f"seat equally often, got {terms.games}"
            )

    # -- what is known in advance

    @property
    def total(self) -> int:
        return len(self.groups) * self._games - self._dropped

    @property
    def next_number(self) -> int:
        return self._next

    def planned(self, first: int, end: int) -> Iterator[Pairing]:
        return map(self.pairing, self.numbers.between(first, end))

    def pairing(self, number: int) -> Pairing:
        """Planned game `number`. Raises PairingError for one that is not planned."""
        if (found := self.numbers.find(number)) is None:
            raise PairingError(f"g{number} is not a game of this contest")
        group, cycle = found
        names = tuple(self._names[player] for player in self.groups[group])
        round_, turn = divmod(cycle, len(names))
        if self._reverse and round_ % 2:
            names = names[::-1]
        deal = round_ if self.terms.paired else cycle
        return Pairing(number, names[turn:] + names[:turn], deal + 1)

    # -- who takes part

    def late_groups(self, player: int) -> list[Group]:
        """The groups of one more player, whose place follows those of all others. Raises FormatError."""
        raise FormatError(f'contest.format: "{self.NAME}" takes no late entrants: who meets whom is fixed')

    def join(self, name: str, owner: str = "", first: int | None = None) -> None:
        """As of every format; `first` is the number of its first game where those before are not known."""
        player = len(self._names)
        added = self.late_groups(player)
        if not isinstance(self.groups, GrownGroups):
            self.groups = GrownGroups(self.groups, len(self.terms.names))
        first = self._next if first is None else first
        self._next = self.numbers.add(first, len(self.groups), len(added), 0, self._games)
        self.groups.add(added)
        self._names.append(name)
        self.places[name] = player
        self._balance.join(self.groups, added)
        self._played.extend([0] * len(added))
        for place in self._left:
            self._update_groups(place)

    def come_back(self, name: str) -> None:
        self._left.discard(self.places[name])
        self._update_groups(self.places[name])

    def leave(self, name: str) -> None:
        self._left.add(self.places[name])
        self._update_groups(self.places[name])

    def _update_groups(self, player: int) -> None:
        """Open the groups of `player` whose players all take part and which have games, close the others."""
        for players in self._balance.groups_of(player):
            missing = self._missing(self.groups.number(*players))
            self._balance.set_open(players, is_open=missing > 0 and self._left.isdisjoint(players))
        left = {
            self.groups.number(*group) for place in self._left for group in self._balance.groups_of(place)
        }
        self._dropped = sum(map(self._missing, left))

    def _missing(self, group: int) -> int:
        """How many games of a group have not started."""
        return self._games - self._played[group] + len(self._again.get(group, ()))

    @property
    def length(self) -> Length:
        step = self.games_multiple(self.terms)
        begun = -(-self._most_played // step) * step
        most = MOST_GAMES // len(self.groups) // step * step
        return Length(self._games, max(step, begun), most, PAIR_GAMES, step)

    def resize(self, to: int, first: int | None = None) -> None:
        before, self._games = self._games, to
        if to > before:
            first = self._next if first is None else first
            self._next = self.numbers.add(first, 0, len(self.groups), before, to - before)
        else:
            self.numbers.shorten(to)
        for group, played in enumerate(self._played):
            if played in (before, to):  # the others stay open
                is_open = played < to or group in self._again
                self._balance.set_open(self.groups[group], is_open=is_open)
        for place in self._left:
            self._update_groups(place)

    # -- bots

    def enter(self, name: str, *, late: bool = False) -> None:
        if name not in self._free:
            self._free[name] = 0
            self._balance.enter(self.places[name], late=late)

    def withdraw(self, name: str) -> None:
        if self._free.pop(name, None) is not None:
            self._balance.withdraw(self.places[name])

    def free(self, name: str, games: int) -> None:
        self._free[name] = games
        self._balance.set_free(self.places[name], is_free=games > 0)

    # -- games

    def next(self) -> Pairing | None:
        players = self._balance.next()
        if players is None:
            return None
        group = self.groups.number(*players)
        number = self.numbers.number(group, self._played[group])
        pairing = next(iter(self._again[group].values())) if number is None else self.pairing(number)
        self._start(players, pairing.number)
        for name in pairing.names:
            self.free(name, self._free[name] - 1)
        return pairing

    def again(self, pairing: Pairing, void: int) -> None:
        group = tuple(self.places[name] for name in pairing.names)
        self._again.setdefault(self.groups.number(*group), {})[pairing.number] = pairing
        self._next += 1
        self._balance.owed(group)
        if not self._left.isdisjoint(group):
            self._balance.set_open(group, is_open=False)
            self._dropped += 1

    def _start(self, players: Group, number: int) -> None:
        group = self.groups.number(*players)
        again = self._again.get(group, {})
        if number in again:
            del again[number]
            if not again:
                del self._again[group]
        else:
            self._played[group] += 1
            self._most_played = max(self._most_played, self._played[group])
        last = self._played[group] == self._games and group not in self._again
        self._balance.started(players, last=last)

    # -- an interrupted contest

    def started(self, pairing: Pairing) -> None:
        number = pairing.number
        is_planned = self.numbers.find(number) is not None
        if is_planned:
            known = self.pairing(number)
        else:
            again = (games[number] for games in self._again.values() if number in games)
            known = next(again, Pairing(number, (), 0))
        if pairing != known:
            raise PairingError(_problem(pairing, known))
        players = tuple(self.places[name] for name in pairing.names)
        group = self.groups.number(*players)
        if is_planned and number != self.numbers.number(group, self._played[group]):
            raise PairingError(f"g{number} was started twice, or before an earlier game of the same bots")
        self._start(players, number)

    def recalled(self) -> None:
        self._balance.recalled()

    # -- what is left

    def has_games(self, name: str) -> bool:
        return self._balance.has_games(self.places[name])

    def exhausted(self, absent: Collection[str]) -> bool:
        return self._balance.is_over(sum(1 << self.places[name] for name in absent))

    def unplayed(self) -> Iterator[tuple[tuple[str, ...], int]]:
        for group, played in enumerate(self._played):
            left = self._games - played + len(self._again.get(group, ()))
            if left and self._left.isdisjoint(self.groups[group]):
                yield tuple(self._names[player] for player in self.groups[group]), left


def _problem(found: Pairing, known: Pairing) -> str:
    """Why a game cannot have been handed out."""
    if not known.names:
        return f"g{found.number} is not a game of this contest"
    if found.names != known.names:
        # Names of a journal whose digests are right may still hold any character.
        played = ", ".join(found.names).encode("unicode_escape").decode("ascii")
        return f"g{found.number} was played by {played}, and the schedule has {', '.join(known.names)}"
    return f"g{found.number} was played on deal {found.deal}, and the schedule has deal {known.deal}"
