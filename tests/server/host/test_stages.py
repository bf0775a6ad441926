"""Contests of a host that begin when others are over."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from arena_server.core.events import Command
from arena_server.errors import StoreError
from arena_server.host.begin_right import BeginRight
from arena_server.host.host import Host
from arena_server.host.logs import Log
from arena_server.host.stages import PlannedContest, PlannedContests
from arena_server.store.reader import Results
from arena_server.terms.spec import ContestSpec

from .hosting import PATIENCE_S, running, spec

pytestmark = [pytest.mark.asyncio, pytest.mark.real]


def made(name: str) -> Callable[[], ContestSpec]:
    return lambda: spec(name, games=2)


def refused() -> ContestSpec:
    raise StoreError("stage three does not begin: two was aborted")


async def ended(task: asyncio.Task[None]) -> None:
    async with asyncio.timeout(PATIENCE_S):
        await task


class Lock:
    """The right to begin contests; `stored` has those that are in the database when it is given up."""

    def __init__(self, database: Path) -> None:
        self.database = database
        self.stored: list[list[str]] = []

    def release(self) -> None:
        with Results(self.database) as results:
            self.stored.append(sorted(contest.name for contest in results.contests()))


async def test_stages_begin_one_after_another_and_the_host_leaves_behind_the_last(tmp_path: Path) -> None:
    lock = Lock(tmp_path / "arena.db")
    chain = [
        PlannedContest("two", ["one"], made("two")),
        PlannedContest("three", ["two", "one"], made("three")),
        PlannedContest("four", ["three"], refused),
        PlannedContest("five", ["four"], made("five")),
        PlannedContest("one", ["two"], made("one")),  # its name is taken
    ]
    planned: list[PlannedContests] = []

    def plan(host: Host, log: Log) -> None:
        planned.append(PlannedContests(host, chain, log))

    async with running(
        tmp_path,
        [spec("one", games=2)],
        plan=plan,
        until_finished=True,
        keep_page=lambda: planned[0].awaited,
        right=BeginRight(lambda: lock),
    ) as here:
        for name in ("one", "two", "three"):
            await here.until(lambda name=name: name in here.host.contests)  # type: ignore[misc]
            await here.until(lambda name=name: here.host.contests[name].contest is not None)  # type: ignore[misc]
            # One that is planned may have its bots.
            assert await here.play_all(name) == ["BYE reason=finished again=2000"] * 2
        await here.until(lambda: here.host.leaving)
        await planned[0].close()
    assert planned[0].problems == {
        "four": "stage three does not begin: two was aborted",
        "one": "two contests are called one",
    }
    assert [here.results(name) for name in ("one", "two", "three")] == [("finished", 2)] * 3
    two, three = ["one", "two"], ["one", "three", "two"]
    assert lock.stored[0] == two, "it is given up when the contest is stored"
    assert {*map(tuple, lock.stored)} == {tuple(two), tuple(three)}
    assert "stage-begun stage=two bots=ann,bob" in here.log
    assert "stage-not-begun stage=four text='stage three does not begin: two was aborted'" in here.log


@pytest.mark.soak
async def test_one_that_may_go_on_holds_the_next(tmp_path: Path) -> None:
    """It was drained; `make` finds that, and the host waits for no stage."""
    planned: list[PlannedContests] = []

    def plan(host: Host, log: Log) -> None:
        planned.append(PlannedContests(host, [PlannedContest("two", ["one"], lambda: None)], log))

    async with running(
        tmp_path, [spec("one")], plan=plan, until_finished=True, keep_page=lambda: planned[0].awaited
    ) as here:
        assert planned[0].awaited
        here.host.contests["one"].feed(Command(1, "drain"))
        await here.until(lambda: here.host.leaving)
        assert not planned[0].awaited
    assert planned[0].problems == {}
    assert "stage" not in here.log


@pytest.mark.soak
@pytest.mark.parametrize("beside", [[], [spec("cup")]], ids=["alone", "beside a contest that is played"])
async def test_a_stage_after_one_that_was_over_before(tmp_path: Path, beside: list[ContestSpec]) -> None:
    """The server was killed between the two: the next one begins when it serves."""
    async with running(tmp_path, [spec("one", games=2)]) as here:
        await here.play_all("one")
    planned: list[PlannedContests] = []

    def plan(host: Host, log: Log) -> None:
        planned.append(PlannedContests(host, [PlannedContest("two", ["one"], made("two"))], log))

    specs = [*beside, spec("one", games=2, keep=True, over=True)]
    async with running(tmp_path, specs, plan=plan) as here:
        await here.until(lambda: "two" in here.host.contests)
        await here.until(lambda: here.host.contests["two"].contest is not None)
        assert await here.play_all("two") == ["BYE reason=finished"] * 2
    assert here.results("two") == ("finished", 2)
