"""`arena check`: selections, reports, exit statuses."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
import threading
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tests.forked import Arena
from tests.ports import deaf_port, quiet_port

from arena_check.runner import BOT_SUITE, SERVER_SUITE

from ..server.programs import inside

STARTERS = Path(__file__).resolve().parents[2] / "client" / "starters" / "python"
GOOD = (sys.executable, str(STARTERS / "starter.py"), "{host}", "{port}", "{name}")
ZERO = (sys.executable, "-c", "import sys; sys.exit('no such opening book')")


def test_list_shows_what_is_selected() -> None:
    listed = inside("check", "bot", "--list")
    assert listed.code == 0
    assert len(listed.out.splitlines()) > len(BOT_SUITE.cases)
    assert inside("check", "server", "3.3/2", "--list") == inside(
        "check", "server", "localhost:1", "3.3/2", "--list"
    )
    found = json.loads(inside("check", "bot", "--list", "--json").out)["cases"]
    assert {each["id"] for each in found} == BOT_SUITE.cases.keys()
    one = inside("check", "server", "localhost:1", "3.3/2", "--list")
    assert [line.split()[0] for line in one.out.splitlines()] == ["3.3", "3.3/2"]
    assert SERVER_SUITE.cases["3.3/2"].expects in one.out


@pytest.mark.real
def test_a_bot_that_conforms(tmp_path: Path) -> None:
    junit = tmp_path / "report.xml"
    ended = inside("check", "bot", "3.3", "8.1/2", "--junit", junit, "--", *GOOD)
    assert (ended.code, ended.err) == (0, "")
    assert [line.split()[:2] for line in ended.out.splitlines()] == [
        ["ok", "3.3/1"],
        ["ok", "1.1/1"],  # what the others need
        ["ok", "3.3/2"],
        ["ok", "8.1/2"],
        ["4", "cases:"],
    ]
    assert ElementTree.parse(junit).getroot().get("tests") == "4"


@pytest.mark.real
def test_a_bot_that_does_not_is_shown_in_full_with_its_stderr() -> None:
    ended = inside("check", "bot", "3.3/1", "8.1", "--", *ZERO)
    assert ended.code == 1
    failed, missed, *shown = ended.out.splitlines()
    assert re.fullmatch(
        r"failed          3\.1/1   plays the plain game: expected a connection to 127\.0\.0\.1:\d+; "
        "got the bot ended with status 1",
        failed,
    )
    assert missed == "not reached     12 that need 3.1/1: 3.3/1 to 8.1/7"
    assert "    no such opening book" in shown
    assert "  next      The bot ended before it connected: its stderr says why." in ended.out
    assert shown[-1] == "13 cases: 0 ok, 0 non-strict, 0 not implemented, 1 failed, 12 not reached"


@pytest.mark.real
@pytest.mark.soak
def test_strict_fails_on_what_is_not_ok() -> None:
    bot = (sys.executable, str(STARTERS / "bot.py"), "{host}", "{port}", "{name}")
    assert inside("check", "bot", "8.3", "--", *bot).code == 0
    assert inside("check", "bot", "8.3", "--strict", "--", *bot).code == 1


@pytest.mark.real
@pytest.mark.soak
def test_json_is_the_whole_output() -> None:
    ended = inside("check", "bot", "3.1/1", "--json", "--", *GOOD)
    (case,) = json.loads(ended.out)["cases"]
    assert (case["id"], case["verdict"], case["needed"]) == ("3.1/1", "ok", None)
    assert case["lines"][0]["text"] == "ARENA 1 arena-check/1"


@pytest.mark.real
@pytest.mark.soak
def test_a_bot_that_is_started_by_hand() -> None:
    port = quiet_port()
    command = [
        "check",
        "bot",
        "--listen",
        f"127.0.0.1:{port}",
        "3.3/1",
        "--name",
        "me",
        "--token",
        "t",
    ]
    process = Arena(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    again = True

    def play() -> None:
        where = [sys.executable, str(STARTERS / "starter.py"), "127.0.0.1", str(port), "me"]
        while (
            again
            and subprocess.run(where, env={"ARENA_TOKEN": "t"}, capture_output=True, check=False).returncode
        ):
            pass

    bot = threading.Thread(target=play)
    bot.start()
    out, err = process.communicate(timeout=60)
    again = False
    bot.join()
    assert (process.returncode, err) == (0, "")
    assert out.splitlines()[0].startswith("ok              3.3/1")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("bot",), "arena: give the bot's command after --, or --listen HOST:PORT for a bot that you start"),
        (
            ("bot", "--listen", "localhost:1", "--", "./bot"),
            "arena: give the bot's command after --, or --listen HOST:PORT for a bot that you start",
        ),
        (("server",), "arena: say which server: HOST:PORT"),
        (("bot", "3.99", "--", "./bot"), "arena: no case '3.99'; --list shows all of them"),
        (("bot", "--listen", "nowhere"), "arena: --listen: expected HOST:PORT, got 'nowhere'"),
        (("server", "nowhere"), "arena: HOST:PORT: expected HOST:PORT, got 'nowhere'"),
        (
            ("server", "localhost:1", "--names", "one"),
            "arena: --names: expected two names with a comma between them, got 'one'",
        ),
        (
            ("server", "localhost:1", "--names", "one,one"),
            "arena: --names: expected two names with a comma between them, got 'one,one'",
        ),
        (
            ("server", "localhost:1", "--token", "\udcff"),
            r"arena: --names, --token: HELLO: token must be printable ASCII without spaces, not '\udcff'",
        ),
        (("server", "localhost:1", "99"), "arena: no case '99'; --list shows all of them"),
    ],
)
def test_wrong_arguments_are_one_line(arguments: tuple[str, ...], line: str) -> None:
    ended = inside("check", *arguments)
    assert (ended.code, ended.out, ended.line) == (2, "", line)


def test_an_unknown_game_and_a_command_that_is_none() -> None:
    game = inside("check", "bot", "--game", "chess", "--", "./bot")
    assert game.code == 2
    assert game.line.startswith("arena: no game 'chess'")
    command = inside("check", "bot", "3.1", "--", "/no/such/bot")
    assert command.code == 2
    assert command.line == "arena: check bot: no program '/no/such/bot' here or on the path"


def test_a_command_in_quotes_is_taken_for_one_word() -> None:
    command = inside("check", "bot", "python mybot.py")
    assert command.line == (
        "arena: check bot: no program 'python mybot.py' here or on the path;"
        " write it as words, without quotes around them: python mybot.py"
    )


@pytest.mark.real
@pytest.mark.soak
def test_a_file_that_the_system_does_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mybot.py").touch(0o644)
    ended = inside("check", "bot", "3.1", "--", "mybot.py")
    assert (ended.code, ended.line) == (
        2,
        "arena: check bot: no program 'mybot.py' on the path; for the file here: write python mybot.py",
    )
    (tmp_path / "mybot.py").chmod(0o755)
    ended = inside("check", "bot", "3.1", "--", "./mybot.py")
    assert (ended.code, ended.line) == (
        2,
        "arena: check bot: ./mybot.py: not a program: its first line names no interpreter (#!)",
    )
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ended = inside("check", "bot", "--listen", f"127.0.0.1:{port}")
    assert (ended.code, ended.line) == (
        2,
        f"arena: check bot: --listen 127.0.0.1:{port}: Address already in use",
    )


def test_a_report_that_cannot_be_written(tmp_path: Path) -> None:
    junit = ("--junit", tmp_path / "no" / "report.xml")
    with socket.create_server(("127.0.0.1", 0)) as mute:
        where = f"127.0.0.1:{mute.getsockname()[1]}"
        ended = inside("check", "server", where, "4.1/1", "--patience", "0.1", *junit)
    assert ended.code == 2
    assert ended.line.startswith("arena: --junit: ")


def test_a_server_that_is_not_there() -> None:
    with deaf_port() as port:
        ended = inside("check", "server", f"127.0.0.1:{port}")
    assert (ended.code, ended.out, ended.line) == (
        1,
        "",
        f"arena: check server: no server answers at 127.0.0.1:{port} (Connection refused); is it running?",
    )


@pytest.mark.real
def test_help_has_an_example() -> None:
    for peer in ("bot", "server"):
        helped = inside("check", peer, "--help")
        assert helped.code == 0
        assert "Example: arena check" in helped.out
