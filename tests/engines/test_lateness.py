"""The lateness of moves, in virtual time: what is charged beyond the plan is expected of the next moves."""

from __future__ import annotations

import sys
from dataclasses import replace
from threading import Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena_engines.engine import AnyPosition
from arena_engines.insertion.fixed_depth import InsertionPosition
from arena_engines.insertion.master.engine import OVERHEAD, budget
from arena_engines.lateness import MOVES_KEPT, Lateness, Schedule, own_schedule

from .positions import at

LEAST = 3.0


class Player:
    """A player whose moves take their plan; `charge` is what the referee measures beyond it."""

    def __init__(self, clock: float = 1_000_000, increment: int = 0) -> None:
        self.seconds = 0.0
        self.clock = clock
        self.increment = increment
        self.moves: tuple[str, ...] = ()
        self.schedule = Schedule()
        self.lateness = Lateness(LEAST, lambda: self.seconds, lambda: self.schedule)

    def share(self, ran: float, waited: float, turns: int) -> None:
        """Let the player's thread run, and wait for its core before each of its turns."""
        had = self.schedule
        self.schedule = Schedule(had.ran + ran, had.waited + waited, had.turns + turns)

    def position(self) -> AnyPosition:
        first = at("...../...../...../...../.....", "1" * 300, clock=int(self.clock))
        return replace(first, moves=self.moves, increment=self.increment)

    def move(self, planned: float, spent: float, charged: float, waited: float = 0.0, turns: int = 0) -> None:
        self.lateness.begin(self.position())
        self.seconds += spent / 1000
        self.share(spent - waited, waited, turns)
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
    player.lateness = Lateness(OVERHEAD, lambda: player.seconds, lambda: player.schedule)
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


def think(player: Player, spent: float, waited: float = 0.0, turns: int = 0) -> None:
    """Make a move that may take 80 ms; beyond what it took it is charged LEAST, the expectation."""
    player.move(80, spent, spent + LEAST, waited, turns)


def test_a_limit_keeps_time_for_a_wait_after_moves_that_ended_early() -> None:
    """Four milliseconds of the core in turn with 16 of others: no move was late, and the next one may be."""
    player = Player()
    for _ in range(3):
        think(player, spent=40, waited=32, turns=2)
    assert player.lateness.cautious == pytest.approx(LEAST + 16)
    assert player.lateness.typical == LEAST


def test_a_move_of_little_work_says_nothing_about_waits() -> None:
    player = Player()
    think(player, spent=30, waited=20, turns=2)
    for _ in range(2 * MOVES_KEPT):
        think(player, spent=1)
    assert player.lateness.cautious == pytest.approx(LEAST + 10)


def test_waits_end_with_the_load() -> None:
    player = Player()
    think(player, spent=40, waited=20, turns=2)
    for _ in range(MOVES_KEPT):
        think(player, spent=40)
    assert player.lateness.cautious == pytest.approx(LEAST)


def test_a_search_that_waits_behind_its_timer_is_late_by_both_waits() -> None:
    player = Player()
    for _ in range(3):
        player.move(50, 80, 80, waited=64, turns=4)
        for _ in range(MOVES_KEPT - 1):
            player.move(50, 40, 40, waited=32, turns=2)
    assert player.lateness.cautious == pytest.approx(LEAST + 30)


def test_what_a_move_waited_before_it_began_is_taken_off() -> None:
    """The request came while the thread waited for the core, so the referee's clock ran."""
    player = Player()
    think(player, spent=10)
    player.share(ran=0.1, waited=25, turns=1)
    player.lateness.begin(player.position())
    assert player.lateness.cautious == pytest.approx(LEAST + 25)
    player.lateness.end(80)
    think(player, spent=10)
    assert player.lateness.cautious < LEAST + 25


def test_another_thread_has_not_waited_for_this_move() -> None:
    player = Player()
    think(player, spent=10)
    player.share(ran=0.1, waited=25, turns=1)
    other = Thread(target=player.lateness.begin, args=[player.position()])
    other.start()
    other.join()
    assert player.lateness.cautious == pytest.approx(LEAST)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not count")
def test_the_system_counts_the_runs_of_a_thread() -> None:
    assert own_schedule().ran > 0
    assert own_schedule().turns > 0
