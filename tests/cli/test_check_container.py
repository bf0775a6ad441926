"""`arena check` of bots in containers."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.server.places.containers import real_engine
from tests.server.programs import arena, inside

from arena_cli.check_container import contest_limits
from arena_server.terms.sandbox import DEFAULT_LIMITS, MB, ContainerLimits

ROOT = Path(__file__).parents[2]
CONTEST = """
[contest]
name = "boxes"
[game]
plies = 12
clock = "5s"
[container]
memory = "64MB"
[[bot]]
name = "ann"
[[bot]]
name = "mybot"
build = "./mybot"
cpus = 0.5
"""
#: A bot of one file that logs in, takes a seat and then moves as `{move}` says.
WRONG = """
import os, socket
sock = socket.create_connection((os.environ["ARENA_HOST"], int(os.environ["ARENA_PORT"])))
lines = sock.makefile("rw", newline="\\n")
def send(line):
    lines.write(line + "\\n"); lines.flush()
for line in lines:
    word, *rest = line.split()
    if word == "ARENA":
        send(f"HELLO 1 {os.environ['ARENA_NAME']} token={os.environ['ARENA_TOKEN']}")
    elif word == "GAME":
        send(f"READY {rest[0]}")
    elif word == "TURN":
        send("MOVE nowhere")
"""


def write(folder: Path, program: str | None = None) -> Path:
    config = folder / "c.toml"
    config.write_text(CONTEST)
    (folder / "mybot").mkdir()
    (folder / "mybot/Dockerfile").write_text(
        'FROM python:3.12-slim\nCOPY bot.py /bot.py\nCMD ["python", "-u", "/bot.py"]\n'
    )
    if program is None:
        shutil.copy(ROOT / "client/starters/python/bot.py", folder / "mybot/bot.py")
    else:
        (folder / "mybot/bot.py").write_text(program)
    return config


def test_the_limits_are_those_of_the_bot_of_the_contest(tmp_path: Path) -> None:
    config = write(tmp_path)
    shared = ContainerLimits(memory=64 * MB)
    assert contest_limits(None, "mybot") == (None, DEFAULT_LIMITS)
    assert contest_limits(config, "checked")[1] == shared
    assert contest_limits(config, "mybot")[1] == ContainerLimits(cpus=0.5, memory=64 * MB)


def test_what_is_no_container_is_no_game(tmp_path: Path) -> None:
    ended = inside("check", "game", "greedy", "--config", write(tmp_path))
    assert (ended.code, ended.line) == (
        2,
        "arena: check game: expected image:NAME or build:FOLDER, got 'greedy'",
    )


@pytest.mark.parametrize("words", [["game"], ["bot", "--"]])
def test_a_folder_without_a_dockerfile(words: list[str], tmp_path: Path) -> None:
    config = write(tmp_path)
    player = f"build:{tmp_path}"
    words = [words[0], "--config", str(config), *words[1:], player]
    ended = inside("check", *words)
    assert (ended.code, ended.line) == (
        2,
        f"arena: {player}: expected a folder with a Dockerfile, got {str(tmp_path)!r}: without it "
        "expected one of bot.sh, bot.c, bot.cpp, bot.go, Bot.java, bot.js, bot.py, bot.rs",
    )


@real_engine
@pytest.mark.real
@pytest.mark.slow
@pytest.mark.soak
def test_a_bot_that_keeps_the_protocol_and_one_game(tmp_path: Path) -> None:
    write(tmp_path)
    player = ["--config", "c.toml", "--name", "mybot"]
    checked = arena("check", "bot", "3.3", "11.2/3", *player, "--", "build:./mybot", cwd=tmp_path)
    assert checked.code == 0, checked.out + checked.err
    assert [line.split()[:1] for line in checked.out.splitlines()[:2]] == [["ok"], ["ok"]]
    assert checked.out.splitlines()[-1].startswith("4 cases: ")
    played = arena("check", "game", "build:./mybot", *player, cwd=tmp_path)
    assert (played.code, played.out) == (0, "no fault\n"), played.err
    assert "mybot " in played.err


@real_engine
@pytest.mark.real
@pytest.mark.slow
def test_a_fault_of_a_game_fails_it(tmp_path: Path) -> None:
    write(tmp_path, WRONG)
    played = arena("check", "game", "build:./mybot", "--config", "c.toml", cwd=tmp_path)
    assert played.code == 1
    assert [line.partition(":")[0] for line in played.out.splitlines()] == ["g1", "g2"]
    assert all("mybot" in line and "nowhere" in line for line in played.out.splitlines()), played.out


@real_engine
@pytest.mark.real
@pytest.mark.slow
@pytest.mark.soak
def test_why_a_container_does_not_begin(tmp_path: Path) -> None:
    (tmp_path / "nothing").mkdir()
    (tmp_path / "nothing/Dockerfile").write_text("FROM scratch\nCOPY Dockerfile /\n")
    checked = arena("check", "bot", "3.3", "--", "build:./nothing", cwd=tmp_path)
    assert checked.code == 1
    assert "No command specified" in checked.out
    assert "--help" not in checked.out
