"""What importing the package needs."""

from __future__ import annotations

import importlib
import importlib.metadata
import subprocess
import sys

import pytest


def test_trio_is_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "trio", None)
    monkeypatch.delitem(sys.modules, "arena_client.trio_client")
    wanted = r"^arena_client.trio_client needs the extra \[trio\]: "
    with pytest.raises(ImportError, match=wanted):
        importlib.import_module("arena_client.trio_client")


@pytest.mark.real
def test_the_client_imports_the_standard_library_only() -> None:
    """msgpack, which the package requires, is imported by what reads records, which no bot does."""
    program = (
        "import sys; before = set(sys.modules);"
        "import arena_client, arena_client.scripted;"
        "tops = {name.partition('.')[0] for name in set(sys.modules) - before};"
        "print(*tops - set(sys.stdlib_module_names))"
    )
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert set(shown.stdout.split()) == {"arena_client", "arena_protocol"}


def test_an_installation_without_extras_pulls_msgpack_only() -> None:
    required = importlib.metadata.requires("insertion-arena") or []
    assert [line for line in required if "extra ==" not in line] == ["msgpack>=1.0"]
