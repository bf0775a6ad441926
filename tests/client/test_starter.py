"""The 15-line bot, run as its README says, against the scripted server."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from .fake_server import (
    BYE,
    DEALT,
    OFFER,
    OVER,
    PLAYED_1,
    PLAYED_2,
    PLAYED_3,
    PLAYED_4,
    START,
    TURN_1,
    TURN_3,
    Connection,
    FakeServer,
    Script,
)

BOT = Path(__file__).resolve().parents[2] / "client" / "starters" / "python" / "bot.py"


def start(arguments: list[str], **environment: str) -> subprocess.CompletedProcess[str]:
    clean = {key: value for key, value in os.environ.items() if not key.startswith("ARENA_")}
    return subprocess.run(
        [sys.executable, "-S", "-W", "error", str(BOT), *arguments],
        env={**clean, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def contest(hello: str, games: int = 2) -> Script:
    def script(connection: Connection) -> None:
        connection.send_lines("ARENA 1 fake/1")
        connection.expect(hello)
        connection.send_lines("WELCOME me session=s1 resume=r1", "", "NEWS of an unknown verb")
        for _ in range(games):
            connection.send_lines(OFFER, *DEALT)
            connection.expect("READY g1")
            connection.send_lines(START, TURN_1)
            connection.expect("MOVE 6")
            connection.send_lines(PLAYED_1, "PING x7", PLAYED_2)
            connection.expect("PONG x7")
            connection.send_lines(TURN_3)
            connection.expect("MOVE 6")
            connection.send_lines(PLAYED_3, PLAYED_4, OVER)
        connection.send_lines(BYE)
        connection.expect_end()

    return script


@pytest.mark.real
@pytest.mark.parametrize(
    ("arguments", "environment", "hello"),
    [
        (["{port}", "me"], {}, "HELLO 1 me"),
        (["{port}", "me", "s3cret"], {"ARENA_TOKEN": "other"}, "HELLO 1 me token=s3cret"),
        (["{port}", "me"], {"ARENA_TOKEN": "s3cret"}, "HELLO 1 me token=s3cret"),
        (None, {"ARENA_NAME": "me"}, "HELLO 1 me"),
        (None, {"ARENA_NAME": "me", "ARENA_TOKEN": "s3cret"}, "HELLO 1 me token=s3cret"),
    ],
)
def test_it_plays_a_whole_contest(
    server: FakeServer, arguments: list[str] | None, environment: dict[str, str], hello: str
) -> None:
    server.follow(contest(hello))
    port = str(server.port)
    if arguments is None:
        ended = start(["--depth", "3"], ARENA_HOST="127.0.0.1", ARENA_PORT=port, **environment)
    else:
        ended = start(["127.0.0.1", *(part.format(port=port) for part in arguments)], **environment)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


@pytest.mark.real
@pytest.mark.soak
def test_it_ends_with_the_connection(server: FakeServer) -> None:
    def script(connection: Connection) -> None:
        connection.send_lines("ARENA 1 fake/1")
        connection.expect("HELLO 1 me")

    server.follow(script)
    assert start(["127.0.0.1", str(server.port), "me"]).returncode == 0


def test_it_is_as_short_as_promised() -> None:
    lines = BOT.read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 15
    imports = {line.split()[1] for line in lines if line.startswith(("import", "from"))}
    assert imports == {"os", "socket", "sys"}
