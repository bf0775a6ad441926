"""Games that wait at a Dask scheduler: whose leases the pool renews."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from tests.server.places.workers.programs import Reports, job

from arena_server.places.base import LocalBot
from arena_server.places.workers.cluster import DaskPool


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
