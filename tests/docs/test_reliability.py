"""docs/reliability.md: every promise has a command, and every command runs tests that are there."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from tests.slices import all_of

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
COMMANDS = sorted(set(re.findall(r"`(pytest [^`]+)`", PAGE)))


def names(path: Path) -> list[str]:
    """The tests of a file or a folder: the names by which `-k` chooses."""
    files = [path] if path.is_file() else sorted(path.rglob("test_*.py"))
    found: list[str] = []
    for file in files:
        text = file.read_text(encoding="utf-8")
        found += [file.stem + "::" + name for name in re.findall(r"def (test_\w+)", text)]
        found += [file.stem + "::" + name for name in re.findall(r"class (Test\w+)", text)]
    return found


@all_of("command", COMMANDS)
def test_a_command_of_the_page_runs_tests(command: str) -> None:
    words = shlex.split(command)[1:]
    paths = [ROOT / word for word in words if word.startswith("tests/")]
    assert paths
    tests = [name.lower() for path in paths for name in names(path)]
    assert tests
    for place, word in enumerate(words):
        if word == "-k":
            choices = words[place + 1].split(" or ")
            assert all(any(choice.lower() in test for test in tests) for choice in choices), choices


def test_every_promise_is_numbered_once_and_has_its_command() -> None:
    promises = re.findall(r"^(\d+)\. (.*?)(?=^\d+\. |^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    assert [int(number) for number, _ in promises] == list(range(1, len(promises) + 1))
    for _, text in promises:
        assert re.search(r"`(pytest|arena|make) ?[^`]*`", text), text
