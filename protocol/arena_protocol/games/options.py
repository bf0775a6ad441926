"""Reading the options of a small game: numbers that come as text (GAME) or as numbers (configuration).

It must not know: any particular game, what an option means.
"""

from __future__ import annotations

from collections.abc import Mapping

from arena_protocol.games.base import GameError


def whole_number(
    game: str, options: Mapping[str, object], key: str, default: int, low: int, high: int
) -> int:
    """Return option `key` as a number from `low` to `high`, `default` if it is absent.

    Raises GameError, one line that names the game, the option and what came.
    """
    value = options.get(key, default)
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= len(str(high)):
        value = int(value)
    if type(value) is not int or not low <= value <= high:  # a bool is no number here
        expected = str(low) if low == high else f"a whole number from {low} to {high}"
        raise GameError(f"{game}: {key} is {expected}, not {value!r}")
    return value
