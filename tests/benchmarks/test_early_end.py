"""benchmarks/early_end.py: a slice of the table in docs/organise.md, which has the long run."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from tests.slices import rows

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import early_end

PLACES = {(field.name, field.first, field.games_per_pair): field for field in early_end.FIELDS}


@pytest.mark.parametrize("model", rows(early_end.MODELS, 3))
def test_between_equals_an_order_is_rarely_certain(model: str) -> None:
    error, saved = early_end.measure(PLACES["two equals", 1, 20], model, 400, 1)
    assert 0 < error <= 0.05
    assert saved < 0.02


@pytest.mark.parametrize("model", early_end.MODELS)
def test_one_far_ahead_saves_half_of_the_games(model: str) -> None:
    error, saved = early_end.measure(PLACES["one 400 Elo ahead of five", 1, 20], model, 12, 1)
    assert error == 0
    assert saved > 0.4


def test_an_error_is_counted() -> None:
    """Of two bots of which the first seems to be ahead."""
    field = early_end.Field("wrong", (0, 0), 100, 1)
    assert any(early_end.measure(field, "wins", 30, seed)[0] for seed in range(8))
