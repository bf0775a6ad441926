"""benchmarks/xo_match.py against itself and scripted programs: pairs, counts, claims, error lines."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

import xo_match  # noqa: E402 - a script, not a package

#: A Gomocup program that marks the first empty cell, or does what {fault} says at its first move.
SCRIPT = """
import sys
taken = set()
for line in sys.stdin:
    words = line.replace(",", " ").split()
    if words[0] == "START":
        print("MESSAGE a script\\nOK", flush=True)
    elif words[0] == "INFO":
        assert words[1] != "timeout_turn" or words[2] == "7", words
    elif words[0] == "TURN":
        taken.add((int(words[1]), int(words[2])))
    elif words[0] not in ("BOARD", "DONE"):
        taken.add((int(words[0]), int(words[1])))
    if words[0] in ("TURN", "DONE"):
        {fault}
        x, y = next((x, y) for y in range(14) for x in range(14) if (x, y) not in taken)
        taken.add((x, y))
        print(f"DEBUG first empty\\n{x},{y}", flush=True)
"""


def brain(tmp_path: Path, fault: str = "pass") -> str:
    program = tmp_path / "brain.py"
    program.write_text(SCRIPT.replace("{fault}", fault))
    return f"{sys.executable} {program}"


def run(*words: str) -> subprocess.CompletedProcess[str]:
    program = [sys.executable, str(ROOT / "benchmarks" / "xo_match.py"), *words]
    return subprocess.run(program, capture_output=True, text=True, check=False)


def played(points: float, ours: list[float], false_claim: bool = False) -> xo_match.Game:
    return xo_match.Game(points, [0, 1], ours, [4.0], false_claim)


@pytest.mark.soak
def test_a_match_is_won_against_a_program_that_marks_cell_after_cell(tmp_path: Path) -> None:
    result = run("--brain", brain(tmp_path), "--games", "2", "--millis", "5", "--theirs", "7", "--json")
    assert result.returncode == 0, result.stderr
    answer = json.loads(result.stdout)
    assert [answer[key] for key in ("games", "won", "lost", "pairs_won", "pairs_lost")] == [2, 2, 0, 1, 0]
    one, two = [game["moves"] for game in answer["played"]]
    opening = next(xo_match.openings(1))
    assert one[: len(opening)] == two[: len(opening)] == opening
    firsts = {one[len(opening)], two[len(opening)]}
    assert 0 in firsts
    assert len(firsts) == 2, "the seats are swapped"
    assert answer["false_claims"] == 0


@pytest.mark.real
@pytest.mark.soak
def test_another_version_moves_and_says_when_it_claims_a_win() -> None:
    """X has three in a row, open on both sides: a fourth mark wins."""
    rival = xo_match.Version(ROOT / "engines", 20)
    try:
        rival.new_game()
        quiet, won = rival.choose([90, 91]), rival.choose([90, 0, 91, 5, 92, 195])
    finally:
        rival.close()
    assert quiet.cell not in (90, 91)
    assert quiet.millis > 0
    assert not quiet.claims
    assert won.cell in (89, 93)
    assert won.claims


@pytest.mark.real
@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ("break", "ended without an answer"),
        ("print('ERROR full', flush=True); continue", "ERROR full"),
        ("print('14,3', flush=True); continue", "expected a cell of 14 x 14, got 14,3"),
    ],
)
@pytest.mark.soak
def test_a_program_at_fault_is_named_in_one_line(tmp_path: Path, fault: str, told: str) -> None:
    rival = xo_match.Brain(brain(tmp_path, fault), 7)
    rival.new_game()
    try:
        with pytest.raises(xo_match.MatchError, match=rf"^{sys.executable}:? .*{told}$"):
            rival.choose([90, 91])
    finally:
        rival.close()


@pytest.mark.real
@pytest.mark.soak
def test_a_program_that_refuses_the_board_or_marks_a_taken_cell_ends_the_match(tmp_path: Path) -> None:
    small = tmp_path / "small.py"
    small.write_text("input(); print('ERROR only 15 x 15', flush=True)")
    refuses = xo_match.Brain(f"{sys.executable} {small}", 7)
    with pytest.raises(xo_match.MatchError, match=r"ERROR only 15 x 15$"):
        refuses.new_game()
    refuses.close()
    taken = xo_match.Brain(brain(tmp_path, "x, y = min(taken); print(f'{x},{y}', flush=True); continue"), 7)
    try:
        with pytest.raises(xo_match.MatchError, match="a mark on g7, which is taken"):
            xo_match.play(taken, taken, [90, 91], 0)
    finally:
        taken.close()


@pytest.mark.real
@pytest.mark.soak
def test_an_absent_program_and_a_folder_without_the_package_are_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(xo_match.MatchError, match="absent: expected a program; No such file"):
        xo_match.Brain(str(tmp_path / "absent"), 7).new_game()
    result = run("--version", str(tmp_path), "--games", "2")
    assert (result.returncode, result.stderr.count("\n")) == (1, 1)
    assert result.stderr.startswith(f"xo_match: --version {tmp_path}: expected a folder with arena_engines")


@pytest.mark.parametrize("words", [[], ["--version", "a", "--brain", "b"]])
def test_one_opponent_is_required(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        xo_match.arguments(words)
    assert "expected --version DIR or --brain COMMAND" in capsys.readouterr().err


def test_the_summary_counts_games_pairs_and_times() -> None:
    answer = xo_match.summary(
        [
            (played(1.0, [1.0]), played(0.5, [2.0, 3.0])),
            (played(0.0, [6.0], false_claim=True), played(0.5, [])),
        ]
    )
    assert [answer[key] for key in ("games", "won", "drawn", "lost", "score")] == [4, 1, 2, 1, 0.5]
    assert [answer[key] for key in ("pairs_won", "pairs_lost", "false_claims")] == [1, 1, 1]
    assert (answer["ours_ms"], answer["theirs_ms"]) == (3.0, 4.0)
    assert "pairs 1 won, 1 lost" in xo_match.text(answer)


def test_openings_are_balanced_and_the_same_each_time() -> None:
    first = next(xo_match.openings(1))
    assert first == next(xo_match.openings(1))
    assert len(set(first)) == len(first)
    assert len(first) in xo_match.OPENINGS
