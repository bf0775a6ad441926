"""Several contests on one server, with everything that may go wrong: none of them harms another."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.simulation.bots import Honest
from tests.simulation.network import MS, ROUGH, SECOND, seeded
from tests.simulation.process import SimulatedFault
from tests.simulation.scenario import LIMIT, draw, orders
from tests.simulation.world import Plan, Worlds
from tests.slices import rows

from arena_server.core.contest import Contest
from arena_server.core.events import Event, Stored
from arena_server.terms.config import ContestConfig

HOUR = 3600 * SECOND


def plans(seed: int, count: int) -> list[Plan]:
    """`count` drawn contests; a bot has a key of its own in each of them, and every second one is named."""
    drawn = [draw(seed + number) for number in range(count)]
    return [
        Plan(scenario.config, scenario.kinds, scenario.slots, named=number % 2 == 1)
        for number, scenario in enumerate(drawn)
    ]


def crowd(seed: int) -> Worlds:
    """Three drawn contests on a server that stalls, is stopped, is killed and loses its power."""
    return Worlds(seed, plans(3 * seed, 3), replace(ROUGH, stall_one_in=600), orders(seeded(seed)))


#: Those of 3 and of 7 take as long as all others.
@pytest.mark.parametrize("seed", rows([1, 2, 4, 5, 7, 6, 8, 3], 8))
def test_every_contest_plays_to_its_end(seed: int) -> None:
    world = crowd(seed)
    world.run(LIMIT)
    for part in world.parts:
        assert part.checker.finished in ("finished", "incomplete")


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(100, 400))
def test_many_crowds(seed: int) -> None:
    crowd(seed).run(LIMIT)


def steady(name: str, **config: object) -> Plan:
    """A contest of two honest bots, which have the same names in every contest."""
    options: dict[str, object] = {"plies": 4, "lookahead": 2}
    given = ContestConfig(name=name, seed=3, options=options, games_per_pair=6, absent_ms=60_000)
    return Plan(replace(given, **config), {"ann": Honest, "bob": Honest})  # type: ignore[arg-type]


def test_the_key_tells_which_contest_a_bot_means() -> None:
    world = Worlds(1, [steady("friday"), steady("saturday")])
    world.run(HOUR)
    for part in world.parts:
        assert part.checker.finished == "finished"
        assert len(part.checker.records) == 6
        assert {record.contest for record in part.checker.records.values()} == {part.plan.config.name}


class Raising(Contest):
    """Raises when its second result is durable."""

    results = 0

    def feed(self, event: Event, now: int) -> None:
        self.results += isinstance(event, Stored)
        if self.results == 2:
            raise SimulatedFault
        super().feed(event, now)


def test_a_contest_that_raises_is_closed_and_the_others_go_on() -> None:
    world = Worlds(1, [replace(steady("broken"), contest=Raising), steady("sound")])
    broken, sound = world.parts
    for client in broken.clients.values():
        client.bot.returns = False
    world.run(HOUR)
    assert list(world.server.closed) == ["broken"]
    assert sound.checker.finished == "finished"
    assert len(sound.checker.records) == 6
    # What was durable stays: a server that is started again goes on from there.
    past = world.server.disk.past("broken")
    assert len(past.results) == 2
    assert broken.make(world.queue.now, past).status.progress().done == 2


def test_a_stall_voids_the_games_of_every_contest() -> None:
    world = Worlds(1, [steady("friday", stall_ms=500), steady("saturday", stall_ms=500)])
    world.queue.after(200 * MS, lambda: world.server.process.stall(2 * SECOND))
    world.run(HOUR)
    for part in world.parts:
        assert part.checker.finished == "finished"
