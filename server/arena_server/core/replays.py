"""Games that were broken off, and the games that are played in their place.

Such a game has a number of its own, after the schedule's, and the same deal and seats as the void one.
It must not know: why a game was broken off, results, who is connected.
"""

from __future__ import annotations

from collections.abc import Mapping

from arena_server.core.journal import AGAIN, CONTEST
from arena_server.core.pairing import Pairer
from arena_server.core.peer import Outbox
from arena_server.core.schedule import Pairing, Schedule


class Replays:
    """The void games of one contest."""

    def __init__(self, schedule: Schedule, pairer: Pairer, out: Outbox) -> None:
        self._schedule = schedule
        self._pairer = pairer
        self._out = out
        #: The games that are played again, each by the number of the void one.
        self._again: dict[int, Pairing] = {}
        #: The void games that nobody has asked for again.
        self._void_only: dict[int, Pairing] = {}

    def pairing(self, number: int) -> Pairing:
        """The game of this number, of the schedule or after it. Raises LookupError if there is none."""
        if 0 < number <= self._schedule.total:
            return self._schedule.pairing(number)
        return {pairing.number: pairing for pairing in self._again.values()}[number]

    def add(self, number: int) -> None:
        """Game `number` is void; known already if it is played again."""
        if number not in self._again:
            self._void_only[number] = self.pairing(number)

    def play_again(self, number: int) -> bool:
        """Have a void game played again. Returns False if there is no such game, or it is so already."""
        if number not in self._void_only:
            return False
        new = self._schedule.total + len(self._again) + 1
        self._out.journal((CONTEST, AGAIN, new, number))
        self._repeat(new, number)
        return True

    def recall(self, again: Mapping[int, int]) -> None:
        """Bring back which games are played again: void ones by the numbers of those that replace them."""
        for new, number in sorted(again.items()):
            self.add(number)
            self._repeat(new, number)

    def _repeat(self, new: int, number: int) -> None:
        old = self._void_only.pop(number)
        self._again[number] = Pairing(new, old.names, old.deal)
        self._pairer.again(self._again[number])
