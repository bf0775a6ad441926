"""Analyses of a file and the search bench, below the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from arena_engines.analysis import analyse_file, analysis_table, bench_table, search_bench
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
    assert [list(each) for each in answer["positions"]] == [["move", "eval", "nodes", "depth"]] * 2
    assert answer["seconds"] > 0


def test_engines_agree_and_the_depth_ends_with_the_pictures(positions: Path) -> None:
    champion, minimax = (analyse_file(name, 4, positions)["positions"] for name in ("champion", "minimax"))
    assert [(each["move"], each["eval"]) for each in champion] == [
        (each["move"], each["eval"]) for each in minimax
    ]
    assert minimax[1]["nodes"] < 15 + 15**2 + 15**3
    assert [each["depth"] for each in champion] == [each["depth"] for each in minimax] == [4, 2]


def test_the_table_has_a_row_a_position(positions: Path) -> None:
    rows = analysis_table(analyse_file("greedy", 1, positions)).splitlines()
    assert rows[0].split() == ["position", "move", "mine", "deleted", "theirs", "nodes", "depth"]
    assert rows[1].split() == ["1", "4", "30", "4", "0", "15", "1"]
    assert rows[3].startswith("30 nodes in ")
    assert rows[3].endswith("s of processor time by greedy")


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (BOARD, "expected `<board> <visible sequence>`, found 1 words"),
        (f"{BOARD} 61 63", "found 3 words"),
        (f"{BOARD} 6193", "a picture of the sequence is a colour"),
        ("53351/34233 61", "a board is five rows of five cells"),
        ("...../...../...../...../.111. 61", "a start board has no run of three or more of one colour"),
        ("...../..1../...../...../...../ 61", "a board is five rows of five cells"),
        ("...../..1../...../...../..... 61", "a picture hangs over an empty cell in column 3"),
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
    with pytest.raises(EngineError, match="no engine 'unknown'"):
        analyse_file("unknown", 2, tmp_path / "none.txt")


@pytest.mark.parametrize(
    ("engine", "text"),
    [
        ("champion:depth=3", "engine champion: depth=3 has no effect on an analysis"),
        ("minimax:depth=2", "engine minimax: depth=2 has no effect on an analysis"),
        ("entry2006:zombie=0", "engine entry2006: zombie=0 has no effect on an analysis"),
        ("master:millis=5", "engine master: millis=5 has no effect on an analysis"),
        ("master:model=worst", "engine master: model=worst has no effect on an analysis"),
        ("champion:strategy=adaptive", "strategy=adaptive has no effect on an analysis; use cooperative or"),
    ],
)
def test_a_parameter_without_effect_on_an_analysis_is_refused(
    positions: Path, engine: str, text: str
) -> None:
    with pytest.raises(EngineError, match=text):
        analyse_file(engine, 2, positions)


def test_parameters_of_the_search_itself_are_accepted(positions: Path) -> None:
    spoiling = analyse_file("champion:strategy=spoiling", 2, positions)["positions"]
    assert spoiling != analyse_file("champion", 2, positions)["positions"]
    assert analyse_file("fourtier:cut=none", 2, positions)["positions"]


def test_the_bench_counts_nodes_and_times() -> None:
    bench = search_bench(depth=5, rival_depth=5)
    assert [row["depth"] for row in bench["depths"]] == [1, 2, 3, 4, 5]
    first, *_, last = bench["depths"]
    assert first["nodes"] == first["rival_nodes"]
    assert last["ratio"] == round(last["rival_nodes"] / last["nodes"], 2) >= 20
    assert bench["signature"] == last["nodes"]
    assert set(bench["nodes_per_second"]) == {"engine", "rival", "bare"}
    assert bench["of_bare"] > 0


def test_the_signature_is_the_same_every_time_and_ends_the_table() -> None:
    one, other = (search_bench(depth=1, rival_depth=1) for _ in range(2))
    assert one["signature"] == other["signature"]
    assert bench_table(one).splitlines()[-1] == f"Nodes: {one['signature']}"


def test_beyond_the_rivals_depth_the_row_is_the_engines_alone() -> None:
    bench = search_bench(depth=3, rival_depth=2)
    assert bench["depths"][2]["rival_nodes"] is None
    assert bench["depths"][2]["ratio"] is None
    assert len(bench_table(bench).splitlines()[4].split()) == 3


@pytest.mark.parametrize(("depths", "wrong"), [((0, 1), 0), ((21, 1), 21), ((1, 0), 0)])
def test_an_impossible_depth_of_the_bench_is_refused(depths: tuple[int, int], wrong: int) -> None:
    with pytest.raises(EngineError, match=rf"^depth={wrong}: expected 1\.\.20$"):
        search_bench(depth=depths[0], rival_depth=depths[1])
