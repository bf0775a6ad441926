"""Bots are added, withdrawn and brought back, and the contest is extended, with a server that is killed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest
from tests.simulation.bots import Honest
from tests.simulation.network import MS, SECOND
from tests.simulation.test_crashes import HOUR, QUEUED, Steady
from tests.simulation.world import World

from arena_protocol.record import VOID
from arena_server.core.config import ContestConfig


class Leaving(Steady):
    """The organiser withdraws it: its keys are dead."""

    may = frozenset({"disconnect"})


#: A test of all boundaries would be longer than one test may be.
PARTS = 10
KINDS: dict[str, type[Honest]] = {"ann": Steady, "bob": Steady, "eve": Leaving, "late": Steady}
CONFIG = ContestConfig(
    name="life", seed=3, options={"plies": 2, "lookahead": 2}, games_per_pair=8, absent_ms=120_000
)


class Organiser:
    """Gives an order again until it is durable, as a person does who has seen no answer.

    A power cut may take back an order that was answered: it is not among the orders then, and given again.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self._orders: set[str] = set()

    def give(self, verb: str, target: str, then: Callable[[], None], **more: Any) -> None:
        """Call `then` when it is carried out, and again if it was taken back."""
        world, who = self._world, f"{verb} {target}"

        def attempt() -> None:
            server = world.server
            if self._is_known(who):
                then()
                world.queue.after(SECOND, look)
            elif server.finished is None:
                server.order("life", verb, target, who=who, **more)
                world.queue.after(50 * MS, attempt)

        def look() -> None:
            server = world.server
            if server.finished is None and server.alive and not self._is_known(who):
                attempt()
            elif server.finished is None and not (server.alive and server.crashes):
                world.queue.after(SECOND, look)

        if who not in self._orders:
            self._orders.add(who)
            world.queue.after(20 * MS, attempt)

    def _is_known(self, who: str) -> bool:
        alive = self._world.server.alive
        return alive and any(order.who == who for order in self._world.contest.overview().orders)


def play(crash: int = 0, *, power: bool = False, **config: Any) -> tuple[World, int]:
    """A late bot joins, one leaves and comes back, and there are two games more for each pair, or a round."""
    world = World(1, replace(CONFIG, **config), KINDS, QUEUED, late=frozenset({"late"}))
    organiser, boundaries = Organiser(world), 0

    def boundary() -> None:
        nonlocal boundaries
        boundaries += 1
        if boundaries == crash:
            world.server.crash(power)

    def joined() -> None:
        world.clients["late"].connect()
        organiser.give("extend", "1" if world.config.format == "swiss" else "2", then=extended)

    def extended() -> None:
        organiser.give("remove", "eve", then=left)

    def left() -> None:
        organiser.give("add", "eve", then=world.clients["eve"].connect, entrant=world.entrants["eve"])

    world.server.disk.boundary = boundary
    organiser.give("add", "late", then=joined, entrant=world.entrants["late"])
    world.run(HOUR, dict.fromkeys(("ann", "bob", "eve"), 0))
    return world, boundaries


def meetings(world: World) -> Counter[frozenset[str]]:
    """How many games with a result each pair has."""
    return Counter(frozenset(record.names) for record in world.records.values() if record.end != VOID)


def check(world: World) -> None:
    assert world.server.finished == "finished"
    assert meetings(world) == {frozenset(pair): 10 for pair in combinations(KINDS, 2)}
    assert world.contest.progress().total == 60
    assert {row.games for row in world.contest.progress().standings} == {30}


def test_a_round_robin_in_which_bots_come_and_go() -> None:
    world, boundaries = play()
    check(world)
    for at in range(1, boundaries, boundaries // 12):
        world, _ = play(at, power=at % 2 == 0)
        assert world.server.crashes == 1
        check(world)


@pytest.mark.soak
@pytest.mark.parametrize("first", range(1, PARTS + 1))
def test_killed_at_every_boundary(first: int) -> None:
    _, boundaries = play()
    for at in range(first, boundaries, PARTS):
        check(play(at, power=at % 2 == 0)[0])


@pytest.mark.parametrize(
    ("name", "options"),
    [("gauntlet", {"challengers": 2}), ("ladder", {"games": 30}), ("swiss", {"rounds": 2})],
)
def test_other_formats_in_which_bots_come_and_go(name: str, options: dict[str, int]) -> None:
    config: dict[str, Any] = {
        "format": name,
        "format_options": options,
        "games_per_pair": 20 if name == "swiss" else 8,
    }
    world, boundaries = play(**config)
    for at in (0, *range(1, boundaries, boundaries // 6)):
        world, _ = play(at, **config)
        assert world.server.finished == "finished"
        progress = world.contest.progress()
        assert progress.done == progress.total == sum(meetings(world).values())
        assert next(row.games for row in progress.standings if row.name == "late") > 0
        assert world.queue.now < 600 * SECOND
