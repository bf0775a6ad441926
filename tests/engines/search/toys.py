"""Random trees for the tests of the searches."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    pass

Path = tuple[int, ...]


class Toy:
    """A tree of random gains and horizons, fixed by a seed: sides and draws in any order."""

    def __init__(self, seed: int, draws: bool = False) -> None:
        self.seed, self.draws = seed, draws

    def pick(self, position: Path, salt: int, below: int) -> int:
        return hash((self.seed, salt, position)) % below

    def moves(self, position: Path) -> range:
        ends = len(position) >= 6 or (position and self.pick(position, 1, 10) == 0)
        return range(0 if ends else 1 + self.pick(position, 2, 3))

    def play(self, position: Path, move: int) -> tuple[Path, int]:
        child = (*position, move)
        return child, self.pick(child, 3, 5) - 2

    def maximises(self, position: Path) -> bool:
        return self.pick(position, 4, 2) == 0

    def horizon(self, position: Path) -> int:
        return self.pick(position, 5, 5) - 2

    def outcomes(self, position: Path) -> list[tuple[Fraction, Path]]:
        drawn = position and position[-1] >= 100
        if not self.draws or drawn or self.pick(position, 6, 10) < 6:
            return []
        weights = [1 + self.pick(position, 7 + each, 3) for each in range(3)]
        return [
            (Fraction(weight, sum(weights)), (*position, 100 + each)) for each, weight in enumerate(weights)
        ]


class ManyToy:
    """The same for seats that each want points of their own."""

    def __init__(self, seed: int, seats: int) -> None:
        self.toy, self.seats = Toy(seed), seats
        self.moves = self.toy.moves

    def play(self, position: Path, move: int) -> tuple[Path, tuple[int, ...]]:
        child = (*position, move)
        return child, self.some(child, 3)

    def to_move(self, position: Path) -> int:
        return self.toy.pick(position, 4, self.seats)

    def horizon(self, position: Path) -> tuple[int, ...]:
        return self.some(position, 5)

    def some(self, position: Path, salt: int) -> tuple[int, ...]:
        return tuple(self.toy.pick(position, 10 * salt + seat, 5) - 2 for seat in range(self.seats))
