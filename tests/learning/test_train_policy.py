"""examples/train_policy.py: the bot that it writes plays the policy that was trained, and beats greedy."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.cli.test_submit import mybot  # noqa: F401 - the environment of an author
from tests.server.programs import inside
from tests.server.submissions.script import Script
from tests.server.web.test_submit import site

from arena.insertion import Batch

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def example() -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "examples" / "train_policy.py"))


def columns_of(cells: Any) -> list[list[str]]:
    """A board as the bot keeps it: columns from the left, each from the bottom up."""
    return [[str(cell) for cell in cells[::-1, x] if cell] for x in range(5)]


def test_the_bot_counts_what_was_trained(example: dict[str, Any], tmp_path: Path) -> None:
    weights = np.array([1.5, -0.5, 0.25, -0.75, 1.0]) / example["SCALE"]
    example["write_bot"](tmp_path / "bot", weights)
    bot = runpy.run_path(str(tmp_path / "bot" / "bot.py"))
    assert (tmp_path / "bot" / "Dockerfile").read_text().startswith("FROM python:")
    batch, draws = Batch(4, seed=5, start="partial", plies=9), np.random.default_rng(5)
    for _ in range(6):
        coming = batch.coming(3)
        values = example["features"](batch.planes, coming) @ weights
        for number, cells in enumerate(batch.boards()):
            pictures = "".join(map(str, coming[number]))
            found = [bot["value"](columns_of(cells), move, pictures) for move in range(1, 16)]
            assert found == pytest.approx(values[number].tolist())
        batch.step(draws.integers(1, 16, 4))
    assert 1 <= bot["choose"](columns_of(batch.boards()[0]), "1") <= 15


def test_training_is_the_same_again_and_wins_more_than_greedy(
    example: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(example["train"].__globals__, "GAMES", 12)
    lines: list[str] = []
    one, two = (example["train"](1, 3, lines.append) for _ in range(2))
    assert (one == two).all()
    assert [line.partition(":")[0] for line in lines] == ["round 1"] * 2
    mine, theirs = example["lead"](one, 9, 40, plies=40)
    even, other = example["lead"](example["GREEDY"], 9, 40, plies=40)
    assert np.mean(mine > theirs) > 0.7
    assert (even.sum(), len(other)) == (other.sum(), 80)


def test_what_cannot_be_written_is_known_before_the_training(
    example: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr("sys.argv", ["train_policy.py", str(tmp_path / "file" / "bot")])
    monkeypatch.setitem(example["main"].__globals__, "train", lambda *_: pytest.fail("it was trained"))
    with pytest.raises(NotADirectoryError):
        example["main"]()


@pytest.mark.real
@pytest.mark.soak
@pytest.mark.usefixtures("mybot")
def test_it_beats_greedy_in_95_of_100_games_and_is_submitted(
    example: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights = example["train"](20, 1)
    mine, theirs = example["lead"](weights, 1_000_001, 500, plies=200)
    assert np.mean(mine > theirs) >= 0.95
    folder = tmp_path / "mypolicy"
    example["write_bot"](folder, weights)
    monkeypatch.chdir(folder)
    match = inside("match", "python bot.py", "greedy", "--deals", "5", "--clock", "60s", "--json")
    assert match.code == 0, match.err
    assert match.out.count('"python bot.py"') == 1, "it has no faults"
    with site(tmp_path / "store", Script()) as server:
        monkeypatch.setenv("ARENA_SITE", f"http://{server.address}/")
        sent = inside("submit", folder)
    assert sent.out.splitlines()[-1] == "version 1 plays from the next game on"
