"""Contests whose server is killed at boundaries of its disk: before and after anything becomes durable."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from tests.simulation.bots import Honest
from tests.simulation.network import CALM, MS, SECOND
from tests.simulation.server import SimulatedServer
from tests.simulation.world import World, Worlds

HOUR = 3600 * SECOND
#: No chance but in what a crash spares of the writes in progress.
QUEUED = replace(CALM, latency=(100_000, 100_001), longest_commit=3 * MS)

#: Is called at every boundary, with its number from 1.
Crash = Callable[[int, SimulatedServer], None]
AnyWorld = TypeVar("AnyWorld", bound=Worlds)
#: Plays contests whose server is killed at a boundary (0: never), or loses its `power` there. Returns how
#: many boundaries there were, too.
Play = Callable[..., tuple[AnyWorld, int]]


class Steady(Honest):
    """Always plays the first legal move."""

    def answer(self, line: str) -> None:
        self.wire.say(line, MS)

    def move(self) -> str:
        assert self.wire.view is not None
        return f"MOVE {self.wire.view.legal_moves[0]}"


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
        return alive and any(order.who == who for order in self._world.contest.status.overview().orders)


def at(*numbers: int, power: bool = False) -> Crash:
    return lambda number, server: server.crash(power) if number in numbers else None


#: The server is not killed.
NEVER = at()


def run(world: Worlds, crash: Crash = NEVER, arrivals: Mapping[str, int] | None = None) -> int:
    """Run a world to its end, as its `run`; returns the number of boundaries."""
    boundaries = 0

    def boundary() -> None:
        nonlocal boundaries
        boundaries += 1
        crash(boundaries, world.server)

    world.server.disk.boundary = boundary
    world.run(HOUR, arrivals)
    return boundaries


def killed_at(
    play: Play[AnyWorld],
    check: Callable[[AnyWorld], object],
    boundaries: Callable[[int], range],
    *,
    power: bool = False,
) -> None:
    """Check contests that are not disturbed, and those killed at `boundaries` out of as many as there are.

    `power`: at every third one the power is cut.
    """
    world, number_of_all = play()
    check(world)
    for index, number in enumerate(boundaries(number_of_all)):
        world, _ = play(number, **({"power": True} if power and index % 3 == 1 else {}))
        assert world.server.crashes == 1
        check(world)


def killed_now_and_then(play: Play[World], check: Callable[[World], object]) -> None:
    """Check a contest that is not disturbed, and those killed at each of two boundaries."""
    killed_at(play, check, lambda boundaries: range(boundaries // 4, boundaries, boundaries // 2), power=True)


def killed_everywhere(play: Play[World], check: Callable[[World], object], part: int, parts: int) -> None:
    """Check the contests killed at each boundary of a part; all may take longer than one test may."""
    killed_at(play, check, lambda boundaries: range(part, boundaries, parts), power=True)
