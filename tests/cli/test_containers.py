"""`arena tournament` with bots in containers, by docs/containers.md."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.server.launch.test_containers import real_engine
from tests.server.programs import arena, inside

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/containers.md").read_text()
pytestmark = pytest.mark.real


def block(kind: str) -> str:
    found = re.search(rf"```{kind}\n(.*?)```", PAGE, re.DOTALL)
    assert found is not None
    return found[1]


def write(folder: Path, bot: str) -> None:
    text = f'[contest]\nname = "boxes"\n[[bot]]\nname = "ann"\nengine = "dummy"\n[[bot]]\nname = "b"\n{bot}\n'
    (folder / "c.toml").write_text(text)


@real_engine
def test_the_example_of_the_page(tmp_path: Path) -> None:
    (tmp_path / "boxes.toml").write_text(block("toml") + "\n[game]\nplies = 20\n")
    (tmp_path / "mybot").mkdir()
    (tmp_path / "mybot/Dockerfile").write_text(block("text"))
    shutil.copy(ROOT / "client/starters/python/bot.py", tmp_path / "mybot/bot.py")
    ended = arena("tournament", "boxes.toml", "--no-web", cwd=tmp_path)
    assert ended.code == 0, ended.err
    assert "building the image of ./mybot ...\n" in ended.err
    assert "4 of 4 games, scored by points, finished" in ended.out
    assert re.search(r"mybot +\d+ +4 +[\d.]+ +-", ended.out)
    left = ["docker", "ps", "--all", "--quiet", "--filter", "label=insertion-arena.contest"]
    assert subprocess.run(left, capture_output=True, text=True, check=True).stdout == ""


@real_engine
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


def test_without_an_engine(tmp_path: Path) -> None:
    write(tmp_path, 'image = "x:1"')
    ended = arena("tournament", "c.toml", cwd=tmp_path, env={"PATH": str(tmp_path)})
    assert (ended.code, ended.line) == (
        2,
        "arena: c.toml: bot 2: image: docker: No such file or directory;"
        " bots in containers need a Docker engine",
    )


def test_a_contest_decides_what_its_file_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, 'engine = "random"\n[game]\nplies = 12\nclock = "3s"')
    ended = inside("match", "dummy", "greedy", "--deals", "1", "--config", "c.toml", "--json")
    answer = json.loads(ended.out)
    assert (answer["game"], answer["clock"], answer["games"]) == ("insertion", 3000, 2)
    for option in (("--clock", "1s"), ("--game", "xo"), ("--option", "plies=3"), ("--library", "x")):
        refused = inside("match", "dummy", "greedy", "--config", "c.toml", *option)
        assert (refused.code, refused.line) == (
            2,
            f"arena: {option[0]}: expected without --config, which decides it",
        )


#: A bot that plays 6, and from its second move on breaks a rule of the contest or of its container.
BREAKING = """
import os, socket, sys, time
KIND = os.environ["KIND"]
address = os.environ["ARENA_HOST"], int(os.environ["ARENA_PORT"])
sock = socket.create_connection(address)
def say(line): sock.sendall(line.encode() + b"\\n")
def break_rule():
    if KIND == "illegal": say("MOVE 0")
    elif KIND == "malformed": say("MOVE 06")
    elif KIND == "lower-case": say("move 6")
    elif KIND == "silent": time.sleep(1000)
    elif KIND == "flood": [say("READY g0") for _ in range(130)]
    elif KIND == "crash": sys.exit(3)
    elif KIND == "memory": x = [bytearray(1 << 20) for _ in range(1000)]
    elif KIND == "dial-out": socket.create_connection(("192.0.2.1", 80), timeout=5)
    elif KIND == "write": open("/move", "w")
    elif KIND == "fork":
        while True:
            if os.fork() == 0: time.sleep(1000)
moves = 0
say(f"HELLO 1 {os.environ['ARENA_NAME']} token={os.environ['ARENA_TOKEN']}")
for line in sock.makefile():
    verb, value = (line.split() + [""])[:2]
    if verb == "GAME": say("READY " + value); moves = 0
    if verb == "PING": say("PONG " + value)
    if verb == "BYE": break
    if verb == "TURN":
        moves += 1
        if moves == 2: break_rule()
        say("MOVE 6")
"""
#: Ten containers with their relays are started again after each fault.
CONTEST_S = 400.0
KINDS = (
    *("illegal", "malformed", "lower-case", "silent", "flood"),
    *("crash", "memory", "dial-out", "write", "fork"),
)


@real_engine
@pytest.mark.parametrize("kinds", [("illegal", "memory"), pytest.param(KINDS, marks=pytest.mark.soak)])
def test_at_home_a_bot_has_the_faults_that_it_has_in_the_contest(
    tmp_path: Path, kinds: tuple[str, ...]
) -> None:
    head = '[contest]\nname = "c"\nformat = "gauntlet"\ngames_per_pair = 2\nabsent = "20s"\nprobation = 0\n'
    rules = '[game]\nplies = 6\nclock = "8s"\n[container]\nmemory = "48MB"\npids = 8\n'
    bots = '[[bot]]\nname = "house"\nengine = "dummy"\n'
    for kind in kinds:
        folder = tmp_path / kind
        folder.mkdir()
        (folder / "bot.py").write_text(BREAKING)
        (folder / "Dockerfile").write_text(
            f'FROM python:3.12-slim\nENV KIND={kind}\nCOPY bot.py /bot.py\nCMD ["python", "/bot.py"]\n'
        )
        bots += f'[[bot]]\nname = "{kind}"\nbuild = "{kind}"\n'
    (tmp_path / "c.toml").write_text(head + rules + bots)
    contest = arena("tournament", "c.toml", "--no-web", "--json", cwd=tmp_path, patience_s=CONTEST_S)
    rows = {row["bot"]: row["faults"] for row in json.loads(contest.out)["standings"]}
    for kind in kinds:
        home = arena(
            *("match", f"build:./{kind}", "dummy", "--config", "c.toml", "--deals", "1", "--json"),
            cwd=tmp_path,
        )
        assert home.code == 0, home.err
        faults = json.loads(home.out)["faults"][f"build:./{kind}"]
        assert {fault: faults.count(fault) for fault in faults} == rows[kind] != {}
