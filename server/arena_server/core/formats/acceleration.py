"""Accelerated first rounds of a Swiss: Baku acceleration (FIDE Handbook, C.04.5.1).

The better half of the field is paired as if it had more points, so that it meets among itself first:

    8 bots, 4 rounds       the first 4 seeds have 1 virtual point in round 1, 1/2 in round 2, then none
    161 bots, 9 rounds     the first 82 have 1 in rounds 1 to 3, 1/2 in rounds 4 and 5

They count in who meets whom alone, never in a table.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from fractions import Fraction

from arena_server.stats.scoring import Scoring


class Baku:
    """The virtual points of a contest that begins with these `seeds` and as many planned `rounds`.

    1 and 1/2 are what a win and a draw are worth. Late entrants and other numbers of rounds change neither
    the last bot of the upper half nor which rounds are accelerated.
    """

    def __init__(self, seeds: Sequence[str], rounds: int, worth: Scoring) -> None:
        # Half of the players, rounded up to an even number.
        self._last = seeds[2 * -(-len(seeds) // 4) - 1]
        self._accelerated = -(-rounds // 2)
        self._whole = -(-self._accelerated // 2)
        self._worth = worth

    def upper(self, seeds: Sequence[str]) -> Collection[str]:
        """The upper half of the seeds, late entrants among them."""
        return seeds[: seeds.index(self._last) + 1]

    def points(self, number: int) -> Fraction:
        """What each of the upper half has in round `number` (1, 2, ...)."""
        if number > self._accelerated:
            return Fraction(0)
        return self._worth.win if number <= self._whole else self._worth.draw
