"""The tutorials: every program and file of a page is saved, every command runs, in the order of the page."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import pytest
from tests.forked import Arena
from tests.ports import quiet_port

pytestmark = pytest.mark.real

DOCS = Path(__file__).resolve().parents[2] / "docs"
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PATIENCE_S = 120.0
#: A command that needs no shell: its variables, its words.
ALONE = re.compile(r"((?:\w+=\S+ )*)arena ([^|<>;&$*`]*)")


def plain(line: str) -> str:
    """A line without rules of tables and the number of its blanks."""
    return " ".join(line.replace("─", "").split())


class Shell:
    """Runs the commands of pages in a folder, with free ports in place of those of the pages."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ports = {"2007": str(quiet_port()), "2080": str(quiet_port())}
        self.running: list[tuple[subprocess.Popen[Any], Path]] = []
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        self.environment = {**os.environ, "PATH": path, "PYTHONUNBUFFERED": "1"}

    def here(self, text: str) -> str:
        return re.sub(r"\b20(07|80)\b", lambda port: self.ports[port[0]], text)

    def play(self, page: str) -> int:
        """Save the files of the page and run its commands; return the number of commands."""
        text = (DOCS / page).read_text(encoding="utf-8")
        count = 0
        for block in BLOCK.finditer(text):
            kind, body = block[1], self.here(block[2])
            if kind in ("python", "toml"):
                name = re.findall(r"[Ss]ave (?:this|it) as `([^`]+)`", text[: block.start()])[-1]
                assert not (self.folder / name).exists(), f"{page}: a block without a name after {name}"
                (self.folder / name).write_text(body, encoding="utf-8")
            elif kind == "console":
                for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
                    command, *shown = part.splitlines()
                    self.run(command, shown)
                    count += 1
            else:
                assert kind == "", f"{page}: a block of {kind} is not executed"
        return count

    def start(self, command: str, output: IO[bytes]) -> subprocess.Popen[Any]:
        pipes: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": output, "stderr": subprocess.STDOUT}
        if (alone := ALONE.fullmatch(command)) is None:
            return subprocess.Popen(
                ["bash", "-c", command],
                cwd=self.folder,
                env=self.environment,
                start_new_session=True,
                **pipes,
            )
        given = dict(each.split("=") for each in alone[1].split())
        return Arena(shlex.split(alone[2]), cwd=self.folder, env=self.environment | given, **pipes)

    def run(self, command: str, shown: list[str]) -> None:
        output = self.folder / f"output-{len(list(self.folder.glob('output-*')))}"
        background = command.endswith(" &")
        with output.open("wb") as file:
            process = self.start(command.removesuffix(" &"), file)
        self.running.append((process, output))
        expected = {plain(line) for line in shown if line.strip()}
        end = time.monotonic() + PATIENCE_S
        while True:
            code = process.poll()
            lines = {plain(line) for line in output.read_text(encoding="utf-8").splitlines()}
            assert code in (None, 0), (command, output.read_text(encoding="utf-8"))
            if expected <= lines and (background or code is not None):
                return
            assert code is None or expected <= lines, (command, expected - lines, lines)
            assert time.monotonic() < end, (command, expected - lines, lines)
            time.sleep(0.05)  # the output is a file of another process: there is nothing to wait on

    def close(self) -> None:
        for process, _ in self.running:
            if process.poll() is None:
                process.kill() if isinstance(process, Arena) else os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    opened = Shell(tmp_path)
    yield opened
    opened.close()


def test_the_tutorial_of_bot_authors(shell: Shell) -> None:
    assert shell.play("tutorial-bot.md") == 5


@pytest.mark.soak
def test_the_tutorial_of_friends(shell: Shell) -> None:
    assert shell.play("tutorial-friends.md") == 5


def test_the_tutorial_of_organisers(shell: Shell) -> None:
    assert shell.play("tutorial-organiser.md") == 11
    assert (shell.folder / "public" / "index.html").is_file()


@pytest.mark.soak
def test_the_page_of_organisers(shell: Shell) -> None:
    """A season: a ladder, a round-robin and a knockout in one database."""
    assert shell.play("organise.md") == 13


@pytest.mark.soak
def test_the_page_of_seasons(shell: Shell) -> None:
    assert shell.play("seasons.md") == 5


@pytest.mark.soak
def test_the_page_of_a_class(shell: Shell) -> None:
    assert shell.play("class.md") == 18
    assert (shell.folder / "cards.html").read_text(encoding="utf-8").count("<article>") == 2


def test_the_tutorial_of_spectators(shell: Shell) -> None:
    """The contest of the organiser's page is played; a spectator of an open one sees its end."""
    organiser = (DOCS / "tutorial-organiser.md").read_text(encoding="utf-8")
    club, opened = re.findall(r"^```toml\n(.*?)^```$", organiser, re.MULTILINE | re.DOTALL)
    (shell.folder / "club.toml").write_text(club, encoding="utf-8")
    shell.run("arena tournament club.toml --no-web", [])
    shell.run("arena export records --contest club", [])
    (shell.folder / "open.toml").write_text(shell.here(opened), encoding="utf-8")
    shell.run("arena serve open.toml --no-web &", [shell.here("listening on 127.0.0.1:2007")])
    (_, log) = shell.running[-1]
    assert shell.play("tutorial-spectator.md") == 5
    end = time.monotonic() + PATIENCE_S
    while " login " not in log.read_text(encoding="utf-8"):  # the bots would be over before it watches
        assert time.monotonic() < end
        time.sleep(0.05)
    (watching, output) = next(each for each in shell.running if "watch" in str(each[0].args))
    for name in ("anna", "guest"):
        command = f"ARENA_TOKEN=guest-token arena bot dummy --connect 127.0.0.1:2007 --name {name}"
        shell.run(shell.here(command) + (" &" if name == "anna" else ""), [])
    assert watching.wait(PATIENCE_S) == 0
    assert re.search(r"\bg2\b", output.read_text(encoding="utf-8"))
