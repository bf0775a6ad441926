"""Bots come, leave and come back, the contest is extended and shortened, and its server is killed."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest
from tests.simulation.bots import Honest
from tests.simulation.crashes import (
    QUEUED,
    Organiser,
    Steady,
    at,
    killed_everywhere,
    killed_now_and_then,
    run,
)
from tests.simulation.network import SECOND
from tests.simulation.world import World
from tests.slices import rows

from arena_protocol.record import VOID
from arena_server.terms.config import ContestConfig


class Leaving(Steady):
    """The organiser withdraws it: its keys are dead."""

    may = frozenset({"disconnect"})


#: Of the boundaries.
PARTS = 10
KINDS: dict[str, type[Honest]] = {"ann": Steady, "bob": Steady, "eve": Leaving, "late": Steady}
CONFIG = ContestConfig(
    name="life",
    seed=3,
    options={"plies": 2, "lookahead": 2},
    games_per_pair=8,
    absent_ms=120_000,
    storage_bytes=16,
)


def play(crash: int = 0, *, power: bool = False, **config: Any) -> tuple[World, int]:
    """A late bot joins, one leaves and comes back, and each pair plays more, or there is a round more."""
    world = World(1, replace(CONFIG, **config), KINDS, QUEUED, late=frozenset({"late"}))
    organiser = Organiser(world)

    def joined() -> None:
        world.clients["late"].connect()
        if world.config.format == "swiss":
            organiser.give("extend", "1", then=extended)
        else:
            organiser.give("extend", "4", then=too_long)

    def too_long() -> None:
        organiser.give("shorten", "2", then=extended)

    def extended() -> None:
        organiser.give("remove", "eve", then=left)

    def left() -> None:
        organiser.give("add", "eve", then=world.clients["eve"].connect, entrant=world.entrants["eve"])

    organiser.give("add", "late", then=joined, entrant=world.entrants["late"])
    return world, run(world, at(crash, power=power), dict.fromkeys(("ann", "bob", "eve"), 0))


def meetings(world: World) -> Counter[frozenset[str]]:
    """How many games with a result each pair has."""
    return Counter(frozenset(record.names) for record in world.records.values() if record.end != VOID)


def check(world: World) -> None:
    assert world.server.finished == "finished"
    assert meetings(world) == {frozenset(pair): 10 for pair in combinations(KINDS, 2)}
    assert world.contest.status.progress().total == 60
    assert {row.games for row in world.contest.status.progress().standings} == {30}


def test_a_round_robin_in_which_bots_come_and_go() -> None:
    killed_now_and_then(play, check)


@pytest.mark.soak
@pytest.mark.parametrize("part", range(1, PARTS + 1))
def test_killed_at_every_boundary(part: int) -> None:
    killed_everywhere(play, check, part, PARTS)


@pytest.mark.parametrize("kills", rows([1, 10], 2))
@pytest.mark.parametrize(
    ("name", "options"),
    rows([("swiss", {"rounds": 2}), ("gauntlet", {"challengers": 2}), ("ladder", {"games": 30})], 3),
)
def test_other_formats_in_which_bots_come_and_go(name: str, options: dict[str, int], kills: int) -> None:
    config: dict[str, Any] = {
        "format": name,
        "format_options": options,
        "games_per_pair": 20 if name == "swiss" else 8,
    }
    whole, boundaries = play(**config)
    moments = range(boundaries // (kills + 1), boundaries, boundaries // (kills + 1) + 1)
    for world in (whole, *(play(number, **config)[0] for number in moments)):
        assert world.server.finished == "finished"
        progress = world.contest.status.progress()
        assert progress.done == progress.total == sum(meetings(world).values())
        assert next(row.games for row in progress.standings if row.name == "late") > 0
        assert world.queue.now < 600 * SECOND
