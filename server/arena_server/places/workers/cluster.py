"""Workers of a Dask cluster: `--on dask://HOST:PORT` or `--on tls://HOST:PORT`.

    submit -> scheduler -> a Dask worker: `dask_task.play_on_worker` -> the outcome

Dask runs a task at least once, and does not see that a worker stands still. So each task says by events that
it goes on, a game whose lease has ended gets a task with a new key, and a worker that was silent gets no task
until it answers. No future outlives its game. When the scheduler is gone all games are given back, and the
pool waits for the next one.
"""

from __future__ import annotations

import asyncio
import os
import pickle
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final

from arena_server.errors import ArenaError
from arena_server.places.workers.base import LONGEST, GameJob, JobOutcome, PoolEvents, word
from arena_server.places.workers.dask_task import play_on_worker
from arena_server.places.workers.images import ENGINE
from arena_server.places.workers.joining import asks_for, refusal
from arena_server.places.workers.plain import plain_outcome, read_plainly
from arena_server.places.workers.runner_tasks import RunnerTasks, first_line, is_alive, released
from arena_server.places.workers.runners import NO_ENGINE, Runners, is_contained
from arena_server.places.workers.shares import ClusterPart

#: Seconds for a scheduler to answer, and for one that is gone to come back.
CONNECT_S: Final = 10.0
GONE_S: Final = 120.0
#: How often the pool looks which workers there are.
LOOK_S: Final = 0.5
#: How many games wait at the scheduler beyond those that run, so that an adaptive cluster starts workers.
MOST_QUEUED: Final = 8
_TOPIC: Final = "insertion-arena"


class DaskPool:
    """The workers of the scheduler at `where`, dask://HOST:PORT or tls://HOST:PORT (`base.WorkerPool`).

    Each plays as many games at once as it has threads, and some more wait at the scheduler, whose leases are
    renewed here until their workers begin. With a `share` below 1 none wait there, and this contest has that
    part of the threads, and those that others leave. Its interpreter runs `command`. A worker that could not
    play the game gets none, and is named.
    """

    def __init__(self, where: str, command: Sequence[str], share: float = 1.0) -> None:
        self._where = where
        self._part = ClusterPart(share)
        self._command = list(command)
        self._client: Any = None  # a distributed.Client, whose methods have no types
        self._jobs: dict[str, tuple[GameJob, asyncio.Task[None]]] = {}
        self._background: set[asyncio.Task[Any]] = set()
        #: Addresses of workers that have lost a game and have not answered since.
        self._silent: set[str] = set()
        #: The jobs of which a worker has said something.
        self._begun: set[str] = set()
        #: The addresses that may take a job; none: all.
        self._places: dict[str, list[str]] = {}
        #: The threads of each worker that may play, by its address, and the names of all workers.
        self._threads: dict[str, int] = {}
        self._names: dict[str, str] = {}
        #: Names of workers that get no job.
        self._excluded: set[str] = set()
        #: Whether the worker at an address could play, from when it joined; True: it could not.
        self._refused: dict[str, asyncio.Task[bool]] = {}
        #: What no worker has, as it was said.
        self._missing: set[str] = set()
        self._capacity = 0
        self._topic = f"{_TOPIC}-{os.getpid()}-{id(self)}"
        self._runners = Runners(self._topic, self._run)
        #: What else runners do than to play.
        self.tasks: Final = RunnerTasks(
            self._topic,
            lambda: self._client,
            self._free,
            self._run,
            self._runners.offer,
            lambda runner, line: self._events.said(runner, line),
        )

    async def open(self, events: PoolEvents) -> None:
        self._events = events
        let_dask_leave(asyncio.get_running_loop())
        self._client = await self._connect()
        found = await self._client.scheduler.identity(n_workers=-1)
        if not found["workers"]:
            events.said(self._where, "it has no workers yet; waiting for the first one")
        self._spawn(self._watch())

    async def _connect(self) -> Any:
        """Raises ArenaError without a scheduler."""
        from distributed import Client

        read_plainly()
        untyped: Any = Client
        problem = "expected certificates in Dask's configuration (distributed.comm.tls)"
        try:  # it reads the files of the certificates
            client = untyped(
                self._where.replace("dask://", "tcp://"),
                asynchronous=True,
                timeout=CONNECT_S,
                set_as_default=False,
            )
        except (OSError, ValueError) as error:
            raise ArenaError(f"--on {self._where}: {problem}: {first_line(error)}") from None
        try:
            await client
        except (OSError, TimeoutError, RuntimeError, TypeError) as error:
            await _close(client)  # its own clean-up is not awaited
            if not isinstance(error, TypeError):
                problem = "no Dask scheduler answers there"
            raise ArenaError(f"--on {self._where}: {problem}: {first_line(error)}") from None
        client.subscribe_topic(self._topic, self._take_event)
        return client

    def submit(self, job: GameJob) -> None:
        self._runners.expect(job)
        task = asyncio.get_running_loop().create_task(self._play(job))
        self._jobs[job.key] = job, task

    def withdraw(self, key: str) -> None:
        if (found := self._jobs.pop(key, None)) is not None:
            self._begun.discard(key)
            found[1].cancel()
            self._spawn(self._suspect(key))

    async def close(self) -> None:
        tasks: list[asyncio.Task[Any]] = [*self._background, *self._refused.values()]
        tasks += [task for _, task in self._jobs.values()]
        self._jobs.clear()
        running = set(tasks)
        while running:
            for task in running:
                task.cancel()
            # A client of Dask may take the cancellation for one of its own.
            _, running = await asyncio.wait(running, timeout=LOOK_S)
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._runners.close()
        if self._client is not None:
            await _close(self._client)

    def _spawn(self, work: Any) -> asyncio.Task[Any]:
        task = asyncio.get_running_loop().create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)
        return task

    # -- one game

    async def _play(self, job: GameJob) -> None:
        future: Any = None
        if is_contained(job):
            await self._runners.there.wait()
        places = self._places[job.key] = self._answering()
        try:
            future = self._client.submit(
                play_on_worker,
                pickle.dumps(job),
                self._topic,
                self._command,
                key=job.key,
                pure=False,
                workers=places or None,
                allow_other_workers=bool(places) and not self._chooses,
                resources=job.resources | ({ENGINE: 1} if is_contained(job) else {}) or None,
            )
            outcome, host = plain_outcome(await future)
            # The scheduler's word: a worker could say that it is another one.
            worker, _ = await self._who_played(job.key)
        except Exception as error:  # what Dask raises for a worker that died, or a scheduler that is gone
            worker, problem = await self._who_played(job.key)
            host = ""
            problem = problem or f"Dask: {first_line(error)}"
            outcome = JobOutcome(None, problem, lost=not worker or await self._is_refused(worker))
        finally:
            if future is not None:
                self._spawn(released(future))
        self._begun.discard(job.key)
        self._places.pop(job.key, None)
        if self._jobs.pop(job.key, None) is not None:
            self._events.ended(job, outcome, worker, host)

    async def _who_played(self, key: str) -> tuple[str, str]:
        """The worker that ended a task, and the exception if it failed; empty: the scheduler knows none."""
        with suppress(Exception):  # the scheduler may be gone, and what it sends may be anything
            async with asyncio.timeout(CONNECT_S):
                found = await self._client.run_on_scheduler(_asks_for(key))
            match found:
                case [[str(name), str(problem)]]:
                    return word(name), problem[:LONGEST]
        return "", ""

    def _answering(self) -> list[str]:
        """The addresses of the workers that get games; empty if all do."""
        if not self._silent and not self._chooses:
            return []
        return [each for each in self._threads if each not in self._silent]

    def exclude(self, worker: str) -> None:
        self._excluded.add(worker)
        self._threads = {each: count for each, count in self._threads.items() if self._names[each] != worker}

    @property
    def _chooses(self) -> bool:
        """Whether there are workers that get no game."""
        return bool(self._excluded) or any(map(_says_yes, self._refused.values()))

    async def _refuse(self, address: str) -> bool:
        """Whether the worker at this address could not play the game; then it is said why."""
        terms, answer = self._events.terms, None
        with suppress(Exception):  # it may be gone, and what it sends may be anything
            answer = await self._run(address, asks_for(terms))
        if answer is None:  # it is found by what becomes of its games
            return False
        if (problem := refusal(terms, answer)) is not None:
            self._events.said(self._names.get(address, address), f"it gets no game: {problem}")
        else:
            await self._runners.ask(address)
        return problem is not None

    async def _run(self, address: str, function: Any, *arguments: Any) -> Any:
        """Run a function on a worker. Raises OSError, ValueError or TimeoutError if it is gone."""
        async with asyncio.timeout(GONE_S):
            found = await self._client.run(function, *arguments, workers=[address], on_error="return")
        return found.get(address)

    def _free(self, engine: bool) -> dict[str, str]:
        """The names of the workers that get games, by address; with `engine` those that have one."""
        free = [each for each in self._threads if not engine or each in self._runners.addresses]
        return {each: self._names[each] for each in free if each not in self._silent}

    async def _send_image(self, image: str, address: str, worker: str) -> None:
        if size := await self._runners.send(image, address):
            self._events.said(worker, f"it has got image {image} from here, {size / 1e6:.0f} MB")

    async def _is_refused(self, worker: str) -> bool:
        """Whether a worker of this name, of which a game came back, could not have played it."""
        places = [address for address, name in self._names.items() if name == worker]
        return any([await self._refused[each] for each in places if each in self._refused])

    async def _suspect(self, key: str) -> None:
        """A worker was silent: it gets no game until it has answered."""
        client = self._client
        with suppress(OSError, TimeoutError):
            processing = await client.processing()
            for address in [each for each, keys in processing.items() if key in keys]:
                self._silent.add(address)
                try:
                    await client.run(is_alive, workers=[address], on_error="ignore")
                finally:
                    self._silent.discard(address)

    def _take_event(self, event: tuple[float, Any]) -> None:
        """A worker has said something of its job."""
        match event[1]:
            case {"line": str(line), "name": str(worker)}:
                self._events.said(worker, line)
            case {"bench": int(bench), "name": str(worker)}:
                self._events.measured(worker, bench)
            case {"lacks": str(image), "address": str(address), "name": str(worker)}:
                if address in self._names:
                    self._spawn(self._send_image(image, address, worker))
            case {"key": str(key), **more} if self.tasks.reported(key, more.get("said")):
                pass
            case {"key": str(key)} if key in self._jobs:
                self._begun.add(key)
                self._events.renewed(self._jobs[key][0])

    # -- the cluster

    async def _watch(self) -> None:
        """Report how many games the workers play at once, and find the scheduler again if it is gone."""
        while True:
            try:
                found = await self._client.scheduler.identity(n_workers=-1)
                await self._renew_queued()
            except OSError:
                self._report(0)
                await self._find_again()
                continue
            await self._part.look(self._client, list(self._jobs))
            self._look(found["workers"])
            await asyncio.sleep(LOOK_S)

    def _look(self, workers: dict[str, Any]) -> None:
        """Take the workers that there are by their addresses."""
        self._names = {address: word(str(each["name"])) for address, each in workers.items()}
        for address in workers.keys() - self._refused.keys():
            self._refused[address] = asyncio.get_running_loop().create_task(self._refuse(address))
        for address in self._refused.keys() - workers.keys():
            self._refused.pop(address).cancel()
        self._look_for_runners()
        self._threads = {
            address: workers[address]["nthreads"]
            for address, name in self._names.items()
            if name not in self._excluded and _says_no(self._refused[address])
        }
        self._name_missing(workers)
        threads = sum(count for each, count in self._threads.items() if each not in self._silent)
        if self._part.is_shared:
            self._report(self._part.games(threads))
            return
        # Where workers get no game, jobs go to those that there are.
        more = MOST_QUEUED if self._threads or not self._chooses else 0
        self._report(threads + more)

    def _look_for_runners(self) -> None:
        """Give back the games of runners when there is none any more, or say once that there is none."""
        contained = [job for job, _ in self._jobs.values() if is_contained(job)]
        if self._runners.keep(self._names):
            for job in contained:
                self._jobs.pop(job.key)[1].cancel()
                self._begun.discard(job.key)
                self._events.ended(job, JobOutcome(None, NO_ENGINE, lost=True), "", "")
        asked = self._refused and all(task.done() for task in self._refused.values())
        if contained and asked and self._runners.said_to_wait():
            self._events.said(self._where, NO_ENGINE)

    def _name_missing(self, workers: dict[str, Any]) -> None:
        """Say once of a bot whose games wait that no worker has what it needs."""
        waiting = [job for key, (job, _) in self._jobs.items() if key not in self._begun]
        for job in waiting if self._threads else ():
            needed = job.resources
            had = (workers[address].get("resources") or {} for address in self._threads)
            if needed and not any(all(each.get(name, 0) >= needed[name] for name in needed) for each in had):
                text = " ".join(f"{name}={amount:g}" for name, amount in sorted(needed.items()))
                if text not in self._missing:
                    self._missing.add(text)
                    names = ", ".join(bot.name for bot in job.bots if bot.resources)
                    self._events.said(
                        self._where,
                        f"no worker has {text} for a game of {names}; start one by "
                        f'`dask worker ... --resources "{text}"`',
                    )

    async def _renew_queued(self) -> None:
        """Renew the leases of the jobs that no worker has to play yet, or whose worker plays others."""
        waiting = self._jobs.keys() - self._begun
        if not waiting:
            return
        held: set[str] = set()
        for address, keys in (await self._client.processing()).items():
            mine = [key for key in keys if key in waiting]
            if len(keys) - len(mine) < self._threads.get(address, 1):
                held.update(mine)  # it has a free thread, and begins, or stands still
        for key in waiting - held:
            places = self._places.get(key)
            if key in self._jobs and (not places or self._threads.keys() & places):
                self._events.renewed(self._jobs[key][0])

    def _report(self, capacity: int) -> None:
        if capacity != self._capacity:
            self._capacity = capacity
            self._events.capacity(capacity)

    async def _find_again(self) -> None:
        """Connect to the next scheduler; the futures of the last one are void."""
        await _close(self._client)
        until = asyncio.get_running_loop().time() + GONE_S
        while True:
            try:
                self._client = await self._connect()
                return
            except ArenaError as error:
                if asyncio.get_running_loop().time() > until:
                    self._events.failed(str(error))
                    return
                await asyncio.sleep(LOOK_S)


def let_dask_leave(loop: asyncio.AbstractEventLoop) -> None:
    """Keep from the handler of `loop` what tasks of Dask raise when the future they wait for is released.

    A game is withdrawn in the midst of that if its result does not come; these tasks are not awaited.
    """
    before = loop.get_exception_handler()
    if before is None:
        return

    def handle(at: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        if type(context.get("exception")).__name__ != "AllExit":
            before(at, context)

    loop.set_exception_handler(handle)


async def _close(client: Any) -> None:
    """Close it, whatever that raises: without a scheduler it cancels itself, which is not for the caller."""
    closing = asyncio.ensure_future(client.close())
    await asyncio.wait([closing])
    await asyncio.gather(closing, return_exceptions=True)


def _asks_for(key: str) -> Any:
    """What runs on the scheduler: a function in a function is sent whole, and needs no package there."""

    def find(dask_scheduler: Any = None) -> list[list[str]]:
        task = dask_scheduler.tasks.get(key)
        if task is None:
            return []
        workers = dask_scheduler.workers
        places = [*(task.who_has or ()), *(workers[each] for each in task.erred_on or () if each in workers)]
        return [[str(each.name), str(task.exception_text or "")] for each in places[:1]]

    return find


def _says_yes(refused: asyncio.Task[bool]) -> bool:
    return refused.done() and not refused.cancelled() and refused.result()


def _says_no(refused: asyncio.Task[bool]) -> bool:
    return refused.done() and not _says_yes(refused)
