"""Formats whose games are known from the beginning: each group of players plays the same number of games.

A planned game is known by its number: games g1, g2, ... A cycle is one game of every group; in cycle c
the seats are turned c % seats times, so every group plays from every seat equally often. Its deal is
number c ("fresh"), or number c // seats ("paired": the same deal from every seat).

Which group plays next is up to `balance.py`: no pair and no bot gets far ahead of the others.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Iterator

from arena_server.core.formats.balance import Balance, Bounds
from arena_server.core.formats.base import Format, FormatError, Pairing, PairingError, Terms
from arena_server.core.formats.groups import Group, Groups


class Scheduled(Format):
    """Hands out the games of `groups` among the bots that are present and free.

    With `reverse` the players sit in the reverse order on every other deal.
    """

    def __init__(
        self, terms: Terms, groups: Groups, bounds: Bounds = Bounds.BOTH, *, reverse: bool = False
    ) -> None:
        self.terms = terms
        self.groups = groups
        self._reverse = reverse
        self._places = {name: place for place, name in enumerate(terms.names)}
        self._balance = Balance(groups, len(terms.names), bounds)
        #: How many of its planned games each group has started.
        self._played = array("L", bytes(array("L").itemsize * len(groups)))
        #: The games to be played again that have not started, by group, in the order of their numbers;
        #: they follow the other games of their group.
        self._again: dict[int, dict[int, Pairing]] = {}
        self._repeats = 0
        #: The bots that are present, and how many games more each of them can start.
        self._free: dict[str, int] = {}

    @classmethod
    def check(cls, terms: Terms) -> None:
        super().check(terms)
        if terms.games < terms.seats or terms.games % terms.seats:
            raise FormatError(
                f"contest.games_per_pair: expected a multiple of {terms.seats}, so that every bot has each "
                f"seat equally often, got {terms.games}"
            )

    # -- what is known in advance

    @property
    def total(self) -> int:
        return len(self.groups) * self.terms.games

    @property
    def next_number(self) -> int:
        return self.total + self._repeats + 1

    def planned(self, first: int, end: int) -> Iterator[Pairing]:
        return map(self.pairing, range(max(1, first), min(end, self.total + 1)))

    def pairing(self, number: int) -> Pairing:
        """Planned game `number`."""
        cycle, group = divmod(number - 1, len(self.groups))
        names = tuple(self.terms.names[player] for player in self.groups[group])
        round_, turn = divmod(cycle, len(names))
        if self._reverse and round_ % 2:
            names = names[::-1]
        deal = round_ if self.terms.paired else cycle
        return Pairing(number, names[turn:] + names[:turn], deal + 1)

    def number(self, group: int, cycle: int) -> int:
        """The number of the game that group `group` plays in cycle `cycle` (both 0, 1, ...)."""
        return cycle * len(self.groups) + group + 1

    def players(self, names: Iterable[str]) -> Group:
        """The places of these names."""
        return tuple(self._places[name] for name in names)

    # -- bots

    def enter(self, name: str, *, late: bool = False) -> None:
        if name not in self._free:
            self._free[name] = 0
            self._balance.enter(self._places[name], late=late)

    def withdraw(self, name: str) -> None:
        if self._free.pop(name, None) is not None:
            self._balance.withdraw(self._places[name])

    def free(self, name: str, games: int) -> None:
        self._free[name] = games
        self._balance.set_free(self._places[name], is_free=games > 0)

    # -- games

    def next(self) -> Pairing | None:
        players = self._balance.next()
        if players is None:
            return None
        group = self.groups.number(*players)
        number = self._next_number(group)
        pairing = next(iter(self._again[group].values())) if number is None else self.pairing(number)
        self._start(players, pairing.number)
        for name in pairing.names:
            self.free(name, self._free[name] - 1)
        return pairing

    def again(self, pairing: Pairing, void: int) -> None:
        group = self.players(pairing.names)
        self._again.setdefault(self.groups.number(*group), {})[pairing.number] = pairing
        self._repeats += 1
        self._balance.owed(group)

    def _start(self, players: Group, number: int) -> None:
        group = self.groups.number(*players)
        again = self._again.get(group, {})
        if number in again:
            del again[number]
            if not again:
                del self._again[group]
        else:
            self._played[group] += 1
        last = self._next_number(group) is None and group not in self._again
        self._balance.started(players, last=last)

    def _next_number(self, group: int) -> int | None:
        """The number of the next planned game of `group`."""
        played = self._played[group]
        return self.number(group, played) if played < self.terms.games else None

    # -- an interrupted contest

    def started(self, pairing: Pairing) -> None:
        number = pairing.number
        if number <= self.total:
            known = self.pairing(number)
        else:
            again = (games[number] for games in self._again.values() if number in games)
            known = next(again, Pairing(number, (), 0))
        if pairing != known:
            raise PairingError(_problem(pairing, known))
        players = self.players(pairing.names)
        group = self.groups.number(*players)
        if number <= self.total and number != self._next_number(group):
            raise PairingError(f"g{number} was started twice, or before an earlier game of the same bots")
        self._start(players, number)

    def recalled(self) -> None:
        self._balance.recalled()

    # -- what is left

    def has_games(self, name: str) -> bool:
        return self._balance.has_games(self._places[name])

    def exhausted(self, absent: Collection[str]) -> bool:
        return self._balance.is_over(sum(1 << self._places[name] for name in absent))

    def unplayed(self) -> Iterator[tuple[tuple[str, ...], int]]:
        for group, played in enumerate(self._played):
            left = self.terms.games - played + len(self._again.get(group, ()))
            if left:
                yield tuple(self.terms.names[player] for player in self.groups[group]), left


def _problem(found: Pairing, known: Pairing) -> str:
    """Why a game cannot have been handed out."""
    if not known.names:
        return f"g{found.number} is not a game of this contest"
    if found.names != known.names:
        # Names of a journal whose digests are right may still hold any character.
        played = ", ".join(found.names).encode("unicode_escape").decode("ascii")
        return f"g{found.number} was played by {played}, and the schedule has {', '.join(known.names)}"
    return f"g{found.number} was played on deal {found.deal}, and the schedule has deal {known.deal}"
