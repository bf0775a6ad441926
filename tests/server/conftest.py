"""Fixtures of the server's tests."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena_server.store.database import Database

from .postgres import Cluster, cluster
from .programs import Shell, play_three


@pytest.fixture(scope="module")
def postgres() -> Iterator[Cluster]:
    """A PostgreSQL server for the module; its tests are skipped where none is installed."""
    with cluster() as running:
        yield running


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Database:
    """An empty database of each kind in turn."""
    if request.param == "sqlite":
        return tmp_path / "arena.db"
    running: Cluster = request.getfixturevalue("postgres")
    return running.database()


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(monkeypatch, capsys)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where an SQLite file may be created."""
    return tmp_path / "arena.db"


@pytest.fixture(scope="session")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the results of three bots, one of which counts from zero; do not change it."""
    return play_three(tmp_path_factory.mktemp("played"))


@pytest.fixture
def here(played: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of its database in the current folder, to be changed."""
    shutil.copy(played / "arena.db", tmp_path / "arena.db")
    monkeypatch.chdir(tmp_path)
    return tmp_path
