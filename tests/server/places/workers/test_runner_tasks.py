"""Tasks of runners in virtual time: which runner has one, when it is lost, and the file that it leaves."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from tests.server.places.workers.programs import Reports
from tests.server.submissions.leaping import leap
from tests.slices import all_of

from arena_server.host.loop_link import LoopLink
from arena_server.places.workers import runner_tasks
from arena_server.places.workers.cluster import DaskPool
from arena_server.places.workers.images import ENGINE
from arena_server.places.workers.runner_tasks import (
    JOIN_S,
    KEPT_S,
    NO_OTHER,
    FarRunners,
    NoRunnerError,
    RunnerLostError,
    RunnerTask,
    RunnerTasks,
    give_part,
    is_alive,
    leave_file,
)
from arena_server.places.workers.runners import NO_ENGINE
from arena_server.terms.sandbox import Sandbox


async def work(payload: bytes, topic: str, key: str) -> object:
    return None


@dataclass
class Cluster:
    """Runners by address; each does its task as `does` says, a coroutine that gets what a worker has."""

    does: Callable[[Cluster], Awaitable[object]]
    names: dict[str, str] = field(default_factory=lambda: {"tcp://1": "r1", "tcp://2": "r2"})
    busy: dict[str, list[str]] = field(default_factory=dict)
    away: bool = False
    alive: Any = True
    submitted: list[dict[str, object]] = field(default_factory=list)
    offered: list[Sandbox] = field(default_factory=list)
    noted: list[tuple[str, str]] = field(default_factory=list)
    parts: list[object] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.tasks = RunnerTasks(
            "cup",
            lambda: self,
            lambda engine: self.names if engine else self.names | {"tcp://3": "w3"},
            self._run,
            self.offered.append,
            lambda runner, line: self.noted.append((runner, line)),
        )

    async def processing(self) -> Mapping[str, list[str]]:
        if self.away:
            raise OSError("the scheduler is away")
        return self.busy

    def submit(self, *_: object, **options: object) -> asyncio.Future[object]:
        self.submitted.append(options)
        return Future(asyncio.ensure_future(self.does(self)))

    async def _run(self, _address: str, function: object, *words: object) -> object:
        await asyncio.sleep(1)
        found = self.alive if function is is_alive else self.parts.pop(0)
        if isinstance(found, Exception):
            raise found
        return found

    def reports(self, line: object = None) -> bool:
        return self.tasks.reported("k", line)


class Future(asyncio.Future[object]):
    """One of Dask, which is awaited and cancelled."""

    def __init__(self, doing: asyncio.Future[object]) -> None:
        super().__init__()
        self._doing = doing

    def __await__(self) -> Any:
        return self._doing.__await__()

    def cancel(self, msg: object = None) -> Any:
        self._doing.cancel()
        return asyncio.sleep(0)


async def answers(cluster: Cluster) -> object:
    for second in range(100):
        await asyncio.sleep(1)
        cluster.reports(f"line {second}" if second < 2 else None)
    return "done"


async def busy_at_first(cluster: Cluster) -> object:
    await asyncio.sleep(200)
    return await answers(cluster)


async def stands_still(cluster: Cluster) -> object:
    cluster.reports()
    await asyncio.sleep(10_000)
    return "late"


async def never_begins(cluster: Cluster) -> object:
    await asyncio.sleep(10_000)
    return "late"


async def never_ends(cluster: Cluster) -> object:
    while True:
        await asyncio.sleep(1)
        cluster.reports()


async def leaves(cluster: Cluster) -> object:
    await asyncio.sleep(3)
    cluster.names.clear()
    await asyncio.sleep(10_000)
    return "late"


async def raises(cluster: Cluster) -> object:
    raise ValueError("KilledWorker\n  at a line")


ENDS: dict[str, tuple[Callable[[Cluster], Awaitable[object]], object, str]] = {
    "it answers": (answers, True, "done"),
    "it plays a game before": (busy_at_first, True, "done"),
    "it stands still": (stands_still, True, "it was silent for 30 s"),
    "it stands still in a game before": (never_begins, False, "it does not answer"),
    "it is cut off": (never_begins, OSError("reset"), "it does not answer"),
    "it takes too long": (never_ends, True, "it took longer than 500 s"),
    "it is killed": (leaves, True, "it is gone"),
    "its process is killed": (raises, True, "KilledWorker"),
}


def task(*images: Sandbox) -> RunnerTask:
    return RunnerTask(key="k", function=work, payload=b"", images=images, silent_s=30.0, most_s=500.0)


@all_of("case", ENDS)
def test_how_a_task_ends(case: str) -> None:
    does, alive, end = ENDS[case]
    cluster, lines = Cluster(does, alive=alive), list[str]()
    images = Sandbox("sha256:a"), Sandbox("sha256:b")

    async def run() -> str:
        try:
            runner, answer = await cluster.tasks.run(task(*images), ["r2"], lines.append)
        except RunnerLostError as lost:
            runner, answer = lost.runner, str(lost)
        assert runner == "r1"
        assert not cluster.reports("late"), "it is over"
        await asyncio.sleep(0)
        return str(answer)

    assert leap(run()) == end
    assert cluster.offered == [*images]
    assert cluster.submitted[0]["workers"] == ["tcp://1"]
    assert cluster.submitted[0]["resources"] == {ENGINE: 1}
    assert lines == (["line 0", "line 1"] if end == "done" else [])


def test_the_runner_with_the_fewest_tasks_has_it() -> None:
    async def run(cluster: Cluster, *avoid: str) -> str:
        return (await cluster.tasks.run(task(), avoid, print))[0]

    assert leap(run(Cluster(answers, busy={"tcp://1": ["a", "b"], "tcp://2": ["c"]}))) == "r2"
    for cluster, avoid, text in (
        (Cluster(answers), ("r1", "r2"), NO_OTHER),
        (Cluster(answers, names={}), (), NO_ENGINE),
        (Cluster(answers, away=True), (), NO_OTHER),
    ):
        with pytest.raises(NoRunnerError, match=f"^{text}$"):
            leap(run(cluster, *avoid))


def test_a_task_waits_a_moment_for_a_runner() -> None:
    cluster = Cluster(answers, away=True)

    async def run() -> str:
        asyncio.get_running_loop().call_later(JOIN_S - 1, setattr, cluster, "away", False)
        return (await cluster.tasks.run(task(), (), print))[0]

    assert leap(run()) == "r1"


def test_a_task_may_be_for_some_workers_alone_and_need_no_engine() -> None:
    cluster = Cluster(answers)

    async def run(*only: str, engine: bool = True) -> str:
        return (await cluster.tasks.run(replace(task(), only=only, engine=engine), (), print))[0]

    assert leap(run("r2")) == "r2"
    assert leap(run("w3", engine=False)) == "w3"
    assert [each["resources"] for each in cluster.submitted] == [{ENGINE: 1}, None]
    with pytest.raises(NoRunnerError, match=r"^r9 and w3: not there$"):
        leap(run("w3", "r9"))


async def inline(function: Callable[..., Any], *arguments: Any) -> Any:
    return function(*arguments)


FETCHED: dict[str, tuple[list[object], str, str]] = {
    "whole": ([b"abc", b"de"], "r1", ""),
    "too short": ([b"abc", b""], "r1", "it has sent 3 of 5 bytes"),
    "too long": ([b"abc", b"def"], "r1", "it has sent 3 of 5 bytes"),
    "no bytes": ([["a"]], "r1", "it has sent 0 of 5 bytes"),
    "cut off": ([b"abc", OSError("reset")], "r1", "reset"),
    "silent": ([TimeoutError()], "r1", "it does not answer"),
    "gone": ([], "r9", "it is gone"),
}


@all_of("case", FETCHED)
def test_a_file_is_fetched_in_parts(case: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    parts, runner, problem = FETCHED[case]
    path, cluster = tmp_path_factory.mktemp("x") / "f", Cluster(answers, parts=list(parts))

    async def run() -> str:
        try:
            await FarRunners(LoopLink(asyncio.get_running_loop()), cluster.tasks).fetch(runner, "k", path, 5)
        except RunnerLostError as lost:
            return str(lost)
        return ""

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(asyncio, "to_thread", inline)
        assert leap(run()) == problem
    assert problem or path.read_bytes() == b"abcde"


def test_a_file_is_gone_when_it_was_given_or_nobody_comes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner_tasks, "PART", 2)
    path = tmp_path / "f"

    async def run() -> list[bytes]:
        path.write_bytes(b"abcde")
        leave_file("k", path)
        leave_file("k", path)  # the timer before counts no more
        await asyncio.sleep(KEPT_S - 1)
        found = [give_part("k", offset) for offset in (0, 2, 4, 4)]
        assert not path.exists()
        path.write_bytes(b"abcde")
        leave_file("k", path)
        await asyncio.sleep(KEPT_S + 1)
        assert not path.exists()
        return found

    assert leap(run()) == [b"ab", b"cd", b"e", b""]


def test_from_the_thread_of_another_loop() -> None:
    cluster, lines = Cluster(answers), list[str]()

    async def run() -> tuple[str, object]:
        far = FarRunners(LoopLink(asyncio.get_running_loop()), cluster.tasks)
        done = await far.run(task(), [], lines.append)
        far.note("r1", "a line")
        await asyncio.sleep(0)
        return done

    assert leap(run()) == ("r1", "done")
    assert lines == ["line 0", "line 1"]
    assert cluster.noted == [("r1", "a line")]


@pytest.mark.asyncio
async def test_a_pool_gives_tasks_to_runners_that_play_and_takes_what_they_say() -> None:
    pool, reports = DaskPool("dask://here:1", []), Reports()
    untyped: Any = pool
    untyped._events = reports
    untyped._threads = {"tcp://1": 1, "tcp://2": 1, "tcp://4": 1}
    untyped._names = {f"tcp://{number}": f"r{number}" for number in range(1, 5)}
    untyped._silent = {"tcp://2"}
    untyped._runners._engines = {"tcp://1", "tcp://2", "tcp://3"}  # 3 is excluded
    assert untyped._free(True) == {"tcp://1": "r1"}
    assert untyped._free(False) == {"tcp://1": "r1", "tcp://4": "r4"}
    pool.tasks.note("r1", "a line")
    assert reports.lines.get_nowait() == ("r1", "a line")
    lines: list[str] = []
    untyped.tasks._out["k"] = runner_tasks._Watch(lines.append, 0.0)
    for event in ({"key": "k", "said": "hello"}, {"key": "k"}, {"key": "other"}, {"key": "k", "said": 5}):
        untyped._take_event((0.0, event))
    assert lines == ["hello"]
    assert await inline(is_alive)
