"""A host with several contests in this process, and bots that play them."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from arena_server.errors import ArenaError
from arena_server.host.host import Host, HostSetup
from arena_server.host.logs import LineWriter, Log
from arena_server.host.sockets import bind
from arena_server.store.reader import Results
from arena_server.terms.config import ContestConfig, Entrant
from arena_server.terms.spec import ContestSpec

PATIENCE_S = 150.0


def spec(name: str, games: int = 4, **more: object) -> ContestSpec:
    config = ContestConfig(name=name, seed=1, game="tictactoe", games_per_pair=games, spectator_delay_ms=0)
    return ContestSpec(config=config, entrants=[Entrant("ann"), Entrant("bob")], **more)  # type: ignore[arg-type]


class Running:
    """A host that runs; `log` is what it has logged."""

    def __init__(self, host: Host, port: int, inner: int, folder: Path) -> None:
        self.host = host
        self.port = port
        self.inner = inner
        self.database = folder / "arena.db"
        self.folder = folder

    @property
    def log(self) -> str:
        return (self.folder / "log").read_text()

    def begun(self, specs: Sequence[ContestSpec]) -> bool:
        contests = self.host.contests
        going = [each for each in specs if not each.over]
        return all(each.name in contests and contests[each.name].contest is not None for each in going)

    async def play(self, contest: str, name: str, *, port: int = 0, token: str = "") -> str:
        """Play the first legal cell of every turn to the end; the last line."""
        reader, writer = await asyncio.open_connection("127.0.0.1", port or self.port)
        free: list[str] = []
        last = ""
        writer.write(f"HELLO 1 {name} contest={contest}{f' token={token}' if token else ''}\n".encode())
        while line := (await reader.readline()).decode().strip():
            last = line
            verb, *words = line.split()
            if verb == "GAME":
                free = [f"{column}{row}" for column in "abc" for row in "123"]
                writer.write(f"READY {words[0]}\n".encode())
            elif verb == "PLAYED":
                free.remove(words[2].removeprefix("move="))
            elif verb == "TURN":
                writer.write(f"MOVE {free[0]}\n".encode())
        writer.close()
        return last

    async def play_all(self, *contests: str) -> list[str]:
        async with asyncio.timeout(PATIENCE_S):
            return await asyncio.gather(
                *(self.play(each, name) for each in contests for name in ("ann", "bob"))
            )

    async def until(self, holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while not holds():
                await asyncio.sleep(0.01)

    def results(self, contest: str) -> tuple[str, int]:
        """State and number of the results that a later command finds."""
        with Results(self.database) as results:
            found = results.contest(contest)
            return found.status, sum(1 for _ in results.games.records(found))


_MANY = {"max_connections": 100}


@asynccontextmanager
async def running(
    folder: Path,
    specs: Sequence[ContestSpec],
    failure: str = "",
    plan: Callable[[Host, Log], None] = lambda host, log: None,
    **setup: Any,
) -> AsyncIterator[Running]:
    """A host of these contests; it has to end with an error that has the text `failure`.

    `plan` is called before it runs.
    """
    sock, inner = bind("127.0.0.1", 0), bind("127.0.0.1", 0)
    log_fd = os.open(folder / "log", os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    lines = LineWriter(log_fd)
    shared = HostSetup(database=folder / "arena.db", software="arena/test", inner=inner, **_MANY | setup)
    host = Host(shared, sock, log := Log(lines))
    plan(host, log)
    task = asyncio.create_task(host.run(specs))
    here = Running(host, sock.getsockname()[1], inner.getsockname()[1], folder)
    try:
        await here.until(lambda: task.done() or here.begun(specs))
        yield here
    finally:
        host.stop()
        try:
            async with asyncio.timeout(PATIENCE_S):
                if failure:
                    with pytest.raises(ArenaError, match=failure):
                        await task
                else:
                    await task
        finally:
            lines.close()
            os.close(log_fd)
