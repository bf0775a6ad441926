"""A contest played for real on this machine, with a bot of ours in every seat, and what was measured.

rehearse: a host with a database in a temporary folder <- TCP -> processes of bots (`rehearsal_bots.py`)
-> records and thinking times -> figures (`rehearsal_figures.py`)
"""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import sys
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena_cli.rehearsal_figures import BotReport, Measured, RunCounts, measure
from arena_server.errors import ArenaError
from arena_server.host.host import (
    Host,
    HostSetup,
    ProcessTuning,
)
from arena_server.host.logs import LineWriter, Log
from arena_server.host.sockets import bind
from arena_server.places.base import RUN_MODULE, inherited
from arena_server.places.process import Child
from arena_server.store.database import database_of
from arena_server.terms.spec import ContestSpec, entrant_of

if TYPE_CHECKING:
    from arena_server.terms.config import ContestConfig, Entrant

LOOPBACK = "127.0.0.1"
STDERR = 2
#: The most processes of bots; the referee needs a processor for itself.
MOST_PROCESSES = 8
#: Seconds for the bots to read BYE and to report.
END_S = 20.0
#: The connections beyond those of the bots.
SPARE_CONNECTIONS = 100


async def rehearse(
    config: ContestConfig,
    entrants: Sequence[Entrant],
    move_ms: int,
    seconds: float,
    interrupted: asyncio.Event,
) -> Measured | None:
    """Play the contest for at most this number of seconds; None if `interrupted` was set.

    Nothing is left of it. Raises ArenaError.
    """
    tokens = {entrant.name: secrets.token_hex(8) for entrant in entrants}
    seats = [
        (entrant.name, tokens[entrant.name], slot)
        for entrant in entrants
        for slot in range(1, entrant.concurrency + 1)
    ]
    known = [entrant_of(each.name, tokens[each.name], each.concurrency) for each in entrants]
    spec = ContestSpec(config=config, entrants=known)
    # Beside the databases of the contests: on the disk that they will have.
    with tempfile.TemporaryDirectory(prefix=".arena-rehearsal-", dir=_folder()) as folder:
        run = _Run(spec, Path(folder), seats, move_ms)
        reports, complete = await run.play(seconds, interrupted)
    return (
        None if interrupted.is_set() else measure(config, run.counts, reports, len(seats), complete=complete)
    )


def _folder() -> str | None:
    """The current folder; None, for the system's own, if it cannot be written."""
    return "." if os.access(".", os.W_OK) else None


class _Run:
    """One contest, its host and the processes of its bots."""

    def __init__(
        self, spec: ContestSpec, folder: Path, seats: Sequence[tuple[str, str, int]], move_ms: int
    ) -> None:
        self._spec, self._folder, self._seats, self._move_ms = spec, folder, seats, move_ms
        self.counts = RunCounts()
        self._children: list[Child] = []

    async def play(self, seconds: float, interrupted: asyncio.Event) -> tuple[list[BotReport], bool]:
        """Play; return what the bots report, and whether the whole contest was played."""
        lines, sock = LineWriter(STDERR), bind(LOOPBACK, 0)
        setup = HostSetup(
            database=database_of(f"sqlite:///{self._folder / 'arena.db'}"),
            max_connections=2 * len(self._seats) + SPARE_CONNECTIONS,
            software=self._spec.config.software,
            until_finished=True,
        )
        host = Host(setup, sock, Log(lines, "error"), [ProcessTuning(), self.counts])
        playing = asyncio.ensure_future(host.run([self._spec]))
        try:
            reports = await self._play(host, playing, sock.getsockname()[1], seconds, interrupted)
        except TimeoutError:
            raise ArenaError(f"the bots of the rehearsal did not end within {END_S:.0f} s") from None
        finally:
            await asyncio.gather(*(child.end() for child in self._children))
            playing.cancel()
            await asyncio.gather(playing, return_exceptions=True)
            lines.close()
        hosted = self.counts.hosted
        return reports, hosted is not None and hosted.reason == "finished"

    async def _play(
        self, host: Host, playing: asyncio.Future[None], port: int, seconds: float, interrupted: asyncio.Event
    ) -> list[BotReport]:
        """Start the bots when the host serves, and stop it after this time, unless it ends before."""
        counts = self.counts
        async with _waiting(counts.serving_now) as ready:
            await asyncio.wait([playing, ready], return_when=asyncio.FIRST_COMPLETED)
        self._children += [await self._start(port, part) for part in self._parts()]
        reading = asyncio.gather(*(_read(child) for child in self._children))
        async with _waiting(interrupted) as stopping:
            ends: list[asyncio.Future[Any]] = [playing, stopping, reading]
            await asyncio.wait(ends, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        counts.stopping = not playing.done()
        if counts.stopping:
            counts.mark()
        host.stop()
        await playing
        if interrupted.is_set():
            # Some may have no connection yet, and would wait for one: they are ended, and report nothing.
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)
            return []
        async with asyncio.timeout(END_S):
            return await reading

    def _parts(self) -> list[list[tuple[str, str, int]]]:
        """The seats of each process."""
        # One processor is the referee's.
        processes = max(1, min(MOST_PROCESSES, (os.cpu_count() or 2) - 1, len(self._seats)))
        return [list(self._seats[part::processes]) for part in range(processes)]

    async def _start(self, port: int, seats: list[tuple[str, str, int]]) -> Child:
        child = await Child.start(
            [sys.executable, *RUN_MODULE, "arena_cli.rehearsal_bots"],
            inherited(os.environ),
            stdin=asyncio.subprocess.PIPE,
            split=True,
        )
        given = {"host": LOOPBACK, "port": port, "move_ms": self._move_ms, "seats": seats}
        assert child.process.stdin is not None
        child.process.stdin.write(json.dumps(given).encode())
        child.process.stdin.close()
        return child


@asynccontextmanager
async def _waiting(event: asyncio.Event) -> AsyncIterator[asyncio.Future[Any]]:
    task = asyncio.ensure_future(event.wait())
    try:
        yield task
    finally:
        task.cancel()


async def _read(child: Child) -> BotReport:
    """The report of a process of bots. Raises ArenaError if it ended without one."""
    assert child.process.stdout is not None
    text = await child.process.stdout.read()
    if await child.wait():
        raise ArenaError(f"the bots of the rehearsal failed: {child.last_error() or 'no message'}")
    found = json.loads(text)
    return BotReport({game: dict(plies) for game, plies in found["thought"].items()}, found["busy"])
