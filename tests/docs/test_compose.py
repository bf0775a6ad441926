"""docker-compose.yml plays its contest: as plain processes here, and in containers where there is an engine.

Without containers the commands of the services keep their own hosts; only names of the network
(`referee`), ports, paths and the URL of the database are replaced. The contest has fewer games.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import tomllib
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.forked import Arena
from tests.ports import quiet_port
from tests.server.postgres import cluster
from tests.server.programs import arena

from arena_server.errors import MISUSED

ROOT = Path(__file__).resolve().parents[2]
TOKEN = "a-token-of-the-organiser"
CONFIG = "/etc/arena/compose.toml"
#: The services that are no bots.
OURS = ("database", "referee", "site")


def compose() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))
    return loaded


def contest() -> dict[str, Any]:
    return tomllib.loads((ROOT / "examples" / "compose.toml").read_text(encoding="utf-8"))


@contextmanager
def running(command: Sequence[str], folder: Path, **environment: str) -> Iterator[subprocess.Popen[str]]:
    whole: dict[str, Any] = {"cwd": folder, "stdout": subprocess.PIPE, "env": {**os.environ, **environment}}
    with (
        Arena(command[1:], **whole)
        if command[0] == "arena"
        else subprocess.Popen(command, text=True, **whole) as process
    ):
        try:
            yield process
        finally:
            process.kill()


def read(url: str) -> Any:
    with urllib.request.urlopen(url, timeout=150) as answer:
        body = answer.read().decode()
    return json.loads(body) if url.endswith(".json") else body


def status(port: int | str) -> str:
    """The answer of `arena admin status` at this port."""
    outcome = arena(
        "admin", "status", "--json", "--connect", f"127.0.0.1:{port}", env={"ARENA_ADMIN_TOKEN": TOKEN}
    )
    assert outcome.code == 0, outcome.err
    return outcome.out


def test_the_services_are_a_referee_and_the_bots_of_its_contest() -> None:
    file = compose()
    bots = {name: service for name, service in file["services"].items() if name not in OURS}
    assert sorted(bots) == sorted(bot["name"] for bot in contest()["bot"])
    assert file["networks"]["contest"]["internal"] is True
    for name, service in bots.items():
        assert service["networks"] == ["contest"]
        assert service["depends_on"] == {"referee": {"condition": "service_healthy"}}
        assert service["command"][-4:] == ["--connect", "referee:2006", "--name", name]


def test_the_published_ports_are_those_of_the_page_and_of_the_organiser() -> None:
    referee, server = compose()["services"]["referee"], contest()["server"]
    inside = [int(port.rpartition(":")[2]) for port in referee["ports"]]
    assert inside == [server["web_port"], server["admin_port"]]
    assert (server["web_host"], server["admin_host"]) == ("0.0.0.0", "0.0.0.0")
    assert all(port.startswith("127.0.0.1:") for port in referee["ports"])
    # No port of a network that is internal can be reached from the host.
    networks = compose()["networks"]
    assert any(not (networks[name] or {}).get("internal") for name in referee["networks"])


def test_every_bot_has_limits_and_every_site_a_port() -> None:
    services = compose()["services"]
    bots = [each for name, each in services.items() if name not in OURS]
    assert {(each["cpus"], each["mem_limit"], each["pids_limit"]) for each in bots} == {(1, "1g", 128)}
    assert [port.rpartition(":")[::2] for port in services["site"]["ports"]] == [
        ("127.0.0.1:2081-2089", services["site"]["command"][-1])
    ]


def test_the_database_is_reached_by_its_socket_from_referee_and_sites_alone() -> None:
    services = compose()["services"]
    database, bots = services["database"], [each for name, each in services.items() if name not in OURS]
    assert (database["network_mode"], database.keys() & {"networks", "ports"}) == ("none", set())
    with_socket = {name for name, each in services.items() if "socket:/run/arena" in each["volumes"]}
    assert with_socket == set(OURS)
    with_data = [name for name, each in services.items() if "database:/data" in each["volumes"]]
    assert with_data == ["database"]
    assert all(each["volumes"] == ["compiled:/home/arena/.cache"] for each in bots)
    urls = {services[name]["environment"]["ARENA_DATABASE"] for name in ("referee", "site")}
    assert urls == {"postgresql:///arena?host=/run/arena"}
    script = (ROOT / "deploy" / "database.sh").read_text(encoding="utf-8")
    assert "-c listen_addresses= -c unix_socket_directories=/run/arena" in script
    assert "--auth=peer" in script


def test_a_site_has_an_account_whose_role_may_only_read() -> None:
    services = compose()["services"]
    assert {name for name, each in services.items() if each.get("user") == "site"} == {"site"}
    assert services["site"]["volumes"] == ["socket:/run/arena"]
    base = (ROOT / "Dockerfile").read_text(encoding="utf-8").partition(" AS base")[2].partition("\nFROM ")[0]
    assert "useradd --create-home --uid 10002 site" in base


def test_the_database_has_limits_and_is_stopped_by_its_fast_shutdown() -> None:
    database = compose()["services"]["database"]
    limits = ("cpus", "mem_limit", "shm_size", "pids_limit", "stop_signal", "stop_grace_period")
    assert [database[key] for key in limits] == [1, "512m", "128m", 128, "SIGINT", "30s"]


def test_the_services_start_by_health_and_again_after_a_crash() -> None:
    services = compose()["services"]
    healthy = {"condition": "service_healthy"}
    assert "depends_on" not in services["database"]
    assert services["referee"]["depends_on"] == {"database": healthy}
    assert services["site"]["depends_on"] == {"referee": healthy}
    assert [name for name, each in services.items() if "healthcheck" in each] == list(OURS)
    for service in services.values():
        # A limit would count the restarts of weeks; wrong input is not started again by restarted.sh.
        assert service["restart"] == "on-failure"
        assert (service["init"], service["read_only"], service["cap_drop"]) == (True, True, ["ALL"])
        assert service["tmpfs"] == ["/tmp"]


def test_every_program_of_ours_starts_behind_the_script_for_wrong_input() -> None:
    services = compose()["services"]
    started = {name for name, each in services.items() if each.get("entrypoint") == ["/opt/restarted.sh"]}
    assert started == services.keys() - {"database"}
    base = (ROOT / "Dockerfile").read_text(encoding="utf-8").partition(" AS base")[2].partition("\nFROM ")[0]
    assert "\nCOPY deploy/restarted.sh /opt/restarted.sh\n" in base


@pytest.mark.real
@pytest.mark.soak
def test_wrong_input_is_no_failure_for_the_engine_and_a_stop_reaches_the_program(tmp_path: Path) -> None:
    script = str(ROOT / "deploy" / "restarted.sh")
    arena = tmp_path / "arena"
    arena.write_text(
        '#!/bin/sh\ntrap "sleep 0.1; exit 7" TERM\necho up\n[ $# = 0 ] || exit "$1"\n'
        "while :; do sleep 0.01; done\n"
    )
    arena.chmod(0o755)
    path = f"{tmp_path}:{os.environ['PATH']}"
    line = "arena: status 2: not started again; mend the input above, then: docker-compose up\n"
    for given, status, said in (0, 0, ""), (1, 1, ""), (MISUSED, 0, line), (3, 3, ""), (130, 130, ""):
        done = subprocess.run(
            [script, str(given)], env={"PATH": path}, capture_output=True, text=True, check=False, timeout=60
        )
        assert (done.returncode, done.stderr) == (status, said), given
    with running([script], tmp_path, PATH=path) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "up\n"
        process.terminate()
        assert process.wait(timeout=60) == 7


@pytest.mark.real
def test_docker_compose_itself_accepts_the_file() -> None:
    checker = shutil.which("docker-compose")
    if checker is None:
        pytest.skip("docker-compose is not on this machine (Debian's package docker-compose has it)")
    done = subprocess.run(
        [checker, "config", "--quiet"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


def test_every_service_has_an_image_of_the_dockerfile_that_runs_without_root() -> None:
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    stages = {name: base for base, name in re.findall(r"^FROM (\S+) AS (\S+)$", text, re.M)}
    users = {
        stage.split()[2]: re.findall(r"^USER (\S+)$", stage, re.M) for stage in text.split("\nFROM ")[1:]
    }
    for service in compose()["services"].values():
        target = service["build"]["target"]
        assert service["image"] == f"insertion-arena:{target}"
        assert stages[target] == "base"
        assert (users["base"] + users[target])[-1] == "arena"


def role_of_sites(url: str) -> str:
    """Run what the database's script says of the role, twice, and return the URL of who has it."""
    import psycopg

    script = (ROOT / "deploy" / "database.sh").read_text(encoding="utf-8")
    statements = script.partition("<<'SQL'\n")[2].partition("\nSQL\n")[0].splitlines()
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in statements * 2:
            connection.execute(statement.encode())
    reader = url.replace("arena@", "site@")
    with psycopg.connect(reader, autocommit=True) as connection:
        for write in ("DELETE FROM games", "UPDATE contests SET status = 'x'", "CREATE TABLE mine (x int)"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(write.encode())
    return reader


def swapped(command: Sequence[str], swaps: dict[str, str]) -> list[str]:
    for old, new in swaps.items():
        command = [argument.replace(old, new) for argument in command]
    return list(command)


def addresses(referee: subprocess.Popen[str]) -> dict[str, tuple[str, str]]:
    """Host and port of what the server prints first: `listening`, `admin` and `web`."""
    assert referee.stdout is not None
    lines = [referee.stdout.readline() for _ in range(3)]
    found = [re.match(r"(\w+) on (?:http://)?([\d.]+):(\d+)\b", line) for line in lines]
    return {match[1]: (match[2], match[3]) for match in found if match}


@pytest.mark.real
def test_the_commands_of_the_services_with_their_own_hosts_play_the_contest(tmp_path: Path) -> None:
    services = compose()["services"]
    text = (ROOT / "examples" / "compose.toml").read_text(encoding="utf-8")
    short = re.sub(r"^rest = .*", 'spectator_delay = "0s"', text, flags=re.M)
    short = re.sub(r"games_per_pair = \d+", "games_per_pair = 2", short).replace("plies = 200", "plies = 20")
    assert "plies = 20\n" in short
    (tmp_path / "compose.toml").write_text(short, encoding="utf-8")
    _, referee, site = (services.pop(name) for name in OURS)
    command = swapped(referee["command"], {CONFIG: str(tmp_path / "compose.toml")})
    ports = ["--port", "0", "--web-port", "0", "--admin-port", "0"]
    with ExitStack() as stack:
        url = stack.enter_context(cluster()).database().url
        server = stack.enter_context(
            running(["arena", *command, *ports], tmp_path, ARENA_ADMIN_TOKEN=TOKEN, ARENA_DATABASE=url)
        )
        found = addresses(server)
        # All three are on every address; of a page one is printed that can be clicked.
        hosts = {"listening": "0.0.0.0", "admin": "127.0.0.1", "web": "127.0.0.1"}
        assert {name: host for name, (host, _) in found.items()} == hosts
        check = swapped(referee["healthcheck"]["test"], {"2008": found["admin"][1]})
        assert check.pop(0) == "CMD"
        assert check[0] == "python"
        # As an engine does: a busy machine may not answer within the 3 s of one check.
        while subprocess.run([sys.executable, *check[1:]], stderr=subprocess.DEVNULL, check=False).returncode:
            assert server.poll() is None
        here = {"referee:2006": f"127.0.0.1:{found['listening'][1]}"}
        bots = [
            stack.enter_context(running(["arena", *swapped(service["command"], here)], tmp_path))
            for service in services.values()
        ]
        assert [bot.wait(timeout=120) for bot in bots] == [0] * len(bots)
        assert_played(found["web"][1], found["admin"][1], games=12)
        web = swapped(site["command"], here)
        web[web.index("--port") + 1] = "0"
        alone = stack.enter_context(running(["arena", *web], tmp_path, ARENA_DATABASE=role_of_sites(url)))
        assert alone.stdout is not None
        address = re.match(r"web on http://127\.0\.0\.1:(\d+)", alone.stdout.readline())
        assert address is not None
        assert_played(address[1], found["admin"][1], games=12)
        server.send_signal(signal.SIGTERM)
        assert server.wait(timeout=60) == 0
        # The same command shows what is over, and under another name it begins a contest beside it.
        named = short.replace('name = "compose"', 'name = "compose-2"', 1)
        for text, games, name in ((short, 12, "compose"), (named, 0, "compose-2")):
            (tmp_path / "compose.toml").write_text(text, encoding="utf-8")
            environment = {"ARENA_ADMIN_TOKEN": TOKEN, "ARENA_DATABASE": url}
            with running(["arena", *command, *ports], tmp_path, **environment) as again:
                found = addresses(again)
                assert json.loads(status(found["admin"][1]))["games"]["done"] == games
                listed = read(f"http://127.0.0.1:{found['web'][1]}/api/v1/contests.json")["contests"]
                assert {each["name"] for each in listed} == {"compose", name}


def assert_played(web: str, admin: str, games: int) -> None:
    """The page and the organiser's port show a contest that is over."""
    page = f"http://127.0.0.1:{web}"
    assert "<html" in read(f"{page}/")
    assert json.loads(status(admin))["games"]["done"] == games
    for _ in range(60):  # the page is later by the spectators' delay
        listed = read(f"{page}/api/v1/contests.json")["contests"][0]
        if listed["games_played"] == games:
            break
        time.sleep(1)
    assert (listed["name"], listed["games_played"]) == ("compose", games)


@pytest.fixture
def engine() -> None:
    """A Docker engine; without one the test says so."""
    if shutil.which("docker") is None or shutil.which("docker-compose") is None:
        pytest.skip("NO CONTAINERS TESTED: docker and docker-compose are not installed")
    if subprocess.run(["docker", "version"], capture_output=True, check=False).returncode:
        pytest.skip("NO CONTAINERS TESTED: docker is installed, but no engine answers")


@pytest.mark.soak
@pytest.mark.usefixtures("engine")
def test_docker_compose_up_plays_the_contest_through_crashes(tmp_path: Path) -> None:
    """Database, referee and one of two sites are killed once; the engine starts them again.

    The referee survives its database.
    """
    for target in ("database", "referee", "engines"):
        build = ["docker", "build", "--network", "host", "--tag", f"insertion-arena:{target}"]
        subprocess.run([*build, "--target", target, "."], cwd=ROOT, check=True, timeout=900)
    # The base has about 125 MB, and the referee's image has to stay under 200.
    assert size("insertion-arena:referee") - size("python:3.12-slim") < 75_000_000
    web, admin = str(quiet_port()), str(quiet_port())
    environment = {"ARENA_WEB_PORT": web, "ARENA_ADMIN_PORT": admin, "ARENA_ADMIN_TOKEN": TOKEN}
    project = ["docker-compose", "--project-directory", str(ROOT), "--file", str(ROOT / "docker-compose.yml")]
    project += ["--project-name", f"arena-test-{os.getpid()}", "--profile", "site"]

    def asked(*command: str, check: bool = True) -> str:
        return subprocess.run(
            [*project, *command],
            env={**os.environ, **environment},
            stdout=subprocess.PIPE,
            text=True,
            check=check,
            timeout=120,
        ).stdout

    def crash(service: str) -> None:
        # All processes but the init, which then ends with the status of its child; so does the shell.
        asked("exec", "-T", service, "sh", "-c", "kill -9 -1", check=False)

    bots = contest()["bot"]
    games = len(bots) * (len(bots) - 1) // 2 * contest()["contest"]["games_per_pair"]
    try:
        with running([*project, "up", "--no-build", "--scale", "site=2"], tmp_path, **environment) as up:
            output = seen(up, " over ", 5)
            assert "arena: " not in output, "the referee began before its database"
            assert output.index("listening on 0.0.0.0:2006") < output.index(" login ")
            crash("database")
            output += seen(up, " database-reconnected ", 1) + seen(up, " over ", 5)
            crash("referee")
            output += seen(up, "info taking-up contest=1", 1) + seen(up, " over ", 5)
            crash("site")
            output += seen(up, " web on ", 1)
            output += seen(up, "leaves: finished", len(bots))
            sites = [asked("port", "--index", index, "site", "2080").rpartition(":")[2] for index in "12"]
            for port in (web, *(port.strip() for port in sites)):
                assert_played(port, admin, games)
                rows = read(f"http://127.0.0.1:{port}/api/v1/contests/1/games-0.json")
                shown = {game: totals for game, _, totals, *_ in rows}
                assert shown | announced(output) == shown
            assert asked("exec", "-T", "referee", "arena", "verify") == f"verified: {games} games\n"
            up.send_signal(signal.SIGINT)
            up.communicate(timeout=120)
            assert "database system is shut down" in asked("logs", "--tail", "1", "database")
    finally:
        asked("down", "--volumes")


def size(image: str) -> int:
    words = ["docker", "image", "inspect", "--format", "{{.Size}}", image]
    return int(subprocess.run(words, stdout=subprocess.PIPE, check=True, timeout=60).stdout)


def announced(output: str) -> dict[str, list[int]]:
    """The totals of the games that the referee's log calls over."""
    return {
        game: [int(total) for total in totals.split(",")]
        for game, totals in re.findall(r" over game=(g\d+) end=complete totals=([\d,]+)", output)
    }


def seen(process: subprocess.Popen[str], text: str, times: int) -> str:
    """Return the output up to the line that has `text` for the last of these times."""
    assert process.stdout is not None
    output = ""
    for line in process.stdout:
        output += line
        if output.count(text) == times:
            return output
    pytest.fail(f"the output ended too early:\n{output}")
