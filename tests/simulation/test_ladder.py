"""A ladder with a server that is killed, bots that come late and bots that vanish."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from tests.simulation.bots import Honest
from tests.simulation.crashes import QUEUED, Steady, at, run
from tests.simulation.network import SECOND
from tests.simulation.world import Order, World
from tests.slices import rows

from arena_client.script import Close
from arena_protocol.record import VOID
from arena_server.core.deal import number_of
from arena_server.terms.config import ContestConfig

STEADY: dict[str, type[Honest]] = {f"b{number}": Steady for number in range(5)}
GAMES = 12


class Vanishing(Steady):
    """Leaves for good when its second game is over, perhaps into the offer of the third one."""

    may = frozenset({"disconnect"})
    games = 0

    def event(self, verb: str) -> None:
        if verb == "OVER":
            self.games += 1
            if self.games == 2:
                self.wire.act(Close())


def play(
    kinds: dict[str, type[Honest]],
    crashes: tuple[int, ...] = (),
    *,
    power: bool = False,
    games: int = GAMES,
    deals: str = "fresh",
    orders: Sequence[Order] = (),
) -> tuple[World, int]:
    """A ladder; the server is killed at these boundaries of its disk. Returns how many there were."""
    options = {"games": games} if games else {}
    config = ContestConfig(
        name="ladder",
        seed=5,
        options={"plies": 4, "lookahead": 2},
        format="ladder",
        format_options=options,
        deals=deals,
        absent_ms=120_000,
        storage_bytes=16,
        probation=0,
    )
    world = World(1, config, kinds, QUEUED, orders=orders)
    return world, run(world, at(*crashes, power=power))


def check(world: World, *, paired: bool = False) -> None:
    """All its games have a result, each under a number of its own."""
    assert world.server.finished == "finished"
    results = [record for record in world.records.values() if record.end != VOID]
    assert len(results) == GAMES
    assert sorted(map(number_of, world.records)) == list(range(1, len(world.records) + 1))
    progress = world.contest.status.progress()
    assert (progress.done, progress.total) == (GAMES, GAMES)
    if paired:
        boards = [(record.board, record.sequence) for record in results]
        assert all(boards.count(each) == 2 for each in boards)


@pytest.mark.parametrize("every", rows([34, 17], 2))
@pytest.mark.parametrize("deals", rows(["paired", "fresh"], 2))
def test_killed_at_boundaries_it_plays_all_games_once(deals: str, every: int) -> None:
    whole, boundaries = play(STEADY, deals=deals)
    check(whole, paired=deals == "paired")
    assert boundaries > 60
    for number in range(9, boundaries - 20, every):
        world, _ = play(STEADY, (number, number + 5), power=number % 2 == 0, deals=deals)
        assert world.server.crashes == 2
        check(world, paired=deals == "paired")


@pytest.mark.soak
def test_killed_at_every_boundary() -> None:
    _, boundaries = play(STEADY)
    for number in range(1, boundaries):
        world, _ = play(STEADY, (number,))
        check(world)


def test_a_bot_that_vanishes_holds_nobody_up() -> None:
    world, _ = play({**STEADY, "b4": Vanishing})
    check(world)
    played = [record.names for record in world.records.values()]
    assert sum("b4" in names for names in played) <= 3
    assert world.queue.now < 300 * SECOND


def test_it_is_open_until_the_organiser_closes_it() -> None:
    """Without a number of games it plays on, whatever is killed or stopped; void games are played again."""
    orders = [
        Order(when * SECOND, verb, when)
        for when, verb in ((2, "void"), (4, "stop"), (9, "void"), (12, "drain"))
    ]
    for crashes in ((70, 300),):
        world, _ = play(STEADY, crashes, games=0, orders=orders)
        progress = world.contest.status.progress()
        assert (progress.total, world.server.reasons["ladder"]) == (None, "stopped")
        assert progress.done > 30
        assert progress.void >= 2
        assert world.server.crashes == len(crashes)
