"""docker-compose.yml: docker-compose accepts it, and the commands of its services play a contest.

No container engine is needed: each service's command runs as a plain process on loopback, with
only the addresses and paths of the network and the volumes replaced.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
ARENA = str(Path(sys.executable).with_name("arena"))


def compose() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))
    return loaded


def here(command: list[str], port: int, folder: Path) -> list[str]:
    """The command of a service, with what containers give it replaced by what is here."""
    swaps = {
        "/etc/arena/": f"{ROOT}/examples/",
        "sqlite:////data/": f"sqlite:///{folder}/",
        "referee:2006": f"127.0.0.1:{port}",
        "0.0.0.0": "127.0.0.1",
    }
    for old, new in swaps.items():
        command = [argument.replace(old, new) for argument in command]
    return [ARENA, *("0" if argument == "2006" else argument for argument in command)]


@contextmanager
def running(command: list[str], folder: Path) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def test_the_services_are_one_referee_and_four_bots_on_an_internal_network() -> None:
    file = compose()
    assert len(file["services"]) == 5
    assert file["networks"]["contest"]["internal"] is True
    assert all(service["networks"] == ["contest"] for service in file["services"].values())


def test_docker_compose_itself_accepts_the_file() -> None:
    checker = shutil.which("docker-compose")
    if checker is None:
        pytest.skip("docker-compose is not on this machine (Debian's package docker-compose has it)")
    done = subprocess.run(
        [checker, "config", "--quiet"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


def test_the_image_is_built_in_two_stages_and_runs_without_root() -> None:
    lines = (ROOT / "Dockerfile").read_text(encoding="utf-8").splitlines()
    stages = [number for number, line in enumerate(lines) if line.startswith("FROM ")]
    users = [number for number, line in enumerate(lines) if line.startswith("USER ")]
    assert len(stages) == 2
    assert users[-1] > stages[-1]
    assert lines[users[-1]] != "USER root"


@pytest.mark.slow
def test_the_commands_of_the_services_play_the_contest_to_its_standings(tmp_path: Path) -> None:
    services = compose()["services"]
    with running(here(services.pop("referee")["command"], 0, tmp_path), tmp_path) as referee:
        assert referee.stdout is not None
        listening = re.fullmatch(r"listening on 127\.0\.0\.1:(\d+)\n", referee.stdout.readline())
        assert listening, "the referee did not say where it listens"
        port = int(listening[1])
        bots = [
            subprocess.Popen(here(service["command"], port, tmp_path), cwd=tmp_path)
            for service in services.values()
        ]
        try:
            table, errors = referee.communicate(timeout=300)
            assert referee.returncode == 0, errors
            assert [bot.wait(timeout=60) for bot in bots] == [0] * len(bots)
        finally:
            for bot in bots:
                bot.kill()
    assert "12 of 12 games" in table
    assert all(name in table for name in services)
