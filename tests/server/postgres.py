"""A PostgreSQL server of the tests' own, from the system's packages; without them its tests are skipped."""

from __future__ import annotations

import glob
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import pytest

from arena_server.store.database import Postgres

_NUMBERS = count(1)


class Cluster:
    """A running server; `database` makes a new, empty database on it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def url(self, name: str) -> str:
        return f"postgresql://arena@localhost/{name}?host={self.folder}"

    def database(self) -> Postgres:
        import psycopg

        name = f"arena{next(_NUMBERS)}"
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")  # type: ignore[call-overload]
        return Postgres(self.url(name))


@contextmanager
def cluster() -> Iterator[Cluster]:
    """Start a server on a socket in a folder of its own, and take both away at the end."""
    programs = sorted(glob.glob("/usr/lib/postgresql/*/bin")) or [
        str(Path(shutil.which("initdb") or "").parent)
    ]
    pg_ctl, initdb = (Path(programs[-1]) / name for name in ("pg_ctl", "initdb"))
    try:
        import psycopg  # noqa: F401
    except ImportError:
        pytest.skip("NO POSTGRESQL TESTS: psycopg is not installed; pip install 'insertion-arena[postgres]'")
    if not pg_ctl.is_file():
        pytest.skip("NO POSTGRESQL TESTS: no server is installed; apt-get install postgresql")
    # As root the server refuses to run: it gets a user who may do nothing else.
    user = next((name for name in ("postgres", "nobody") if _known(name)), None) if os.getuid() == 0 else None
    # Not under pytest's folder, which other users may not enter; and a socket's path has to be short.
    folder = Path(tempfile.mkdtemp(prefix="arena-pg-", dir="/tmp"))
    try:
        if user is not None:
            shutil.chown(folder, user)
        data = folder / "data"
        _run(user, initdb, "-D", data, "-U", "arena", "-A", "trust", "-E", "UTF8", "--no-sync")
        options = f"-k {folder} -c listen_addresses='' -c fsync=off"
        _run(user, pg_ctl, "-D", data, "-w", "-l", folder / "log", "-o", options, "start")
        try:
            yield Cluster(folder)
        finally:
            _run(user, pg_ctl, "-D", data, "-w", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _known(name: str) -> bool:
    try:
        pwd.getpwnam(name)
    except KeyError:
        return False
    return True


def _run(user: str | None, *command: str | Path) -> None:
    subprocess.run(
        [str(word) for word in command], check=True, stdout=subprocess.DEVNULL, user=user, cwd="/", timeout=60
    )
