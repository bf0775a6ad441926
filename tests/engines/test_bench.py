"""`arena bench search` below the command line: what is the same in every run."""

from __future__ import annotations

import pytest

from arena_engines.analysis import bench_positions, bench_table, search_bench
from arena_engines.engine import EngineError
from arena_engines.insertion.fixed_depth import task_of
from arena_engines.insertion.perft import perft
from arena_engines.registry import create


def test_the_bench_counts_nodes_and_times() -> None:
    bench = search_bench(depth=5, rival_depth=5)
    assert [row["depth"] for row in bench["depths"]] == [1, 2, 3, 4, 5]
    first, *_, last = bench["depths"]
    assert first["nodes"] == first["rival_nodes"]
    assert last["ratio"] == round(last["rival_nodes"] / last["nodes"], 2) >= 20
    assert bench["signature"] == last["nodes"]
    assert set(bench["nodes_per_second"]) == {"engine", "rival", "bare"}
    assert bench["of_bare"] > 0


def test_the_signature_is_the_same_every_time_and_ends_the_table() -> None:
    one, other = (search_bench(depth=1, rival_depth=1) for _ in range(2))
    assert one["signature"] == other["signature"]
    assert bench_table(one).splitlines()[-1] == f"Nodes: {one['signature']}"


def test_beyond_the_rivals_depth_the_row_is_the_engines_alone() -> None:
    bench = search_bench(depth=3, rival_depth=2)
    assert bench["depths"][2]["rival_nodes"] is None
    assert bench["depths"][2]["ratio"] is None
    assert len(bench_table(bench).splitlines()[4].split()) == 3


def test_perft_makes_the_moves_that_minimax_makes() -> None:
    for position in bench_positions()[:3]:
        task = task_of(position, 2)
        assert perft(*task.planes, task.pictures, 2)[0] == create("minimax").analyse(position, 2).nodes


@pytest.mark.parametrize(("depths", "wrong"), [((0, 1), 0), ((21, 1), 21), ((1, 0), 0)])
def test_an_impossible_depth_is_refused(depths: tuple[int, int], wrong: int) -> None:
    with pytest.raises(EngineError, match=rf"^depth={wrong}: expected 1\.\.20$"):
        search_bench(depth=depths[0], rival_depth=depths[1])
