"""The lateness of moves, in virtual time: what is charged beyond the plan is expected of the next moves."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena_engines.engine import AnyPosition
from arena_engines.insertion.fixed_depth import InsertionPosition
from arena_engines.insertion.master.engine import OVERHEAD, budget
from arena_engines.lateness import Lateness

from .positions import at

LEAST = 3.0


class Player:
    """A player whose moves take their plan; `charge` is what the referee measures beyond it."""

    def __init__(self, clock: float = 1_000_000, increment: int = 0) -> None:
        self.seconds = 0.0
        self.clock = clock
        self.increment = increment
        self.moves: tuple[str, ...] = ()
        self.lateness = Lateness(LEAST, lambda: self.seconds)

    def position(self) -> AnyPosition:
        first = at("...../...../...../...../.....", "1" * 300, clock=int(self.clock))
        return replace(first, moves=self.moves, increment=self.increment)

    def move(self, planned: float, spent: float, charged: float) -> None:
        self.lateness.begin(self.position())
        self.seconds += spent / 1000
        self.lateness.end(planned)
        self.clock += self.increment - charged
        self.moves += ("1", "2")


@given(st.floats(0, 50), st.sampled_from([0, 7]))
def test_a_steady_lateness_is_learnt(late: float, increment: int) -> None:
    player = Player(increment=increment)
    for _ in range(80):
        player.move(10, 10, 10 + late)
    assert player.lateness.typical == pytest.approx(max(LEAST, late), abs=1.1)
    assert player.lateness.typical <= player.lateness.cautious <= max(LEAST, late) + 5


def test_a_search_beyond_its_time_is_late_also_without_a_clock() -> None:
    player = Player()
    for _ in range(60):
        player.lateness.begin(replace(player.position(), clock=None))
        player.seconds += 0.030
        player.lateness.end(10)
    assert player.lateness.typical == pytest.approx(20, abs=0.5)


def test_a_search_that_ends_early_is_not_late() -> None:
    player = Player()
    for _ in range(60):
        player.move(planned=100, spent=1, charged=1)
    assert player.lateness.cautious == pytest.approx(LEAST, abs=1)


def test_the_wire_counts_behind_a_search_that_ends_early() -> None:
    player = Player()
    for _ in range(60):
        player.move(planned=100, spent=1, charged=21)
    assert player.lateness.typical == pytest.approx(20, abs=0.5)


def test_one_long_stall_counts_little() -> None:
    player = Player()
    player.move(10, 10, 5_000)
    player.move(10, 10, 10)
    assert player.lateness.typical <= 2 * LEAST


def test_another_game_is_not_charged_to_the_last_move() -> None:
    player = Player()
    player.move(10, 10, 10)
    player.moves = ()
    player.clock -= 500
    player.move(10, 10, 10)
    assert player.lateness.typical == LEAST


@given(st.lists(st.floats(6, 8), min_size=100, max_size=100))
def test_a_busy_machine_does_not_cost_the_clock(late: list[float]) -> None:
    """One second for 100 moves, each of them late by most of its share."""
    player = Player(clock=1_000)
    player.lateness = Lateness(OVERHEAD, lambda: player.seconds)
    for number, each in enumerate(late):
        position = player.position()
        state = position.state._replace(played=2 * number)
        now: InsertionPosition = replace(position, state=state, bank=1_000)
        player.lateness.begin(now)
        planned = budget(now, None, player.lateness)
        player.seconds += planned / 1000
        player.lateness.end(planned)
        player.clock -= planned + each
        player.moves += ("1", "2")
        assert player.clock > 0
