"""How the players of insertion choose: the simple ones, and the depth on the clock."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from arena_engines.insertion.fixed_depth import depth_on_clock
from arena_engines.insertion.minimax import Minimax
from arena_engines.insertion.simple import Dummy, Greedy, Random
from arena_engines.registry import create

from .positions import at

if TYPE_CHECKING:
    from tests.engines.conftest import Case

    from arena_engines.insertion.fixed_depth import InsertionPosition

BOARD = "53351/34233/13552/44215/44526"


def start(board: str = BOARD, visible: str = "61634513", **more: object) -> InsertionPosition:
    return at(board, visible, **more)


def test_dummy_always_plays_six(cases: list[Case]) -> None:
    assert {Dummy().choose(start(board=case.board)) for case in cases} == {6}
    assert Dummy().analyse(at(BOARD, "616"), 3)[:3] == (6, (0, 1, 0), 0)


def test_random_plays_every_move_and_the_same_again_for_a_seed() -> None:
    one, other = (create("random:seed=4") for _ in range(2))
    moves = [one.choose(start()) for _ in range(300)]
    assert moves == [other.choose(start()) for _ in range(300)]
    assert set(moves) == set(range(1, 16))
    assert Random().values["seed"] is None


def test_greedy_takes_the_best_eval_of_one_ply(cases: list[Case]) -> None:
    plain = Minimax()
    for case in cases:
        ours, right = (each.analyse(case.position, 1) for each in (Greedy(), plain))
        assert ours[:3] == right[:3]
    assert Greedy().choose(start()) == 4


def test_a_search_ends_with_the_game(cases: list[Case]) -> None:
    engine = create("champion:depth=5")
    for case in cases[::20]:
        last = engine.choose(start(case.board, case.visible[:1], plies=1))
        assert last == Greedy().choose(start(board=case.board, visible=case.visible))


@pytest.mark.parametrize(
    ("left", "depth"),
    [(20_000, 5), (3_000, 5), (2_999, 4), (451, 4), (449, 3), (60, 2), (5, 1), (0, 1), (-3, 1)],
)
def test_the_seeds_switch_on_the_clock(left: int, depth: int) -> None:
    assert depth_on_clock(5, left, 20_000) == depth


@pytest.mark.parametrize(("clock", "bank"), [(None, None), (None, 20_000), (0, 0)])
def test_without_a_bank_the_depth_stays(clock: int | None, bank: int | None) -> None:
    assert depth_on_clock(5, clock, bank) == 5


def test_the_clock_reaches_the_search(cases: list[Case]) -> None:
    engine = create("champion:depth=4")
    shallow = create("champion:depth=3")
    for case in cases[::7]:
        low = start(board=case.board, visible=case.visible, clock=100, bank=1_000)
        assert engine.choose(low) == shallow.choose(start(board=case.board, visible=case.visible))
