"""The engines without a search."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from arena_engines.insertion.baselines import Dummy, Greedy, Random
from arena_engines.registry import create
from arena_museum.history import Minimax

from ..positions import at

if TYPE_CHECKING:
    from tests.engines.conftest import Case

    from arena_engines.insertion.fixed_depth import InsertionPosition


BOARD = "53351/34233/13552/44215/44526"


def start(board: str = BOARD, visible: str = "61634513", **more: Any) -> InsertionPosition:
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
