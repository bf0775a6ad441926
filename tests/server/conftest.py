"""Fixtures of the server's tests."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena_server.store.database import Database

from .postgres import Cluster, cluster
from .programs import Shell


@pytest.fixture(scope="session")
def postgres() -> Iterator[Cluster]:
    """A PostgreSQL server for all tests of this process; they are skipped where none is installed."""
    with cluster() as running:
        yield running


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """An empty database of each kind in turn."""
    if request.param == "sqlite":
        yield tmp_path / "arena.db"
        return
    running: Cluster = request.getfixturevalue("postgres")
    database = running.database()
    yield database
    running.drop(database)


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(monkeypatch, capsys)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where an SQLite file may be created."""
    return tmp_path / "arena.db"


@pytest.fixture
def here(played: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of its database in the current folder, to be changed."""
    shutil.copy(played / "arena.db", tmp_path / "arena.db")
    monkeypatch.chdir(tmp_path)
    return tmp_path
