"""`arena tournament` with bots in containers, by docs/containers.md."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
from tests.forked import Arena
from tests.server.places.containers import is_frozen, left, real_engine
from tests.server.places.workers.test_images import archive
from tests.server.programs import PATIENCE_S, arena, inside

from arena_cli.options import DEFAULT_DATABASE
from arena_cli.sandboxes import fetched
from arena_cli.tournament import place_of
from arena_server.errors import ConfigError
from arena_server.places.base import LaunchError
from arena_server.places.cgroup import ControlGroup
from arena_server.places.docker import Docker, NoEngineError
from arena_server.terms.sandbox import ContainerLimits

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/containers.md").read_text()


def block(kind: str) -> str:
    found = re.search(rf"```{kind}\n(.*?)```", PAGE, re.DOTALL)
    assert found is not None
    return found[1]


def write(folder: Path, bot: str) -> None:
    text = f'[contest]\nname = "boxes"\n[[bot]]\nname = "ann"\nengine = "dummy"\n[[bot]]\nname = "b"\n{bot}\n'
    (folder / "c.toml").write_text(text)


@pytest.mark.real
@real_engine
def test_the_example_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "boxes.toml").write_text(block("toml") + "\n[game]\nplies = 20\n")
    (tmp_path / "mybot").mkdir()
    (tmp_path / "mybot/Dockerfile").write_text(block("text"))
    shutil.copy(ROOT / "client/starters/python/bot.py", tmp_path / "mybot/bot.py")
    ended = arena("tournament", "boxes.toml", "--no-web", cwd=tmp_path)
    assert ended.code == 0, ended.err
    assert "building the image of ./mybot ...\n" in ended.err
    assert "4 of 4 games, scored by points, finished" in ended.out
    assert re.search(r"mybot +\d+ +4 +[\d.]+ +-", ended.out)
    monkeypatch.chdir(tmp_path)
    assert left("boxes") == ""


def test_the_containers_of_a_run_are_not_those_of_another_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = set()
    for folder in (tmp_path, tmp_path, tmp_path.parent):
        monkeypatch.chdir(folder)
        places.add(place_of(DEFAULT_DATABASE, "friday"))
    assert len(places) == 2
    assert place_of("postgresql://host/base", "friday") == "postgresql://host/base friday"


@pytest.mark.real
@real_engine
@pytest.mark.soak
def test_an_image_that_cannot_be_built(tmp_path: Path) -> None:
    write(tmp_path, 'build = "b"')
    (tmp_path / "b").mkdir()
    (tmp_path / "b/Dockerfile").write_text("FROM python:3.12-slim\nCOPY nothing /\n")
    ended = arena("tournament", "c.toml", cwd=tmp_path)
    assert (ended.code, ended.out) == (2, "")
    assert re.match(r"arena: c.toml: bot 2: build: .*nothing", ended.err.splitlines()[-1])


def test_a_folder_without_a_dockerfile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, 'build = "b"')
    ended = inside("tournament", "c.toml")
    assert (ended.code, ended.line) == (
        2,
        "arena: c.toml: bot 2: build: expected a folder with a Dockerfile, got 'b'",
    )


@pytest.mark.real
def test_without_an_engine(tmp_path: Path) -> None:
    write(tmp_path, 'image = "x:1"')
    ended = arena("tournament", "c.toml", cwd=tmp_path, env={"PATH": str(tmp_path)})
    assert (ended.code, ended.line) == (
        2,
        "arena: c.toml: bot 2: image: docker: No such file or directory;"
        " bots in containers need a Docker engine",
    )


def test_an_image_of_from_that_cannot_be_had_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    async def call(_docker: Docker, *words: str, **_options: float) -> str:
        asked.append(words[-1])
        if words[0] == "pull":
            raise LaunchError("no such host")
        if words[-1] == "gcc:14":
            raise LaunchError("no such image")
        return "sha256:a"

    monkeypatch.setattr(Docker, "call", call)
    (tmp_path / "Dockerfile").write_text(
        "ARG of=x\nFROM python:3.12-slim AS one\nFROM --platform=linux/amd64 one as two\nFROM $of\n"
        "FROM scratch\nfrom gcc:14\n"
    )
    line = "FROM gcc:14: not here, and cannot be fetched: no such host"
    with pytest.raises(LaunchError, match=f"^{line}$"):
        asyncio.run(Docker().build(str(tmp_path)))
    assert asked == ["version", "python:3.12-slim", "gcc:14", "gcc:14"]
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "bot.c").touch()
    monkeypatch.chdir(tmp_path)
    assert inside("check", "bot", "--", "build:c").err.splitlines()[-1] == f"arena: build:c: {line}"


def without_engine(monkeypatch: pytest.MonkeyPatch, problem: str) -> None:
    async def call(_docker: Docker, *_words: str, **_options: float) -> str:
        raise NoEngineError(problem)

    monkeypatch.setattr(Docker, "call", call)


def test_workers_may_have_the_engine_that_the_server_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_engine(monkeypatch, "Cannot connect to the Docker daemon")
    digest = f"sha256:{'a' * 64}"
    archive(tmp_path / "mine.tar", [{"Config": f"{'a' * 64}.json"}])
    pinned = fetched(f"registry.example/mine@{digest}", ContainerLimits(), "")
    assert (pinned.image, pinned.saved) == (f"registry.example/mine@{digest}", "")
    saved = fetched("file:mine.tar", ContainerLimits(), "", tmp_path)
    assert (saved.image, saved.saved) == (digest, str(tmp_path / "mine.tar"))
    for image, problem in (
        ("mine:3", "b: Cannot connect to the Docker daemon"),
        ("file:gone.tar", f"b: {tmp_path}/gone.tar: No such file or directory"),
    ):
        with pytest.raises(ConfigError, match=f"^{problem}$"):
            fetched(image, ContainerLimits(), "b: ", tmp_path)


def test_a_contest_decides_what_its_file_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, 'engine = "random"\n[game]\nplies = 12\nclock = "3s"')
    ended = inside("match", "dummy", "greedy", "--deals", "1", "--config", "c.toml", "--json")
    answer = json.loads(ended.out)
    assert (answer["game"], answer["clock"], answer["games"]) == ("insertion", 3000, 2)
    for option in (("--clock", "1s"), ("--game", "xo"), ("--option", "plies=3"), ("--book", "x")):
        refused = inside("match", "dummy", "greedy", "--config", "c.toml", *option)
        assert (refused.code, refused.line) == (
            2,
            f"arena: {option[0]}: expected without --config, which decides it",
        )


#: Plays 6, each time after a line to the pipe `asked` and one of the pipe `gate`.
GATED = """
import os, socket
sock = socket.create_connection((os.environ["ARENA_HOST"], int(os.environ["ARENA_PORT"])))
asked, gate = open("asked", "w", buffering=1), open("gate")
def say(line): sock.sendall(line.encode() + b"\\n")
say(f"HELLO 1 {os.environ['ARENA_NAME']} token={os.environ['ARENA_TOKEN']}")
for line in sock.makefile():
    verb, value = (line.split() + [""])[:2]
    if verb == "GAME": say("READY " + value)
    if verb == "TURN":
        print(value, file=asked)
        gate.readline()
        say("MOVE 6")
"""


def wait_until_frozen(name: str) -> None:
    """Wait until the bot's container stands still."""
    words = ["docker", "ps", "--no-trunc", "--format", "{{.ID}} {{.Names}}", "--filter", f"name={name}"]
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        rows = subprocess.run(
            words, capture_output=True, text=True, check=True, timeout=PATIENCE_S
        ).stdout.splitlines()
        ids = [row.split()[0] for row in rows if not row.endswith("-relay")]
        pid = (
            ids
            and subprocess.run(
                ["docker", "inspect", "--format", "{{.State.Pid}}", ids[0]],
                capture_output=True,
                text=True,
                timeout=PATIENCE_S,
            ).stdout
        )
        group = ControlGroup.of(ids[0], int(pid)) if pid else None
        if group is not None and is_frozen(group):
            return
    raise AssertionError(f"{name} did not stand still within {PATIENCE_S:.0f} s")


def write_frozen_contest(tmp_path: Path) -> None:
    """Two games of ann, who waits for the test, and bob, who is frozen meanwhile."""
    (tmp_path / "a.py").write_text(GATED)
    (tmp_path / "mybot").mkdir()
    (tmp_path / "mybot/Dockerfile").write_text(block("text"))
    shutil.copy(ROOT / "client/starters/python/bot.py", tmp_path / "mybot/bot.py")
    (tmp_path / "c.toml").write_text(
        '[contest]\nname = "frozen"\ngames_per_pair = 2\n[game]\nplies = 8\nclock = "100s"\n'
        '[server]\nbot_logs = "logs"\n[container]\nponder = "off"\n'
        '[[bot]]\nname = "ann"\ncommand = ["python", "a.py"]\n[[bot]]\nname = "bob"\nbuild = "mybot"\n'
    )
    for name in ("asked", "gate"):
        os.mkfifo(tmp_path / name)


@pytest.mark.real
@real_engine
@pytest.mark.soak
def test_who_does_not_ponder_is_frozen_while_the_other_is_on_move(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other moves only when that has been seen; then the bot is thawed, else it could not move."""
    write_frozen_contest(tmp_path)
    words = ["tournament", "c.toml", "--no-web", "--json"]
    with Arena(words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        with open(tmp_path / "asked") as asked, open(tmp_path / "gate", "w") as gate:
            for _ in range(8):
                assert asked.readline()
                wait_until_frozen("arena-bob-1-")
                gate.write("\n")
                gate.flush()
        out, _ = process.communicate(timeout=PATIENCE_S)
    assert [row["faults"] for row in json.loads(out)["standings"]] == [{}, {}]
    monkeypatch.chdir(tmp_path)
    assert left("frozen") == ""
    usage = (tmp_path / "logs/frozen/bob.log").read_text()
    # The program may have ended after the last game before it could be measured.
    assert re.search(r"\* usage game=g1 slot=1 used_ms=\d+ throttled_ms=\d+ pressure_ms=\d+\n", usage)


@pytest.mark.real
@real_engine
@pytest.mark.slow
@pytest.mark.parametrize("killed", ["serve", "tournament"])
@pytest.mark.soak
def test_nothing_is_left_of_frozen_bots_after_a_kill(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, killed: str
) -> None:
    """The server, or the process that runs the containers."""
    write_frozen_contest(tmp_path)
    monkeypatch.chdir(tmp_path)
    words = ["tournament", "c.toml", "--no-web", "--json"]
    with Arena(words, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        with open(tmp_path / "asked") as asked, open(tmp_path / "gate", "w"):
            assert asked.readline()
            wait_until_frozen("arena-bob-1-")
            os.kill(process.pid if killed == "tournament" else server_of(process.pid), signal.SIGKILL)
        process.wait(PATIENCE_S)
    end = time.monotonic() + PATIENCE_S
    while left("frozen") and time.monotonic() < end:
        time.sleep(0.05)
    assert left("frozen") == ""


def server_of(tournament: int) -> int:
    """The process of the server among the children of `arena tournament`."""
    children = Path(f"/proc/{tournament}/task/{tournament}/children").read_text().split()
    (found,) = [pid for pid in children if Path(f"/proc/{pid}/comm").read_text() == "arena serve\n"]
    return int(found)
