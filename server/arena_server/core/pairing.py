"""Which game starts next: the first of the schedule whose players are all free.

A game that was broken off is played again under a number of its own, after the schedule's.
It must not know: why a player is free or not, connections, results.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable
from itertools import combinations

from arena_server.core.schedule import Pairing, Schedule


class Pairer:
    """Hands out the games of a schedule, each once, and those that are to be played again.

    After `take` has given None no game can start until somebody else becomes free; so only
    groups with a newly free player need looking at, not the whole schedule.
    """

    def __init__(self, schedule: Schedule, seats: int) -> None:
        self._schedule = schedule
        self._seats = seats
        self._played = array("L", bytes(array("L").itemsize * len(schedule.groups)))
        #: A group that had a game left and nobody absent when it was last looked for.
        self._open = 0
        self._again: dict[int, Pairing] = {}
        self._free: set[str] = set()
        self._fresh: set[str] = set()

    def free(self, name: str) -> None:
        """`name` may play from now on."""
        self._free.add(name)
        self._fresh.add(name)

    def busy(self, name: str) -> None:
        """`name` may not."""
        self._free.discard(name)
        self._fresh.discard(name)

    def again(self, pairing: Pairing) -> None:
        """Add a game beyond the schedule."""
        self._again[pairing.number] = pairing
        self._fresh |= self._free.intersection(pairing.names)

    def started(self, pairing: Pairing) -> None:
        """Note that a game has been handed out, now or before the server was started again."""
        if self._again.pop(pairing.number, None) is None:
            self._played[self._schedule.group(pairing.names)] += 1

    def take(self) -> Pairing | None:
        """The next game that can start, or None. Its players are busy from now on."""
        if not self._fresh:
            return None
        numbers = [number for name in self._fresh for number in self._pending(name)]
        numbers += [number for number, game in self._again.items() if self._free.issuperset(game.names)]
        if not numbers:
            self._fresh.clear()
            return None
        number = min(numbers)
        pairing = self._again.get(number) or self._schedule.pairing(number)
        self.started(pairing)
        for name in pairing.names:
            self.busy(name)
        return pairing

    def _pending(self, name: str) -> Iterable[int]:
        """The numbers of the games that `name` could play now, one a group."""
        others = self._free - {name}
        for company in combinations(others, self._seats - 1):
            group = self._schedule.group((name, *company))
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

    def _could_play(self, group: int, absent: Collection[str]) -> bool:
        played_all = self._played[group] >= self._schedule.games
        return not played_all and set(self._schedule.groups[group]).isdisjoint(absent)
