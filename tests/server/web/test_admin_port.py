"""The organiser's port with real processes: who finds it, what it serves, metrics, health, refusals."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from arena_server.store.reader import Results

from ..programs import ARENA, PATIENCE_S, Players, Server, contest, inside
from .organised import Organised

TOKEN = "a-token-of-the-organiser"


@pytest.mark.real
@pytest.mark.soak
def test_a_server_that_was_killed_does_not_answer(tmp_path: Path) -> None:
    with Organised(tmp_path) as server:
        address = server.url.removeprefix("http://")
        server.end(signal.SIGKILL)
        outcome = server.admin("status")
        assert (outcome.code, outcome.line) == (
            1,
            f"arena: no server answers at {address} (Connection refused); is it running, with --admin-port?",
        )


@pytest.mark.real
@pytest.mark.soak
def test_no_server_with_an_admin_port(tmp_path: Path) -> None:
    with Server(contest("a", "b"), tmp_path) as server:
        outcome = inside("admin", "pause", "--database", f"sqlite:///{server.database}")
        assert outcome.code == 1
        assert outcome.line == (
            f"arena: {server.database}: no server with an admin port plays here; start it by "
            "arena serve --admin-port 0, or say where it is by --connect, and its token by ARENA_ADMIN_TOKEN"
        )


@pytest.mark.real
@pytest.mark.soak
def test_a_token_of_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARENA_ADMIN_TOKEN", TOKEN)
    with Organised(tmp_path) as server:
        server.ready()
        assert server.admin("pause").code == 0
        address = server.url.removeprefix("http://")
        elsewhere = inside("admin", "status", "--connect", address, cwd=tmp_path)
        assert elsewhere.out.startswith("trial: paused, 0 of 6 games, 0 running, 0 void, 0 plies, ")
        monkeypatch.delenv("ARENA_ADMIN_TOKEN")
        assert server.admin("status").line == (
            "arena: the server has its token from ARENA_ADMIN_TOKEN; set the same here"
        )


@pytest.mark.real
def test_the_metrics_of_a_contest_agree_with_its_results(tmp_path: Path) -> None:
    with Organised(tmp_path, config=contest("a", "b", "c", contest="probation = 0")) as server:
        server.ready()
        before = server.metrics()
        assert before["arena_games pending"] == 6
        assert before["arena_connections"] == before["arena_plies_total"] == 0
        assert before["arena_connections_max"] > 100
        played = Players(server.port, [("a", "first-legal"), ("b", "fixed:move=6"), ("c", "zero-based")])
        assert set(played.join().values()) == {"finished"}
        after = server.metrics()
        with Results(server.database) as results:
            chosen = results.contest()
            plies = sum(row["plies"] for row in results.games.rows(chosen))
            faults = sum(len(row["faults"]) for row in results.games.rows(chosen))
        states = {state: after[f"arena_games {state}"] for state in ("pending", "running", "done", "void")}
        assert states == {"pending": 0, "running": 0, "done": 6, "void": 0}
        assert after["arena_games_ended_total complete"] == 6
        assert after["arena_plies_total"] == plies == 36
        kinds = {key: value for key, value in after.items() if key.startswith("arena_faults_total")}
        assert kinds == {"arena_faults_total illegal": faults} == {"arena_faults_total illegal": 4}
        # A latency for each line that led to another's TURN; zombies' plies follow at once.
        assert 0 < after["arena_ply_latency_seconds_count"] <= plies + 6
        assert after["arena_ply_latency_seconds_bucket +Inf"] == after["arena_ply_latency_seconds_count"]
        assert after["arena_ply_latency_seconds_sum"] > 0
        assert after["arena_journal_delay_seconds_count"] >= plies
        assert after["arena_store_delay_seconds_count"] == 6
        assert after["process_resident_memory_bytes"] > 1e6
        assert server.get("/healthz") == (200, "ok\n")
        info = [key for key in after if key.startswith("arena_contest_info")]
        assert info == ["arena_contest_info insertion trial insertion-arena/0.1"]


@pytest.mark.real
def test_a_loop_that_stands_still_is_not_healthy(tmp_path: Path) -> None:
    """The process is stopped and does not answer; a probe counts that as not healthy."""
    with Organised(tmp_path, program=ARENA) as server:  # `waitid` takes a child
        server.ready()
        server.process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, server.process.pid, os.WSTOPPED | os.WNOWAIT)
        with pytest.raises(OSError, match="timed out"), urlopen(f"{server.url}/healthz", timeout=0.4):
            pass
        server.process.send_signal(signal.SIGCONT)
        assert server.get("/healthz") == (200, "ok\n")
        while not (metrics := server.metrics())["arena_loop_stalls_total"]:
            assert server.process.poll() is None
        assert metrics["arena_loop_stalled_seconds_total"] > 0.2  # shorter ones are none


@pytest.mark.real
@pytest.mark.soak
def test_the_configuration_may_have_the_admin_port(tmp_path: Path) -> None:
    lines = 'admin_port = 0\nadmin_host = "localhost"'
    with Server(contest("a", "b", server=lines), tmp_path) as server:
        assert server.process.stdout is not None
        assert re.fullmatch(r"admin on http://127\.0\.0\.1:\d+\n", server.process.stdout.readline())


def fetch(url: str) -> tuple[int, str]:
    try:
        with urlopen(url, timeout=PATIENCE_S) as response:
            return response.status, response.read().decode()
    except HTTPError as error:
        with error:
            return error.code, error.read().decode()


ORGANISERS = ("organiser.html", "status", "orders", "metrics", "healthz")


@pytest.mark.real
@pytest.mark.parametrize(
    ("lines", "options"), [("", ["--web-host", "0.0.0.0"]), ('web_names = ["arena.example.org"]', [])]
)
@pytest.mark.soak
def test_a_page_that_others_reach_has_nothing_of_the_organisers(
    tmp_path: Path, lines: str, options: list[str]
) -> None:
    """It asks for no token; orders are given on a port of loopback, which `arena admin` finds."""
    with Server(contest("a", "b", server=lines), tmp_path, "--web-port", "0", *options) as server:
        assert server.process.stdout is not None
        admin, web = (server.process.stdout.readline() for _ in range(2))
        local = r"http://127\.0\.0\.1:\d+"
        assert re.fullmatch(rf"admin on {local}\n", admin)
        outside = r" \(from other machines: http://[\w.:\[\]]+\)" if options else ""
        assert re.fullmatch(rf"web on {local}(?:{outside})?\n", web)
        site, organiser = web.split()[2], admin.split()[2]
        assert {fetch(f"{site}/{path}")[0] for path in ORGANISERS} == {404}
        assert "organiser" not in fetch(f"{site}/")[1]
        assert json.loads(fetch(f"{site}/api/v1/site.json")[1])["organiser"] is False
        assert fetch(f"{organiser}/healthz") == (200, "ok\n")
        # Its first page is the organiser's, and it has no other.
        assert fetch(f"{organiser}/") == fetch(f"{organiser}/organiser.html")
        assert 'data-menu="organiser.html"' in fetch(f"{organiser}/")[1]
        assert fetch(f"{organiser}/index.html")[0] == 404
        status = inside("admin", "status", "--json", "--database", f"sqlite:///{server.database}")
        assert json.loads(status.out)["contest"] == "trial"


@pytest.mark.real
@pytest.mark.soak
def test_a_page_of_this_machine_alone_has_the_organisers(tmp_path: Path) -> None:
    with Server(contest("a", "b"), tmp_path, "--web-port", "0") as server:
        assert server.process.stdout is not None
        site = server.process.stdout.readline().split()[2]
        assert fetch(f"{site}/organiser.html")[0] == 200
        menu = "index.html replay.html tv.html play.html organiser.html"
        assert f'data-menu="{menu}"' in fetch(f"{site}/")[1]


@pytest.mark.real
@pytest.mark.soak
def test_the_menu_leads_to_nothing_that_is_off(tmp_path: Path) -> None:
    text = contest("a", "b", contest="guests = false", server="play = 0\nadmin_port = 0")
    with Server(text, tmp_path, "--web-port", "0") as server:
        assert server.process.stdout is not None
        site = [server.process.stdout.readline() for _ in range(2)][1].split()[2]
        assert 'data-menu="index.html replay.html"' in fetch(f"{site}/")[1]
        assert {fetch(f"{site}/{page}")[0] for page in ("tv", "tv.html", "play", "play.html")} == {404}


@pytest.mark.real
@pytest.mark.soak
def test_the_admin_port_is_off_unless_asked_for(tmp_path: Path) -> None:
    with Server(contest("a", "b"), tmp_path) as server:
        outcome = server.end(signal.SIGTERM)
        assert (outcome.code, outcome.out) == (0, "")


class TestRefusals:
    """Nothing is started, and one line says why."""

    def test_the_admin_port_is_taken(self, tmp_path: Path) -> None:
        (tmp_path / "c.toml").write_text(contest("a", "b"))
        with socket.create_server(("127.0.0.1", 0)) as other:
            port = str(other.getsockname()[1])
            outcome = inside("serve", "c.toml", "--port", "0", "--admin-port", port, cwd=tmp_path)
        assert (outcome.code, outcome.out) == (1, "")
        assert outcome.line == (
            f"arena: cannot listen on 127.0.0.1:{port}: the port is in use; "
            "choose another by --admin-port (0 picks one)"
        )

    def test_a_token_that_can_be_guessed(self, tmp_path: Path) -> None:
        (tmp_path / "c.toml").write_text(contest("a", "b", server="admin_port = 0"))
        outcome = inside("serve", "c.toml", "--port", "0", cwd=tmp_path, env={"ARENA_ADMIN_TOKEN": "short"})
        assert (outcome.code, outcome.out) == (2, "")
        assert outcome.line == (
            "arena: ARENA_ADMIN_TOKEN: expected at least 16 ASCII characters without a blank, "
            "got 5 characters"
        )


@pytest.mark.real
@pytest.mark.soak
def test_the_log_as_json(tmp_path: Path) -> None:
    with Server(contest("a", "b"), tmp_path, "--log-format", "json") as server:
        Players(server.port, [("a", "first-legal"), ("b", "zero-based")]).join()
        outcome = server.end(signal.SIGTERM)
    lines = [json.loads(line) for line in outcome.err.splitlines()]
    assert {"login", "game", "over", "stopping"} <= {line["event"] for line in lines}
    for line in lines:
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", line["time"])
    login = next(line for line in lines if line["event"] == "login")
    assert isinstance(login["conn"], int)
    assert login["resumed"] is False
