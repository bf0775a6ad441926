"""What a bot in a container may not do: what it costs in a contest, and the same at home."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.server.places.containers import left, real_engine
from tests.server.programs import arena, inside

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
