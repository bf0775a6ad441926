"""Workers with and without a container engine: which games wait, and what is sent how often."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.server.places.workers.programs import Reports, job
from tests.server.places.workers.test_images import MINE, Engine

from arena_server.places.base import LocalBot
from arena_server.places.docker import Docker, NoEngineError
from arena_server.places.workers.cluster import DaskPool
from arena_server.places.workers.images import ENGINE, SavedImages, offer_engine, receive
from arena_server.places.workers.runners import MOST_SENT, NO_ENGINE, Runners, is_contained
from arena_server.terms.sandbox import Sandbox

pytestmark = pytest.mark.asyncio
BOXED = replace(job("boxed"), bots=(LocalBot("ann", (), "", sandbox=Sandbox(MINE)),))


class Client:
    """A client of a cluster whose workers have an engine, or have none; what is submitted goes on."""

    def __init__(self, **engines: object) -> None:
        self.engines = engines
        self.submitted: list[tuple[str, object]] = []

    async def run(self, function: Any, *_: Any, workers: list[str], on_error: str) -> dict[str, object]:
        # The question of its version is asked by a function of a function.
        return {workers[0]: self.engines[workers[0]] if function is offer_engine else []}

    def submit(self, *_: Any, key: str, resources: object, **__: Any) -> asyncio.Future[None]:
        self.submitted.append((key, resources))
        return asyncio.get_running_loop().create_future()

    async def close(self) -> None:
        """It has nothing."""


async def look(pool: DaskPool, *workers: str) -> None:
    """The pool finds these workers, and has asked them."""
    pool._look({each: {"name": each, "nthreads": 1} for each in workers})
    await asyncio.gather(*pool._refused.values())
    pool._look({each: {"name": each, "nthreads": 1} for each in workers})


async def test_a_game_with_a_container_waits_for_an_engine_and_goes_to_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pool, reports, client = DaskPool("dask://here:1", []), Reports(), Client(w1=False, w2=True, w3=True)
    untyped: Any = pool
    untyped._events, untyped._client = reports, client
    monkeypatch.setattr("arena_server.places.workers.cluster.refusal", lambda *_: None)
    for each in (BOXED, job("plain")):
        pool.submit(each)
    await look(pool, "w1")
    await look(pool, "w1")
    assert client.submitted == [("plain-1", None)]
    assert reports.lines.get_nowait() == ("dask://here:1", NO_ENGINE)
    assert reports.lines.empty()
    await look(pool, "w1", "w2")
    for _ in range(5):
        await asyncio.sleep(0)
    assert client.submitted[1:] == [("boxed-1", {ENGINE: 1})]
    # Dask would not begin it: the engine of w3 is known later than the worker.
    await look(pool, "w1", "w3")
    await look(pool, "w1")
    key, outcome, _ = reports.ends.get_nowait()
    assert (key, outcome.lost, outcome.problem) == ("boxed-1", True, NO_ENGINE)
    pool.submit(BOXED)
    await look(pool, "w1")
    assert len(client.submitted) == 2
    await pool.close()


async def test_games_without_containers_need_no_engine() -> None:
    assert is_contained(BOXED)
    assert not is_contained(job("plain"))


class Worker(SimpleNamespace):
    """A Dask worker with these resources."""

    async def set_resources(self, **resources: int) -> None:
        self.state.total_resources |= resources


@pytest.mark.parametrize(
    ("has", "answers", "offers", "resources"),
    [
        ({}, True, True, {ENGINE: 4}),
        ({}, False, False, {}),
        ({ENGINE: 1}, False, True, {ENGINE: 1}),  # by its own command
    ],
)
async def test_a_worker_says_whether_it_has_an_engine(
    has: dict[str, int],
    answers: bool,
    offers: bool,
    resources: dict[str, int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def call(_: Docker, *_words: str, **_options: float) -> str:
        if not answers:
            raise NoEngineError("Cannot connect to the Docker daemon")
        return "20"

    monkeypatch.setattr(Docker, "call", call)
    worker = Worker(state=SimpleNamespace(total_resources=dict(has), nthreads=4))
    assert await offer_engine(worker) is offers
    assert worker.state.total_resources == resources


def runners(tmp_path: Path, take: Callable[..., object]) -> Runners:
    path = tmp_path / "mine.tar"
    path.write_bytes(b"four")
    images = SavedImages(Engine.with_images())

    async def run(_address: str, function: object, *part: object) -> object:
        assert function is receive
        return take(*part)

    found = Runners("cup", run, images)
    found.expect(replace(BOXED, bots=(LocalBot("a", (), "", sandbox=Sandbox(MINE, saved=str(path))),)))
    return found


async def test_a_worker_that_asks_for_ever_is_sent_an_image_three_times(tmp_path: Path) -> None:
    parts: list[tuple[object, ...]] = []

    def take(*part: object) -> bool:
        parts.append(part)
        return True

    found = runners(tmp_path, take)
    sizes = [await found.send(MINE, "w1") for _ in range(MOST_SENT + 1)]
    assert sizes == [4] * MOST_SENT + [0]
    assert parts[0] == (MINE, "cup", 0, b"four", True, "")
    assert parts[MOST_SENT] == (MINE, "cup", 0, b"", True, "it was sent 3 times")
    assert await found.send(MINE, "w2") == 4
    assert await found.send("sha256:other", "w1") == 0  # no bot of the contest has it
    assert len(parts) == MOST_SENT + 2
    await found.close()


async def test_an_image_that_is_not_taken_does_not_count(tmp_path: Path) -> None:
    def gone(*_: object) -> object:
        raise OSError("gone")

    found = runners(tmp_path, gone)
    assert [await found.send(MINE, "w1") for _ in range(MOST_SENT + 1)] == [0] * (MOST_SENT + 1)
    assert found.said_to_wait()
    assert not found.said_to_wait()
    await found.close()
