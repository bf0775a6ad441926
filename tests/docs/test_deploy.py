"""deploy/ and docs/run-book.md: read by the programs that they are for, where these are installed."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import URLError
from urllib.request import Request, urlopen

import pytest
import yaml
from tests.ports import quiet_port
from tests.server.programs import PATIENCE_S, Server, contest

from arena_server.core.overview import Progress
from arena_server.errors import MISUSED, OtherConfigError
from arena_server.stats.durations import Durations
from arena_server.web.metrics import ContestSnapshot, Counts, Snapshot, exposition

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
RUN_BOOK = (ROOT / "docs" / "run-book.md").read_text(encoding="utf-8")
#: What Prometheus and the client library add to a name.
SERIES = re.compile(r"\b(?:arena|process)_[a-z_]+")


def alerts() -> dict[str, str]:
    """The expression of each alert."""
    rules = yaml.safe_load((DEPLOY / "alerts.yml").read_text(encoding="utf-8"))
    return {rule["alert"]: rule["expr"] for group in rules["groups"] for rule in group["rules"]}


def series() -> set[str]:
    """The names of all time series of a server."""
    counts = Counts(
        {"complete": 1}, {"illegal": 1}, {"token": 1}, {"pause": 1}, 1, 1, {"failed": 1}, {"used": 1}
    )
    progress = Progress(
        done=1, total=6, void=1, running=1, plies=9, connected=2, ended=None, standings=(), waiting=()
    )
    snapshot = ContestSnapshot({"name": "club"}, counts, Durations(), progress)
    text = exposition(Snapshot([snapshot], 4, 100, {"check": (1, 2.0)}))[0].decode()
    return {line.partition("{")[0].partition(" ")[0] for line in text.splitlines() if line[:1] != "#"}


def program(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


def run(*command: str | Path, cwd: Path = DEPLOY) -> str:
    done = subprocess.run(
        command,
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


class TestAlerts:
    def test_each_asks_for_series_that_a_server_has(self) -> None:
        for name, expression in alerts().items():
            asked = set(SERIES.findall(expression))
            assert asked <= series(), name
            assert asked or name == "ArenaDown"

    def test_each_has_an_answer_in_the_run_book(self) -> None:
        assert re.findall(r"^### (\w+)$", RUN_BOOK, re.MULTILINE) == list(alerts())

    @pytest.mark.real
    def test_each_fires_when_it_should(self) -> None:
        promtool = program("promtool")
        run(promtool, "check", "config", "prometheus.yml")
        assert "SUCCESS" in run(promtool, "test", "rules", "alerts-test.yml")
        tested = (DEPLOY / "alerts-test.yml").read_text(encoding="utf-8")
        assert [name for name in alerts() if f'alertname="{name}"' not in tested] == []


def test_the_dashboard_shows_series_that_a_server_has() -> None:
    dashboard = json.loads((DEPLOY / "grafana.json").read_text(encoding="utf-8"))
    expressions = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    assert {name for text in expressions for name in SERIES.findall(text)} <= series()
    places = [(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in dashboard["panels"]]
    assert len(set(places)) == len(places)


def test_every_line_of_the_run_book_is_one_of_the_program() -> None:
    table = RUN_BOOK.split("## Lines of a server that ends\n")[1].split("\n## ")[0]
    lines = re.findall(r"^\| `([^`]+)` \|", table, re.MULTILINE)
    assert len(lines) > 10
    sources = "".join(
        path.read_text(encoding="utf-8") for part in ("server", "cli") for path in (ROOT / part).rglob("*.py")
    )
    assert [line for line in lines if line not in sources] == []


@pytest.mark.real
def test_systemd_reads_the_units(tmp_path: Path) -> None:
    """Its own check; the program that they start stands elsewhere here."""
    systemd = program("systemd-analyze")
    units = sorted(DEPLOY.glob("arena*.service")) + sorted(DEPLOY.glob("*.timer"))
    for unit in units:
        text = re.sub("/opt/arena/bin/[a-z]+ ", "/bin/true ", unit.read_text(encoding="utf-8"))
        (tmp_path / unit.name).write_text(text)
    assert run(systemd, "verify", "--man=no", *(tmp_path / unit.name for unit in units)) == ""
    for unit in units:
        if unit.suffix == ".service":  # fails above an exposure of 2.0 of 10
            run(systemd, "security", "--offline=true", "--threshold=20", tmp_path / unit.name)


@contextmanager
def behind_nginx(page: str, folder: Path) -> Iterator[int]:
    """deploy/nginx.conf with other ports, as the one site of an nginx; gives its port."""
    nginx, port = program("nginx"), quiet_port()
    site = (DEPLOY / "nginx.conf").read_text(encoding="utf-8")
    (folder / "arena.conf").write_text(
        site.replace("listen 80;", f"listen 127.0.0.1:{port};").replace("http://127.0.0.1:2080", page)
    )
    (folder / "nginx.conf").write_text(
        f"daemon off; error_log stderr; pid {folder}/pid; events {{}}\n"
        f"http {{ access_log off; client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; "
        f"fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s; "
        f"include {folder}/arena.conf; }}\n"
    )
    run(nginx, "-t", "-e", "stderr", "-c", folder / "nginx.conf", cwd=folder)
    with subprocess.Popen([nginx, "-e", "stderr", "-c", folder / "nginx.conf"], cwd=folder) as process:
        try:
            yield port
        finally:
            process.terminate()


def answer(url: str) -> bytes:
    """The first bytes of the answer to a browser that knows the server as arena.example."""
    until = time.monotonic() + PATIENCE_S
    while True:
        try:
            with urlopen(Request(url, headers={"Host": "arena.example"}), timeout=PATIENCE_S) as got:
                start: bytes = got.read(15)
                return start
        except URLError as error:
            refused = isinstance(error.reason, ConnectionRefusedError)  # nginx has not begun to listen
            if not refused or time.monotonic() > until:
                raise


@pytest.mark.real
def test_a_page_and_its_live_stream_pass_nginx(tmp_path: Path) -> None:
    """An event arrives while the stream stays open."""
    program("nginx")
    config = contest("a", "b", server='web_names = ["arena.example"]')
    with Server(config, tmp_path, "--web-port", "0") as server:
        assert server.process.stdout is not None
        page = next(line.split()[2] for line in server.process.stdout if line.startswith("web on "))
        with behind_nginx(page, tmp_path) as port:
            assert answer(f"http://127.0.0.1:{port}/") == b"<!doctype html>"
            assert answer(f"http://127.0.0.1:{port}/api/v1/live/contest").startswith(b"event: contest")


def test_the_unit_runs_containers_and_is_not_started_again_after_a_wrong_configuration() -> None:
    unit = (DEPLOY / "arena.service").read_text(encoding="utf-8").splitlines()
    # Where the relays' sockets are: the engine does not see a private /tmp.
    assert {"PrivateTmp=yes", "RuntimeDirectory=arena", f"RestartPreventExitStatus={MISUSED}"} <= set(unit)
    assert OtherConfigError.exit_code == MISUSED
    drop_in = (DEPLOY / "arena-docker.conf").read_text(encoding="utf-8")
    assert "SupplementaryGroups=docker" in drop_in.splitlines()
