"""What scripts, examples and documents import of the packages is there; a server loads nothing heavy."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from textwrap import dedent

import pytest
from tests.slices import all_of

ROOT = Path(__file__).parents[1]
SCRIPTS = [path for folder in ("benchmarks", "examples", "tools") for path in (ROOT / folder).rglob("*.py")]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
OURS = re.compile(r"arena(_\w+)?")


def codes(path: Path) -> list[str]:
    """A script, or the blocks of Python in a document."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        return [text]
    return [dedent(block) for block in re.findall(r"^( *```python\n.*?)^ *```", text, re.S | re.M)]


def names(code: str) -> Iterator[tuple[str, str | None]]:
    """Each module of ours that is imported, with each name out of it; none for the module alone."""
    for node in ast.walk(ast.parse(code.removeprefix("```python\n"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, None) for alias in node.names if is_ours(alias.name))
        elif isinstance(node, ast.ImportFrom) and node.module is not None and is_ours(node.module):
            yield from ((node.module, alias.name) for alias in node.names)


def is_ours(module: str) -> bool:
    return OURS.fullmatch(module.partition(".")[0]) is not None


def missing(code: str) -> list[str]:
    found = []
    for module, name in names(code):
        try:
            there = import_module(module)
            if name is not None and not hasattr(there, name):
                import_module(f"{module}.{name}")
        except ImportError:
            found.append(f"{module}.{name}" if name else module)
    return found


@all_of("path", [*SCRIPTS, *DOCUMENTS])
def test_what_is_imported_is_there(path: Path) -> None:
    assert [name for code in codes(path) for name in missing(code)] == []


def test_a_module_that_has_moved_is_found() -> None:
    code = "import arena_server\nfrom arena_server.core.gone import A\nfrom arena_server.core import life, b"
    assert missing(code) == ["arena_server.core.gone.A", "arena_server.core.b"]


#: The modules of a server and of its pages, and what they load when they need it, or never.
SERVER = (
    "arena_server.core.contest, arena_server.store, arena_server.host.listener, arena_server.web.thread, "
    "arena_cli.app, arena_cli.serve"
)
LATER = {"http.server", "numba", "numpy", "prometheus_client", "starlette", "tests", "trio", "uvicorn"}


@pytest.mark.real
def test_a_server_loads_nothing_heavy_before_it_listens() -> None:
    program = f"import sys, {SERVER}; print(*sorted({LATER} & set(sys.modules)))"
    assert subprocess.check_output([sys.executable, "-c", program], text=True) == "\n"
