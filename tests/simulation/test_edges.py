"""A field of any size, an order or a death at any moment: what holds at each end and second start."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path
from random import Random

import pytest
from tests.simulation.channels import check_channels
from tests.simulation.edge_cells import FORMATS, LATE, MOMENTS, SCRIPTS, TERMS, Cell, drawn, joined, refused
from tests.simulation.edges import played
from tests.simulation.test_endings import check
from tests.slices import all_of

PAIRS = list(product(MOMENTS, SCRIPTS))
#: Of the pairs of a moment and a script, for `make test`.
SHORT = 12
#: Of those, in which all readers of the database are asked at each order, and at the second start.
LOOKED = 1
#: Fields, terms and deaths of each pair in the soak run.
DRAWN = 6
#: Scripts of each moment after which all channels are read, which takes seconds.
READ = 8


@all_of("form", FORMATS)
def test_a_field_is_taken_or_refused_by_one_line(form: str) -> None:
    for bots, terms in product(range(8), TERMS):
        problem = refused(Cell(form, bots, terms, "over", ""))
        if bots < 2:
            seats = 3 if terms == "three seats" else 2
            assert problem == f"bot: expected at least {seats}, for {seats} seats, got {bots}"
        elif problem is not None:
            assert re.fullmatch(r"(bot|contest\.\w+): expected [^\n]+, (got|because) [^\n]+", problem)
        else:
            assert terms != "stop" or form in ("round-robin", "gauntlet", "matches")


def of_pairs(seed: int, pairs: list[tuple[str, str]]) -> list[Cell]:
    rng = Random(seed)
    return [drawn(rng, *pair) for pair in pairs]


#: What failed once.
KNOWN = (
    # Aborted while its server stops, so that no server comes back for it.
    Cell("round-robin", 7, "validation", "before", "stop; stop; abort", kill=1, seed=759721462),
)


@all_of("cell", [*KNOWN, *of_pairs(1, Random(1).sample(PAIRS, SHORT))])
def test_an_order_or_a_death_at_a_moment(cell: Cell) -> None:
    played(cell)


@all_of("cell", of_pairs(2, Random(2).sample(PAIRS, LOOKED)))
def test_every_reader_tells_the_same_in_the_middle(cell: Cell) -> None:
    played(cell, check_channels)


#: Cells that showed a fault.
FOUND = (
    # The time was up while further games of a tied final were drawn: it was finished without them.
    Cell("groups", 7, "memory", "between", "time", 2, seed=336961976),
    # A removal was undone of a bot that was kicked: it was paired.
    Cell("round-robin", 3, "plain", "first", "kick ann; remove ann; undo"),
)


@all_of("cell", FOUND)
def test_what_failed_once(cell: Cell) -> None:
    played(cell)


@pytest.mark.soak
@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("part", range(DRAWN))
def test_every_order_or_death_at_every_moment(moment: str, part: int, soak_seed: int) -> None:
    rng = Random(f"{soak_seed} {moment} {part}")
    failed = []
    for script in SCRIPTS:
        cell = drawn(rng, moment, joined(rng, script))
        try:
            played(cell, check_channels)
        except AssertionError as error:
            failed.append(f"{cell}: {error}")
    assert not failed, "\n".join(failed)


@pytest.mark.soak
@pytest.mark.parametrize("moment", MOMENTS)
def test_every_channel_tells_the_same_after_an_order(moment: str, soak_seed: int, tmp_path: Path) -> None:
    rng = Random(f"{soak_seed} {moment}")
    for number, script in enumerate(rng.sample(SCRIPTS, READ)):
        cell = drawn(rng, moment, script)
        world = played(cell).world
        # Records, and messages of them, are as the games were played: tests/cli/test_jury_channels.py.
        changed = any(word in script for word in ("disqualify", "forfeit", "correct", LATE))
        if not changed and "end" in world.server.process.runs:
            assert world.server.finished is not None
            check(world, tmp_path / str(number), world.server.finished)
