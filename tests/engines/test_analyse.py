"""`arena analyse` below the command line: the answer, and a bad file in one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from arena_engines.analysis import analyse_file, analysis_table
from arena_engines.engine import EngineError

BOARD = "53351/34233/13552/44215/44526"


@pytest.fixture
def positions(tmp_path: Path) -> Path:
    path = tmp_path / "positions.txt"
    path.write_text(f"# two positions\n{BOARD} 6163451\n\n5.351/6.423/1.552/44215/44526 16\n")
    return path


def test_the_answer_has_the_agreed_form(positions: Path) -> None:
    answer = analyse_file("champion", 3, positions)
    assert json.loads(json.dumps(answer)) == answer
    assert list(answer) == ["game", "engine", "depth", "positions", "seconds"]
    assert (answer["game"], answer["engine"], answer["depth"]) == ("insertion", "champion", 3)
    assert [list(each) for each in answer["positions"]] == [["move", "eval", "nodes"]] * 2
    assert answer["seconds"] > 0


def test_engines_agree_and_the_depth_ends_with_the_pictures(positions: Path) -> None:
    champion, minimax = (analyse_file(name, 4, positions)["positions"] for name in ("champion", "minimax"))
    assert [(each["move"], each["eval"]) for each in champion] == [
        (each["move"], each["eval"]) for each in minimax
    ]
    assert minimax[1]["nodes"] < 15 + 15**2 + 15**3


def test_the_table_has_a_row_a_position(positions: Path) -> None:
    rows = analysis_table(analyse_file("greedy", 1, positions)).splitlines()
    assert rows[0].split() == ["position", "move", "mine", "deleted", "theirs", "nodes"]
    assert rows[1].split() == ["1", "4", "30", "4", "0", "15"]
    assert rows[3].startswith("30 nodes in ")
    assert rows[3].endswith("s of search by greedy")


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (BOARD, "expected `<board> <visible sequence>`, found 1 words"),
        (f"{BOARD} 61 63", "found 3 words"),
        (f"{BOARD} 6193", "a picture of the sequence is a colour"),
        ("53351/34233 61", "a board is five rows of five cells"),
    ],
)
def test_a_bad_line_is_named_by_file_and_number(tmp_path: Path, line: str, text: str) -> None:
    path = tmp_path / "bad.txt"
    path.write_text(f"{BOARD} 6163\n{line}\n")
    with pytest.raises(EngineError) as caught:
        analyse_file("greedy", 2, path)
    assert str(caught.value).startswith(f"{path}:2: ")
    assert text in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_cannot_be_read_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match=r"cannot read the positions in .*none.txt: No such file"):
        analyse_file("greedy", 2, tmp_path / "none.txt")
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(EngineError, match="binary: it is not text"):
        analyse_file("greedy", 2, tmp_path / "binary")


@pytest.mark.parametrize("depth", [0, -1, 21])
def test_an_impossible_depth_is_refused(positions: Path, depth: int) -> None:
    with pytest.raises(EngineError, match=rf"^depth={depth}: expected 1\.\.20$"):
        analyse_file("champion", depth, positions)


def test_a_wrong_engine_is_refused_before_the_file_is_read(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="no engine 'nobody'"):
        analyse_file("nobody", 2, tmp_path / "none.txt")
