"""Workers as processes of this machine: `--on local:N`."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from arena_server.places.cores import own_cores, shares
from arena_server.places.workers.base import (
    GameJob,
    JobOutcome,
    PoolEvents,
    this_host,
)
from arena_server.places.workers.process import HANDED_BACK, GameProcess, JobReports

#: Seconds before a process is started again that has ended.
RESTART_S = 0.5


class LocalPool:
    """`count` processes of `command`, which calls `process.serve` (`base.WorkerPool`).

    A process that ends loses its game, and another one is started. Each has cores of its own, if there are
    enough.
    """

    def __init__(self, count: int, command: Sequence[str]) -> None:
        self._count = count
        self._command = command
        self._jobs: asyncio.Queue[GameJob] = asyncio.Queue()
        self._tasks: list[asyncio.Task[None]] = []
        #: The jobs that are queued or run, by key, with the process that runs them.
        self._running: dict[str, GameProcess | None] = {}
        self._ending: set[asyncio.Task[None]] = set()
        #: The process of each worker that has one.
        self._processes: dict[str, GameProcess] = {}
        self._closed = False
        self._excluded: set[str] = set()

    async def open(self, events: PoolEvents) -> None:
        self._events = events
        loop = asyncio.get_running_loop()
        self._names = [f"local-{number}" for number in range(1, self._count + 1)]
        places = zip(self._names, shares(own_cores(), self._count), strict=True)
        self._tasks = [loop.create_task(self._work(name, cores, events)) for name, cores in places]
        self._report()

    def _report(self) -> None:
        self._events.capacity(sum(name not in self._excluded for name in self._names))

    def submit(self, job: GameJob) -> None:
        self._running[job.key] = None
        self._jobs.put_nowait(job)

    def withdraw(self, key: str) -> None:
        process = self._running.pop(key, None)
        if process is not None:
            ending = asyncio.get_running_loop().create_task(process.end())
            self._ending.add(ending)
            ending.add_done_callback(self._ending.discard)

    def exclude(self, worker: str) -> None:
        self._excluded.add(worker)
        if (process := self._processes.get(worker)) is not None:
            process.terminate()
        if self._tasks:
            self._report()

    async def close(self) -> None:
        self._closed = True
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, *self._ending, return_exceptions=True)

    async def _work(self, worker: str, cores: Sequence[int], events: PoolEvents) -> None:
        """Be one worker: a process, and another one if it ends."""
        process: GameProcess | None = None
        try:
            # A cancellation is lost if a process ends at that moment (`asyncio.wait_for` before 3.12).
            while not self._closed:
                job = await self._jobs.get()
                if worker in self._excluded:
                    self._jobs.put_nowait(job)
                    return
                if job.key not in self._running:
                    continue  # it was withdrawn
                if process is None:
                    process = self._processes[worker] = await GameProcess.start(self._command, cores)
                if not await self._play(process, job, worker, events):
                    await process.end()
                    process = None
                    del self._processes[worker]
                    await asyncio.sleep(RESTART_S)
        except OSError as error:
            events.failed(f"{worker}: {self._command[0]}: {error.strerror}")
        finally:
            if process is not None:
                await process.end()

    async def _play(self, process: GameProcess, job: GameJob, worker: str, events: PoolEvents) -> bool:
        """Play one game; False if the process has ended, or is about to."""
        self._running[job.key] = process
        reports = JobReports(
            lambda: events.renewed(job),
            lambda bench: events.measured(worker, bench),
            lambda line: events.said(worker, line),
        )
        outcome = await process.play(job, reports)
        self._running.pop(job.key, None)
        ends = outcome is None or outcome.problem == HANDED_BACK
        if outcome is None:
            outcome = JobOutcome(None, await process.how_it_ended())
        events.ended(job, outcome, worker, this_host())
        return not ends
