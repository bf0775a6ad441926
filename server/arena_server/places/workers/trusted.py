"""Workers of the organiser's own, which play games of the others a second time: `--trust`.

    Audits -> submit -> RunnerTasks.run: one of these workers plays -> Audits.ended

While none of them is there, no game is played twice, and one line says so.
"""

from __future__ import annotations

import asyncio
import math
import pickle
from collections.abc import Collection, Sequence

from arena_server.places.workers.base import GameJob, JobOutcome, PoolEvents
from arena_server.places.workers.dask_task import play_again
from arena_server.places.workers.plain import NotPlain, plain_outcome
from arena_server.places.workers.runner_tasks import (
    NoRunnerError,
    RunnerLostError,
    RunnerPool,
    RunnerTask,
)
from arena_server.places.workers.runners import is_contained

#: The renewals in the time after which a silent worker has lost its game.
RENEWALS = 3


class TrustedWorkers:
    """The workers of these `names` (`base.WorkerPool`). `command` are the arguments of their interpreters."""

    def __init__(self, tasks: RunnerPool, names: Collection[str], command: Sequence[str]) -> None:
        self._tasks = tasks
        self._names = names
        self._command = list(command)
        self._jobs: dict[str, asyncio.Task[None]] = {}
        self._said = False

    async def open(self, events: PoolEvents) -> None:
        self._events = events
        events.capacity(len(self._names))

    def submit(self, job: GameJob) -> None:
        self._jobs[job.key] = asyncio.get_running_loop().create_task(self._play(job))

    def withdraw(self, key: str) -> None:
        if (task := self._jobs.pop(key, None)) is not None:
            task.cancel()

    def exclude(self, worker: str) -> None:
        """They are trusted."""

    async def close(self) -> None:
        tasks = [*self._jobs.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _play(self, job: GameJob) -> None:
        renewing = asyncio.create_task(self._renew(job))
        worker, host = "", ""
        try:
            worker, answer = await self._tasks.run(self._task(job), (), lambda line: None)
            outcome, host = plain_outcome(answer)
        except (NoRunnerError, RunnerLostError, NotPlain) as error:
            outcome = JobOutcome(None, str(error))
            if isinstance(error, NoRunnerError) and not self._said:
                self._said = True
                self._tasks.note("audit", f"no game is played twice now: {error}")
        finally:
            renewing.cancel()
        self._said = self._said and not worker
        self._jobs.pop(job.key, None)
        self._events.ended(job, outcome, worker, host)

    def _task(self, job: GameJob) -> RunnerTask:
        return RunnerTask(
            key=job.key,
            function=play_again,
            payload=pickle.dumps((pickle.dumps(job), self._command)),
            images=[bot.sandbox for bot in job.bots if bot.sandbox is not None],
            silent_s=RENEWALS * job.renew_s,
            most_s=math.inf,
            only=self._names,
            engine=is_contained(job),
        )

    async def _renew(self, job: GameJob) -> None:
        """The first result of its game is held by a lease; a worker that is silent loses the task."""
        while True:
            self._events.renewed(job)
            await asyncio.sleep(job.renew_s)
