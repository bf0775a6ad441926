"""Workers as processes: whatever becomes of one, its job ends, and the next one is played."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from tests.protocol.records import a_record
from tests.server.places.workers.programs import Reports, job, write_program

from arena_protocol.record_codec import decode
from arena_server.places.workers.base import JobOutcome
from arena_server.places.workers.local import LocalPool
from arena_server.places.workers.process import HANDED_BACK

pytestmark = [pytest.mark.asyncio, pytest.mark.real]


@asynccontextmanager
async def open_pool(command: list[str], count: int = 1) -> AsyncIterator[tuple[LocalPool, Reports]]:
    reports = Reports()
    pool = LocalPool(count, command)
    await pool.open(reports)
    try:
        yield pool, reports
    finally:
        await pool.close()


@pytest.fixture
def command(tmp_path: Path) -> list[str]:
    return [sys.executable, write_program(tmp_path)]


async def test_a_worker_plays_one_game_after_the_other_and_ends_with_its_pool(command: list[str]) -> None:
    async with open_pool(command) as (pool, reports):
        assert await reports.slots.get() == 1
        for what in ("g1", "g2"):
            pool.submit(job(what))
            game, outcome, worker = await reports.ends.get()
            assert (game, worker, outcome.problem) == (f"{what}-1", "local-1", "")
            assert outcome.record is not None
            assert decode(outcome.record).names == a_record().names
        for what, problem in (
            ("none", "the game had no result"),
            ("void", "the game was broken off: void"),
        ):
            pool.submit(job(what))
            assert (await reports.ends.get())[1] == JobOutcome(None, problem)
        pool.submit(job("wrong"))
        assert (await reports.ends.get())[1] == JobOutcome(None, "no such program", fatal=True)
        pool.submit(job("wait"))
        process = int((await reports.began())[1])
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)
    # One that has not said anything yet may be loading: its lease is renewed meanwhile.
    silent = [sys.executable, "-c", "import signal; signal.pause()"]  # what reads its job may end before
    async with open_pool(silent) as (pool, reports):
        pool.submit(job("g1"))
        assert [await reports.renewals.get() for _ in range(2)] == ["g1-1"] * 2


@pytest.mark.soak
async def test_the_game_of_a_process_that_is_killed_is_given_back(command: list[str]) -> None:
    async with open_pool(command) as (pool, reports):
        pool.submit(job("die"))
        pool.submit(job("g2"))
        game, outcome, _ = await reports.ends.get()
        assert (game, outcome) == ("die-1", JobOutcome(None, "its process ended by signal 9"))
        game, outcome, _ = await reports.ends.get()
        assert (game, outcome.problem) == ("g2-1", "")


@pytest.mark.soak
async def test_sigterm_gives_the_game_back_at_once(command: list[str]) -> None:
    async with open_pool(command) as (pool, reports):
        pool.submit(job("wait"))
        process = int((await reports.began())[1])
        assert await reports.renewals.get() == "wait-1"
        os.kill(process, signal.SIGTERM)
        assert (await reports.ends.get())[:2] == ("wait-1", JobOutcome(None, HANDED_BACK))
        pool.submit(job("g2"))
        assert (await reports.ends.get())[0] == "g2-1"


@pytest.mark.soak
async def test_a_process_that_is_stopped_is_silent_and_is_ended_when_its_game_is_withdrawn(
    command: list[str],
) -> None:
    async with open_pool(command) as (pool, reports):
        pool.submit(job("wait"))
        process = int((await reports.began())[1])
        os.kill(process, signal.SIGSTOP)
        pool.withdraw("wait-1")
        pool.withdraw("wait-1")  # it is withdrawn already
        pool.submit(job("g2"))
        pool.submit(job("g3"))
        pool.withdraw("g3-1")
        pool.submit(job("g4"))
        assert [(await reports.ends.get())[0] for _ in range(3)] == ["wait-1", "g2-1", "g4-1"]


@pytest.mark.soak
async def test_a_worker_whose_starter_is_killed_ends(command: list[str]) -> None:
    async with open_pool(command) as (pool, reports):
        pool.submit(job("wait"))
        process = int((await reports.began())[1])
        (running,) = [each for each in pool._running.values() if each is not None]
        stdin = running._child.process.stdin
        assert stdin is not None
        stdin.close()  # as it is when the starter dies
        assert (await reports.ends.get())[:2] == ("wait-1", JobOutcome(None, HANDED_BACK))
        await running.how_it_ended()
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)


@pytest.mark.soak
async def test_a_worker_that_cannot_be_started_fails_the_pool() -> None:
    async with open_pool(["./no-such-worker"]) as (pool, reports):
        pool.submit(job("g1"))
        assert await reports.failures.get() == "local-1: ./no-such-worker: No such file or directory"


@pytest.mark.soak
async def test_an_excluded_worker_gives_its_game_back_and_gets_no_other(
    command: list[str], tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    async with open_pool(command, 2) as (pool, reports):
        await reports.until(2)
        pool.submit(job("gate", gate=gate))
        first, _ = await reports.began()
        pool.exclude(first)
        await reports.until(1)
        key, outcome, worker = await reports.ends.get()
        assert (key, outcome.problem, worker) == ("gate-1", "the worker is leaving", first)
        gate.touch()
        for number in range(1, 4):
            pool.submit(job(f"g{number}"))
        assert first not in [(await reports.ends.get())[2] for _ in range(3)]
