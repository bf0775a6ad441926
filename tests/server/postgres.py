"""A PostgreSQL server for tests, from the system's packages; without them its tests are skipped."""

from __future__ import annotations

import glob
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import count
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from tests import in_memory

from arena_server.store.database import Postgres

_NUMBERS = count(1)


class Cluster:
    """A running server; `database` makes a new, empty database on it."""

    def __init__(self, folder: Path, run: Callable[..., None], options: str) -> None:
        self.folder = folder
        self._run = run
        self._options = f"-k {folder} -c listen_addresses='' {options}"

    def promote(self) -> None:
        """Make a standby the server that is written to."""
        self._run("promote")

    def kill(self) -> None:
        """Kill the postmaster and all its processes; what they had in memory is lost."""
        file = self.folder / "data" / "postmaster.pid"
        postmaster = int(file.read_text().split()[0])
        os.kill(postmaster, signal.SIGSTOP)  # it would restart its processes
        children = [pid for pid in _processes() if _status(pid)[1] == postmaster]
        for pid in (postmaster, *children):
            os.kill(pid, signal.SIGKILL)
        while any(_status(pid)[0] not in "ZX" for pid in (postmaster, *children)):
            time.sleep(0.001)
        # The dead postmaster may stay a zombie, which a new one would take for a running server.
        for stale in (file, self.folder / ".s.PGSQL.5432.lock"):
            stale.unlink()

    def start(self) -> None:
        """Start the server, which recovers what it had on its disk."""
        self._run("start", "-l", self.folder / "log", "-o", self._options)

    def stop(self) -> None:
        if (self.folder / "data" / "postmaster.pid").exists():
            self._run("stop", "-m", "immediate")

    def url(self, name: str) -> str:
        return f"postgresql://arena@localhost/{name}?host={self.folder}"

    def database(self) -> Postgres:
        import psycopg

        name = f"arena{next(_NUMBERS)}"
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            # The default of newer servers is cheaper only on a disk, to which all is written before a copy.
            asked = self.folder.parent == in_memory.folder() and connection.info.server_version >= 150_000
            connection.execute(f"CREATE DATABASE {name} {'STRATEGY FILE_COPY' if asked else ''}")
        return Postgres(self.url(name))

    def drop(self, database: Postgres) -> None:
        """Remove a database, also while a process is connected to it."""
        import psycopg

        name = urlsplit(database.url).path.strip("/")
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


@contextmanager
def cluster(
    *, fsync: bool = False, standby_of: Cluster | None = None, options: str = ""
) -> Iterator[Cluster]:
    """Start a server on a socket in a folder of its own, and remove both at the end.

    Without `fsync` its data survives kills, but no power cut. A standby follows another server from now on.
    """
    programs = sorted(glob.glob("/usr/lib/postgresql/*/bin")) or [
        str(Path(shutil.which("initdb") or "").parent)
    ]
    pg_ctl, initdb, copy = (Path(programs[-1]) / name for name in ("pg_ctl", "initdb", "pg_basebackup"))
    try:
        import psycopg  # noqa: F401
    except ImportError:
        pytest.skip("NO POSTGRESQL TESTS: psycopg is not installed; pip install 'insertion-arena[postgres]'")
    if not pg_ctl.is_file():
        pytest.skip("NO POSTGRESQL TESTS: no server is installed; apt-get install postgresql")
    # The server refuses to run as root.
    user = "postgres" if os.getuid() == 0 and _known("postgres") else None
    # Not in pytest's folder, which other users may not enter; and the path of a socket has to be short. In
    # memory a new database takes a tenth of the processor time that it takes on a disk, and its 300 files, of
    # 8 MB, are removed at once.
    folder = Path(tempfile.mkdtemp(prefix="arena-pg-", dir=in_memory.folder() or "/tmp"))
    try:
        if user is not None:
            shutil.chown(folder, user)
        data = folder / "data"
        if standby_of is None:
            _run(user, initdb, "-D", data, "-U", "arena", "-A", "trust", "-E", "UTF8", "--no-sync")
        else:
            _run(
                user,
                copy,
                "-D",
                data,
                "-U",
                "arena",
                "-h",
                standby_of.folder,
                "-R",
                "--no-sync",
                "-c",
                "fast",
            )
        options += f" -c fsync={'on' if fsync else 'off'}"
        running = Cluster(folder, partial(_run, user, pg_ctl, "-D", data, "-w"), options)
        running.start()
        try:
            yield running
        finally:
            running.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _processes() -> list[int]:
    return [int(each.name) for each in Path("/proc").glob("[0-9]*")]


def _status(pid: int) -> tuple[str, int]:
    """State and parent of a process; Z for one that is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return "Z", 0
    return fields[0], int(fields[1])


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
