"""A contest that ends early, with a server that is killed in every stage: the decision is a fact."""

from __future__ import annotations

from functools import cache

import pytest
from tests.simulation.bots import Honest
from tests.simulation.crashes import Steady, run
from tests.simulation.network import MS
from tests.simulation.server import SimulatedServer
from tests.simulation.test_rounds import SLOW
from tests.simulation.world import World

from arena_server.core.facts import Separated
from arena_server.core.journal import KIND_OF, fact_of
from arena_server.store.journal import unpack
from arena_server.terms.config import ContestConfig

GAMES = 6
TOTAL = 15 * GAMES
CONFIG = ContestConfig(
    name="early", seed=5, options={"plies": 2}, games_per_pair=GAMES, scoring="wins", stop="top:1"
)


class Best(Steady):
    """Plays the move that gains most."""

    sign = 1

    def move(self) -> str:
        assert self.wire.view is not None
        position, moves = self.wire.view.position, self.wire.view.legal_moves
        return f"MOVE {max(moves, key=lambda move: self.sign * position.gain(int(move)))}"


class Worst(Best):
    """Plays the move that gains least, and takes its time: when one game ends another one runs."""

    sign = -1

    def answer(self, line: str) -> None:
        self.wire.say(line, self.rng.randrange(5 * MS, 60 * MS))


FIELD: dict[str, type[Honest]] = {"ann": Best, **dict.fromkeys(("bob", "cid", "dan", "eve", "fay"), Worst)}


@cache
def whole() -> tuple[World, int, int]:
    """The contest of a server that is not killed."""
    return play()


def play(crash: int = 0, *, power: bool = False, after: bool = False) -> tuple[World, int, int]:
    """A contest; the server is killed at boundary `crash` of its disk, from the decision on if `after` it.

    Returns how many boundaries there were, and at which the decision was durable first.
    """
    world = World(1, CONFIG, FIELD, SLOW)
    decided = 0

    def kill(number: int, server: SimulatedServer) -> None:
        nonlocal decided
        if not decided and decisions(world):
            decided = number
        if crash and (number == crash or (after and decided and number == decided + crash)):
            server.crash(power)

    boundaries = run(world, kill)
    return world, boundaries, decided


def decisions(world: World) -> list[Separated]:
    name = KIND_OF[Separated].encode()
    entries = (
        fact_of(entry)
        for kind, data, *_ in world.server.disk.durable("early")
        # It is asked at every boundary: only what may hold a decision is read.
        if kind == "entries" and name in data
        for entry in unpack(data)
    )
    return list({fact for fact in entries if isinstance(fact, Separated)})


def check(world: World) -> Separated:
    """It has ended early once and for all, and no game began after that."""
    assert world.server.finished == "finished"
    (decision,) = decisions(world)
    progress = world.contest.status.progress()
    assert decision.names == progress.separated == ("ann",)
    assert progress.standings[0].name == "ann"
    assert progress.total == TOTAL
    # Of the three games that six bots play at once two may still have run.
    assert decision.games <= progress.done <= decision.games + 2 < TOTAL
    return decision


def test_it_ends_early_as_finished() -> None:
    world, boundaries, decided = whole()
    decision = check(world)
    assert decision.games % (TOTAL // 10) == 0, "it is decided after tenths of all games"
    assert 0 < decided < boundaries
    assert world.contest.status.progress().unplayed == {}
    assert world.contest.status.held()[1] == ()


@pytest.mark.soak
def test_killed_at_boundaries_it_decides_once() -> None:
    _, boundaries, _ = whole()
    for at in range(boundaries // 3, boundaries, boundaries // 2):
        world, _, _ = play(at, power=at % 2 == 0)
        assert world.server.crashes == 1
        check(world)


def test_killed_round_the_decision_it_is_the_same() -> None:
    """Before the result that decides is stored, between that and the fact, and after the fact."""
    undisturbed, boundaries, decided = whole()
    for at in range(decided - 1, min(boundaries, decided + 2)):
        world, _, _ = play(at)
        assert check(world) == check(undisturbed), f"killed at boundary {at}"


@pytest.mark.soak
def test_killed_at_every_boundary_and_again_after_the_decision() -> None:
    _, boundaries, _ = whole()
    for at in range(1, boundaries):
        check(play(at)[0])
    for at in range(1, 8):
        world, _, _ = play(at, after=True)
        check(world)
