"""Two contests on one server, and a third added late: whatever is ordered in one, the others do not change.

The first is a cell of `test_edges.py`, with its orders and deaths. A bot has one token for all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from random import Random
from typing import NamedTuple

import pytest
from tests.simulation.crashes import HOUR, QUEUED
from tests.simulation.edge_cells import (
    FORMATS,
    MOMENTS,
    NAMES,
    SCRIPTS,
    Cell,
    config_of,
    drawn,
    refused,
)
from tests.simulation.edges import Player, Watched, check_end, check_second_start, check_table
from tests.simulation.network import MS
from tests.simulation.world import Part, Plan, Worlds
from tests.slices import all_of

from arena_server.stats.standings import row_json

PAIRS = list(product(MOMENTS, SCRIPTS))
SHORT = 2
DRAWN = 3
#: Terms under which the games of a contest follow from its seed alone, not from when its bots come.
CALM = ("plain", "paired", "wins", "memory", "anonymous", "validation")
#: In a ladder the bots that are free meet, and of few bots of two owners not every round can be drawn.
TIMELESS = tuple(form for form in FORMATS if form not in ("ladder", "swiss apart"))


class Neighbours(NamedTuple):
    """`cell` is the contest with the orders; `form`, `bots` and `terms` are of the calm ones beside it.

    `third`: when the third is added, in ms.
    """

    cell: Cell
    form: str
    bots: int
    terms: str
    third: int


def of_pair(rng: Random, moment: str, script: str) -> Neighbours:
    cell = drawn(rng, moment, script)
    while True:
        form, bots, terms = rng.choice(TIMELESS), rng.randrange(2, 6), rng.choice(CALM)
        if refused(Cell(form, bots, terms, "over", "")) is None:
            return Neighbours(cell, form, bots, terms, rng.choice((1, 60, 150, 400, 2_000)))


def calm(case: Neighbours, name: str) -> Plan:
    cell = Cell(case.form, case.bots, case.terms, "over", "", seed=case.cell.seed + len(name))
    config = replace(config_of(cell), name=name, absent_ms=60_000)
    return Plan(config, dict.fromkeys(NAMES[: case.bots], Player), named=True)


def games_of(part: Part) -> list[tuple[object, ...]]:
    """Who has played what, in whichever order."""
    records = part.checker.records.values()
    return sorted(
        (record.game_id, record.names, record.totals, record.end, [ply.move for ply in record.plies])
        for record in records
    )


def check_calm(part: Part, ending: str | None, *, undisturbed: bool) -> None:
    """It has ended as if it had been alone."""
    progress = part.contest.status.progress()
    assert ending == "finished" == progress.ended
    assert progress.done == progress.total
    assert part.contest.status.overview().orders == ()
    check_table(progress.standings)
    if undisturbed:
        alone = Worlds(part.plan.config.seed or 0, [part.plan], QUEUED)
        alone.run(HOUR)
        assert games_of(part) == games_of(alone.parts[0])
        rows = alone.parts[0].contest.status.progress().standings
        assert [row_json(row) for row in progress.standings] == [row_json(row) for row in rows]


def play(case: Neighbours) -> None:
    watched = Watched(case.cell, [calm(case, "calm")])
    world = watched.world

    def add() -> None:
        if not world.server.alive:
            world.queue.after(50 * MS, add)
        elif world.server.finished is None:
            world.add(calm(case, "third"))

    world.queue.after(case.third * MS, add)
    watched.run()
    assert world.ending is not None
    check_end(world)
    check_second_start(world)
    # What runs when the server is stopped is void, and played again on another deal.
    undisturbed = "stop" not in case.cell.script
    for part in world.parts[1:]:
        check_calm(part, world.server.reasons[part.plan.config.name], undisturbed=undisturbed)


def cases(seed: object, pairs: list[tuple[str, str]]) -> Iterator[Neighbours]:
    rng = Random(f"{seed}")
    return (of_pair(rng, *pair) for pair in pairs)


@all_of("case", list(cases(3, Random(3).sample(PAIRS, SHORT))))
def test_an_order_or_a_death_beside_others(case: Neighbours) -> None:
    play(case)


@pytest.mark.soak
@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("part", range(DRAWN))
def test_every_order_or_death_beside_others(moment: str, part: int, soak_seed: int) -> None:
    failed = []
    for case in cases(f"{soak_seed} {moment} {part}", [(moment, script) for script in SCRIPTS]):
        try:
            play(case)
        except AssertionError as error:
            failed.append(f"{case}: {error}")
    assert not failed, "\n".join(failed)
