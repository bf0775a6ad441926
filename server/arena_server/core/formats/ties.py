"""What decides a tied pairing of a bracket: the key `tie`; without it `extra_pairs` and the scoring.

    points         more points in all games of the pairing; only as the first step
    extra:3        up to three times two more games, one from each seat; extra is extra:1
    sudden-death:5 up to five times one more game, the seats in turn; sudden-death is sudden-death:100
    seed           the better seed; what is left after all steps is decided so, too

The steps are gone through in their order, until one bot has won more games (or has more points, where points
decide).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from arena_server.core.formats.rounds_json import BY_EXTRA, BY_SUDDEN_DEATH
from arena_server.terms.formats import Terms

POINTS: Final = "points"
EXTRA: Final = "extra"
SUDDEN_DEATH: Final = "sudden-death"
SEED: Final = "seed"
#: How often a pairing plays on at most, in all steps together.
MOST: Final = 100
_STEP: Final = re.compile(r"(points|seed|(?:extra|sudden-death)(?::([1-9][0-9]{0,2}))?)", re.ASCII)
EXPECTED: Final = "expected steps such as 'points,extra:3,sudden-death,seed'"


@dataclass(frozen=True, slots=True)
class TieRule:
    """`further` has for each time that a tied pairing plays on how many games it plays, and what that is."""

    by_points: bool
    further: tuple[tuple[int, str], ...] = ()


def read_tie(text: object) -> TieRule:
    """The steps of a text with commas between them. Raises ValueError."""
    by_points, further = False, list[tuple[int, str]]()
    if not isinstance(text, str):
        raise ValueError(f"{EXPECTED}, got {text!r:.60}")
    steps = text.split(",")
    for place, step in enumerate(steps):
        found = _STEP.fullmatch(step)
        if found is None:
            raise ValueError(f"{EXPECTED}, got {text!r:.60}")
        if step == POINTS:
            if place:
                raise ValueError(f"expected points as the first step, got {text!r:.60}")
            by_points = True
        elif step == SEED:
            if place < len(steps) - 1:
                raise ValueError(f"expected seed as the last step, got {text!r:.60}")
        elif step.startswith(EXTRA):
            further += [(2, BY_EXTRA)] * int(found[2] or 1)
        else:
            further += [(1, BY_SUDDEN_DEATH)] * (int(found[2]) if found[2] else MOST - len(further))
    if len(further) > MOST:
        raise ValueError(f"expected a pairing to play on at most {MOST} times, got {text!r:.60}")
    return TieRule(by_points, tuple(further))


def check_tie(text: object) -> None:
    """Raises ValueError for a text that says nothing of ties; "" leaves it to the other keys."""
    if text != "":
        read_tie(text)


def read_further(terms: Terms) -> tuple[tuple[int, str], ...]:
    """`TieRule.further` of the key `tie` alone."""
    return read_tie(terms.options["tie"]).further if terms.options.get("tie") else ()


def tie_rule(terms: Terms, extra_pairs: int) -> TieRule:
    """The rule of a contest; `extra_pairs` is the value of that key."""
    text = str(terms.options.get("tie", ""))
    return read_tie(text) if text else TieRule(terms.by_points, ((2, BY_EXTRA),) * extra_pairs)
