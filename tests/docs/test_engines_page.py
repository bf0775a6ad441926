"""docs/engines.md: its commands run, its numbers are those of the measurement, its pictures are there."""

from __future__ import annotations

import json
import re
import shlex
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from arena_cli.app import app
from arena_engines.analysis import SIGNATURE_DEPTH, bench_positions
from arena_engines.insertion.baselines import OnePly
from arena_engines.registry import create, engines_of

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "figures"))

import tables
from measure import Findings, Pairing
from plan import ADAPTIVE, CHAMPION, MASTER, SPOILER, WHOLE, modelled
from plot import PICTURES
from tables import node_curves, standings

from ..slices import rows

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "engines.md").read_text(encoding="utf-8")
FINDINGS = Findings(ROOT / "benchmarks" / "figures" / "figures.json")
COMMANDS = [line for block in re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL) for line in block.splitlines()]
ARENA = [command for command in COMMANDS if command.startswith("arena ")]


def shortened(command: str) -> list[str]:
    """The same command with as little work as it can be given."""
    less = {"--deals": "1", "--clock": "300ms", "--depth": "2", "--rival-depth": "2"}
    words = shlex.split(command.replace(" --sprt", " --sprt --deals 1"))[1:]
    return [less.get(before, word) for before, word in zip(["", *words], words, strict=False)]


@pytest.mark.slow
@pytest.mark.parametrize("command", rows(ARENA, 8))
def test_a_command_of_the_page_runs(command: str) -> None:
    options = ["--option", "plies=12"] if "match" in command else []
    done = CliRunner().invoke(app, [*shortened(command), *options, "--json"], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)


def test_every_other_command_is_a_target_or_a_script_that_is_there() -> None:
    others = [shlex.split(command) for command in COMMANDS if command not in ARENA]
    assert [words[:2] for words in others] == [
        ["make", "figures"],
        ["python", "benchmarks/figures/plot.py"],
        ["python", "benchmarks/boards.py"],
        ["python", "benchmarks/rivals/run.py"],
        ["python", "benchmarks/rivals/wrong_memory.py"],
        ["python", "benchmarks/seed_claims.py"],
    ]
    assert re.search(r"^figures:.*figures/plot\.py", makefile(), re.MULTILINE | re.DOTALL)
    assert all((ROOT / script).is_file() for _, script, *_ in others[1:])


def makefile() -> str:
    return (ROOT / "Makefile").read_text(encoding="utf-8")


def test_every_number_between_marks_is_that_of_the_measurement() -> None:
    assert tables.fill(PAGE, FINDINGS, WHOLE) == PAGE
    assert set(re.findall(r"<!-- begin: (\w+) -->", PAGE)) == set(tables.BLOCKS)


def test_every_picture_is_there_small_and_on_the_page() -> None:
    shown = set(re.findall(r"!\[[^\]]+\]\((figures/\w+\.svg)\)", PAGE))
    assert shown == {f"figures/{name}.svg" for name in PICTURES}
    assert all((ROOT / "docs" / name).stat().st_size < 200_000 for name in shown)


def test_every_link_leads_somewhere() -> None:
    links = re.findall(r"\]\(([^)#]+)\)", PAGE)
    assert links
    assert all((ROOT / "docs" / link).exists() for link in links)


def test_every_engine_that_searches_is_on_the_ladder() -> None:
    ladder = PAGE.partition("\n## The ladder\n")[2].partition("\n## ")[0]
    named = {name.partition(":")[0] for name in re.findall(r"^\| `([^`]+)` \|", ladder, re.MULTILINE)}
    assert {
        each.name
        for each in engines_of("insertion").values()
        if each.max_depth and not issubclass(each, OnePly)
    } == named


def ratio(one: str, other: str, part: tuple[Pairing, ...]) -> float:
    """Points of the one for a point of the other, in their first pairing of a part."""
    found: float = next(FINDINGS.result(task).ratio()[0] for task in part if task.engines == (one, other))
    return found


def test_the_signature_on_the_page_is_that_of_master() -> None:
    engine = create("master")
    nodes = sum(engine.analyse(position, SIGNATURE_DEPTH).nodes for position in bench_positions())
    assert re.findall(r"`Nodes: (\d+)`", PAGE) == [str(nodes)]


def test_deeper_search_pays_at_first_and_then_hardly_any_more() -> None:
    points = [FINDINGS.result(task).mean()[0] for task in WHOLE.depths]
    assert points[2] > 1.3 * points[0]
    assert points[-1] < 1.05 * points[4]


def test_spoiling_takes_more_than_it_gives_away_and_the_adaptive_one_is_no_better() -> None:
    league = {each.engine: each.points for each in standings(FINDINGS, WHOLE)}
    assert league[SPOILER] > league[ADAPTIVE] > league[CHAMPION]
    assert ratio(SPOILER, CHAMPION, WHOLE.league) > 1.2
    assert ratio(ADAPTIVE, SPOILER, WHOLE.league) < 0.9


def test_master_is_first_in_the_league_and_beside_a_zombie() -> None:
    assert standings(FINDINGS, WHOLE)[0].engine == MASTER
    zombie = {task.one: FINDINGS.result(task).mean()[0] for task in WHOLE.zombie}
    assert max(zombie, key=lambda spec: zombie[spec]) == MASTER


def test_every_rung_is_nearer_to_the_minimal_tree_than_the_whole_tree_is() -> None:
    curves = node_curves(FINDINGS, WHOLE)
    assert next(iter(curves)) == "minimax / entry2006 / fourtier uncut"
    at_seven = [counts[6] for counts in curves.values()]
    assert at_seven == sorted(at_seven, reverse=True)


def test_without_time_to_think_the_weights_alone_are_ahead() -> None:
    least = WHOLE.clocks[0]
    assert least.clock == 100
    assert FINDINGS.result(least).ratio()[1][0] > 1


def test_a_model_pays_where_it_is_right_and_what_is_seen_is_near_the_best() -> None:
    points = {task.engines: FINDINGS.result(task).mean()[0] for task in WHOLE.models}
    worst, own, spoiling, seen = (modelled(model) for model in ("worst", "own", "spoiling", "seen"))
    assert points[own, CHAMPION] > points[worst, CHAMPION]
    assert points[spoiling, SPOILER] > points[worst, SPOILER] > points[own, SPOILER]
    for rival in (CHAMPION, SPOILER):
        assert points[seen, rival] > 0.9 * max(points[model, rival] for model in (worst, own, spoiling))
