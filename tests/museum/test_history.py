"""The engines before the champion: right where the seed had them right, wrong where it had them wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from arena_engines.insertion.champion import Champion
from arena_engines.insertion.evaluation import COOPERATIVE
from arena_engines.search.minimax import minimax
from arena_museum.history import Minimax
from arena_protocol.games.insertion.board import parse_board

from ..engines.insertion_oracle import InsertionTree, oracle, thousand
from ..engines.positions import at, task_at

if TYPE_CHECKING:
    from tests.engines.conftest import Case
from typing import TYPE_CHECKING, NamedTuple

from arena_engines.insertion.evaluation import eval_of_sides, flip_deleted, side_gain
from arena_engines.registry import create
from arena_museum.history import Entry2006, FourTier, ThreeTier, eval_5
from arena_protocol.games.insertion.rules import play

from ..engines.insertion_oracle import Node as Board
from ..slices import rows


@pytest.fixture(scope="module")
def plain() -> Minimax:
    return Minimax()


@pytest.mark.parametrize("depth", rows([1, 2, 3], 3))
def test_compiled_minimax_equals_the_readable_one(plain: Minimax, cases: list[Case], depth: int) -> None:
    for case in thousand(cases, depth):
        assert plain.analyse(case.position, depth)[:3] == oracle(minimax, case, depth)[:3]


def test_a_full_board_costs_fifteen_nodes_and_a_sparse_one_five(plain: Minimax) -> None:
    full = plain.analyse(at("53351/34233/13552/44215/44526", "61"), 1)
    assert (full.nodes, full.move) == (15, 4)
    assert full.eval == (30, 4, 0)
    assert plain.analyse(at("...../...../...../...../..1..", "12"), 1).nodes == 5


#: Weighs MyEVAL above any OpponentEVAL, in plain integers without a limit.
FIRST = 10**30


class FourTierTree(InsertionTree):
    """Insertion valued by the four tiers, as one huge number."""

    def play(self, position: Board, move: int) -> tuple[Board, int]:
        colour = self.pictures[position.ply]
        p0, p1, p2, removed, fell, _ = play(*position.planes, move, colour)
        if self.maximises(position):
            worth = FIRST * side_gain(removed, fell)
        else:
            worth = -(10 * removed * 2**20 + removed + fell)
        return Board((p0, p1, p2), position.ply + 1), worth


@pytest.mark.parametrize("cut", ["none", "quarter", "half"])
@pytest.mark.parametrize(("depth", "every"), [(1, 1), (2, 3), (3, 40)])
def test_the_four_tiers_are_minimax_with_every_cut(
    cases: list[Case], cut: str, depth: int, every: int
) -> None:
    engine = FourTier({"cut": cut})
    for case in cases[::every]:
        found = minimax(FourTierTree(case.visible[:depth]), Board(parse_board(case.board)), depth)
        ours = engine.analyse(case.position, depth)
        assert ours.move == found.line[0]
        mine = round(found.value / FIRST) if abs(found.value) > FIRST // 2 else 0
        assert ours.eval == eval_of_sides(mine, flip_deleted(mine * FIRST - found.value))


def test_the_cuts_save_what_they_are_named_for(cases: list[Case]) -> None:
    mixed = [case for case in cases if case.colours == 6]
    none, quarter, half = (
        [FourTier({"cut": cut}).analyse(case.position, 5) for case in mixed]
        for cut in ("none", "quarter", "half")
    )
    assert [one[:2] for one in none] == [one[:2] for one in quarter] == [one[:2] for one in half]
    plain = [Minimax().analyse(case.position, 5).nodes for case in mixed]
    nodes = [sum(one.nodes for one in found) for found in (none, quarter, half)]
    assert nodes[0] == sum(plain)
    assert nodes[0] >= 2 * nodes[1]
    assert nodes[1] >= 2 * nodes[2]


class Pair(NamedTuple):
    """MyEVAL and OpponentEVAL, each (points, -deleted): greater is more points, then flip_deleted deleted."""

    mine: tuple[int, int]
    theirs: tuple[int, int]


def plus(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    return one[0] + other[0], one[1] + other[1]


def entry(tree: InsertionTree, node: Board, depth: int, old: bool, right: bool, top: bool = True) -> Pair:
    """The entry by its definition: lists of all answers, and a choice among them."""

    def ply(board: Board, move: int) -> tuple[Board, tuple[int, int]]:
        p0, p1, p2, removed, fell, _ = play(*board.planes, move, tree.pictures[board.ply])
        return Board((p0, p1, p2), board.ply + 1), (10 * removed, -removed - fell)

    def rank(pair: Pair) -> tuple[tuple[int, int], int, int]:
        points, kept = pair.theirs
        return pair.mine, -points, kept if right else -kept

    options = []
    for move in tree.moves(node):
        middle, mine = ply(node, move)
        replies = []
        for reply in tree.moves(middle) if depth > 1 else ():
            child, theirs = ply(middle, reply)
            rest = entry(tree, child, depth - 2, old, right, top=False) if depth > 2 else Pair((0, 0), (0, 0))
            replies.append(Pair(rest.mine, plus(theirs, rest.theirs)))
        if not replies:
            answer = Pair((0, 0), (0, 0))
        elif old and not top:
            answer = Pair(min(each.mine for each in replies), max(each.theirs for each in replies))
        else:
            answer = max(replies, key=lambda each: (each.theirs, each.mine))
        options.append(Pair(plus(mine, answer.mine), answer.theirs))
    return max(options, key=rank)


@pytest.mark.parametrize("recursion", ["old", "own"])
@pytest.mark.parametrize("fourth", ["wrong", "right"])
@pytest.mark.parametrize(("depth", "every"), [(1, 3), (2, 10), (3, 40)])
def test_the_entry_plays_by_its_definition(
    cases: list[Case], recursion: str, fourth: str, depth: int, every: int
) -> None:
    engine = Entry2006({"recursion": recursion, "fourth": fourth})
    for case in cases[::every]:
        right = by_definition(case, depth, recursion == "old", fourth == "right")
        assert engine.analyse(case.position, depth).eval == right


def by_definition(case: Case, depth: int, old: bool, right: bool) -> tuple[int, int, int]:
    best = entry(InsertionTree(case.visible[:depth]), Board(parse_board(case.board)), depth, old, right)
    return best.mine[0], -best.mine[1] - best.theirs[1], best.theirs[0]


def test_the_old_recursion_differs_from_depth_five_on(cases: list[Case]) -> None:
    # Sparse boards have few moves: only there can the definition look so far.
    sparse = sorted(cases, key=lambda case: -case.board.count("."))[:60:3]
    old, own = Entry2006(), Entry2006({"recursion": "own"})
    different = [
        case for case in sparse if old.analyse(case.position, 5).eval != own.analyse(case.position, 5).eval
    ]
    assert different
    case = different[0]
    assert old.analyse(case.position, 5).eval == by_definition(case, 5, old=True, right=False)
    assert own.analyse(case.position, 5).eval == by_definition(case, 5, old=False, right=False)


def test_the_faults_of_the_entry_change_its_play(cases: list[Case]) -> None:
    specs = ("entry2006", "entry2006:recursion=own", "entry2006:fourth=right", "fourtier")
    moves = [[engine.analyse(case.position, 5).move for case in cases[::4]] for engine in map(create, specs)]
    assert len({tuple(each) for each in moves}) == 4


def test_the_early_three_tiers_cut_more_than_is_allowed(cases: list[Case]) -> None:
    early, plain, champion = ThreeTier(), Minimax(), Champion()
    wrong = nodes = most = 0
    for case in cases:
        ours, right = (engine.analyse(case.position, 4) for engine in (early, plain))
        wrong += ours[:2] != right[:2]
        nodes += ours.nodes
        most += right.nodes
        assert early.analyse(case.position, 1)[:2] == champion.analyse(case.position, 1)[:2]
    assert wrong > len(cases) // 50
    assert nodes < most


def test_the_early_three_tiers_compiled_are_the_function_itself(cases: list[Case]) -> None:
    engine = ThreeTier()
    for case in cases[::24]:
        task = task_at(case.board, case.visible, 3)
        value, move, nodes = eval_5(
            *task.planes, task.pictures, task.roles, 3, -(2**62), 2**62, *COOPERATIVE.cells
        )
        assert engine.run(task, COOPERATIVE) == (move, COOPERATIVE.eval_of(value), nodes)


@pytest.mark.parametrize("spec", ["entry2006", "fourtier", "threetier", "champion"])
def test_with_a_zombie_the_replies_are_sixes(cases: list[Case], spec: str) -> None:
    engine = create(spec)
    for case in cases[::20]:
        task = task_at(case.board, case.visible, 4)
        forced = task._replace(roles=task.roles | 0b10 << 2 | 0b10 << 6)
        assert engine.run(forced, COOPERATIVE).nodes <= 15 + 15 + 15 * 15 + 15 * 15  # type: ignore[attr-defined]
