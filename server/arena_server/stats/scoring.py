"""What a game is worth in a table: its points, or a value for a win, a draw and a loss.

    points      the points of the game; a win, a draw and a loss count 1, 1/2 and 0 in tie-breaks
    wins        1, 1/2 and 0
    3-1-0       these values; 3-1-0,bye=1: and this one for a bye, which else is worth a win

The text is what a database and a document have; a file has a table for the values.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Final

POINTS: Final = "points"
WINS: Final = "wins"
#: The greatest value of a game: the costs of a pairing of a Swiss have a bounded number of bits.
MOST: Final = 10
EXPECTED: Final = f"a whole number or a half from 0 to {MOST}"

_VALUE: Final = r"(\d{1,2}(?:\.5)?)"
_VALUES: Final = re.compile(f"{_VALUE}-{_VALUE}-{_VALUE}(?:,bye={_VALUE})?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Scoring:
    """The values of a game; with `by_points` the table counts the points of the games instead."""

    text: str
    win: Fraction = Fraction(1)
    draw: Fraction = Fraction(1, 2)
    loss: Fraction = Fraction(0)
    bye: Fraction = Fraction(1)

    @property
    def by_points(self) -> bool:
        return self.text == POINTS

    @property
    def has_values(self) -> bool:
        """Whether the values are other than those that a column of wins lets a reader check."""
        return self.text not in (POINTS, WINS)

    def of(self, games: int, wins: int, draws: int) -> Fraction:
        """The score in as many games, of which some are won and some drawn."""
        return wins * self.win + draws * self.draw + (games - wins - draws) * self.loss


BY_WINS: Final = Scoring(WINS)


@lru_cache(maxsize=64)
def scoring_of(text: str) -> Scoring:
    """Read what `text_of` prints. Raises ValueError for anything else."""
    if text in (POINTS, WINS):
        return Scoring(text)
    found = _VALUES.fullmatch(text)
    if found is None:
        raise ValueError(f"expected points, wins or values such as 3-1-0, got {text!r:.60}")
    win, draw, loss = map(Fraction, found.groups()[:3])
    _check(win, draw, loss)
    scoring = Scoring(text, win, draw, loss, win if found[4] is None else Fraction(found[4]))
    if max(win, scoring.bye) > MOST:
        raise ValueError(f"expected values up to {MOST}, got {text!r:.60}")
    return scoring


def text_of(table: Mapping[str, object]) -> str:
    """The text of the values in a table of a file. Raises ValueError for wrong ones."""
    missing = [key for key in ("win", "draw", "loss") if key not in table]
    unknown = sorted(table.keys() - {"win", "draw", "loss", "bye"})
    if missing or unknown:
        got = f"no {missing[0]}" if missing else unknown[0]
        raise ValueError(f"expected win, draw and loss, and bye if it is worth another, got {got}")
    values = {key: _value(key, value) for key, value in table.items()}
    win, draw, loss = (values[key] for key in ("win", "draw", "loss"))
    _check(win, draw, loss)
    bye = values.get("bye", win)
    return f"{float(win):g}-{float(draw):g}-{float(loss):g}" + ("" if bye == win else f",bye={float(bye):g}")


def _value(key: str, value: object) -> Fraction:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MOST:
        raise ValueError(f"{key}: expected {EXPECTED}, got {value!r:.60}")
    found = Fraction(value)
    if found.denominator > 2:
        raise ValueError(f"{key}: expected {EXPECTED}, got {value!r:.60}")
    return found


def _check(win: Fraction, draw: Fraction, loss: Fraction) -> None:
    if not (win >= draw >= loss and win > loss):
        got = f"{float(win):g}, {float(draw):g} and {float(loss):g}"
        raise ValueError(f"expected a win above a loss, and a draw between them, got {got}")
