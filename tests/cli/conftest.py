"""Fixtures of the command line's tests."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.server.programs import Shell


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(monkeypatch, capsys)


@pytest.fixture
def here(played: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of `played`, which is the current folder."""
    shutil.copy(played / "arena.db", tmp_path / "arena.db")
    monkeypatch.chdir(tmp_path)
    return tmp_path
