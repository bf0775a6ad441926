"""Seasons at their edges: who may come comes, nothing is lost, and each stage ends as it should."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from random import Random

import pytest
from tests.simulation.seasons import MOMENTS, ORDERED, SeasonCell, drawn_season, played
from tests.slices import all_of

PAIRS = list(product(MOMENTS, ORDERED))
SHORT = 3


def cases(seed: object, pairs: list[tuple[str, str]]) -> Iterator[SeasonCell]:
    rng = Random(f"{seed}")
    return (drawn_season(rng, *pair) for pair in pairs)


def play(case: SeasonCell) -> None:
    played(case)


@all_of("case", list(cases(5, [*Random(5).sample(PAIRS, SHORT - 1), ("three first", "kick {bot}; stop")])))
def test_an_order_or_a_death_in_a_season(case: SeasonCell) -> None:
    play(case)


@pytest.mark.soak
@pytest.mark.parametrize("moment", MOMENTS)
def test_every_order_or_death_at_every_moment_of_a_season(moment: str, soak_seed: int) -> None:
    failed = []
    for case in cases(f"{soak_seed} {moment}", [(moment, script) for script in ORDERED]):
        try:
            play(case)
        except AssertionError as error:
            failed.append(f"{case}: {error}")
    assert not failed, "\n".join(failed)
