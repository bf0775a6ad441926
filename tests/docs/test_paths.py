"""README.md and pages of docs/ name files that are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
#: Where a file is that stands behind one of these words; all others are the server's.
ROOMS = {"protocol": ROOT / "protocol/arena_protocol", "cli": ROOT / "cli/arena_cli"}
SERVER = ROOT / "server/arena_server"


@pytest.mark.parametrize("path", ["MOVE", "Login", "A result to the disk", "A casual game"])
def test_each_path_has_a_picture(path: str) -> None:
    page = (ROOT / "docs/paths.md").read_text(encoding="utf-8")
    _, _, section = page.partition(f"\n## {path}\n")
    assert section.lstrip().startswith("```\n")


def test_the_files_of_the_pictures_are_there() -> None:
    page = (ROOT / "docs/paths.md").read_text(encoding="utf-8")
    named = re.findall(r"(?:\b(protocol|cli) )?([\w/-]+\.(?:py|js))\b", page)
    assert len(named) > 40
    missing = [
        file
        for room, file in named
        if not (ROOMS.get(room, SERVER) / file).exists() and not (SERVER / "web" / file).exists()
    ]
    assert missing == []


def test_the_files_of_the_architecture_are_there() -> None:
    page = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    files = [str(path.relative_to(ROOT)) for path in ROOT.glob("*/arena_*/**/*.*")]
    files += [str(path.relative_to(ROOT)) for path in ROOT.glob("tests/*.py")]
    named = re.findall(r"`([\w/]+\.(?:py|js))`", page)
    assert len(named) > 20
    assert [
        name for name in named if not any(file.endswith(f"/{name}") or file == name for file in files)
    ] == []


def test_what_is_optional_names_files_and_keys_that_are_there() -> None:
    page = (ROOT / "docs/optional.md").read_text(encoding="utf-8")
    named = re.findall(r"`([\w/]+(?:\.py|/))`", page)
    assert len(named) > 15
    assert [name for name in named if not (SERVER / name).exists() and not (ROOT / name).exists()] == []
    rows = [line.split("|") for line in page.splitlines() if line.startswith("| ")]
    keys = {key for row in rows for key in re.findall(r"`(?:server\.)?([a-z_]+)(?: = [^`]*)?`", row[2])}
    settings = (ROOT / "docs/configuration.md").read_text(encoding="utf-8")
    assert {"probation", "submit", "ends_at", "guests"} <= keys
    assert {key for key in keys if f"| `{key}` |" not in settings} == set()


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 110


def test_the_architecture_has_two_pages() -> None:
    lines = (ROOT / "docs/architecture.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 130
    assert [line for line in lines if len(line) > 110] == []


def test_the_readme_names_all_folders() -> None:
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    tree = page.partition("\n## For developers\n")[2].split("```")[1]
    packages = {path.parent.name for path in ROOT.glob("*/arena_*/")}
    assert packages | {"learning", "tests", "benchmarks", "deploy", "docs", "examples", "tools"} == set(
        re.findall(r"\b([a-z]+)/", tree)
    )
