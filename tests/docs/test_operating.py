"""docs/operating.md: its commands run, its tables are those of the program."""

from __future__ import annotations

import ast
import dataclasses
import re
import shlex
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import get_args
from urllib.request import urlopen

import pytest
from tests.forked import Arena
from tests.server.programs import PATIENCE_S, Players, inside

from arena_cli.admin import Order
from arena_cli.admin_contests import ACTS
from arena_server.core import log_events, ratelimit
from arena_server.core.log_events import LogEvent
from arena_server.core.overview import Awaited, Progress
from arena_server.host import log_events as host_events
from arena_server.stats.durations import Durations, Histogram
from arena_server.web import security
from arena_server.web.metrics import ContestSnapshot, Counts, Snapshot, exposition

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "operating.md").read_text(encoding="utf-8")
HEAD = re.compile(r"\b[0-9a-f]{64}\b")


def section(title: str) -> str:
    return PAGE.split(f"\n## {title}\n")[1].split("\n## ")[0]


def table(title: str) -> list[list[str]]:
    """The cells of the last table of the section, without those below it."""
    lines = [line for line in section(title).split("\n### ")[0].splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    start = max(index for index, row in enumerate(rows) if set("".join(row)) <= {"-", "|"})
    return rows[start + 1 :]


def name(cell: str) -> str:
    found = re.match(r"`([^`]+)`", cell)
    assert found, cell
    return found[1]


def durations() -> Durations:
    """One measurement in every bucket of each histogram."""
    filled = Durations()
    filled.turns, filled.journal, filled.store = (
        Histogram([1] * len(Histogram().counts), 5_000_000) for _ in range(3)
    )
    return filled


class TestMetrics:
    contest = ContestSnapshot(
        {"name": "club", "game": "insertion", "software": "test"},
        Counts(
            {"complete": 3},
            {"flood": 1},
            {"token": 2},
            {"kick": 1},
            2,
            1500,
            {"delivered": 1},
            {"used": 2500, "pressure": 500},
        ),
        durations(),
        Progress(
            done=3,
            total=6,
            void=1,
            running=2,
            plies=77,
            connected=2,
            ended=None,
            standings=(),
            waiting=(
                Awaited("a", "away", 4, 0),
                Awaited("b", "away", 5, 0),
                Awaited("c", "probation", None, 3),
            ),
        ),
    )
    snapshot = Snapshot([contest], 4, 100, {"build": (0, 0.0), "check": (2, 61.5)})

    def exposed(self) -> dict[str, str]:
        """Name (as the samples have it) and kind of every metric of ours."""
        text = exposition(self.snapshot)[0].decode()
        kinds = dict(re.findall(r"^# TYPE (arena_\S+) (\w+)$", text, re.MULTILINE))
        infos = {found for found in kinds if found.endswith("_info")}
        return {found: "info" if found in infos else kind for found, kind in kinds.items()}

    def test_with_several_contests_every_sample_of_one_names_it(self) -> None:
        other = replace(self.contest, contest={**self.contest.contest, "name": "other"})
        text = exposition(Snapshot([self.contest, other], 4, 100))[0].decode()
        assert text.count("# TYPE arena_games gauge") == 1
        for name in ("club", "other"):
            assert f'arena_games{{contest="{name}",state="done"}} 3.0' in text
            assert f'arena_ply_latency_seconds_count{{contest="{name}"}} ' in text
        assert "arena_connections 4.0" in text

    def test_the_table_has_every_metric_with_its_kind_and_no_other(self) -> None:
        assert {name(row[0]): row[1] for row in table("Metrics")} == self.exposed()

    def test_the_samples(self) -> None:
        text = exposition(self.snapshot)[0].decode()
        for line in (
            'arena_contest_info{game="insertion",name="club",software="test"} 1.0',
            'arena_games{state="pending"} 1.0',
            'arena_games{state="running"} 2.0',
            'arena_games{state="done"} 3.0',
            'arena_games{state="void"} 1.0',
            'arena_games_ended_total{end="complete"} 3.0',
            'arena_faults_total{kind="flood"} 1.0',
            'arena_refusals_total{code="token"} 2.0',
            'arena_orders_total{verb="kick"} 1.0',
            "arena_plies_total 77.0",
            'arena_ply_latency_seconds_bucket{le="5e-05"} 1.0',
            'arena_ply_latency_seconds_bucket{le="0.0001"} 2.0',
            'arena_ply_latency_seconds_bucket{le="10.0"} 17.0',
            'arena_ply_latency_seconds_bucket{le="+Inf"} 18.0',
            "arena_ply_latency_seconds_sum 0.005",
            "arena_loop_stalls_total 2.0",
            "arena_loop_stalled_seconds_total 1.5",
            'arena_bot_cpu_seconds_total{kind="used"} 2.5',
            'arena_bot_cpu_seconds_total{kind="pressure"} 0.5',
            'arena_admissions_waiting{stage="build"} 0.0',
            'arena_admissions_waiting{stage="check"} 2.0',
            'arena_admission_oldest_seconds{stage="check"} 61.5',
            "arena_connections 4.0",
            "arena_connections_max 100.0",
            "arena_bots_connected 2.0",
            'arena_bots_waiting_for{reason="away"} 2.0',
            'arena_bots_waiting_for{reason="probation"} 1.0',
            'arena_bots_waiting_for{reason="kicked"} 0.0',
        ):
            assert f"\n{line}\n" in text, line


class TestOrders:
    def test_the_table_has_every_order_and_no_other(self) -> None:
        assert {name(row[0]).split()[0] for row in table("Orders")} == set(get_args(Order))

    def test_the_program_and_the_core_know_the_same_orders(self) -> None:
        from arena_server.core.orders import VERBS, VOID_WORKER

        # Authors register by a page; `void --worker` and those of `contest` are orders of their own there.
        others = {"register", VOID_WORKER, *ACTS}
        assert {*VERBS, "status", "orders", "contest"} - others == set(get_args(Order))


def event_classes() -> list[type[LogEvent]]:
    """Every class of an event that has a line in the log."""
    found = [each for module in (log_events, host_events) for each in vars(module).values()]
    classes = {each for each in found if isinstance(each, type) and issubclass(each, LogEvent)}
    return [each for each in classes if hasattr(each, "event")]


def field_names(event: type[LogEvent]) -> set[str]:
    return {each.name for each in dataclasses.fields(event)}


class TestLog:
    def test_the_table_has_every_event_with_its_fields_and_no_other(self) -> None:
        fields = re.compile(r"`([^`:,]+)`")
        documented = {name(row[0]): (row[1], set(fields.findall(row[2]))) for row in table("The log")}
        classes = event_classes()
        assert documented == {each.event: (each.level, field_names(each)) for each in classes}
        assert len(documented) == len(classes)

    def test_no_field_takes_the_place_of_what_every_line_has(self) -> None:
        for each in event_classes():
            assert not field_names(each) & {"time", "level", "event"}, each

    def test_every_event_is_logged_somewhere(self) -> None:
        calls = {
            node.func.id
            for path in (ROOT / "server" / "arena_server").rglob("*.py")
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        }
        assert {each.__name__ for each in event_classes()} <= calls


def consoles() -> list[tuple[str, list[str]]]:
    """Every command of the page with its output."""
    found: list[tuple[str, list[str]]] = []
    for block in re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line[2:], []))
            else:
                found[-1][1].append(line)
    return found


def plain(lines: list[str]) -> list[str]:
    """The comparable part: without heads, empty lines, and the blanks and rules of tables."""
    words = (" ".join(HEAD.sub("HEAD", line).replace("─", "").split()) for line in lines)
    return [line for line in words if line]


@pytest.mark.real
def test_the_commands_of_the_page(tmp_path: Path) -> None:
    toml = re.search(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    assert toml
    (tmp_path / "club.toml").write_text(toml[1], encoding="utf-8")
    (first, said), *rest = consoles()
    options = shlex.split(re.sub(r"\b20\d\d\b", "0", first))[1:]  # any port that is free
    server = Arena(options, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert server.stdout is not None
    try:
        lines = [server.stdout.readline() for _ in said]
        assert [re.sub(r"\d+$", "", line.rstrip()) for line in lines] == [
            re.sub(r"\d+$", "", line) for line in said
        ]
        port, url = int(lines[0].rpartition(":")[2]), lines[1].split()[-1]
        while _curl(f"{url}/readyz") is None:
            assert server.poll() is None
        played, head = False, ""
        for command, expected in rest:
            program, *arguments = shlex.split(command)
            if arguments == ["verify"] and not played:
                played = True
                bots = [(bot, "first-legal") for bot in ("anna", "boris", "cleo")]
                assert set(Players(port, bots).join().values()) == {"finished"}
            if program == "curl":
                out = _curl(arguments[0].replace("http://127.0.0.1:2008", url)) or ""
            else:
                out = inside(*(HEAD.sub(head, each) for each in arguments), cwd=tmp_path).out
            assert plain(out.splitlines()) == plain(expected), command
            if found := HEAD.search(out):
                head = found[0]
        assert played
    finally:
        server.kill()
        server.communicate()


def _curl(url: str) -> str | None:
    """The page at `url`; None if it is not available now."""
    try:
        with urlopen(url, timeout=PATIENCE_S) as response:
            text: str = response.read().decode()
            return text
    except OSError:
        return None


def test_the_table_of_limits_is_what_is_counted() -> None:
    rows = re.findall(r"^\| `([A-Z_]+)` \| .* \| (\d+) \| ([\d.]+) s \| ", PAGE, re.MULTILINE)
    budgets = {
        name: value
        for module in (ratelimit, security)
        for name, value in vars(module).items()
        if isinstance(value, ratelimit.Budget)
    }
    assert {name: (int(burst), float(period)) for name, burst, period in rows} == {
        name: (budget.burst, round(budget.period / 10**9, 4)) for name, budget in budgets.items()
    }
