"""The compiled searches against the readable ones, and the champion against minimax."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import TYPE_CHECKING

import pytest

from arena_engines.engine import Analysis
from arena_engines.insertion.champion import Champion
from arena_engines.insertion.eval import unpack
from arena_engines.insertion.fixed_depth import FORCED, THEIRS, Task, pack_pictures, pack_roles
from arena_engines.insertion.minimax import Minimax
from arena_engines.insertion.strategy import COOPERATIVE, SPOILING, Strategy
from arena_engines.insertion.tree import InsertionTree, Node
from arena_engines.search.alphabeta import alphabeta
from arena_engines.search.minimax import minimax
from arena_protocol.games.insertion.text import parse_board

from .positions import at, task_at

if TYPE_CHECKING:
    from tests.engines.conftest import Case


@pytest.fixture(scope="module")
def champion() -> Champion:
    return Champion()


@pytest.fixture(scope="module")
def plain() -> Minimax:
    return Minimax()


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
@pytest.mark.parametrize("strategy", [COOPERATIVE, SPOILING])
def test_champion_equals_minimax_in_move_and_eval(
    champion: Champion, plain: Minimax, cases: list[Case], depth: int, strategy: Strategy
) -> None:
    for case, start in product(cases, range(5)):
        task = task_at(case.board, case.visible[start:], depth)
        assert champion.run(task, strategy)[:2] == plain.run(task, strategy)[:2], (case, start)


def thousand(cases: list[Case], depth: int) -> Iterator[Case]:
    """Enough cases for a readable search to get through: 1,200 at depth 1 and 2, then fewer."""
    for case, start in product(cases[:: {3: 12, 4: 48}.get(depth, 1)], range(5 if depth < 3 else 1)):
        yield case._replace(visible=case.visible[start:])


def oracle(search: object, case: Case, depth: int) -> Analysis:
    tree = InsertionTree(case.visible[:depth])
    found = search(tree, Node(parse_board(case.board)), depth)  # type: ignore[operator]
    return Analysis(found.line[0], unpack(found.value), found.nodes)


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_compiled_minimax_equals_the_readable_one(plain: Minimax, cases: list[Case], depth: int) -> None:
    for case in thousand(cases, depth):
        assert plain.analyse(case.position, depth)[:3] == oracle(minimax, case, depth)[:3]


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
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


def test_a_full_board_costs_fifteen_nodes_and_a_sparse_one_five(plain: Minimax) -> None:
    full = plain.analyse(at("53351/34233/13552/44215/44526", "61"), 1)
    assert (full.nodes, full.move) == (15, 4)
    assert full.eval == (30, 4, 0)
    assert plain.analyse(at("...../...../...../...../..1..", "12"), 1).nodes == 5


@pytest.mark.parametrize("engine", [Champion(), Minimax()])
def test_a_forced_ply_has_one_child(engine: Champion | Minimax) -> None:
    planes = parse_board("53351/34233/13552/44215/44526")
    forced, free = (Task(planes, pack_pictures("616"), pack_roles(2, gone), 2) for gone in ((1,), ()))
    for strategy in (COOPERATIVE, SPOILING):
        easy, hard = engine.run(forced, strategy), engine.run(free, strategy)
        assert easy.nodes <= 15 + 15 < hard.nodes
        assert easy.eval.mine >= hard.eval.mine


def test_roles_are_mine_then_the_others() -> None:
    assert pack_roles(3) & 0b111111 == THEIRS << 2 | THEIRS << 4
    assert pack_roles(2) & 0b1111 == THEIRS << 2
    assert pack_roles(3, [2]) & 0b111111 == THEIRS << 2 | (THEIRS | FORCED) << 4
    assert pack_roles(4) < 1 << 40


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
