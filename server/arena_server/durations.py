"""Durations as people write them in a configuration: `20s`, `500ms`, `2m`, `1h`.

It must not know: which key a duration belongs to, nor any clock.
"""

from __future__ import annotations

import re

_UNITS_MS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000}
_DURATION = re.compile(r"(\d{1,9})(?:\.(\d{1,3}))?\s?(ms|s|m|h)", re.ASCII)

EXPECTED = "a duration such as '500ms', '20s', '2m' or '1h'"


def parse_duration(text: str) -> int:
    """Whole milliseconds of `text`.

    Raises ValueError, saying what was expected, for anything else, and for a fraction that
    is no whole number of milliseconds.
    """
    found = _DURATION.fullmatch(text)
    if found is None:
        raise ValueError(f"expected {EXPECTED}")
    whole, fraction, unit = found[1], found[2] or "", found[3]
    # Thousandths of the unit first, so that no float rounds a clock.
    thousandths = (int(whole) * 1000 + int(fraction.ljust(3, "0") or 0)) * _UNITS_MS[unit]
    if thousandths % 1000:
        raise ValueError("expected a whole number of milliseconds")
    return thousandths // 1000


def format_duration(milliseconds: int) -> str:
    """The shortest text that `parse_duration` reads back as `milliseconds`."""
    for unit in ("h", "m", "s"):
        if milliseconds and milliseconds % _UNITS_MS[unit] == 0:
            return f"{milliseconds // _UNITS_MS[unit]}{unit}"
    return f"{milliseconds}ms"
