"""benchmarks/xo_rival.py against a scripted opponent: pairing, counting, error lines."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import islice
from pathlib import Path

import pytest

from arena_engines.registry import create
from arena_engines.xo.cells import cell_names

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

import xo_rival  # noqa: E402 - a script, not a package

NAMES = cell_names(xo_rival.SIZE)

#: A UCI program that marks the first empty cell from a1, or exits on the first `go`.
SCRIPT = """
import sys
taken = []
for line in sys.stdin:
    words = line.split()
    if words[0] == "uci":
        print("id name script\\nuciok", flush=True)
    elif words[0] == "isready":
        print("readyok", flush=True)
    elif words[0] == "position":
        taken = [word.removeprefix("P@") for word in words[3:]]
    elif words[0] == "go":
        assert words[1:] == ["movetime", "7"], words
        if {dies}:
            break
        names = [c + str(r) for r in range(1, 11) for c in "abcdefghij"]
        print("info depth 1\\nbestmove P@" + next(n for n in names if n not in taken), flush=True)
    elif words[0] == "quit":
        break
"""


def rival(tmp_path: Path, dies: bool = False) -> Path:
    program = tmp_path / "rival"
    program.write_text(f"#!{sys.executable}\n" + SCRIPT.replace("{dies}", str(dies)))
    program.chmod(0o755)
    return program


def run(*words: str) -> subprocess.CompletedProcess[str]:
    program = [sys.executable, str(ROOT / "benchmarks" / "xo_rival.py"), *words]
    return subprocess.run(program, capture_output=True, text=True, check=False)


@pytest.mark.real
@pytest.mark.soak
def test_a_match_is_won_against_a_rival_that_marks_cell_after_cell(tmp_path: Path) -> None:
    result = run(
        "--rival",
        str(rival(tmp_path)),
        "--games",
        "4",
        "--movetime",
        "7",
        "--engine",
        "xo:nodes=300",
        "--json",
    )
    assert result.returncode == 0, result.stderr
    answer = json.loads(result.stdout)
    assert [answer[key] for key in ("games", "won", "drawn", "lost", "score")] == [4, 4, 0, 0, 1.0]
    assert answer["interval"] == [1.0, 1.0]
    one, two, three, four = [game["moves"] for game in answer["played"]]
    marks = xo_rival.OPENINGS[answer["seed"] % 2]
    assert one[:4] == two[:4]
    assert three[:4] == four[:4] != one[:4]
    assert one[marks] != two[marks], "the seats are swapped"
    assert result.stderr.count("games:") == 2


@pytest.mark.real
@pytest.mark.soak
def test_an_absent_rival_is_one_clear_line(tmp_path: Path) -> None:
    result = run("--rival", str(tmp_path / "absent"), "--games", "2")
    assert result.returncode == 1
    assert (
        result.stderr
        == f"xo_rival: {tmp_path}/absent is not installed; in Debian: apt install fairy-stockfish\n"
    )


@pytest.mark.real
@pytest.mark.soak
def test_a_rival_that_dies_is_one_clear_line(tmp_path: Path) -> None:
    result = run("--rival", str(rival(tmp_path, dies=True)), "--games", "2", "--movetime", "7")
    assert result.returncode == 1
    assert result.stderr.endswith("ended without an answer to 'go movetime 7'\n")
    assert result.stderr.startswith("xo_rival: ")


def test_openings_are_balanced_and_not_won_at_once() -> None:
    first = list(islice(xo_rival.openings(1), 6))
    assert first == list(islice(xo_rival.openings(1), 6))
    assert len({tuple(opening) for opening in first}) == 6
    for opening in first:
        assert len(opening) in xo_rival.OPENINGS
        assert len(set(opening)) == len(opening)
        assert set(opening) <= set(NAMES)


def test_the_summary_counts_from_our_side() -> None:
    def game(points: float) -> xo_rival.Game:
        return xo_rival.Game(points, [], int(10 * points))

    answer = xo_rival.summary([(game(1), game(0.5)), (game(0), game(1))])
    assert [answer[key] for key in ("games", "won", "drawn", "lost")] == [4, 2, 1, 1]
    assert answer["score"] == 0.625
    assert answer["interval"] == [0.5, 0.75]
    assert answer["most_ms"] == 10
    assert "4 games: 2 won, 1 drawn, 1 lost; score 62.5 %" in xo_rival.text(answer)


@pytest.mark.slow
def test_fairy_stockfish_knows_five_in_a_row_from_our_file() -> None:
    try:
        program = xo_rival.rival_path(xo_rival.PROGRAM)
    except xo_rival.RivalError:
        pytest.skip("fairy-stockfish is not installed")
    real = xo_rival.Rival(program, 50)
    assert real.choose(["c3", "c7", "d3", "d7", "e3", "e7", "f3", "a1"]) in ("b3", "g3")
    player = create("xo:nodes=2000", "xo")
    game = xo_rival.play(player, real, next(xo_rival.openings(5)), 1)
    real.close()
    assert game.points in (0, 0.5, 1)
