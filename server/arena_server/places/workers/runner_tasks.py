"""Work for one worker that is chosen for it, most of it for runners, which have a container engine.

    RunnerTasks.run -> the runner with the fewest tasks -> events while it goes on -> the answer
                    '-> RunnerLostError
    RunnerTasks.fetch -> parts of PART bytes of a file that the task has left there

A runner that is gone, silent or too slow loses its task. Who gave it decides what becomes of it: no task is
given to a second runner here.
"""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, Protocol

from arena_server.host.loop_link import LoopLink
from arena_server.places.workers.base import LONGEST
from arena_server.places.workers.images import ENGINE, PART
from arena_server.places.workers.runners import NO_ENGINE, Run
from arena_server.terms.sandbox import Sandbox

#: How often a task is looked at.
LOOK_S: Final = 0.5
#: Seconds for a worker to come: a server that begins has asked none yet, and one may be started again.
JOIN_S: Final = 10.0
#: Of Dask: a task goes before the games that wait.
PRIORITY: Final = 10
NO_OTHER: Final = "no other worker has a container engine"


class NoRunnerError(Exception):
    """There is no runner, or none but those to be avoided."""


class RunnerLostError(Exception):
    """A `runner` has not done its task, for the reason of the text; nothing is known of the task."""

    def __init__(self, runner: str, problem: str) -> None:
        super().__init__(problem)
        self.runner = runner


@dataclass(frozen=True, slots=True, kw_only=True)
class RunnerTask:
    """`function` runs on a worker with `payload`, the topic of its events, and `key`, unlike any other one.

    It says at least every `silent_s` that it goes on, may ask for the `images`, and takes `most_s` at most.
    With names in `only` no other worker has it; without `engine` it needs no container engine.
    """

    key: str
    function: Callable[[bytes, str, str], Awaitable[object]]
    payload: bytes
    images: Sequence[Sandbox] = ()
    silent_s: float
    most_s: float
    only: Collection[str] = ()
    engine: bool = True


class RunnerPool(Protocol):
    """The runners of a contest."""

    async def run(
        self, task: RunnerTask, avoid: Collection[str], say: Callable[[str], None]
    ) -> tuple[str, object]:
        """The name of the runner that has done a task, none of `avoid`, and its answer: anything may come.

        Its lines go to `say`. Raises NoRunnerError and RunnerLostError.
        """

    async def fetch(self, runner: str, key: str, path: Path, size: int) -> None:
        """Write the `size` bytes that a task has left there to a file. Raises RunnerLostError and OSError."""

    def note(self, runner: str, line: str) -> None:
        """Tell the organiser something of a runner."""


@dataclass(slots=True)
class _Watch:
    """A task that is out: when it last said something, and when it began."""

    say: Callable[[str], None]
    last: float
    begun: float | None = None


class RunnerTasks:
    """The runners of a Dask cluster (`RunnerPool`), on the loop of its pool.

    `client` is that of the present scheduler, None while there is none; `workers` has the names of those that
    may have a task by their addresses, with or without an engine.
    """

    def __init__(
        self,
        topic: str,
        client: Callable[[], Any],
        workers: Callable[[bool], Mapping[str, str]],
        run: Run,
        offer: Callable[[Sandbox], None],
        note: Callable[[str, str], None],
    ) -> None:
        self._topic = topic
        self._client = client
        self._workers = workers
        self._run = run
        self._offer = offer
        self.note = note
        self._out: dict[str, _Watch] = {}
        self._releasing: set[asyncio.Task[None]] = set()

    def reported(self, key: str, line: object = None) -> bool:
        """A worker says that a task goes on, and perhaps a line of its output; False: it is none of these."""
        if (watch := self._out.get(key)) is None:
            return False
        watch.last = asyncio.get_running_loop().time()
        if watch.begun is None:
            watch.begun = watch.last
        if isinstance(line, str):
            watch.say(line)
        return True

    async def run(
        self, task: RunnerTask, avoid: Collection[str], say: Callable[[str], None]
    ) -> tuple[str, object]:
        address = await self._choose(task, avoid)
        runner = self._workers(task.engine).get(address, address)
        for each in task.images:
            self._offer(each)
        watch = self._out[task.key] = _Watch(say, asyncio.get_running_loop().time())
        future: Any = None
        waiting: asyncio.Task[object] | None = None
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # of Dask: that the archive of a bot is large
                future = self._client().submit(
                    task.function,
                    task.payload,
                    self._topic,
                    task.key,
                    key=task.key,
                    pure=False,
                    workers=[address],
                    resources={ENGINE: 1} if task.engine else None,
                    priority=PRIORITY,
                )
            waiting = asyncio.create_task(_value(future))
            while not waiting.done():
                await asyncio.wait([waiting], timeout=LOOK_S)
                if not waiting.done() and (problem := await self._problem(address, watch, task)):
                    raise RunnerLostError(runner, problem)
            return runner, waiting.result()
        except RunnerLostError:
            raise
        except Exception as error:  # what Dask raises for a worker that died, or a scheduler that is gone
            raise RunnerLostError(runner, first_line(error)[:LONGEST]) from None
        finally:
            del self._out[task.key]
            if waiting is not None:
                waiting.cancel()
            if future is not None:
                releasing = asyncio.create_task(released(future))
                self._releasing.add(releasing)
                releasing.add_done_callback(self._releasing.discard)

    async def _choose(self, task: RunnerTask, avoid: Collection[str]) -> str:
        """The address of the worker with the fewest tasks. Raises NoRunnerError if none comes in JOIN_S."""
        until = asyncio.get_running_loop().time() + JOIN_S
        while True:
            processing: Mapping[str, Sequence[object]] | None = None
            with suppress(Exception):  # the scheduler may be gone, and with it its workers
                processing = await self._client().processing()
            there = {
                address: name
                for address, name in self._workers(task.engine).items()
                if name in (task.only or (name,))
            }
            found = [address for address, name in there.items() if name not in avoid]
            if processing is not None and found:
                return min(found, key=lambda each: len(processing.get(each, ())))
            if asyncio.get_running_loop().time() >= until:
                break
            await asyncio.sleep(LOOK_S)
        if task.only:
            raise NoRunnerError(f"{' and '.join(sorted(task.only))}: not there")
        raise NoRunnerError(NO_OTHER if there else NO_ENGINE)

    async def _problem(self, address: str, watch: _Watch, task: RunnerTask) -> str:
        """Why a task is lost; empty: it is not, as far as is known."""
        now = asyncio.get_running_loop().time()
        if address not in self._workers(task.engine):
            return "it is gone"
        if watch.begun is not None and now - watch.begun > task.most_s:
            return f"it took longer than {task.most_s:g} s"
        if now - watch.last <= task.silent_s:
            return ""
        if watch.begun is not None:
            return f"it was silent for {task.silent_s:g} s"
        # It may play games before it begins.
        try:
            async with asyncio.timeout(task.silent_s):
                answers = await self._run(address, is_alive) is True
        except (OSError, ValueError, TimeoutError):
            answers = False
        watch.last = asyncio.get_running_loop().time()
        return "" if answers else "it does not answer"

    async def fetch(self, runner: str, key: str, path: Path, size: int) -> None:
        address = next((each for each, name in self._workers(True).items() if name == runner), None)
        if address is None:
            raise RunnerLostError(runner, "it is gone")
        with path.open("wb") as file:
            while file.tell() < size:
                try:
                    part = await self._run(address, give_part, key, file.tell())
                except (OSError, ValueError, TimeoutError) as error:
                    raise RunnerLostError(runner, str(error)[:LONGEST] or "it does not answer") from None
                if not isinstance(part, bytes) or not part or file.tell() + len(part) > size:
                    raise RunnerLostError(runner, f"it has sent {file.tell()} of {size} bytes")
                await asyncio.to_thread(file.write, part)


class FarRunners:
    """The runners of a pool on the loop of the `host`, for the thread of another loop (`RunnerPool`)."""

    def __init__(self, host: LoopLink, runners: RunnerPool) -> None:
        self._host = host
        self._runners = runners

    async def run(
        self, task: RunnerTask, avoid: Collection[str], say: Callable[[str], None]
    ) -> tuple[str, object]:
        here = LoopLink(asyncio.get_running_loop())
        work = self._runners.run(task, tuple(avoid), partial(here.post, say))
        return await asyncio.wrap_future(self._host.run(work))

    async def fetch(self, runner: str, key: str, path: Path, size: int) -> None:
        await asyncio.wrap_future(self._host.run(self._runners.fetch(runner, key, path, size)))

    def note(self, runner: str, line: str) -> None:
        self._host.post(self._runners.note, runner, line)


async def _value(future: Any) -> object:
    return await future


async def released(future: Any) -> None:
    """Let the scheduler forget a task; what still runs of it is ended by its worker."""
    with suppress(Exception):  # the scheduler may be gone
        await future.cancel()


def first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


# -- on the worker

#: Seconds after which a file that no one fetches is removed.
KEPT_S: Final = 300.0
_left: dict[str, tuple[Path, asyncio.TimerHandle]] = {}


def leave_file(key: str, path: Path) -> None:
    """Keep a file for who fetches it by this key, and remove it KEPT_S after the last part."""
    if key in _left:
        _left.pop(key)[1].cancel()
    _left[key] = path, asyncio.get_running_loop().call_later(KEPT_S, _remove, key)


def _remove(key: str) -> None:
    path, timer = _left.pop(key)
    timer.cancel()
    path.unlink(missing_ok=True)


def give_part(key: str, offset: int) -> bytes:
    """Runs on a worker: a part of a file that was left there; none if there is no such file.

    The file is removed with its last part.
    """
    if key not in _left:
        return b""
    path = _left[key][0]
    with path.open("rb") as file:
        file.seek(offset)
        part = file.read(PART)
        ends = not file.read(1)
    if ends:
        _remove(key)
    else:
        leave_file(key, path)
    return part


def is_alive() -> bool:
    """Runs on a worker that is alive."""
    return True
