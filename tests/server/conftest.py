"""Settings of the server's tests, and the databases that they run on.

A busy machine is no reason for a property to fail.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from arena_server.store.url import Database

from .postgres import Cluster, cluster

settings.register_profile("server", deadline=None)
settings.load_profile("server")


@pytest.fixture(scope="module")
def postgres() -> Iterator[Cluster]:
    """A PostgreSQL server of the module's own; its tests are skipped where there are no programs for one."""
    with cluster() as running:
        yield running


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Database:
    """An empty database of each kind in turn."""
    if request.param == "sqlite":
        return tmp_path / "arena.db"
    running: Cluster = request.getfixturevalue("postgres")
    return running.database()
