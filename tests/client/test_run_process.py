"""How a bot's program ends: exit status, standard error, and what the server receives."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable

import pytest
from tests.ports import deaf_port

from .fake_server import BYE, DEALT, OFFER, START, TURN_1, Connection, FakeServer

pytestmark = pytest.mark.real

#: Nothing here takes long; a process that hangs ends the test with an error.
PATIENCE_S = 150.0
BROKEN = """
from arena_client import run

def choose(view):
    raise KeyError("no such opening")

run(choose)
"""
ENDLESS = """
import threading
from arena_client import run

def choose(view):
    threading.Event().wait()

run(choose)
"""
GOOD = "from arena_client import run; run(lambda view: 4)"
#: The same with waits of some milliseconds: the count of the tries is that of the default.
HASTY = """
from arena_client import run
from arena_client.retry import RetryPolicy, backoff

run(lambda view: 4, policy=RetryPolicy(lambda: backoff(first=0.001, longest=0.001)))
"""


def start(program: str, port: int, **environment: str) -> subprocess.Popen[str]:
    own = {key: value for key, value in os.environ.items() if not key.startswith("ARENA_")}
    address = {"ARENA_HOST": "127.0.0.1", "ARENA_PORT": str(port), "ARENA_NAME": "me"}
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", program],
        env=own | address | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def until_turn(then: Callable[[Connection], object]) -> Callable[[Connection], None]:
    """A script that gives the bot its turn, calls `then`, and expects the end without QUIT."""

    def script(connection: Connection) -> None:
        connection.log_in()
        connection.send_lines(OFFER, *DEALT)
        connection.expect("READY g1")
        connection.send_lines(START, TURN_1)
        then(connection)
        connection.expect_end()

    return script


def test_an_exception_is_a_traceback_and_status_1_without_quit(server: FakeServer) -> None:
    server.follow(until_turn(lambda connection: None))
    out, err = (bot := start(BROKEN, server.port)).communicate(timeout=PATIENCE_S)
    assert (bot.returncode, out) == (1, "")
    assert err.startswith("Traceback (most recent call last):\n")
    assert err.endswith("KeyError: 'no such opening'\n")


@pytest.mark.parametrize(
    ("signal_number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, -signal.SIGTERM)]
)
def test_a_signal_closes_the_connection_without_quit(
    server: FakeServer, signal_number: signal.Signals, status: int
) -> None:
    bots: list[subprocess.Popen[str]] = []

    def stop(connection: Connection) -> None:
        connection.sync()
        bots[0].send_signal(signal_number)

    server.follow(until_turn(stop))
    bots.append(start(ENDLESS, server.port))
    out, err = bots[0].communicate(timeout=PATIENCE_S)
    assert (bots[0].returncode, out, err) == (status, "", "")


@pytest.mark.soak
def test_without_a_server_each_try_is_one_line_and_after_12_it_gives_up() -> None:
    with deaf_port() as port:
        out, err = (bot := start(HASTY, port)).communicate(timeout=PATIENCE_S)
    *tries, last = err.splitlines()
    assert (bot.returncode, out, len(tries)) == (1, "", 11)
    retry = r"me: no connection to 127\.0\.0\.1:\d+ \(Connection refused\), next try in 0\.0 s"
    assert all(re.fullmatch(retry, line) for line in tries), err
    assert last == f"gave up on 127.0.0.1:{port} after 12 tries: Connection refused"


@pytest.mark.soak
def test_debugging_prints_both_directions_with_the_time(server: FakeServer) -> None:
    def script(connection: Connection) -> None:
        assert "token=s3cret" in connection.log_in()
        connection.send_lines(BYE)

    server.follow(script)
    bot = start(GOOD, server.port, ARENA_DEBUG="1", ARENA_TOKEN="s3cret")
    out, err = bot.communicate(timeout=PATIENCE_S)
    assert (bot.returncode, out) == (0, "")
    assert all(re.match(r"\d\d:\d\d:\d\d\.\d{3} [<>] ", line) for line in err.splitlines()), err
    assert [line[13:] for line in err.splitlines()] == [
        "< ARENA 1 fake/1",
        "> HELLO 1 me token=*** agent=arena-client",
        "< WELCOME me session=s1 resume=***",
        "< BYE reason=finished",
    ]
