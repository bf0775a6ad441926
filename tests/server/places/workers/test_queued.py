"""A pool whose Dask scheduler answers, or does not: leases of games that wait, and its own end."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from tests.server.places.workers.programs import Reports, job

from arena_server.places.base import LocalBot
from arena_server.places.workers import cluster
from arena_server.places.workers.cluster import DaskPool

#: For a task that does not end.
PATIENCE_S = 30.0


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("processing", "begun", "renewed"),
    [
        ({}, [], ["a-1", "b-1", "c-1"]),  # no worker yet
        ({"w1": ["a-1"]}, ["a-1"], ["b-1", "c-1"]),
        ({"w1": ["a-1", "b-1"]}, ["a-1"], ["b-1", "c-1"]),  # w1 has one thread
        ({"w2": ["a-1", "b-1"]}, ["a-1"], ["c-1"]),  # w2 has two: it begins b, or stands still
        ({"w1": ["a-1"], "w2": ["other", "more", "b-1"]}, [], ["b-1", "c-1"]),
    ],
)
async def test_the_lease_of_a_game_that_waits_is_renewed(
    processing: dict[str, list[str]], begun: list[str], renewed: list[str]
) -> None:
    async def answer() -> dict[str, list[str]]:
        return processing

    pool, reports = DaskPool("dask://127.0.0.1:1", []), Reports()
    untyped: Any = pool
    untyped._events, untyped._client = reports, SimpleNamespace(processing=answer)
    untyped._threads = {"w1": 1, "w2": 2}
    untyped._jobs = {f"{name}-1": (job(name), None) for name in "abc"}
    untyped._begun = set(begun)
    await pool._renew_queued()
    found = [reports.renewals.get_nowait() for _ in range(reports.renewals.qsize())]
    assert sorted(found) == renewed
    untyped._places = {key: ["gone"] for key in untyped._jobs}  # those that might take them have left
    await pool._renew_queued()
    assert reports.renewals.empty()
    untyped._begun = set(untyped._jobs)
    untyped._client = None  # it is not asked
    await pool._renew_queued()


@pytest.mark.asyncio
async def test_what_no_worker_has_is_said_once() -> None:
    pool, reports = DaskPool("dask://127.0.0.1:1", []), Reports()
    untyped: Any = pool
    untyped._events, untyped._threads = reports, {"w1": 1, "w2": 2}

    def needing(key: str, *needs: dict[str, float]) -> None:
        bots = [LocalBot(f"b{number}", (), "", resources=each) for number, each in enumerate(needs)]
        untyped._jobs = {key: (replace(job(key), bots=bots), None)}

    def look(*had: dict[str, float]) -> list[tuple[str, str]]:
        pool._name_missing({f"w{number}": {"resources": each} for number, each in enumerate(had, start=1)})
        return [reports.lines.get_nowait() for _ in range(reports.lines.qsize())]

    needing("plain", {}, {})
    assert look({}, {}) == []
    needing("one", {"GPU": 1}, {})
    assert look({"GPU": 1}, {}) == []
    assert look({"CPU": 9}, {"GPU": 0.5}) == [
        (
            "dask://127.0.0.1:1",
            'no worker has GPU=1 for a game of b0; start one by `dask worker ... --resources "GPU=1"`',
        )
    ]
    assert look({}, {}) == []
    # Both players at once; and one worker alone has to have it all.
    needing("two", {"GPU": 1}, {"GPU": 1.5, "MEM": 2})
    assert look({"GPU": 2.5, "MEM": 2}, {}) == []
    ((_, line),) = look({"GPU": 2.5}, {"MEM": 2})
    assert line.startswith("no worker has GPU=2.5 MEM=2 for a game of b0, b1; start one by")
    needing("begun", {"FPGA": 1})
    untyped._begun = {"begun"}
    assert look({}, {}) == []
    untyped._begun, untyped._threads = set(), {}
    assert look() == [], "there is no worker yet, which is said already"


class Scheduled:
    """A client of a scheduler that is gone; it is closed after `close`, by what `raised` says."""

    def __init__(self, raised: BaseException | None = None) -> None:
        self.scheduler = self
        self.closing, self.closed = asyncio.Event(), asyncio.Event()
        self._raised = raised

    async def identity(self, n_workers: int) -> dict[str, Any]:
        raise OSError("the scheduler is gone")

    async def close(self) -> None:
        self.closing.set()
        await self.closed.wait()
        if self._raised is not None:
            raise self._raised


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "raised", [None, OSError(), TimeoutError(), asyncio.CancelledError(), RuntimeError()]
)
async def test_a_pool_that_ends_while_it_looks_for_a_scheduler_looks_for_no_other(
    raised: BaseException | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool, first, later = DaskPool("dask://127.0.0.1:1", []), Scheduled(raised), Scheduled(raised)
    later.closed.set()
    untyped: Any = pool
    untyped._events, untyped._client = Reports(), first
    made = list[Scheduled]()

    async def connect() -> Scheduled:
        made.append(later)
        await asyncio.sleep(0)
        return later

    monkeypatch.setattr(pool, "_connect", connect)
    watching = pool._spawn(untyped._watch())
    await first.closing.wait()
    watching.cancel()
    await asyncio.wait([watching], timeout=PATIENCE_S)
    assert watching.cancelled(), "it is not its client that is cancelled"
    assert not made
    first.closed.set()
    await pool.close()


@pytest.mark.asyncio
async def test_a_pool_cancels_again_what_a_client_has_gone_on_with(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "LOOK_S", 0)
    pool, cancelled = DaskPool("dask://127.0.0.1:1", []), 0

    async def stubborn() -> None:
        nonlocal cancelled
        while cancelled < 2:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                cancelled += 1

    pool._spawn(stubborn())
    await asyncio.sleep(0)
    await pool.close()
    assert cancelled == 2
