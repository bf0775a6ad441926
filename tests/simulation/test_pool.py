"""Orders and deaths at every moment of a contest whose games workers play, who are lost, late or lie."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from random import Random

import pytest
from tests.simulation.edge_cells import LATE, MOMENTS, SCRIPTS, Cell, drawn
from tests.simulation.pool import TERMS, lent
from tests.slices import all_of

#: No bot logs in, and none comes late: the workers start those of the file.
ORDERED = tuple(script for script in SCRIPTS if LATE not in script)
PAIRS = list(product(MOMENTS, ORDERED))
SHORT = 6


def cases(seed: object, pairs: list[tuple[str, str]]) -> Iterator[Cell]:
    rng = Random(f"{seed}")
    for moment, script in pairs:
        cell = drawn(rng, moment, script)
        while cell.terms not in TERMS:
            cell = drawn(rng, moment, script)
        # With an even seed there is no page, to which plies are shown as they are played.
        yield cell._replace(seed=2 * cell.seed)


@all_of("cell", list(cases(7, Random(7).sample(PAIRS, SHORT))))
def test_an_order_or_a_death_of_a_pool(cell: Cell) -> None:
    lent(cell)


@pytest.mark.soak
@pytest.mark.parametrize("moment", MOMENTS)
def test_every_order_or_death_of_a_pool(moment: str, soak_seed: int) -> None:
    failed = []
    for cell in cases(f"{soak_seed} {moment}", [(moment, script) for script in ORDERED]):
        try:
            lent(cell)
        except AssertionError as error:
            failed.append(f"{cell}: {error}")
    assert not failed, "\n".join(failed)
