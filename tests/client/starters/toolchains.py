"""Each starter as its README builds and runs it, in a copy of its folder."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[3] / "client" / "starters"
#: Every language, whether its toolchain is here or not.
LANGUAGES = tuple(sorted(path.parent.name for path in FOLDER.glob("*/README.md")))
#: A cold compiler on a busy machine.
BUILD_S = 300.0
#: One compiler and one collector: a virtual machine starts in half the time.
JAVA_FAST = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")


@dataclass(frozen=True)
class Starter:
    """The commands of one README: those that build it, and the one that runs it, without its arguments."""

    language: str
    builds: tuple[list[str], ...]
    run: list[str]

    @property
    def missing(self) -> str | None:
        """The first tool of the README that is not installed, or None."""
        tools = [command[0] for command in (*self.builds, self.run) if not command[0].startswith("./")]
        return next((tool for tool in tools if shutil.which(tool) is None), None)


@cache
def starter(language: str) -> Starter:
    """Read the commands of a README: `cd`, any number of builds, one that runs HOST PORT NAME."""
    text = (FOLDER / language / "README.md").read_text(encoding="utf-8")
    block = re.search(r"```sh\n(.*?)```", text, re.DOTALL)
    assert block is not None, f"{language}/README.md has no block of commands"
    enter, *builds, run = [shlex.split(line) for line in block[1].splitlines()]
    assert enter == ["cd", f"client/starters/{language}"]
    assert run[-3:] == ["HOST", "PORT", "NAME"]
    return Starter(language, tuple(builds), run[:-3])


def build(language: str, folder: Path) -> list[str]:
    """Build a starter in `folder`, which is to stay, and return the command that runs it from anywhere.

    What this process has built before is not built again. Skips the test, naming the tool, if the toolchain
    is not installed.
    """
    made = starter(language)
    if made.missing is not None:
        pytest.skip(f"{language}: {made.missing} is not installed")
    if language not in _BUILT:
        _BUILT[language] = _build(made, folder / language)
    return _BUILT[language]


#: The commands of the starters that this process has built.
_BUILT: dict[str, list[str]] = {}


def _build(made: Starter, copy: Path) -> list[str]:
    shutil.copytree(FOLDER / made.language, copy)
    for command in made.builds:
        fast = [f"-J{flag}" for flag in JAVA_FAST] if command[0] == "javac" else []
        done = subprocess.run(
            [*command, *fast], cwd=copy, capture_output=True, text=True, timeout=BUILD_S, check=False
        )
        assert done.returncode == 0, done.stderr
    if made.run == ["java", "Starter"]:
        return ["java", *JAVA_FAST, "-cp", str(copy), "Starter"]
    return [_anywhere(word, copy) for word in made.run]


def _anywhere(word: str, folder: Path) -> str:
    """Make a word of a command independent of the folder in which the command stands."""
    if word == "python3":
        return sys.executable
    path = folder / word
    return str(path) if path.is_file() else word
