"""Contests that share a cluster, in virtual time: the games in flight follow the shares."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
from tests.server.places.workers.programs import Reports, job

from arena_server.places.workers.cluster import DaskPool
from arena_server.places.workers.shares import ClusterPart

#: How many looks of the pools a game takes.
LONG = 3


class ScriptedCluster:
    """A scheduler that gives tasks out in the order of their arrival; `step` is the time to the next look."""

    def __init__(self, *threads: int) -> None:
        self.workers: dict[str, dict[str, Any]] = {
            f"w{number}": {"name": f"w{number}", "nthreads": each} for number, each in enumerate(threads)
        }
        #: The looks that each task still takes, in the order of arrival; the first of them run.
        self.tasks: dict[str, int] = {}

    @property
    def threads(self) -> int:
        return sum(each["nthreads"] for each in self.workers.values())

    async def run_on_scheduler(self, function: Callable[..., int]) -> int:
        running = list(self.tasks)[: self.threads]
        tasks = {
            key: SimpleNamespace(state="processing" if key in running else "queued") for key in self.tasks
        }
        done = SimpleNamespace(state="memory")
        return function(dask_scheduler=SimpleNamespace(tasks=tasks | {"done": done}))

    def step(self) -> list[str]:
        """The tasks that have ended."""
        for key in list(self.tasks)[: self.threads]:
            self.tasks[key] -= 1
        ended = [key for key, left in self.tasks.items() if not left]
        for key in ended:
            del self.tasks[key]
        return ended


class SharingContest:
    """A contest with a number of games: it gives its pool as many at once as that reports."""

    def __init__(self, name: str, share: float, games: int, cluster: ScriptedCluster) -> None:
        self.name, self.games, self.cluster = name, games, cluster
        self.pool, self.reports = DaskPool("dask://127.0.0.1:1", [], share), Reports()
        self.untyped: Any = self.pool
        self.untyped._events, self.untyped._client = self.reports, cluster
        self._capacity = self._number = 0

    @property
    def in_flight(self) -> int:
        return len(self.untyped._jobs)

    async def look(self) -> None:
        answered: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        answered.set_result(False)
        self.untyped._refused = dict.fromkeys(self.cluster.workers, answered)
        await self.untyped._part.look(self.cluster, list(self.untyped._jobs))
        self.pool._look(self.cluster.workers)
        while not self.reports.slots.empty():
            self._capacity = self.reports.slots.get_nowait()
        self.give_out()

    def give_out(self) -> None:
        while self.games and self.in_flight < self._capacity:
            self.games, self._number = self.games - 1, self._number + 1
            key = f"{self.name}-{self._number}"
            self.untyped._jobs[key] = job(key), None
            self.cluster.tasks[key] = LONG

    def end(self, keys: list[str]) -> None:
        for key in keys:
            self.untyped._jobs.pop(key, None)
        self.give_out()


class SharedCluster:
    """Contests of one cluster, by share and number of games."""

    def __init__(self, cluster: ScriptedCluster, **contests: tuple[float, int]) -> None:
        self.cluster = cluster
        self.contests = {
            name: SharingContest(name, share, games, cluster) for name, (share, games) in contests.items()
        }

    async def go_on(self, looks: int = 20) -> dict[str, int]:
        """Play for a while; returns how many games of each are in flight then."""
        for _ in range(looks):
            for contest in self.contests.values():
                await contest.look()
            assert sum(each.in_flight for each in self.contests.values()) == len(self.cluster.tasks)
            in_flight = {name: each.in_flight for name, each in self.contests.items()}
            ended = self.cluster.step()
            for contest in self.contests.values():
                contest.end(ended)
        return in_flight


@pytest.mark.asyncio
async def test_games_in_flight_follow_the_shares_and_no_thread_is_idle() -> None:
    both = SharedCluster(ScriptedCluster(4, 4), small=(0.25, 1000), large=(0.75, 1000))
    assert await both.go_on() == {"small": 2, "large": 6}
    both.contests["large"].games = 0  # it is paused: its part is left to the other
    assert await both.go_on() == {"small": 8, "large": 0}
    both.contests["large"].games = 1000
    assert await both.go_on() == {"small": 2, "large": 6}
    del both.cluster.workers["w0"]  # with four threads that are left
    assert await both.go_on() == {"small": 1, "large": 3}
    both.contests["small"].games = 0
    assert await both.go_on() == {"small": 0, "large": 4}
    both.contests["small"].games, both.contests["large"].games = 1000, 0
    assert await both.go_on() == {"small": 4, "large": 0}
    both.contests["large"].games = 2  # fewer than its part
    assert await both.go_on(LONG + 1) == {"small": 2, "large": 2}
    both.cluster.workers.clear()
    assert await both.go_on() == {"small": 2, "large": 2}, "what waits is not taken back"


@pytest.mark.asyncio
async def test_a_contest_without_a_share_beside_one_with_a_share() -> None:
    both = SharedCluster(ScriptedCluster(4, 4), small=(0.25, 1000), whole=(1.0, 1000))
    assert (await both.go_on())["small"] == 2


@pytest.mark.asyncio
async def test_of_a_scheduler_that_does_not_say_it_no_more_than_the_part_is_taken() -> None:
    for answers in (Gone(), SimpleNamespace(run_on_scheduler=partial(_says, "many"))):
        part = ClusterPart(0.25)
        for _ in range(9):
            await part.look(answers, ())
        assert [part.games(threads) for threads in (0, 1, 8)] == [0, 1, 2]


class Gone:
    def run_on_scheduler(self, function: Callable[..., int]) -> None:
        raise OSError


async def _says(answer: str, function: Callable[..., int]) -> str:
    return answer
