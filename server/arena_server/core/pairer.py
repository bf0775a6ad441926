"""Which game of a schedule starts next: each once, and those that are to be played again.

The order is that of `balance.py`: no pair and no bot gets far ahead of the others that are present.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterator

from arena_server.core.balance import Balance
from arena_server.core.schedule import Group, Pairing, Schedule


class Pairer:
    """Hands out the games of a schedule among the bots that are present and free."""

    def __init__(self, schedule: Schedule) -> None:
        self._schedule = schedule
        self._balance = Balance(schedule.groups, len(schedule.names), bounded=not schedule.disjoint)
        #: How many games of the schedule each group has started.
        self._played = array("L", bytes(array("L").itemsize * len(schedule.groups)))
        #: The games beyond the schedule that have not started, by group, in the order of their numbers;
        #: they follow the other games of their group.
        self._again: dict[int, dict[int, Pairing]] = {}
        #: The bots that are present, and how many games more each of them can start.
        self._free: dict[str, int] = {}

    # -- bots

    def enter(self, name: str, *, late: bool = False) -> None:
        """`name` is present; one that was away for long comes `late`, and the others do not wait for it."""
        if name not in self._free:
            self._free[name] = 0
            self._balance.enter(self._place(name), late=late)

    def withdraw(self, name: str) -> None:
        """`name` is not present: no game of it starts, and no other bot waits for it."""
        if self._free.pop(name, None) is not None:
            self._balance.withdraw(self._place(name))

    def free(self, name: str, games: int) -> None:
        """`name`, which is present, can start this many games from now on."""
        self._free[name] = games
        self._balance.set_free(self._place(name), is_free=games > 0)

    # -- games

    def again(self, pairing: Pairing) -> None:
        """A game of the schedule is void: `pairing`, beyond the schedule, is played in its place."""
        group = self._players(pairing)
        self._again.setdefault(self._schedule.groups.number(*group), {})[pairing.number] = pairing
        self._balance.owed(group)

    def may_start(self, pairing: Pairing) -> bool:
        """Whether `pairing` is to be played again, or is the next game of its group."""
        group = self._schedule.groups.number(*self._players(pairing))
        if pairing.number > self._schedule.total:
            return pairing.number in self._again.get(group, {})
        return pairing.number == self._next_number(group)

    def started(self, pairing: Pairing) -> None:
        """Note that a game has been handed out, now or before the server was started again."""
        players = self._players(pairing)
        group = self._schedule.groups.number(*players)
        again = self._again.get(group, {})
        if pairing.number in again:
            del again[pairing.number]
            if not again:
                del self._again[group]
        else:
            self._played[group] += 1
        last = self._next_number(group) is None and group not in self._again
        self._balance.started(players, last=last)

    def recalled(self) -> None:
        """All games that were handed out before the server was started again have been noted."""
        self._balance.recalled()

    def take(self) -> Pairing | None:
        """The next game that can start, or None. Each of its players can start one game less from now on."""
        players = self._balance.next()
        if players is None:
            return None
        group = self._schedule.groups.number(*players)
        number = self._next_number(group)
        if number is not None:
            pairing = self._schedule.pairing(number)
        else:
            pairing = next(iter(self._again[group].values()))
        self.started(pairing)
        for name in pairing.names:
            self.free(name, self._free[name] - 1)
        return pairing

    # -- what is left

    def has_games(self, name: str) -> bool:
        """Whether `name` has games left that have not started."""
        return self._balance.has_games(self._place(name))

    def exhausted(self, absent: Collection[str]) -> bool:
        """Whether no game is left that could be played if those of `absent` never come."""
        return self._balance.is_over(sum(1 << self._place(name) for name in absent))

    def unplayed(self) -> Iterator[tuple[tuple[str, ...], int]]:
        """The names of each group that has games left, with their number."""
        for group, played in enumerate(self._played):
            left = self._schedule.games - played + len(self._again.get(group, ()))
            if left:
                yield tuple(self._schedule.names[player] for player in self._schedule.groups[group]), left

    def _next_number(self, group: int) -> int | None:
        """The number of the next game of the schedule of `group`."""
        played = self._played[group]
        return self._schedule.number(group, played) if played < self._schedule.games else None

    def _players(self, pairing: Pairing) -> Group:
        return self._schedule.players(pairing.names)

    def _place(self, name: str) -> int:
        return self._schedule.players((name,))[0]
