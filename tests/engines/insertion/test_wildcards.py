"""Expected values over wildcards: the kernel against the readable expectiminimax, and when it is used."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from arena_engines.insertion.champion import Champion, search
from arena_engines.insertion.evaluation import COOPERATIVE, INFINITY, SPOILING, Strategy
from arena_engines.insertion.wildcards import expected
from arena_engines.jit import compiled
from arena_engines.registry import create
from arena_engines.search.expectiminimax import expectiminimax
from arena_museum.history import Minimax

from ..insertion_oracle import InsertionTree, Node
from ..positions import at, task_at

if TYPE_CHECKING:
    from tests.engines.conftest import Case

WINDOW = (-INFINITY, INFINITY)


@pytest.mark.parametrize(
    ("known", "depth", "every"),
    [
        (1, 2, 18),
        (2, 3, 288),
        (1, 3, 720),
        *(pytest.param(*each, marks=pytest.mark.soak) for each in ((1, 2, 9), (2, 3, 72), (1, 3, 180))),
    ],
)
@pytest.mark.parametrize("strategy", [COOPERATIVE, SPOILING])
def test_the_kernel_equals_expectiminimax(
    cases: list[Case], known: int, depth: int, every: int, strategy: Strategy
) -> None:
    kernel = compiled(expected)
    for case in cases[::every]:
        task = task_at(case.board, case.visible, known)
        pictures = (known, depth, case.colours)
        value, move, _ = kernel(*task.planes, task.pictures, task.roles, *pictures, *WINDOW, *strategy.cells)
        tree = InsertionTree(case.visible[:known], strategy=strategy, wildcards=case.colours)
        found = expectiminimax(tree, Node(task.planes), depth)
        # A chance node rounds its mean down: less than 1 for each unknown ply.
        assert abs(found.value - value) < depth - known, case
        best, gain = tree.play(Node(task.planes), move)
        assert abs(gain + expectiminimax(tree, best, depth - 1).value - found.value) < 2 * (depth - known)


def test_without_an_unknown_ply_it_is_the_champions_search(cases: list[Case]) -> None:
    one, other = compiled(expected), compiled(search)
    for case in cases[::6]:
        task = task_at(case.board, case.visible, 4)
        rest = (task.pictures, task.roles)
        found = one(*task.planes, *rest, 4, 4, case.colours, *WINDOW, *COOPERATIVE.cells)
        assert found == other(*task.planes, *rest, 4, *WINDOW, *COOPERATIVE.cells)


@pytest.mark.parametrize("engine", [Champion, Minimax])
def test_wildcards_are_searched_where_the_depth_passes_the_pictures(
    cases: list[Case], engine: type[Champion | Minimax]
) -> None:
    case = cases[40]
    for visible, wildcards, searched in ((2, 2, 2), (2, 1, 1), (4, 3, 1), (5, 3, 0), (2, 0, 0)):
        player = engine({"depth": 5, "wildcards": wildcards})
        task = player.task_for(at(case.board, case.visible[:visible], plies=200, colours=case.colours))
        assert (task.depth, task.wildcards) == (min(visible, 5), searched)


@pytest.mark.real
@pytest.mark.soak
def test_the_kernel_runs_when_it_is_loaded_from_the_disk() -> None:
    here = compiled(expected)(0, 0, 0, 1, 4, 1, 3, 6, -(2**62), 2**62, 10, -10)  # now it is on the disk
    program = (
        "from arena_engines.insertion.wildcards import expected\n"
        "from arena_engines.jit import compiled\n"
        "print(compiled(expected)(0, 0, 0, 1, 4, 1, 3, 6, -2**62, 2**62, 10, -10))\n"
    )
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (loaded.returncode, loaded.stdout, loaded.stderr) == (0, f"{here}\n", "")


def test_wildcards_end_with_the_game(cases: list[Case]) -> None:
    case = cases[40]
    player = Champion({"depth": 5, "wildcards": 3})
    position = at(case.board, case.visible[:2], plies=3, colours=case.colours)
    assert player.task_for(position).wildcards == 1
    assert 1 <= player.choose(position) <= 15


def test_two_engines_play_the_same_expected_values(cases: list[Case]) -> None:
    players = [create(f"{name}:depth=4,wildcards=2") for name in ("champion", "minimax")]
    differ = 0
    for case in cases[::12]:
        position = at(case.board, case.visible[:2], plies=200, colours=case.colours)
        moves = [player.choose(position) for player in players]
        assert moves[0] == moves[1]
        differ += moves[0] != Champion({"depth": 2}).choose(position)
    assert differ > 0
