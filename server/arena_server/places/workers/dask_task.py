"""A game on a Dask worker: the task that the scheduler gives it, and the processes that play.

play_on_worker -> a process of `process.serve` -> the outcome
"""

from __future__ import annotations

import asyncio
import pickle
import sys
from collections.abc import Callable, Sequence

from arena_server.places.cores import own_cores, shares
from arena_server.places.docker_launcher import RELAY_IMAGE
from arena_server.places.workers.base import GameJob, JobOutcome, this_host, word
from arena_server.places.workers.images import runner_images
from arena_server.places.workers.process import HANDED_BACK, GameProcess, JobReports


class _Processes:
    """The processes of a Dask worker: as many as it has threads, each with cores of its own if it can be."""

    def __init__(self) -> None:
        self._idle: list[GameProcess] = []
        #: The cores of processes that are still to be started.
        self._free: list[tuple[int, ...]] | None = None

    async def take(self, command: Sequence[str], threads: int) -> GameProcess:
        """One for a game: that of an earlier game, or a new one."""
        if self._idle:
            return self._idle.pop()
        if self._free is None:
            self._free = shares(own_cores(), threads)
        # Two workers in one process have more threads than the first one knew of.
        cores = self._free.pop(0) if self._free else ()
        try:
            return await GameProcess.start([sys.executable, *command], cores)
        except BaseException:
            self._free.insert(0, cores)
            raise

    async def leave(self, process: GameProcess, *, clean: bool) -> None:
        """Its game is over; only a `clean` one plays another."""
        if clean:
            self._idle.append(process)
            return
        assert self._free is not None
        try:
            await process.end()
        finally:
            self._free.insert(0, tuple(process.cores))


_processes = _Processes()


async def play_on_worker(
    payload: bytes, topic: str, command: Sequence[str]
) -> tuple[bytes | None, str, bool, str, dict[str, bytes]]:
    """Play the game of a pickled GameJob: record, problem, fatal, host, and what its bots have stored.

    The process ends if this task is cancelled, which Dask does when the worker leaves.
    """
    from distributed import get_worker

    job: GameJob = pickle.loads(payload)  # noqa: S301 - who may submit to a Dask cluster runs any code on it
    dask = get_worker()
    worker = word(str(dask.name))

    def wanted() -> bool:
        task = dask.state.tasks.get(job.key)
        dask.log_event(topic, {"key": job.key})
        return task is not None and task.state in ("executing", "long-running")

    def ask(image: str) -> None:
        dask.log_event(topic, {"lacks": image, "address": dask.address, "name": worker})

    if problem := await _images_problem(job, topic, wanted, ask):
        return None, problem, False, this_host(), {}
    process = await _processes.take(command, dask.state.nthreads)
    clean = False

    def renewed() -> None:
        if not wanted():
            process.terminate()  # no one wants the result

    def said(line: str) -> None:
        dask.log_event(topic, {"line": line, "name": worker})

    def measured(bench: int) -> None:
        dask.log_event(topic, {"bench": bench, "name": worker})

    try:
        renewed()
        outcome = await process.play(job, JobReports(renewed, measured, said))
        if outcome is None:
            outcome = JobOutcome(None, await process.how_it_ended())
        else:
            clean = outcome.record is not None
        return outcome.record, outcome.problem, outcome.fatal, this_host(), dict(outcome.stored)
    finally:
        await _processes.leave(process, clean=clean)


async def play_again(payload: bytes, topic: str, key: str) -> object:
    """Play a pickled GameJob of this key, by the arguments of an interpreter (`runner_tasks.RunnerTask`)."""
    data, command = pickle.loads(payload)  # noqa: S301 - as above
    return await play_on_worker(data, topic, command)


async def _images_problem(
    job: GameJob, topic: str, wanted: Callable[[], bool], ask: Callable[[str], None]
) -> str:
    """Have the images of the bots of a job here; returns why one is not."""
    images = [bot.sandbox.image for bot in job.bots if bot.sandbox is not None]
    if not images:
        return ""
    having = asyncio.ensure_future(runner_images.have([RELAY_IMAGE, *images], topic, ask))
    try:
        while not having.done():
            if not wanted():
                return HANDED_BACK
            await asyncio.wait([having], timeout=job.renew_s)
        return having.result()
    finally:
        having.cancel()
