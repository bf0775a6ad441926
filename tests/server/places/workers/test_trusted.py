"""Games that workers of the organiser's own play a second time: what becomes of each, in virtual time."""

from __future__ import annotations

import asyncio
import math
import pickle
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from tests.server.places.workers.programs import Reports, job
from tests.server.places.workers.test_audit import BOTS, Pool, record
from tests.server.submissions.leaping import leap

from arena_server.core.events import Returned
from arena_server.places.base import LocalBot
from arena_server.places.workers import dask_task
from arena_server.places.workers.audit import Audits
from arena_server.places.workers.base import AuditTerms
from arena_server.places.workers.dask_task import play_again
from arena_server.places.workers.plain import NotPlain
from arena_server.places.workers.runner_tasks import NoRunnerError, RunnerLostError, RunnerTask
from arena_server.places.workers.trusted import TrustedWorkers
from arena_server.terms.config import ContestConfig
from arena_server.terms.sandbox import Sandbox

BOX = Sandbox("sha256:a")


@dataclass
class Tasks:
    """Answers in turn, each after five minutes; an exception is raised."""

    answers: list[object]
    tasks: list[RunnerTask] = field(default_factory=list)
    noted: list[tuple[str, str]] = field(default_factory=list)

    async def run(
        self, task: RunnerTask, avoid: Collection[str], say: Callable[[str], None]
    ) -> tuple[str, object]:
        self.tasks.append(task)
        say("no one reads this")
        await asyncio.sleep(300)
        answer = self.answers.pop(0)
        if isinstance(answer, (NoRunnerError, RunnerLostError)):
            raise answer
        return "mine", answer

    async def fetch(self, runner: str, key: str, path: Path, size: int) -> None:
        raise AssertionError(key)

    def note(self, runner: str, line: str) -> None:
        self.noted.append((runner, line))


def test_what_becomes_of_second_games() -> None:
    good: object = (b"record", "", False, "box", {})
    away = NoRunnerError("mine: not there")
    tasks = Tasks(
        [good, away, away, RunnerLostError("mine", "gone"), [1], NotPlain("a pickle"), good, away, good, good]
    )
    ends: list[tuple[bytes | None, str, str, str]] = []

    async def run() -> None:
        reports = Reports()
        workers = TrustedWorkers(tasks, ["mine"], ["-m", "worker"])
        await workers.open(reports)
        assert reports.slots.get_nowait() == 1
        workers.exclude("mine")
        plain = replace(job("g"), renew_s=10.0)
        boxed = replace(plain, bots=(LocalBot("ann", (), "", sandbox=BOX),))
        for each in (plain, boxed, *[plain] * 6):
            workers.submit(each)
            renewals = 0
            while reports.ends.empty():
                await asyncio.sleep(1)
            while not reports.renewals.empty():
                renewals += reports.renewals.get_nowait() == "g-1"
            assert renewals >= 30, "the lease of the first result is held"
            key, outcome, worker = reports.ends.get_nowait()
            ends.append((outcome.record, outcome.problem, worker, key))
        workers.submit(plain)
        workers.withdraw("g-1")
        workers.withdraw("g-1")
        workers.submit(plain)
        await asyncio.sleep(5)
        await workers.close()
        assert reports.ends.empty()

    leap(run())
    odd = "a worker has sent what is no outcome of a game"
    assert ends == [
        (b"record", "", "mine", "g-1"),
        (None, "mine: not there", "", "g-1"),
        (None, "mine: not there", "", "g-1"),
        (None, "gone", "", "g-1"),
        (None, odd, "mine", "g-1"),
        (None, "a pickle", "mine", "g-1"),
        (b"record", "", "mine", "g-1"),
        (None, "mine: not there", "", "g-1"),
    ]
    assert tasks.noted == [("audit", "no game is played twice now: mine: not there")] * 2
    plain, boxed = tasks.tasks[:2]
    assert (plain.only, plain.engine, plain.images, plain.silent_s) == (["mine"], False, [], 30.0)
    assert (boxed.engine, boxed.images, boxed.most_s) == (True, [BOX], math.inf)


@pytest.mark.asyncio
async def test_a_worker_plays_it_as_a_first_game(monkeypatch: pytest.MonkeyPatch) -> None:
    async def play(payload: bytes, topic: str, command: list[str]) -> object:
        return pickle.loads(payload).key, topic, command

    monkeypatch.setattr(dask_task, "play_on_worker", play)
    payload = pickle.dumps((pickle.dumps(job("g")), ["-m", "worker"]))
    assert await play_again(payload, "cup", "g-1") == ("g-1", "cup", ["-m", "worker"])


@pytest.mark.asyncio
async def test_the_games_of_a_trusted_worker_are_played_once() -> None:
    terms = AuditTerms(share=1.0, pool=Pool(), trusted={"mine"})
    quiet: Any = lambda *_: None  # noqa: E731
    audits = Audits(
        terms, BOTS, ContestConfig(name="t", seed=0), renew=quiet, accept=quiet, exclude=quiet, off=quiet
    )
    await audits.open()
    taken = [
        audits.takes(job("g"), Returned("g", 1, record(), worker, "box"), 1.0) for worker in ("mine", "w1")
    ]
    assert taken == [False, True]
