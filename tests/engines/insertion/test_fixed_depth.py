"""What engines of a fixed depth share: zombies, the clock, limits of the depth, packed roles."""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.slices import all_of

from arena_engines.engine import Eval
from arena_engines.insertion.baselines import Greedy
from arena_engines.insertion.champion import Champion
from arena_engines.insertion.evaluation import COOPERATIVE, FORCED, THEIRS, Strategy
from arena_engines.insertion.fixed_depth import (
    InsertionPosition,
    PlacedValue,
    Task,
    depth_on_clock,
    depth_with_zombies,
    pack_roles,
    zombies,
)
from arena_engines.registry import create

from ..positions import at

if TYPE_CHECKING:
    from tests.engines.conftest import Case

    from arena_engines.insertion.fixed_depth import InsertionPosition
if TYPE_CHECKING:
    from tests.engines.conftest import Case
from ..positions import game


@given(st.lists(st.integers(5, 7), max_size=40), st.integers(2, 4), st.integers(1, 9))
def test_a_zombie_is_another_seat_that_played_nothing_but_six_lately(
    moves: list[int], seats: int, sixes: int
) -> None:
    found = zombies([str(move) for move in moves], seats, 1, sixes)
    assert 1 not in found
    for seat in range(2, seats + 1):
        own = [move for ply, move in enumerate(moves) if ply % seats == seat - 1]
        assert (seat in found) == (own[-sixes:] == [6] * sixes)


def test_nothing_is_guessed_if_not_asked_for() -> None:
    assert zombies(["6"] * 40, 2, 1, 0) == frozenset()


@all_of(("seats", "found", "depth"), [(2, 0, 5), (2, 1, 10), (3, 1, 7), (3, 2, 15), (4, 3, 20)])
def test_the_depth_grows_by_the_plies_that_cost_nothing(seats: int, found: int, depth: int) -> None:
    assert depth_with_zombies(5, seats, found) == depth


def test_against_a_zombie_the_champion_looks_twice_as_far() -> None:
    champion = Champion({"depth": 3})
    for position in game(2, "greedy", "dummy", plies=30):
        task = champion.task_for(position)
        if position.seat == 1:
            known = position.state.played >= 2 * 6
            assert task.depth == min(6 if known else 3, len(position.state.visible))
            assert (task.roles == pack_roles(2, (1,))) == known


def test_one_zombie_among_three_has_only_its_own_plies_forced() -> None:
    champion = Champion({"depth": 4})
    position = list(game(3, "greedy", "random:seed=1", "dummy", plies=40))[36]
    assert position.seat == 1
    task = champion.task_for(position)
    assert task.roles & 0b111111 == THEIRS << 2 | (THEIRS | FORCED) << 4
    assert task.depth == min(6, len(position.state.visible))


def test_the_zombie_guess_can_be_switched_off() -> None:
    position = list(game(2, "greedy", "dummy", plies=40))[38]
    assert Champion({"zombie": 0}).task_for(position).roles == pack_roles(2)
    assert Champion().task_for(position).roles == pack_roles(2, (1,))


BOARD = "53351/34233/13552/44215/44526"


def start(board: str = BOARD, visible: str = "61634513", **more: Any) -> InsertionPosition:
    return at(board, visible, **more)


def test_a_search_ends_with_the_game(cases: list[Case]) -> None:
    engine = create("champion:depth=5")
    for case in cases[::20]:
        last = engine.choose(start(case.board, case.visible[:1], plies=1))
        assert last == Greedy().choose(start(board=case.board, visible=case.visible))


@all_of(
    ("left", "depth"),
    [(20_000, 5), (3_000, 5), (2_999, 4), (451, 4), (449, 3), (60, 2), (5, 1), (0, 1), (-3, 1)],
)
def test_the_seeds_switch_on_the_clock(left: int, depth: int) -> None:
    assert depth_on_clock(5, left, 20_000) == depth


@pytest.mark.parametrize(("clock", "bank"), [(None, None), (None, 20_000), (0, 0)])
def test_without_a_bank_the_depth_stays(clock: int | None, bank: int | None) -> None:
    assert depth_on_clock(5, clock, bank) == 5


@pytest.mark.parametrize(
    ("switch", "left", "depth"), [(50, 9_999, 4), (50, 4_999, 3), (99, 200, 5), (100, 0, 5)]
)
def test_the_switch_says_when_the_depth_falls(switch: int, left: int, depth: int) -> None:
    assert depth_on_clock(5, left, 20_000, switch) == depth


@pytest.mark.parametrize("name", ["minimax", "entry2006", "fourtier", "threetier", "champion"])
def test_every_engine_of_the_ladder_has_the_switch(cases: list[Case], name: str) -> None:
    case = cases[3]
    low = start(case.board, case.visible, clock=100, bank=1_000)
    on, off = create(f"{name}:depth=3"), create(f"{name}:depth=3,switch=100")
    assert (on.task_for(low).depth, off.task_for(low).depth) == (2, 3)  # type: ignore[attr-defined]


def test_the_clock_reaches_the_search(cases: list[Case]) -> None:
    engine = create("champion:depth=4")
    shallow = create("champion:depth=3")
    for case in cases[::7]:
        low = start(board=case.board, visible=case.visible, clock=100, bank=1_000)
        assert engine.choose(low) == shallow.choose(start(board=case.board, visible=case.visible))


def test_roles_are_mine_then_the_others() -> None:
    assert pack_roles(3) & 0b111111 == THEIRS << 2 | THEIRS << 4
    assert pack_roles(2) & 0b1111 == THEIRS << 2
    assert pack_roles(3, [2]) & 0b111111 == THEIRS << 2 | (THEIRS | FORCED) << 4
    assert pack_roles(4) < 1 << 40


@given(
    st.integers(1, 9),
    st.lists(st.floats(1.2, 20.0), min_size=9, max_size=9),
    st.floats(0.1, 5.0),
    st.integers(1, 5_000),
    st.integers(0, 2),
)
def test_no_ply_more_is_searched_than_the_limit_of_a_move_allows(
    depth: int, growths: list[float], first_ms: float, limit_ms: int, wildcards: int
) -> None:
    """By a clock on which each ply takes at most twenty times as long as the one before."""
    took = [first_ms * prod(growths[:ply]) for ply in range(depth)]
    now, searched = 0.0, list[int]()

    class Scripted(Champion):
        def run(self, task: Task, strategy: Strategy) -> PlacedValue:
            nonlocal now
            now += took[task.depth - 1] / 1000
            searched.append(task.depth)
            return PlacedValue(task.depth, Eval(0, 0, 0), 1)

    engine = Scripted({})
    task = Task((0, 0, 0), 0, 0, depth, wildcards)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("arena_engines.insertion.fixed_depth.perf_counter", lambda: now)
        reached, found = engine.within(task, COOPERATIVE, limit_ms, 6)
    assert searched == list(range(1, reached.depth + 1))
    assert found.move == reached.depth
    assert now * 1000 <= limit_ms or reached.depth == 1
    assert reached.wildcards in (0, wildcards if reached.depth == depth else 0)
    if reached.depth < depth:
        assert now * 1000 + 20.0 * took[reached.depth - 1] > limit_ms


def test_the_limit_of_a_move_reaches_the_search(cases: list[Case]) -> None:
    """The move is that of the depth, or of depth 1 if the limit is over at once."""
    deep, flat = create("champion:depth=4"), create("champion:depth=1")
    for case in cases[::20]:
        free = start(board=case.board, visible=case.visible)
        assert deep.choose(replace(free, move_limit=10**9)) == deep.choose(free)
        assert deep.choose(replace(free, move_limit=1)) == flat.choose(free)
