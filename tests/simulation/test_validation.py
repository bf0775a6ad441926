"""Validation games with a server that is killed: a bot is paired after one without a fault."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.simulation.crashes import (
    QUEUED,
    Organiser,
    Steady,
    at,
    killed_everywhere,
    killed_now_and_then,
    run,
)
from tests.simulation.network import MS, SECOND
from tests.simulation.world import World

from arena_server.terms.config import ContestConfig

#: Of the boundaries.
PARTS = 4
CONFIG = ContestConfig(
    name="life",
    seed=3,
    options={"plies": 4, "lookahead": 2},
    games_per_pair=2,
    absent_ms=120_000,
    storage_bytes=16,
    validation=True,
)


class Mended(Steady):
    """Its first version plays no legal move; the second, which comes after the ERROR, plays well."""

    may = frozenset({"illegal"})
    mended = False

    def received(self, verb: str, tokens: list[str]) -> None:
        if verb == "ERROR" and tokens[1] == "validation":
            self.mended = True
            self.wire.vanish(back=SECOND)
        super().received(verb, tokens)

    def move(self) -> str:
        return super().move() if self.mended else "MOVE 99"


class Stubborn(Steady):
    """Connects again after each fault, and plays as before."""

    may = frozenset({"illegal"})

    def received(self, verb: str, tokens: list[str]) -> None:
        if verb == "ERROR" and tokens[1] == "validation":
            self.wire.vanish(back=SECOND)
        super().received(verb, tokens)

    def move(self) -> str:
        return "MOVE 99"


KINDS = {"ann": Steady, "bob": Steady, "eve": Mended, "mad": Stubborn, "late": Steady}


def play(crash: int = 0, *, power: bool = False, **config: Any) -> tuple[World, int]:
    """A contest that a bot joins late; returns it with the number of its writes."""
    world = World(1, replace(CONFIG, **config), KINDS, QUEUED, late=frozenset({"late"}))
    add = world.entrants["late"]
    Organiser(world).give("add", "late", then=world.clients["late"].connect, entrant=add)
    return world, run(world, at(crash, power=power), dict.fromkeys(KINDS.keys() - {"late"}, 5 * MS))


def check(world: World) -> None:
    """All but the bot that never plays well are paired, without a fault in the table."""
    good = KINDS.keys() - {"mad"}
    assert world.checker.validated == good
    progress = world.contest.status.progress()
    assert progress.ended == "incomplete"
    assert {row.name: row.games for row in progress.standings} == dict.fromkeys(good, 6) | {"mad": 0}
    assert not any(row.faults for row in progress.standings)
    assert all(number.startswith("v") for number in world.checker.validations)
    faulty = [each for each in world.checker.validations.values() if "mad" in each.names and each.faults]
    assert len(faulty) >= CONFIG.probation, "it has as many as make a probation"
    assert progress.unplayed == {"on probation: mad": 8}


def test_a_contest_in_which_one_bot_is_mended_and_one_is_not() -> None:
    killed_now_and_then(play, check)


@pytest.mark.soak
@pytest.mark.parametrize("part", range(1, PARTS + 1))
def test_killed_at_every_boundary(part: int) -> None:
    killed_everywhere(play, check, part, PARTS)
