"""The recipes of docs/operating.md for clusters: two play a match, the jobs of the others are checked.

What starts processes is for `make soak`; the packages of the other two are no extra of ours.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from unittest.mock import patch

import pytest
from tests.ports import quiet_port
from tests.server.places.workers.dask_cluster import Cluster
from tests.server.programs import arena

PAGE = (Path(__file__).parents[2] / "docs" / "operating.md").read_text(encoding="utf-8")
#: The port of the recipes.
PORT = "8786"

pytestmark = pytest.mark.soak


def recipe(name: str) -> str:
    """The code behind the words `(recipe NAME):`."""
    found = re.search(rf"\(recipe `{name}`\):\n\n```\w+\n(.*?)```", PAGE, re.DOTALL)
    assert found is not None
    return found[1]


@contextmanager
def started(words: list[str]) -> Iterator[subprocess.Popen[str]]:
    pipe = subprocess.PIPE
    with subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            yield process
        finally:
            process.terminate()


def play(port: int, where: Path) -> None:
    """A match on this cluster, as one without."""
    match = ("match", "greedy", "dummy", "--deals", "2", "--option", "plies=6", "--seed", "5", "--json")
    there = arena(*match, "--on", f"dask://127.0.0.1:{port}", cwd=where)
    assert there.code == 0, there.err
    assert json.loads(there.out)["points"] == json.loads(arena(*match, cwd=where).out)["points"]


def test_a_local_cluster(tmp_path: Path) -> None:
    port, file = quiet_port(), tmp_path / "cluster.py"
    file.write_text(recipe("local").replace(PORT, str(port)))
    with started([sys.executable, str(file)]) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == f"tcp://127.0.0.1:{port}\n"
        play(port, tmp_path)
        process.communicate("\n", timeout=60)


def test_two_processes(tmp_path: Path) -> None:
    port = quiet_port()
    lines = recipe("processes").replace(PORT, str(port)).splitlines()
    assert [shlex.split(line)[:2] for line in lines] == [["dask", "scheduler"], ["dask", "worker"]]
    with ExitStack() as stack:
        for line in lines:
            stack.enter_context(started([sys.executable, "-m", *shlex.split(line)]))
        play(port, tmp_path)


def test_slurm(capsys: pytest.CaptureFixture[str]) -> None:
    jobqueue = pytest.importorskip("dask_jobqueue")
    code = recipe("slurm").replace(PORT, str(quiet_port()))
    with (
        patch("builtins.input", return_value=""),
        patch.object(jobqueue.SLURMCluster, "adapt") as adapt,
    ):
        found: dict[str, object] = {}
        exec(code, found)
        found["cluster"].close()  # type: ignore[attr-defined]
    adapt.assert_called_once_with(minimum=0, maximum=20)
    script = capsys.readouterr().out
    for line in ("-p games", "--cpus-per-task=4", "--mem=8G", "-t 02:00:00", "--gres=gpu:1"):
        assert f"#SBATCH {line}\n" in script
    (command,) = [line for line in script.splitlines() if "dask_worker" in line]
    for words in ("--nthreads 4", "--nanny", "--resources GPU=1"):
        assert words in command


def test_kubernetes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("dask_kubernetes")
    monkeypatch.chdir(tmp_path)
    exec(recipe("kubernetes"), {})
    spec = json.loads((tmp_path / "cluster.json").read_text())
    assert (spec["kind"], spec["metadata"]["name"]) == ("DaskCluster", "arena")
    worker = spec["spec"]["worker"]
    assert worker["replicas"] == 4
    (container,) = worker["spec"]["containers"]
    assert container["args"][:6] == ["dask", "worker", "--nthreads", "4", "--resources", "GPU=1"]
    ports = spec["spec"]["scheduler"]["service"]["ports"]
    assert PORT in {str(each["port"]) for each in ports}


TWO = """
[contest]
name = "kinds"
games_per_pair = 2
probation = 0
[game]
plies = 6
[[bot]]
name = "deep"
engine = "greedy"
resources = { GPU = 1 }
[[bot]]
name = "other"
engine = "random"
[[bot]]
name = "third"
engine = "dummy"
"""


def test_a_bot_is_played_where_what_it_needs_is(tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text(TWO)
    with closing(Cluster(tmp_path)) as cluster:
        cluster.start_scheduler()
        cluster.start_worker("plain")
        cluster.start_worker("gpu", "--resources", "GPU=1")
        outcome = arena("tournament", "c.toml", "--on", cluster.where, "--audit", "0", cwd=tmp_path)
        assert outcome.code == 0, outcome.err
        records = arena("export", "records", "--format", "json", cwd=tmp_path)
        assert records.code == 0
    games = [json.loads(path.read_text()) for path in (tmp_path / "records").glob("*.json")]
    assert len(games) == 6
    assert {game["worker"] for game in games if "deep" in game["names"]} == {"gpu"}
