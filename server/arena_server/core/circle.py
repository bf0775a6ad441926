"""All pairs of a round-robin by the circle method, reckoned instead of kept: 2,000 players make two million.

One player stays, the others walk round it a chair a round; no pair meets twice.

    chair   0   1   2   3      round r:  in chair 0 sits player 0,
    chair   7   6   5   4                in chair j > 0 player 1 + (j - 1 - r) mod m, m = chairs - 1

Opposite chairs, i and m - i, play. With an odd number of players the last chair is empty at
first, and who is opposite to it rests. The player who stays changes sides every round, or it
would sit first in all its games. It must not know: what a pair plays, or when.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

Pair = tuple[str, str]


class Circle(Sequence[Pair]):
    """The pairs of `names` in the order of the rounds, without the pairs of those who rest."""

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
        i += self._odd and i >= self._rests(r)
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
        return r * self._a_round + i - (self._odd and i > self._rests(r))

    def _player(self, chair: int, r: int) -> int:
        return 1 + (chair - 1 - r) % self._m if chair else 0

    def _rests(self, r: int) -> int:
        """The pair of round `r` in which one of the chairs is empty."""
        return min(r, self._m - r)
