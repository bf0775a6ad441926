"""`arena proxy` between real programs."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.forked import Arena

from ..client.starters.contest import TOKEN, Contest, environment, run
from ..server.programs import inside

STARTER = Path(__file__).resolve().parents[2] / "client" / "starters" / "python" / "starter.py"
FAULTS = ("--delay", "1ms", "--jitter", "2ms", "--split", "--join", "--reset-after", "300ms", "--seed", "4")


@pytest.mark.real
def test_a_bot_plays_its_games_through_every_fault(tmp_path: Path) -> None:
    with Contest(tmp_path, ["starter", "rival"], plies=40) as contest:
        rival = subprocess.Popen(
            [sys.executable, str(STARTER), "127.0.0.1", str(contest.port), "rival"],
            env=environment(ARENA_TOKEN=TOKEN),
            stdout=subprocess.DEVNULL,
        )
        proxy = Arena(
            ["proxy", "127.0.0.1:0", f"127.0.0.1:{contest.port}", *FAULTS],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert proxy.stdout is not None
        port = proxy.stdout.readline().rpartition(":")[2].strip()
        ended = run([sys.executable, str(STARTER)], "127.0.0.1", port, "starter", ARENA_TOKEN=TOKEN)
        assert rival.wait(60) == 0
        proxy.send_signal(signal.SIGINT)
        reported, complaint = proxy.communicate(timeout=60)
    assert ended.returncode == 0, ended.stderr
    # An OVER may be lost with its connection; the results are the server's.
    assert ended.stdout.splitlines()[-1] == "BYE reason=finished"
    table = inside("standings", "--json", "--database", f"sqlite:///{tmp_path / 'arena.db'}")
    assert [row["faults"] for row in json.loads(table.out)["standings"]] == [{}, {}]
    assert json.loads(table.out)["contest"]["games"] == {"played": 2, "total": 2}
    assert (proxy.returncode, complaint) == (130, "")
    assert "reset by the proxy" in reported


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("x", "localhost:1"), "arena: LISTEN: expected HOST:PORT, got 'x'"),
        (("localhost:0", "x"), "arena: TARGET: expected HOST:PORT, got 'x'"),
        (
            ("localhost:0", "localhost:1", "--delay", "soon"),
            "arena: --delay: ",
        ),
        (("localhost:0", "localhost:1", "--reset-after", "0s"), "arena: --reset-after: "),
    ],
)
def test_wrong_arguments_are_one_line(arguments: tuple[str, ...], line: str) -> None:
    ended = inside("proxy", *arguments)
    assert (ended.code, ended.out) == (2, "")
    assert ended.line.startswith(line)
