"""A real Docker engine, a referee that containers reach, and the containers of this process's tests."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import textwrap
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from arena_cli.options import DEFAULT_DATABASE
from arena_cli.tournament import place_of
from arena_server.places.base import LocalBot
from arena_server.places.cgroup import ControlGroup
from arena_server.places.docker import Docker
from arena_server.places.docker_launcher import (
    LABEL,
    RELAY_IMAGE,
    ContainerLauncher,
    place_mark,
)
from arena_server.terms.sandbox import MB, ContainerLimits, Sandbox

PATIENCE_S = 150.0


def engine_problem() -> str | None:
    try:
        ended = subprocess.run(
            ["docker", "image", "inspect", RELAY_IMAGE], capture_output=True, text=True, timeout=20
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"no Docker engine: {error}"
    return None if ended.returncode == 0 else f"no image {RELAY_IMAGE}, or no engine: {ended.stderr.strip()}"


PROBLEM = engine_problem()
real_engine = pytest.mark.skipif(PROBLEM is not None, reason=str(PROBLEM))


#: What each probe begins with: `tell` sends what it found to the referee.
PRELUDE = """
import json, os, socket, sys, time
def tell(found):
    sock = socket.create_connection((os.environ["ARENA_HOST"], int(os.environ["ARENA_PORT"])))
    sock.sendall((json.dumps(found) + "\\n").encode())
    sock.recv(1)
"""


def bot(code: str, sandbox: Sandbox | None = None, name: str = "probe") -> LocalBot:
    words = ["python", "-c", PRELUDE + textwrap.dedent(code)]
    return LocalBot(
        name,
        words,
        "its-secret-token",
        sandbox=sandbox or Sandbox(RELAY_IMAGE, ContainerLimits(memory=64 * MB)),
    )


@dataclass
class Referee:
    """Takes lines of JSON from each connection, and keeps the connection open."""

    port: int = 0
    writer: asyncio.StreamWriter | None = None
    told: asyncio.Queue[Any] = field(default_factory=asyncio.Queue)

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.writer = writer
        while line := await reader.readline():
            self.told.put_nowait(json.loads(line))
        writer.close()

    def send(self, line: bytes) -> None:
        """Send a line on the latest connection."""
        assert self.writer is not None
        self.writer.write(line)

    async def answer(self) -> Any:
        return await asyncio.wait_for(self.told.get(), PATIENCE_S)


@asynccontextmanager
async def referee() -> AsyncIterator[Referee]:
    found = Referee()
    server = await asyncio.start_server(found.accept, "127.0.0.1", 0)
    found.port = server.sockets[0].getsockname()[1]
    try:
        yield found
    finally:
        server.close()


#: The places of this process's tests.
PLACES: set[str] = set()


def own(place: str) -> str:
    """A place that no other process has."""
    PLACES.add(f"{place} {os.getpid()}")
    return f"{place} {os.getpid()}"


@asynccontextmanager
async def launching(place: str = "test") -> AsyncIterator[tuple[Referee, ContainerLauncher]]:
    async with (
        referee() as found,
        ContainerLauncher("127.0.0.1", found.port, own(place)) as launcher,
    ):
        yield found, launcher


async def containers() -> list[str]:
    """The containers of this process's tests: others may use the engine, too."""
    rows = await Docker().call("ps", "--all", "--format", f'{{{{.ID}}}} {{{{.Label "{LABEL}"}}}}')
    mine = {place_mark(place) for place in PLACES}
    return [row.split()[0] for row in rows.splitlines() if row.split()[-1] in mine]


def is_frozen(group: ControlGroup) -> bool:
    """Whether the group says that all of its programs are frozen."""
    states = [
        folder / file for folder in group._folders.values() for file in ("cgroup.events", "freezer.state")
    ]
    text = " ".join(path.read_text() for path in states if path.exists())
    return "frozen 1" in text or "FROZEN" in text


def left(contest: str) -> str:
    """The containers of a contest in the database of this folder."""
    mark = place_mark(place_of(DEFAULT_DATABASE, contest))
    words = ["docker", "ps", "--all", "--quiet", "--filter", f"label={LABEL}={mark}"]
    return subprocess.run(words, capture_output=True, text=True, check=True, timeout=PATIENCE_S).stdout
