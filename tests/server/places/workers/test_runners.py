"""Games of bots in containers on workers with container engines of their own; the server has none.

The engine of this machine is that of one worker; another `dockerd` is started for the other one.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from tempfile import gettempdir

import pytest
from tests.cli.test_games_on_workers import records
from tests.server.places.containers import real_engine
from tests.server.places.workers.dask_cluster import Cluster
from tests.server.programs import arena
from tests.server.submissions.test_engine import TOKEN, Author

from arena_server.places.docker_launcher import LABEL, RELAY_IMAGE

pytestmark = [
    pytest.mark.skipif(find_spec("distributed") is None, reason="the extra [cluster] is not installed"),
    pytest.mark.skipif(
        shutil.which("dockerd") is None or os.getuid() != 0,
        reason="NO RUNNERS TESTED: no dockerd, or no root",
    ),
    real_engine,
    pytest.mark.real,
    pytest.mark.soak,
    pytest.mark.timeout(600),
]
NOWHERE = "unix:///nowhere/docker.sock"
CONTEST = """
[contest]
name = "boxes"
games_per_pair = 4
[game]
plies = 20
[container]
memory = "256MB"
[[bot]]
name = "mine"
image = "file:mine.tar"
[[bot]]
name = "dummy"
engine = "dummy"
[[bot]]
name = "random"
engine = "random"
"""


def docker(*words: str, host: str = "") -> str:
    address = ("--host", host) if host else ()
    return subprocess.run(
        ["docker", *address, *words], stdout=subprocess.PIPE, text=True, check=True, timeout=300
    ).stdout.strip()


def playing(host: str = "") -> list[str]:
    return docker("ps", "--quiet", "--filter", f"label={LABEL}", "--filter", "name=mine", host=host).split()


@pytest.fixture
def second(tmp_path: Path) -> Iterator[str]:
    """The address of another engine, which has the image of the relay and no other."""
    host = f"unix://{tmp_path}/docker.sock"
    words = [
        "dockerd",
        "--host",
        host,
        "--data-root",
        str(tmp_path / "data"),
        "--exec-root",
        str(tmp_path / "x"),
    ]
    words += [
        "--pidfile",
        str(tmp_path / "pid"),
        "--bridge",
        "none",
        "--iptables=false",
        "--ip-forward=false",
    ]
    with open(tmp_path / "dockerd.log", "wb") as log:
        engine = subprocess.Popen([*words, "--storage-driver", "overlay2"], stdout=log, stderr=log)
    try:
        while subprocess.run(
            ["docker", "--host", host, "version"], capture_output=True, timeout=60
        ).returncode:
            assert engine.poll() is None, (tmp_path / "dockerd.log").read_text()
            time.sleep(0.2)
        docker("save", "--output", str(tmp_path / "relay.tar"), RELAY_IMAGE)
        docker("load", "--input", str(tmp_path / "relay.tar"), host=host)
        yield host
    finally:
        engine.terminate()
        engine.wait()


def test_two_runners_of_which_one_is_killed_and_one_lacks_the_image(tmp_path: Path, second: str) -> None:
    arena("new", "bot", "mine", cwd=tmp_path)
    digest = docker("build", "--quiet", str(tmp_path / "mine")).splitlines()[-1]
    docker("save", "--output", str(tmp_path / "mine.tar"), digest)
    (tmp_path / "c.toml").write_text(CONTEST)
    cluster, server = Cluster(tmp_path), None
    try:
        cluster.start_scheduler()
        cluster.start_worker("r1")
        cluster.start_worker("r2", DOCKER_HOST=second)
        cluster.start_worker("none", DOCKER_HOST=NOWHERE)
        words = ["tournament", "c.toml", "--on", cluster.where, "--database", "sqlite:///t.db"]
        server = subprocess.Popen(
            [sys.executable, "-P", "-m", "arena_cli", *words, "--no-web", "--audit", "0"],
            cwd=tmp_path,
            env=os.environ | {"DOCKER_HOST": NOWHERE},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        while not playing():
            assert server.poll() is None, server.stdout and server.stdout.read()
            time.sleep(0.05)
        cluster.signal("r1", signal.SIGKILL)
        output, _ = server.communicate(timeout=400)
    finally:
        if server is not None:
            server.kill()  # it may have ended
        cluster.close()
    assert server.returncode == 0, output
    assert f"r2: it has got image {digest} from here, " in output
    assert output.count("it has got image") == 1
    found = records(tmp_path / "t.db")
    assert len(found) == 12
    for record in found.values():
        boxed = "mine" in record.names
        assert record.images == (
            tuple(digest if name == "mine" else "-" for name in record.names) if boxed else ()
        )
        assert record.worker != "none" or not boxed
    assert any(record.worker == "r2" and record.images for record in found.values())
    assert not any(record.faults for record in found.values())
    deadline = time.monotonic() + 60
    while playing() + playing(second) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert playing() + playing(second) == []


SENT = """
[contest]
name = "friday"
games_per_pair = 24
[game]
plies = 20
clock = "60s"
[[bot]]
name = "bob"
engine = "first-legal"
[[bot]]
name = "ann"
submit = true
token_sha256 = "{}"
"""


def serving(
    folder: Path, cluster: Cluster, *words: str, **variables: str
) -> tuple[subprocess.Popen[str], str]:
    """A server whose games the cluster plays, and the address of its page."""
    words = ("serve", "c.toml", "--on", cluster.where, "--database", "sqlite:///t.db", "--audit", "0", *words)
    log = open(folder / "server.log", "a")  # noqa: SIM115 - it is the server's
    server = subprocess.Popen(
        [sys.executable, "-P", "-m", "arena_cli", *words, "--port", "0", "--web-port", "0"],
        cwd=folder,
        env=os.environ | variables,
        stdout=subprocess.PIPE,
        stderr=log,
        text=True,
    )
    log.close()
    assert server.stdout is not None
    while "web on" not in (line := server.stdout.readline()):
        assert line, (folder / "server.log").read_text()
    return server, line.split()[-1]


def test_versions_of_an_author_on_two_runners_then_by_a_server_without_an_engine(
    tmp_path: Path, second: str
) -> None:
    """One runner is killed in mid-game, the other lacks the image, and the next server has it as a file."""
    arena("new", "bot", "mine", cwd=tmp_path)
    (tmp_path / "c.toml").write_text(SENT.format(sha256(TOKEN.encode()).hexdigest()))
    cluster = Cluster(tmp_path)
    servers: list[subprocess.Popen[str]] = []
    try:
        cluster.start_scheduler()
        server, site = serving(tmp_path, cluster)
        servers.append(server)
        author = Author(site, tmp_path)
        assert "version 1 plays from the next game on" in author.submit("mine")
        cluster.start_worker("r1")
        cluster.start_worker("r2", DOCKER_HOST=second)
        while not docker("ps", "--quiet", "--filter", f"label={LABEL}", "--filter", "name=arena-ann"):
            assert server.poll() is None, (tmp_path / "server.log").read_text()
            time.sleep(0.05)
        cluster.signal("r1", signal.SIGKILL)
        while not records(tmp_path / "t.db"):
            time.sleep(0.2)
        server.send_signal(signal.SIGTERM)
        assert server.wait(timeout=60) == 0
        server, site = serving(tmp_path, cluster, "--until-finished", DOCKER_HOST=NOWHERE)
        servers.append(server)
        output, _ = server.communicate(timeout=400)
    finally:
        for each in servers:
            each.kill()  # it may have ended
            each.wait()
            assert each.stdout is not None
            each.stdout.close()
        cluster.close()
    log = (tmp_path / "server.log").read_text()
    assert server.returncode == 0, output + log
    found = records(tmp_path / "t.db")
    assert len(found) == 24
    digests = {image for record in found.values() for image in record.images} - {"-"}
    assert len(digests) == 1
    assert any(record.worker == "r2" for record in found.values())
    assert not any(record.faults for record in found.values())
    assert f"has got image {digests.pop()} from here, " in log


def test_a_server_without_an_engine_has_a_version_built_checked_and_played_by_runners(
    tmp_path: Path, second: str
) -> None:
    """The runner that builds is killed, and another one builds; a version that is bad is refused."""
    arena("new", "bot", "mine", cwd=tmp_path)
    (tmp_path / "mine/Dockerfile").write_text(
        'FROM python:3.12-slim\nCOPY bot.py /bot.py\nRUN sleep 7.25\nCMD ["python", "-u", "/bot.py"]\n'
    )
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad/bot.py").write_text("raise SystemExit('no such book')\n")
    (tmp_path / "c.toml").write_text(SENT.format(sha256(TOKEN.encode()).hexdigest()))
    cluster, server = Cluster(tmp_path), None
    try:
        cluster.start_scheduler()
        cluster.start_worker("r1")
        server, site = serving(tmp_path, cluster, "--until-finished", DOCKER_HOST=NOWHERE)
        author = Author(site, tmp_path)
        assert "version 1 is not admitted: check failed: " in author.submit("bad")
        with ThreadPoolExecutor() as threads:
            sent = threads.submit(author.submit, "mine")
            while "sleep 7.25" not in docker("ps", "--no-trunc", "--format", "{{.Command}}"):
                assert server.poll() is None, (tmp_path / "server.log").read_text()
                time.sleep(0.05)
            cluster.start_worker("r2", DOCKER_HOST=second)
            cluster.signal("r1", signal.SIGKILL)
            killed = cluster.processes["r1"].pid
            cluster.processes["r1"].wait()
            assert "version 2 plays from the next game on" in sent.result()
        output, _ = server.communicate(timeout=400)
    finally:
        if server is not None:
            server.kill()  # it may have ended
            server.wait()
        cluster.close()
    log = (tmp_path / "server.log").read_text()
    assert server.returncode == 0, output + log
    assert "the build of a version of ann is tried elsewhere: it is gone" in log
    found = records(tmp_path / "t.db")
    digests = {image for record in found.values() for image in record.images} - {"-"}
    assert len(found) == 24
    assert len(digests) == 1
    assert not any(record.faults for record in found.values())
    facts = (tmp_path / "t.db-submissions/friday/ann/versions.jsonl").read_text()
    assert facts.count(digests.pop()) == facts.count('"built", "number": 2') == 1
    assert len(list(tmp_path.glob("t.db-submissions/friday/ann/*.image.tar"))) == 1
    # What r1 had is removed when r2 begins.
    assert not list(Path(gettempdir()).glob(f"arena-examination-{killed}-*"))
