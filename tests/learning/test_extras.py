"""Without an extra a module names it, in one line."""

from __future__ import annotations

import importlib
import importlib.util
import sys

import pytest

from arena_protocol.errors import UserError, needs_extra


@pytest.mark.parametrize(
    ("module", "library", "text"),
    [
        ("arena.insertion", "numpy", needs_extra("arena.insertion", "engines")),
        ("arena.encoding", "numpy", needs_extra("a position as arrays", "learning")),
        ("arena.environment", "gymnasium", needs_extra("an environment", "learning")),
        ("arena.aec", "pettingzoo", needs_extra("arena.aec", "learning")),
        ("arena.gym", "gymnasium", needs_extra("arena.gym", "learning")),
        ("arena_cli.export_arrays", "numpy", needs_extra("--format npz", "learning")),
        ("arena_cli.export_parquet", "pyarrow", needs_extra("--format parquet", "parquet", in_all=False)),
    ],
)
def test_what_is_missing(monkeypatch: pytest.MonkeyPatch, module: str, library: str, text: str) -> None:
    if module in ("arena.aec", "arena.gym"):
        pytest.importorskip("pettingzoo", reason="needs the extra [learning]")
        importlib.import_module("arena.environment")
    found = importlib.util.find_spec(module)
    assert found is not None
    assert found.loader is not None
    # A second copy: the module that others have imported stays.
    copy = importlib.util.module_from_spec(found)
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(UserError) as caught:
        found.loader.exec_module(copy)
    assert str(caught.value) == text
