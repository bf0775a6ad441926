"""The arrows of the house: which package may import which. Read from the sources, nothing is run."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
HOUSES = {
    "arena_protocol": ROOT / "protocol",
    "arena_client": ROOT / "client",
    "arena_engines": ROOT / "engines",
    "arena_server": ROOT / "server",
    "arena_cli": ROOT / "server",
}
MAY_KNOW = {
    "arena_protocol": set(),
    "arena_client": {"arena_protocol"},
    "arena_engines": {"arena_protocol"},
    "arena_server": {"arena_protocol"},
    "arena_cli": {"arena_protocol", "arena_client", "arena_engines", "arena_server"},
}
# Where an engine becomes a bot it may know the client.
EXCEPTIONS = {"arena_engines": ("bots.py", "bot.py")}
CLOCKS_AND_CHANCE = {"time", "random", "secrets"}
IO_MODULES = {"asyncio", "socket", "select", "selectors", "threading", "os", "pathlib"} | CLOCKS_AND_CHANCE


def sources(package: str) -> list[Path]:
    return sorted((HOUSES[package] / package).rglob("*.py"))


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            yield node.module


def is_exception(package: str, path: Path) -> bool:
    inside = path.relative_to(HOUSES[package] / package)
    return inside.parts[0] in EXCEPTIONS.get(package, ())


@pytest.mark.parametrize("package", sorted(HOUSES))
def test_arrows_point_one_way(package: str) -> None:
    assert sources(package), f"no sources found for {package}"
    strangers = set(HOUSES) - MAY_KNOW[package] - {package}
    wrong = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in sources(package)
        if not is_exception(package, path)
        for name in imported(path)
        if name.split(".")[0] in strangers
    ]
    assert wrong == []


@pytest.mark.parametrize("folder", ["protocol/arena_protocol", "server/arena_server/core"])
def test_the_functional_core_touches_no_socket_clock_disk_or_randomness(folder: str) -> None:
    paths = sorted((ROOT / folder).rglob("*.py"))
    assert paths
    wrong = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in paths
        for name in imported(path)
        if name.split(".")[0] in IO_MODULES
    ]
    assert wrong == []


def test_the_server_names_no_game() -> None:
    for path in sources("arena_server"):
        if not is_exception("arena_server", path):
            assert "arena_protocol.games.insertion" not in set(imported(path)), path


@pytest.mark.parametrize("heavy", ["numpy", "numba", "trio"])
def test_the_referee_never_imports(heavy: str) -> None:
    imports = "import arena_server.listener, arena_server.core.contest, arena_server.store, sys"
    program = f"{imports}; sys.exit({heavy!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
