"""Perft makes the moves that minimax makes."""

from __future__ import annotations

from arena_engines.analysis import bench_positions
from arena_engines.insertion.fixed_depth import task_of
from arena_engines.insertion.perft import perft
from arena_engines.registry import create


def test_perft_makes_the_moves_that_minimax_makes() -> None:
    for position in bench_positions()[:3]:
        task = task_of(position, 2)
        assert perft(*task.planes, task.pictures, 2)[0] == create("minimax").analyse(position, 2).nodes
