"""The champion equals minimax and the readable alpha-beta; the adaptive strategy."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import pytest

from arena_engines.insertion.champion import Champion
from arena_engines.insertion.evaluation import COOPERATIVE, SPOILING, Strategy, unpack
from arena_engines.insertion.fixed_depth import Task, pack_pictures, pack_roles
from arena_engines.search.alphabeta import alphabeta
from arena_museum.history import Minimax
from arena_protocol.games.insertion.board import parse_board

from ...slices import rows
from ..insertion_oracle import InsertionTree, Node, oracle, thousand
from ..positions import at, task_at

if TYPE_CHECKING:
    from tests.engines.conftest import Case
from arena_engines.insertion.champion import MEMORY, Adaptive
from arena_engines.registry import create

from ..positions import game


@pytest.fixture(scope="module")
def champion() -> Champion:
    return Champion()


@pytest.fixture(scope="module")
def plain() -> Minimax:
    return Minimax()


@pytest.mark.parametrize("every", rows([3, 1], 2))
@pytest.mark.parametrize("depth", [1, 2, 3, 4])
@pytest.mark.parametrize("strategy", [COOPERATIVE, SPOILING])
def test_champion_equals_minimax_in_move_and_eval(
    champion: Champion, plain: Minimax, cases: list[Case], depth: int, every: int, strategy: Strategy
) -> None:
    for case, start in product(cases[::every], range(5)):
        task = task_at(case.board, case.visible[start:], depth)
        assert champion.run(task, strategy)[:2] == plain.run(task, strategy)[:2], (case, start)


@pytest.mark.parametrize("depth", rows([3, 1, 2, 4], 3))
def test_compiled_champion_equals_the_readable_alphabeta_node_for_node(
    champion: Champion, cases: list[Case], depth: int
) -> None:
    for case in thousand(cases, depth):
        assert champion.analyse(case.position, depth)[:3] == oracle(alphabeta, case, depth)[:3]


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_all_other_seats_are_one_opponent(champion: Champion, cases: list[Case], seats: int) -> None:
    for case in cases[::30]:
        ours = champion.run(task_at(case.board, case.visible, 4, seats), COOPERATIVE)
        found = alphabeta(InsertionTree(case.visible[:4], seats), Node(parse_board(case.board)), 4)
        assert ours == (found.line[0], unpack(found.value), found.nodes)


def test_the_champion_visits_twenty_times_fewer_nodes_at_depth_five(
    champion: Champion, plain: Minimax, cases: list[Case]
) -> None:
    mixed = [case for case in cases if case.colours == 6]
    few = sum(champion.analyse(case.position, 5).nodes for case in mixed)
    all_ = sum(plain.analyse(case.position, 5).nodes for case in mixed)
    assert all_ >= 20 * few


def test_of_equal_moves_the_first_in_natural_order_is_played(champion: Champion, plain: Minimax) -> None:
    for engine in (champion, plain):
        # Nothing can be won with one picture on an empty board: every move comes to the same.
        assert engine.analyse(at("...../...../...../...../.....", "1"), 1)[:3] == (1, (0, 0, 0), 5)


@pytest.mark.parametrize("engine", [Champion(), Minimax()])
def test_a_forced_ply_has_one_child(engine: Champion | Minimax) -> None:
    planes = parse_board("53351/34233/13552/44215/44526")
    forced, free = (Task(planes, pack_pictures("616"), pack_roles(2, gone), 2) for gone in ((1,), ()))
    for strategy in (COOPERATIVE, SPOILING):
        easy, hard = engine.run(forced, strategy), engine.run(free, strategy)
        assert easy.nodes <= 15 + 15 < hard.nodes
        assert easy.eval.mine >= hard.eval.mine


def test_the_depth_ends_with_the_visible_pictures(champion: Champion) -> None:
    board = "53351/34233/13552/44215/44526"
    assert champion.analyse(at(board, "616"), 20)[:3] == champion.analyse(at(board, "616"), 3)[:3]


@pytest.mark.parametrize("depth", [1, 3, 4])
def test_a_board_and_its_mirror_image_are_worth_the_same(
    champion: Champion, cases: list[Case], depth: int
) -> None:
    for case in cases:
        mirror = "/".join(row[::-1] for row in case.board.split("/"))
        ours, theirs = (champion.analyse(at(board, case.visible), depth) for board in (case.board, mirror))
        assert ours.eval == theirs.eval


def watcher() -> Adaptive:
    champion = Champion()
    return Adaptive(lambda task, strategy: champion.run(task, strategy).move)


@pytest.mark.parametrize(
    ("opponent", "answer"),
    [
        ("champion:depth=3,strategy=spoiling", COOPERATIVE),
        ("champion:depth=3,strategy=cooperative", SPOILING),
    ],
)
@pytest.mark.parametrize("seats", [2, 3])
def test_adaptive_play_answers_with_the_opposite(opponent: str, answer: Strategy, seats: int) -> None:
    adaptive = watcher()
    answers = [
        adaptive.answer(position)
        for position in game(seats, "greedy", *[opponent] * (seats - 1))
        if position.seat == 1
    ]
    assert answers[0] is COOPERATIVE  # nothing has been seen
    assert answers[-1] is answer


def test_what_adaptive_play_saw_does_not_depend_on_when_it_looked() -> None:
    positions = [each for each in game(2, "greedy", "champion:depth=3") if each.seat == 1]
    always, seldom = watcher(), watcher()
    often = [always.answer(each) for each in positions]
    assert [seldom.answer(each) for each in positions[::5]] == often[::5]
    assert seldom.answer(positions[3]) is often[3]  # a step back starts afresh


def test_another_game_starts_afresh() -> None:
    adaptive = watcher()
    for position in game(2, "greedy", "champion:depth=3"):
        if position.seat == 1:
            adaptive.answer(position)
    first = next(game(2, "greedy", "greedy", seed=6))
    assert adaptive.answer(first) is COOPERATIVE
    assert MEMORY > 0


def test_the_adaptive_champion_plays_the_strategy_it_chose() -> None:
    adaptive = create("champion:depth=3,strategy=adaptive")
    fixed = {each: create(f"champion:depth=3,strategy={each.name}") for each in (COOPERATIVE, SPOILING)}
    watching = watcher()
    for position in game(2, "greedy", "champion:depth=3"):
        if position.seat == 1:
            assert adaptive.choose(position) == fixed[watching.answer(position)].choose(position)
