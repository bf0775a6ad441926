"""`arena submit` against a page whose examiner is a script, and against a real server and engine."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import socket
import threading
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

import pytest
from tests.ports import quiet_port
from tests.server.programs import arena, inside
from tests.server.submissions.script import Script
from tests.server.web.running import running
from tests.server.web.test_submit import TOKEN, View, site

from arena_cli import submit
from arena_server.terms.submissions import ArchiveLimits, SubmissionRules
from arena_server.web.app import application

ROOT = Path(__file__).parents[2]


@pytest.fixture
def mybot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of a bot, and the environment of its author."""
    folder = tmp_path / "mybot"
    folder.mkdir()
    (folder / "Dockerfile").write_text(
        'FROM python:3.12-slim\nCOPY bot.py /bot.py\nCMD ["python", "-u", "/bot.py"]\n'
    )
    shutil.copy(ROOT / "client/starters/python/bot.py", folder / "bot.py")
    monkeypatch.setenv("ARENA_NAME", "ann")
    monkeypatch.setenv("ARENA_TOKEN", TOKEN)
    return folder


def test_a_version_is_followed_to_its_end(
    mybot: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with site(tmp_path / "store", Script()) as server:
        monkeypatch.setenv("ARENA_SITE", f"http://{server.address}/")
        assert inside("submit", "--list").out == "ann: no version yet\n"
        sent = inside("submit", mybot)
        assert sent.code == 0
        assert re.fullmatch(r"sending .*mybot, \d+ bytes packed \.\.\.\n", sent.err)
        lines = sent.out.splitlines()
        assert re.fullmatch("version 1: sha256 [0-9a-f]{64}", lines[0])
        assert lines[1:] == [
            *("build:", "  build says  this", "  image sha256:insertion-arena-bot:4c8358d9830c16f9-v1"),
            *("check:", "  check says  this", "game:", "  play says  this"),
            *("version 1 is admitted", "version 1 plays from the next game on"),
        ]
        again = inside("submit", mybot)
        assert (again.code, again.out) == (1, "")
        assert again.err.splitlines()[-1].endswith(
            ": these are the files of version 1, which is admitted: arena submit --activate 1"
        )
        (mybot / "notes.txt").write_text("another one")
        events = [json.loads(line) for line in inside("submit", mybot, "--json").out.splitlines()]
        assert (events[0]["fact"], events[-1]["fact"]) == ("stored", "activated")
        shown = inside("submit", "--list").out.splitlines()
        assert [line.split()[-1] for line in shown] == ["admitted", "on"]
        assert shown[1].endswith("admitted  active from the next game on")
        assert inside("submit", "--show", "1").out.splitlines()[0] == "build says  this"
        assert inside("submit", "--show", "1", "--json").out.startswith("{")
        assert inside("submit", "--activate", "1").out == "version 1 plays from the next game on\n"
        assert json.loads(inside("submit", "--roll-back", "--json").out) == {"active": 2}
        assert json.loads(inside("submit", "--list", "--json").out)["active"] == 2


def test_the_author_of_a_bot_that_is_kept_out_reads_it_with_each_answer(
    mybot: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = "no version of ann plays: kicked by the organiser"
    monkeypatch.setattr(View, "kept_out", line)
    with site(tmp_path / "store", Script()) as server:
        monkeypatch.setenv("ARENA_SITE", f"http://{server.address}/")
        sent = inside("submit", mybot)
        lines = sent.out.splitlines()
        assert (sent.code, lines[1], lines[-1]) == (0, line, f"version 1 is active; {line}")
        assert inside("submit", "--list").out.splitlines()[-1] == line
        assert json.loads(inside("submit", "--list", "--json").out)["barred"] == line
        (mybot / "notes.txt").write_text("another one")
        assert inside("submit", mybot).out.splitlines()[-1] == f"version 2 is active; {line}"
        assert inside("submit", "--activate", "1").out == f"version 1 is active; {line}\n"


def test_a_failure_is_told_and_stays(mybot: Path, tmp_path: Path) -> None:
    rules = SubmissionRules(freeze_ms=99_999_999_999_000)
    with site(tmp_path / "store", Script(fails={"check": "3.1/1 failed"}), rules) as server:
        sent = inside("submit", mybot, "--connect", server.address)
        assert sent.code == 1
        assert sent.out.splitlines()[-1] == "version 1 is not admitted: check failed: 3.1/1 failed"
        shown = inside("submit", "--list", "--connect", server.address).out.splitlines()
        assert shown[0].endswith("failed  (check: 3.1/1 failed)")
        assert shown[1] == "the entries freeze at 5138-11-16 09:46 UTC"


def test_the_freeze_is_told_when_it_is_past(mybot: Path, tmp_path: Path) -> None:
    with site(tmp_path / "store", Script(), SubmissionRules(freeze_ms=60_000)) as server:
        assert inside("submit", "--list", "--connect", server.address).out.splitlines()[-1] == (
            "the entries are frozen since 1970-01-01 00:01 UTC"
        )
        refused = inside("submit", mybot, "--connect", server.address)
        assert (refused.code, refused.out) == (1, "")


def test_what_the_server_refuses_is_one_line(mybot: Path, tmp_path: Path) -> None:
    script = Script(waits={"build": asyncio.Event()})
    with site(tmp_path / "store", script, SubmissionRules(limits=ArchiveLimits(packed=300))) as server:
        connect = "--connect", server.address
        wrong = inside("submit", mybot, *connect, "--token", "wrong")
        assert (wrong.code, wrong.out) == (1, "")
        assert wrong.line == f"arena: {server.address}: no bot of this contest has this name and this token"
        large = inside("submit", mybot, *connect)
        assert (large.code, large.out) == (2, "")
        assert re.search(r"mybot: expected at most 0 MB packed, got 0\.0 MB$", large.line)
        none = inside("submit", "--roll-back", *connect)
        assert none.line == f"arena: {server.address}: no version was active before this one"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ([], "submit: expected one of FOLDER, --list, --show, --activate, --roll-back, got none"),
        (["x", "--list"], "got FOLDER and --list"),
        (["--list", "--connect", "ftp://x"], "--connect: expected HOST:PORT or http(s)://HOST of the page"),
        (["--list", "--connect", "x:y"], "--connect: expected HOST:PORT or http(s)://HOST of the page"),
        (
            ["--list", "--connect", "http://x/y"],
            "--connect: expected HOST:PORT or http(s)://HOST of the page",
        ),
        (["--list"], "say where the page is: --connect HOST:PORT or URL, or ARENA_SITE set"),
        (["--list", "--connect", "x", "--token", "a b"], "the protocol cannot carry this"),
    ],
)
def test_what_is_not_said_right(words: list[str], why: str, mybot: Path) -> None:
    ended = inside("submit", *words)
    assert (ended.code, ended.out) == (2, "")
    assert why in ended.line


@pytest.mark.parametrize(("missing", "why"), [("NAME", "say which bot"), ("TOKEN", "give the bot's token")])
def test_name_and_token(missing: str, why: str, mybot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(f"ARENA_{missing}")
    ended = inside("submit", "--list", "--connect", "localhost:1")
    assert ended.code == 2
    assert why in ended.line


def test_no_page_is_there(mybot: Path) -> None:
    ended = inside("submit", mybot, "--connect", f"127.0.0.1:{quiet_port()}")
    assert (ended.code, ended.out) == (1, "")
    assert "is the address of the page, not the port of the bots" in ended.line


@pytest.mark.real
def test_a_page_whose_answer_drips_is_given_up(mybot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(submit, "WAIT_S", 0.2)
    dripped = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def drip() -> None:
            connection, _ = listener.accept()
            with connection, suppress(OSError):
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
                while not dripped.wait(0.05):
                    connection.sendall(b" ")

        threading.Thread(target=drip, daemon=True).start()
        ended = inside("submit", "--list", "--connect", f"127.0.0.1:{listener.getsockname()[1]}")
    dripped.set()
    assert ended.code == 1
    assert ended.line.endswith("did not answer within 0 s")


def test_a_folder_that_is_no_bot(mybot: Path) -> None:
    (mybot / "Dockerfile").unlink()
    (mybot / "bot.py").rename(mybot / "main.py")
    ended = inside("submit", mybot)  # and it is not said where the page is
    assert (ended.code, ended.out) == (2, "")
    assert "expected a folder with a Dockerfile, got" in ended.line


def test_a_page_that_takes_no_versions_says_what_its_contests_lack(
    mybot: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running(lambda: application([])) as server:
        monkeypatch.setenv("ARENA_SITE", server.address)
        for words in (["--list"], [mybot]):
            ended = inside("submit", *words)
            assert (ended.code, ended.out) == (1, "")
            assert ended.line.endswith(": no bot of this server is sent by its author (submit = true)")


CONTEST = f"""
[contest]
name = "friday"
game = "tictactoe"
games_per_pair = 2
[[bot]]
name = "bob"
[[bot]]
name = "ann"
submit = true
token_sha256 = "{sha256(TOKEN.encode()).hexdigest()}"
"""


def test_a_server_without_its_page_takes_no_versions(tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text(CONTEST)
    ended = inside("serve", "c.toml", "--no-web", "--port", "0", cwd=tmp_path)
    assert (ended.code, ended.out) == (2, "")
    assert ended.line == "arena: bot ann: submit: versions are sent to the web page; serve it"


@pytest.mark.real
def test_a_server_without_an_engine_says_so(tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text(CONTEST)
    ended = arena(
        "serve", "c.toml", "--port", "0", "--web-port", "0", cwd=tmp_path, env={"PATH": str(tmp_path)}
    )
    assert ended.code == 1
    assert ended.line == "arena: docker: No such file or directory; bots in containers need a Docker engine"
