"""A pairing in which a constant of an engine has another value: what the constant is worth.

It must not know: which constants there are, what came out.
"""

from __future__ import annotations

from dataclasses import dataclass

from figures_change import changed
from figures_measure import Pairing

from arena_engines.match import Pairs


@dataclass(frozen=True)
class Varied(Pairing):
    """A pairing with `constant` of a module set to `value`; a tuple takes the constant's own type."""

    module: str = ""
    constant: str = ""
    value: float | tuple[int, ...] = 0

    @property
    def key(self) -> str:
        """What is measured, the constant included."""
        return f"{super().key}, {self.constant}={self.value}"

    def play(self, number: int, pairs: Pairs) -> None:
        """Play a deal with the constant changed."""
        with changed(self.module, self.constant, self.value):
            super().play(number, pairs)
