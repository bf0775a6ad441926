"""benchmarks/learn_xo.py: the positions of games, their expectations, and a fit that finds known values."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

import learn_xo  # noqa: E402 - a script, not a package

CLASSES = len(learn_xo.CLASSES)


@pytest.fixture(autouse=True)
def threats(monkeypatch: pytest.MonkeyPatch) -> None:
    """What `play`, a program of its own, sets in the searcher is put back for other tests."""
    monkeypatch.setattr(learn_xo.searcher, "ROOT_THREATS", learn_xo.searcher.ROOT_THREATS)


def test_games_are_stored_and_fitted(tmp_path: Path) -> None:
    games, output = tmp_path / "games.npz", tmp_path / "values.txt"
    options = learn_xo.arguments(["play", str(games), "--games", "3", "--nodes", "40"])
    count = int(options.run(options).split()[2])
    stored = np.load(games)
    assert stored["cells"].shape == (count, 2 * CLASSES)
    assert ((stored["expectation"] >= 0) & (stored["expectation"] <= 1)).all()
    mine, theirs = stored["cells"][:, :CLASSES], stored["cells"][:, CLASSES:]
    assert (mine.sum(axis=1) == -theirs.sum(axis=1)).all(), "both sides see the same empty cells"
    options = learn_xo.arguments(["fit", str(games), "--output", str(output)])
    assert "cross entropy" in options.run(options)
    assert [line.split()[0] for line in output.read_text().splitlines()] == learn_xo.CLASSES


def test_the_same_seed_plays_the_same_games(tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("one.npz", "two.npz")]
    for file in files:
        options = learn_xo.arguments(["play", str(file), "--games", "2", "--nodes", "40", "--seed", "7"])
        options.run(options)
    one, two = (np.load(file) for file in files)
    assert (one["cells"] == two["cells"]).all()
    assert (one["expectation"] == two["expectation"]).all()


def test_a_fit_finds_the_values_that_made_the_expectations() -> None:
    """Two classes that occur differ from BASE; the values of classes that do not occur stay."""
    chance = np.random.default_rng(3)
    cells = np.zeros((4000, 2 * CLASSES), dtype=np.int16)
    ones, twos = learn_xo.CLASSES.index("1000"), learn_xo.CLASSES.index("2000")
    cells[:, [ones, twos, CLASSES + ones]] = chance.integers(0, 12, (4000, 3)) * [1, 1, -1]
    true = learn_xo.base()
    true[[ones, twos, CLASSES + ones]] = 90, -40, 60
    expectation = 1 / (1 + np.exp(-(cells @ true) / learn_xo.SCALE))
    learnt = learn_xo.fit(cells, expectation)
    assert learnt[[ones, twos, CLASSES + ones]] == pytest.approx([90, -40, 60], abs=3)
    five = learn_xo.CLASSES.index("8000")
    assert learnt[five] == pytest.approx(learn_xo.base()[five] * learnt[five] / true[five])
    assert learn_xo.deviance(cells, expectation, learnt) < learn_xo.deviance(
        cells, expectation, learn_xo.base()
    )


def test_expectations_flow_back_to_the_last_move_of_chance() -> None:
    row = np.zeros(2 * CLASSES, dtype=np.int16)
    plies = [
        learn_xo.Ply(row, 0, 0.2, True),
        learn_xo.Ply(None, 1, 0.5, False),
        learn_xo.Ply(row, 0, 0.0, False),
        learn_xo.Ply(row, 1, 1.0, False),
    ]
    last, third, first = learn_xo.expectations(plies, 1.0)
    assert last.expectation == 0.0, "O has lost"
    assert third.expectation == pytest.approx((0.7 + 1) / 2)
    assert first.expectation == pytest.approx(0.6), "chance moved: only the search counts"


def test_a_file_that_is_not_there_is_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "argv", ["learn_xo", "fit", str(tmp_path / "none.npz")])
    with pytest.raises(SystemExit, match=r"learn_xo: .*none\.npz"):
        learn_xo.main()
