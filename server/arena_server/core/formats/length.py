"""How long a contest is, and by how much the organiser may extend or shorten it: one rule for all formats."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from arena_server.terms.formats import FormatError

#: The most games of a contest that is extended.
MOST_GAMES: Final = 1_000_000
#: More than this many times the length of a contest may be a slip of the keyboard.
SUSPICIOUS: Final = 10
#: What a length counts.
GAMES, PAIR_GAMES, ROUNDS = "games", "games for each group", "rounds"


@dataclass(frozen=True, slots=True)
class Length:
    """`now` of `unit`; it may become `least` to `most`, in steps of `step`. `why` none can be more."""

    now: int
    least: int
    most: int
    unit: str
    step: int = 1
    why: str = f"a contest has at most {MOST_GAMES:,} games"

    def longer(self, by: int) -> int:
        """The length with `by` more. Raises FormatError for a number by which it cannot be extended."""
        self.check_step(by)
        if self.now + by > self.most:
            most = max(0, self.most - self.now)
            raise FormatError(
                f"expected to extend by at most {self._counted(most)}, as {self.why}, got {by:,}"
            )
        return self.now + by

    def shorter(self, by: int) -> int:
        """The length with `by` less. Raises FormatError if more than what is left is played or drawn."""
        self.check_step(by)
        if self.now - by < self.least:
            most = max(0, self.now - self.least)
            raise FormatError(
                f"expected to shorten by at most {self._counted(most)}, as {self.least:,} "
                f"have begun or are the least, got {by:,}"
            )
        return self.now - by

    def is_suspicious(self, by: int) -> bool:
        """Whether `by` is that many that the organiser is asked once more."""
        return by > SUSPICIOUS * self.now

    def check_step(self, by: int) -> None:
        """Raise FormatError for a number by which no contest of this format can change."""
        if by < 1 or by % self.step:
            unit = self.unit.split()[0]
            what = f"a multiple of {self.step} {unit}" if self.step > 1 else f"a number of {unit} above 0"
            raise FormatError(f"expected {what}, got {by}")

    def _counted(self, number: int) -> str:
        unit = self.unit.replace("games", "game").replace("rounds", "round") if number == 1 else self.unit
        return f"{number:,} {unit}"
