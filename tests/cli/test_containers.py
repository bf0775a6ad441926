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
from tests.server.places.containers import is_frozen, real_engine
from tests.server.places.workers.test_images import archive
from tests.server.programs import PATIENCE_S, arena, inside

from arena_cli.options import DEFAULT_DATABASE
from arena_cli.sandboxes import fetched
from arena_cli.tournament import place_of
from arena_server.errors import ConfigError
from arena_server.places.base import LaunchError
from arena_server.places.cgroup import ControlGroup
from arena_server.places.docker import Docker, NoEngineError
from arena_server.places.docker_launcher import LABEL, place_mark
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


def left(contest: str) -> str:
    """The containers of a contest in the database of this folder."""
    mark = place_mark(place_of(DEFAULT_DATABASE, contest))
    words = ["docker", "ps", "--all", "--quiet", "--filter", f"label={LABEL}={mark}"]
    return subprocess.run(words, capture_output=True, text=True, check=True, timeout=PATIENCE_S).stdout


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


#: Plays 6, and before its second move does what a bot of a contest must not be able to do.
VIOLATING = """
import os, signal, socket, sys, time
KIND = os.environ["KIND"]
HOST, PORT = os.environ["ARENA_HOST"], int(os.environ["ARENA_PORT"])
sock = socket.create_connection((HOST, PORT))
def say(line): sock.sendall(line.encode() + b"\\n")
def violate():
    if KIND == "fork":
        while True:
            if os.fork() == 0: time.sleep(1000)
    if KIND == "tmp":
        with open("/tmp/x", "wb", 0) as file:
            while file.write(bytes(1 << 20)): pass
    if KIND == "memory": x = [bytearray(1 << 20) for _ in range(1000)]
    if KIND == "dial-out": socket.create_connection(("192.0.2.1", 80), timeout=5)
    if KIND == "scan":
        for name in ("house", "arena-house-1", "172.17.0.2", "172.17.0.3", "127.0.0.1"):
            for port in (*range(1, 3000), PORT + 1):
                try: socket.create_connection((name, port), timeout=0.2).close()
                except OSError as error:
                    if name != "127.0.0.1": break  # it does not exist
                else:
                    if port != PORT: sys.exit(f"found {name} {port}")
    if KIND == "read":
        places = ("/run/arena", "/relay.py", "/var/run/docker.sock", os.environ["SECRET"])
        if found := [path for path in places if os.path.exists(path)]: sys.exit(f"found {found}")
        processes = {int(name) for name in os.listdir("/proc") if name.isdigit()}
        if processes - {1, os.getpid()}: sys.exit(f"found {processes}")
    if KIND == "sigterm":
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP): signal.signal(number, signal.SIG_IGN)
moves = 0
say(f"HELLO 1 {os.environ['ARENA_NAME']} token={os.environ['ARENA_TOKEN']}")
for line in sock.makefile():
    verb, value = (line.split() + [""])[:2]
    if verb == "GAME": say("READY " + value); moves = 0
    if verb == "TURN":
        moves += 1
        if moves == 2: violate()
        say("MOVE 6")
while KIND == "sigterm": time.sleep(1000)
"""
#: The faults of each in two games: a bot that ends by itself twice in a game is not connected any more,
#: one that finds nothing plays on.
VIOLATIONS = {
    "fork": {"disconnect": 2},
    "tmp": {"disconnect": 2},
    "memory": {"resource": 2},
    "dial-out": {"disconnect": 2},
    "scan": {},
    "read": {},
    "sigterm": {},
}
#: Of these `places/test_containers.py` has what the bot sees, and others here end in the same way.
ALONE = ("fork", "tmp", "scan", "read")


@pytest.mark.real
@real_engine
@pytest.mark.slow
@pytest.mark.parametrize(
    "kind",
    [pytest.param(kind, marks=pytest.mark.soak if kind in ALONE else ()) for kind in VIOLATIONS],
)
def test_what_a_violation_costs_a_bot_of_a_contest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    (tmp_path / "mybot").mkdir()
    (tmp_path / "mybot/bot.py").write_text(VIOLATING)
    (tmp_path / "mybot/Dockerfile").write_text(
        f"FROM python:3.12-slim\nENV KIND={kind} SECRET={tmp_path}/arena.db\nCOPY bot.py /bot.py\n"
        'CMD ["python", "/bot.py"]\n'
    )
    (tmp_path / "c.toml").write_text(
        '[contest]\nname = "c"\ngames_per_pair = 2\n[game]\nplies = 6\nclock = "60s"\n'
        '[container]\nmemory = "128MB"\npids = 16\n'
        '[[bot]]\nname = "house"\nengine = "dummy"\n[[bot]]\nname = "bad"\nbuild = "mybot"\n'
    )
    ended = arena("tournament", "c.toml", "--no-web", "--json", cwd=tmp_path)
    assert ended.code == 0, ended.err
    faults = {row["bot"]: row["faults"] for row in json.loads(ended.out)["standings"]}
    assert faults == {"house": {}, "bad": VIOLATIONS[kind]}
    monkeypatch.chdir(tmp_path)
    assert left("c") == ""
    if kind == "memory":
        why = inside("why", "g1", "--bot", "bad")
        assert 'stopped by a limit of its container, "more than 128 MB of memory" at ply' in why.out


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


@pytest.mark.real
@real_engine
@pytest.mark.parametrize("kinds", [("illegal", "memory"), pytest.param(KINDS, marks=pytest.mark.soak)])
@pytest.mark.soak
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
        assert (home.code, "was at fault in each of the 2 games" in home.err) == (1, True), home.err
        faults = json.loads(home.out)["faults"][f"build:./{kind}"]
        assert {fault: faults.count(fault) for fault in faults} == rows[kind] != {}
