"""benchmarks/figures: a slice of the real measurement, what is stored, what is void, what is drawn."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from arena_engines.insertion.master import engine
from arena_protocol.errors import needs_extra
from arena_server.stats.scores import Scores

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "figures"))

import measure
import plot
from measure import Findings, Nodes, Pairing, Result
from plan import CONTEST, MASTER, PARTS, QUICK, WHOLE, Plan, league_of
from tables import BLOCKS, ceiling, crosstable, fill, minimal_tree, named, node_curves, standings

SHORT = (("plies", 8),)


class Steps:
    """A task of three steps that remembers from where it was gone on with."""

    key = "steps"
    engines = ("dummy",)
    timed = False

    def __init__(self, stop_after: int = 3) -> None:
        self.stop_after = stop_after
        self.began: list[int] = []

    def go_on(self, made: dict[str, int]) -> Iterator[tuple[str, dict[str, int]]]:
        self.began.append(made.get("done", 0))
        for step in range(made.get("done", 0) + 1, 4):
            if step > self.stop_after:
                raise KeyboardInterrupt
            yield f"step {step}", {"done": step}


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a quick run."""
    folder = tmp_path_factory.mktemp("figures")
    assert plot.main(["--quick", str(folder)]) == 0
    return folder


@pytest.fixture
def findings(quick: Path) -> Findings:
    return Findings(quick / "figures.json")


@pytest.mark.soak
def test_a_quick_run_measures_everything_and_draws_it(quick: Path, findings: Findings) -> None:
    assert all(findings.has(task) for part in PARTS for task in QUICK.part(part))
    drawn = sorted(path.name for path in quick.glob("*.svg"))
    assert drawn == ["depths.svg", "league.svg", "nodes.svg", "pace.svg", "zombie.svg"]
    page = (quick / "engines.md").read_text(encoding="utf-8")
    assert page.count("Not measured yet") == 1
    assert f"| `{MASTER}` |" in page


def test_a_pairing_that_was_stopped_goes_on_with_its_next_deal() -> None:
    *_, (_, first) = Pairing("greedy", "dummy", 1, None, SHORT).go_on({})
    *_, (_, whole) = Pairing("greedy", "dummy", 3, None, SHORT).go_on({})
    rest = list(Pairing("greedy", "dummy", 3, None, SHORT).go_on(first))
    assert [note.partition(":")[0] for note, _ in rest] == ["deal 2 of 3", "deal 3 of 3"]
    assert (rest[-1][1]["one"], rest[-1][1]["other"]) == (whole["one"], whole["other"])


@pytest.mark.parametrize("clock", [None, 5_000])
def test_engines_and_clocks_count_processor_time(clock: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[object] = []
    play: Callable[..., object] = measure.play_deal

    def noted(*given: Any, **named: object) -> object:
        counted.extend([vars(engine)["perf_counter"], given[2][0]._lateness._now, named["now"]])
        return play(*given, **named)

    monkeypatch.setattr(measure, "play_deal", noted)
    Pairing("master:millis=1", "dummy", 1, clock, SHORT).play(0, Scores.empty(2))
    assert counted == [time.thread_time, time.thread_time, time.thread_time_ns]


@pytest.mark.soak
def test_a_second_run_measures_nothing_and_draws_the_same_bytes(
    quick: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {path.name: path.read_bytes() for path in quick.iterdir()}
    capsys.readouterr()
    assert plot.main(["--quick", str(quick)]) == 0
    lines = capsys.readouterr().err.splitlines()
    assert [line.split()[2] for line in lines] == ["part"] * len(PARTS)
    assert {path.name: path.read_bytes() for path in quick.iterdir()} == before


@pytest.mark.soak
def test_pictures_can_be_drawn_without_measuring(quick: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert plot.main(["--quick", str(quick), "--draw"]) == 0
    assert capsys.readouterr().out.split() == [
        "nodes.svg", "depths.svg", "league.svg", "pace.svg", "zombie.svg",
    ]  # fmt: skip


@pytest.mark.slow
@pytest.mark.soak
def test_rungs_that_search_one_tree_share_a_curve(findings: Findings) -> None:
    curves = node_curves(findings, QUICK)
    assert list(curves) == ["minimax / entry2006", "champion", "master"]
    branching, least = minimal_tree(findings, QUICK)
    assert branching == curves["champion"][0]
    assert least == pytest.approx([branching, 2 * branching - 1, branching**2 + branching - 1])


@pytest.mark.slow
@pytest.mark.soak
def test_the_league_is_what_its_pairings_are(findings: Findings) -> None:
    table = standings(findings, QUICK)
    assert {each.engine for each in table} == set(league_of(QUICK))
    assert [each.points for each in table] == sorted((each.points for each in table), reverse=True)
    assert all(each.interval[0] <= each.points <= each.interval[1] for each in table)
    names, points = crosstable(findings, QUICK)
    assert names == [named(each.engine) for each in table]
    assert [[cell is None for cell in row] for row in points] == [
        [row == column for column in range(4)] for row in range(4)
    ]
    met = next(pairing for pairing in QUICK.league if pairing.engines == (MASTER, "dummy"))
    expected = findings.result(met).mean()[0]
    assert points[names.index("master")][names.index("dummy")] == expected


def test_what_was_stopped_goes_on_and_what_is_done_is_not_done_again(tmp_path: Path) -> None:
    path, notes = tmp_path / "found.json", list[str]()
    with pytest.raises(KeyboardInterrupt):
        Findings(path).measure([Steps(stop_after=2)], notes.append)
    again = Steps()
    Findings(path).measure([again], notes.append)
    assert again.began == [2]
    assert notes == ["steps: step 1", "steps: step 2", "steps: step 3"]
    Findings(path).measure([again], notes.append)
    assert again.began == [2, 3]
    assert len(notes) == 3


def test_tasks_take_turns(tmp_path: Path) -> None:
    notes: list[str] = []
    two = Nodes("champion", 2), Nodes("minimax", 2)
    Findings(tmp_path / "found.json").measure(two, notes.append)
    assert [note.partition(":")[0] for note in notes] == ["nodes of champion", "nodes of minimax"] * 2


def test_a_changed_engine_is_measured_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, task = tmp_path / "found.json", Steps()
    Findings(path).measure([task], print)
    monkeypatch.setattr(measure, "version", lambda spec, timed: "another")
    Findings(path).measure([task], print)
    assert task.began == [0, 0]


def test_a_stopped_run_says_how_to_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Findings, "measure", stopped)
    assert plot.main(["--quick", str(tmp_path)]) == 130
    assert capsys.readouterr().err.endswith("\nstopped; the same command continues from here\n")


def test_tasks_that_are_planned_no_more_are_dropped(tmp_path: Path) -> None:
    path = tmp_path / "found.json"
    found = Findings(path)
    found.measure([Steps(), Nodes("champion", 1)], print)
    found.keep([Nodes("champion", 1)])
    assert list(json.loads(path.read_text(encoding="utf-8"))["tasks"]) == ["nodes of champion"]
    assert found.found(Nodes("champion", 1)) == {"nodes": [446], "positions": 40}


def test_more_deals_are_added_to_those_that_were_played(tmp_path: Path) -> None:
    found = Findings(tmp_path / "found.json")
    one, three = (Pairing("greedy", "dummy", deals, None, SHORT) for deals in (1, 3))
    found.measure([one], print)
    first = found.result(one)
    notes: list[str] = []
    found.measure([three], notes.append)
    assert len(notes) == 2
    assert found.result(three).one[:1] == first.one == found.result(one).one
    fresh = Findings(tmp_path / "other.json")
    fresh.measure([three], print)
    assert fresh.result(three) == found.result(three)


def test_a_version_is_that_of_the_code_and_of_all_below_it() -> None:
    assert measure.version("champion:depth=3") == measure.version("champion:depth=4")
    assert measure.version("champion") != measure.version("master")
    sources = measure._sources("arena_engines.insertion.champion")
    assert {"arena_engines.insertion.evaluation", "arena_protocol.games.insertion.rules"} <= set(sources)
    assert "arena_engines.insertion.master.search" not in sources


def test_the_learnt_tables_count(monkeypatch: pytest.MonkeyPatch) -> None:
    before = measure.version("master"), measure.version("champion")
    measure.version.cache_clear()
    monkeypatch.setattr(Path, "read_bytes", lambda _: b"other worths")
    after = measure.version("master"), measure.version("champion")
    measure.version.cache_clear()
    assert after[0] != before[0]
    assert after[1] == before[1]


def test_how_an_engine_is_compiled_counts_where_its_speed_does() -> None:
    assert measure.version("champion", timed=True) != measure.version("champion")
    assert measure.version("master", timed=True) == measure.version("master")


def test_words_are_no_part_of_a_version() -> None:
    with_words = '"""About."""\ndef f() -> int:\n    """What."""\n    return 1  # why\n'
    bare, other = "def f() -> int:\n    return 1\n", "def f() -> int:\n    return 2\n"
    trees = [measure._read(source).code for source in (with_words, bare, other)]
    assert trees[0] == trees[1] != trees[2]


def test_points_and_their_intervals() -> None:
    result = Result([100.0, 200.0], [50.0, 50.0], {})
    assert result.mean() == (150.0, [100.0, 200.0])
    assert result.ratio() == (3.0, [2.0, 4.0])
    assert result.swapped().mean() == (50.0, [50.0, 50.0])


def test_the_ceiling_is_that_of_the_seed() -> None:
    assert ceiling(Pairing("master", "dummy", 1)) == 2250
    assert ceiling(Pairing("master", "dummy", 1, None, (("plies", 8),))) == 330


@pytest.mark.parametrize("plan", [WHOLE, QUICK], ids=["whole", "quick"])
def test_a_plan_measures_nothing_twice_within_a_part(plan: Plan) -> None:
    for part in (*PARTS, CONTEST):
        keys = [task.key for task in plan.part(part)]
        assert len(keys) == len(set(keys)), part


def test_a_page_says_what_is_not_measured(tmp_path: Path) -> None:
    page = "A.\n<!-- begin: league -->\nold\n<!-- end: league -->\nB.\n"
    found = Findings(tmp_path / "none.json")
    assert fill(page, found, QUICK) == page.replace("old", "Not measured yet: `make figures`.")


def test_a_block_of_an_unknown_name_is_a_mistake_of_the_page(tmp_path: Path) -> None:
    page = "<!-- begin: luck -->\n<!-- end: luck -->\n"
    with pytest.raises(KeyError, match="luck"):
        fill(page, Findings(tmp_path / "none.json"), QUICK)
    assert "luck" not in BLOCKS


def test_without_matplotlib_one_line_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(SystemExit) as stop:
        plot.main(["--quick", str(tmp_path), "--draw"])
    assert stop.value.code == (needs_extra("a picture (matplotlib)", "figures"))


def test_a_wrong_part_is_refused_with_the_right_ones(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        plot.main(["--only", "luck"])
    error = capsys.readouterr().err
    assert "invalid choice: 'luck'" in error
    assert all(part in error for part in PARTS)
