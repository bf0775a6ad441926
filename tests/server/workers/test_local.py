"""Workers as processes: whatever becomes of one, its job ends, and the next one is played."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from tests.protocol.records import a_record

from arena_protocol.record_codec import decode
from arena_server.core.config import ContestConfig
from arena_server.workers.base import GameJob, JobOutcome, this_host
from arena_server.workers.local import LocalPool
from arena_server.workers.process import HANDED_BACK

pytestmark = [pytest.mark.asyncio, pytest.mark.real]

#: A worker that does what the name of the game says. It waits in a game until it is ended.
PROGRAM = """
import os, signal, sys, time
from dataclasses import replace
from tests.protocol.records import a_record
from arena_protocol.errors import UserError
from arena_server.workers.process import serve

def play(job, run):
    print("an engine may print")
    match job.game_id:
        case "die":
            os.kill(os.getpid(), signal.SIGKILL)
        case "wait":
            run.say(str(os.getpid()))
            while True:
                time.sleep(0.01)  # a signal that comes just before is seen
        case "none":
            return None
        case "void":
            return replace(a_record(), end="void", faults=())
        case "wrong":
            raise UserError("no such program")
    return replace(a_record(), game_id=job.game_id)

serve(play)
"""


def job(what: str) -> GameJob:
    config = ContestConfig(name="test", seed=0)
    return GameJob(
        key=what, game_id=what, fence=1, config=config, bots=(), engines=(), python="", renew_s=0.01
    )


class Reports:
    """What a pool says."""

    def __init__(self) -> None:
        self.slots = 0
        self.lines: asyncio.Queue[str] = asyncio.Queue()
        self.renewals: asyncio.Queue[str] = asyncio.Queue()
        self.ends: asyncio.Queue[tuple[str, JobOutcome, str]] = asyncio.Queue()
        self.failures: asyncio.Queue[str] = asyncio.Queue()

    def capacity(self, games: int) -> None:
        self.slots = games

    def renewed(self, job: GameJob) -> None:
        self.renewals.put_nowait(job.game_id)

    def said(self, worker: str, line: str) -> None:
        self.lines.put_nowait(line)

    def ended(self, job: GameJob, outcome: JobOutcome, worker: str, host: str) -> None:
        assert host == this_host()
        self.ends.put_nowait((job.game_id, outcome, worker))

    def failed(self, problem: str) -> None:
        self.failures.put_nowait(problem)


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
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.chdir(Path(__file__).parents[3])
    path = tmp_path / "worker.py"
    path.write_text(f"import sys\nsys.path.insert(0, {os.getcwd()!r})\n{PROGRAM}")
    return [sys.executable, str(path)]


async def test_a_worker_plays_one_game_after_the_other_and_ends_with_its_pool(command: list[str]) -> None:
    async with open_pool(command) as (pool, reports):
        assert reports.slots == 1
        for what in ("g1", "g2"):
            pool.submit(job(what))
            game, outcome, worker = await reports.ends.get()
            assert (game, worker, outcome.problem) == (what, "local-1", "")
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
        process = int(await reports.lines.get())
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


@pytest.mark.soak
async def test_the_game_of_a_process_that_is_killed_is_given_back(command: list[str]) -> None:
    async with open_pool(command) as (pool, reports):
        pool.submit(job("die"))
        pool.submit(job("g2"))
        game, outcome, _ = await reports.ends.get()
        assert (game, outcome) == ("die", JobOutcome(None, "its process ended by signal 9"))
        game, outcome, _ = await reports.ends.get()
        assert (game, outcome.problem) == ("g2", "")


async def test_sigterm_gives_the_game_back_at_once(command: list[str]) -> None:
    async with open_pool(command) as (pool, reports):
        pool.submit(job("wait"))
        process = int(await reports.lines.get())
        assert await reports.renewals.get() == "wait"
        os.kill(process, signal.SIGTERM)
        assert (await reports.ends.get())[:2] == ("wait", JobOutcome(None, HANDED_BACK))
        pool.submit(job("g2"))
        assert (await reports.ends.get())[0] == "g2"


@pytest.mark.soak
async def test_a_process_that_is_stopped_is_silent_and_is_ended_when_its_game_is_withdrawn(
    command: list[str],
) -> None:
    async with open_pool(command) as (pool, reports):
        pool.submit(job("wait"))
        process = int(await reports.lines.get())
        os.kill(process, signal.SIGSTOP)
        pool.withdraw("wait")
        pool.withdraw("wait")  # it is withdrawn already
        pool.submit(job("g2"))
        pool.submit(job("g3"))
        pool.withdraw("g3")
        pool.submit(job("g4"))
        assert [(await reports.ends.get())[0] for _ in range(3)] == ["wait", "g2", "g4"]


@pytest.mark.soak
async def test_a_worker_whose_starter_is_killed_ends(command: list[str]) -> None:
    async with open_pool(command) as (pool, reports):
        pool.submit(job("wait"))
        process = int(await reports.lines.get())
        (running,) = [each for each in pool._running.values() if each is not None]
        stdin = running._child.process.stdin
        assert stdin is not None
        stdin.close()  # as it is when the starter dies
        assert (await reports.ends.get())[:2] == ("wait", JobOutcome(None, HANDED_BACK))
        await running.how_it_ended()
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)


async def test_a_worker_that_cannot_be_started_fails_the_pool() -> None:
    async with open_pool(["./no-such-worker"]) as (pool, reports):
        pool.submit(job("g1"))
        assert await reports.failures.get() == "local-1: ./no-such-worker: No such file or directory"
