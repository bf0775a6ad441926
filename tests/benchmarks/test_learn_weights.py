"""benchmarks/learn_weights.py: weights are learned that beat none, every single one and their opposite."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.slices import rows

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

import learn_weights  # noqa: E402 - a script, not a package


def test_the_result_is_fitted_by_the_term_that_decides_it() -> None:
    games = [learn_weights.Played(sign, [(sign, 0, 1), (2 * sign, 1, -1)]) for sign in (1, -1) * 10]
    first, *others = learn_weights.fit(games)
    assert first == learn_weights.LARGEST
    assert max(map(abs, others)) < learn_weights.LARGEST / 2
    assert learn_weights.fit([learn_weights.Played(0, [(0, 0, 0)])]) == (0, 0, 0)


def test_neighbours_change_one_weight_within_its_range() -> None:
    assert learn_weights.neighbours((0, 95)) == [(10, 95), (-10, 95), (0, 85)]


@pytest.mark.parametrize("words", rows([["lastcoin", "--option", "coins=21"], ["tictactoe"]], 2))
def test_learned_weights_are_not_beaten(words: list[str]) -> None:
    quick = ["--rounds", "1", "--games", "100", "--trials", "20", "--openings", "40"]
    answer = learn_weights.measure(learn_weights.arguments([*words, *quick]))
    scores = {row["against"]: row["score"] for row in answer["matches"]}
    assert scores[0, 0, 0] > 0.7
    assert min(scores.values()) >= 0.45
    opposite = tuple(-weight for weight in answer["rounds"][-1])
    assert scores[opposite] > 0.9


@pytest.mark.real
@pytest.mark.soak
def test_the_script_prints_a_table_or_json_and_one_line_for_a_wrong_option() -> None:
    script = [sys.executable, str(ROOT / "benchmarks" / "learn_weights.py"), "lastcoin"]
    quick = ["--rounds", "1", "--games", "20", "--trials", "4", "--openings", "4"]
    table = subprocess.run([*script, *quick], capture_output=True, text=True, check=True).stdout
    assert table.splitlines()[0] == "lastcoin {'coins': '7'}: weights of threats, mobility, special"
    answer = subprocess.run([*script, *quick, "--json"], capture_output=True, text=True, check=True).stdout
    assert json.loads(answer)["games"] == 8
    wrong = subprocess.run([*script, "--option", "m=3"], capture_output=True, text=True, check=False)
    assert (wrong.returncode, wrong.stderr) == (
        1,
        "learn_weights: lastcoin has no option 'm'; it has: coins, seats\n",
    )
