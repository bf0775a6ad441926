"""benchmarks/boards.py: every board plays by the rules."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena_engines.insertion.fixed_depth import Task
from arena_protocol.games.insertion import rules

PLIES = st.lists(st.tuples(st.integers(1, 15), st.integers(1, 7)), min_size=1, max_size=60)


@pytest.fixture(scope="module")
def boards() -> Any:
    """Imported here: each process of the tests would load numba, for 0.7 s."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(Path(__file__).parents[2] / "benchmarks")
        return import_module("boards")


@pytest.mark.soak
@settings(deadline=None, max_examples=30)
@given(PLIES)
def test_bytes_and_rows_follow_the_rules_ply_by_ply(boards: Any, plies: list[tuple[int, int]]) -> None:
    planes = (0, 0, 0)
    empty = Task(planes, 0, 0, 1)
    bytes_, rows = boards.byte_layers(empty), boards.row_layers(empty)
    for move, colour in plies:
        *planes_, removed, _, _ = rules.play(*planes, move, colour)
        planes = (planes_[0], planes_[1], planes_[2])
        assert boards.play(bytes_, 0, move, colour) == removed
        assert boards.row_play(rows, 0, move, colour) == removed
        after = Task(planes, 0, 0, 1)
        np.testing.assert_array_equal(bytes_, boards.byte_layers(after))
        np.testing.assert_array_equal(rows, boards.row_layers(after))


@pytest.mark.soak
def test_the_three_boards_make_the_same_moves(boards: Any) -> None:
    speeds = boards.compare(depth=2, runs=1)
    assert list(speeds) == ["bytes", "rows", "planes"]
    assert {speed[:2] for speed in speeds.values()} == {(5625, 1169)}


@pytest.mark.soak
def test_boards_that_disagree_are_an_error(boards: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boards, "row_perft", lambda *_: (1, 0))
    with pytest.raises(AssertionError, match="the boards must agree"):
        boards.compare(depth=1, runs=1)
