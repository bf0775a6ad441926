"""benchmarks/learn_patterns.py: the worths of patterns beside a zombie, learnt from games."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import learn_patterns


@pytest.mark.soak
def test_learning_is_the_same_again_and_who_sees_further_scores_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [tmp_path / name for name in ("one.npy", "other.npy")]
    for file in files:
        words = ["learn_patterns.py", str(file), "--rounds", "2", "--games", "40", "--then", "1"]
        monkeypatch.setattr(sys, "argv", words)
        learn_patterns.main()
    rounds = [int(line.split()[2]) for line in capsys.readouterr().out.splitlines()]
    assert rounds[:3] == rounds[3:]
    assert rounds[2] > max(rounds[:2]) + 100
    one, other = map(np.load, files)
    assert one.shape == (learn_patterns.PATTERNS * learn_patterns.KINDS,)
    assert (one == other).all()
    assert one.any()
