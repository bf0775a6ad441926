"""Workers of a Dask cluster on loopback, and what may become of them in the middle of a game.

The short slice has scheduler and workers in this process; `make soak` kills and stops processes of a cluster.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from tests.ports import quiet_port
from tests.server.places.workers.dask_cluster import Cluster
from tests.server.places.workers.programs import ROOT, Reports, job, write_program

from arena_protocol.record_codec import decode
from arena_server.errors import ArenaError
from arena_server.places.workers import cluster as cluster_module
from arena_server.places.workers import dask_task
from arena_server.places.workers.cluster import MOST_QUEUED, DaskPool

pytestmark = [
    # Not `importorskip`: each process of the tests would import it, for 0.5 s.
    pytest.mark.skipif(find_spec("distributed") is None, reason="the extra [cluster] is not installed"),
    pytest.mark.asyncio,
    pytest.mark.real,
    # Dask leaves its own transports to the collector when a peer was killed.
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.timeout(120),
]


@asynccontextmanager
async def running(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[tuple[Cluster, DaskPool, Reports]]:
    """Two workers, w1 and w2, of one thread each."""
    cluster, reports = Cluster(tmp_path), Reports()
    monkeypatch.setattr(cluster_module, "CONNECT_S", 60.0)  # on a busy machine a scheduler begins late
    pool = DaskPool(cluster.where, [write_program(tmp_path)])
    try:
        cluster.start_scheduler()
        for name in ("w1", "w2"):
            cluster.start_worker(name)
        await pool.open(reports)
        await reports.until(2 + MOST_QUEUED)
        yield cluster, pool, reports
    finally:
        await pool.close()
        cluster.close()


@pytest.mark.soak
async def test_workers_in_this_process_play_games(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from distributed import Scheduler, Worker

    scheduler_of: Any = Scheduler  # untyped
    worker_of: Any = Worker
    reports, processes = Reports(), dask_task._Processes()
    monkeypatch.setattr(dask_task, "_processes", processes)
    # Scheduler and workers of this process have to unpickle their tasks.
    monkeypatch.setattr(cluster_module, "read_plainly", lambda: None)
    async with (
        scheduler_of(host="127.0.0.1", port=0, dashboard=False) as scheduler,
        worker_of(scheduler.address, nthreads=1, name="w1", dashboard=False),
        worker_of(scheduler.address, nthreads=1, name="w2", dashboard=False),
    ):
        pool = DaskPool(scheduler.address.replace("tcp", "dask"), [write_program(tmp_path)])
        try:
            await pool.open(reports)
            await reports.until(2 + MOST_QUEUED)
            for name in ("g1", "g2", "wrong"):
                pool.submit(job(name))
            ends = [await reports.ends.get() for _ in range(3)]
            assert sorted((key, outcome.problem) for key, outcome, _ in ends) == [
                *(("g1-1", ""), ("g2-1", "")),
                ("wrong-1", "no such program"),
            ]
            assert all(decode(outcome.record) for _, outcome, _ in ends if outcome.record)
            assert {worker for _, _, worker in ends} == {"w1", "w2"}
        finally:
            await pool.close()
            for process in processes._idle:
                await process.end()


#: Loaded by worker and scheduler. What they send writes a file, named after the process that unpickles it.
HOSTILE = """
import os, pickle
import distributed.worker
from distributed import get_worker
from distributed.core import error_message
from distributed.protocol.serialize import Serialize, ToPickle
from arena_server.places.workers import dask_task

WRITE = "import os; open(os.path.join(FOLDER, str(os.getpid())), 'w').close()"

class Evil:
    def __reduce__(self):
        return exec, (WRITE,)

class EvilError(Evil, Exception):
    pass

def with_traceback(error, status="error"):
    found = error_message(error, status)
    if "traceback" in str(error):
        found["traceback"] = Serialize(pickle.dumps(Evil()))
    return found

async def play_on_worker(payload, topic, command):
    what = pickle.loads(payload).game_id
    get_worker().log_event("warn", {"message": pickle.dumps(Evil()), "category": pickle.dumps(Evil())})
    get_worker().log_event(topic, pickle.dumps(Evil()))
    if what == "raise":
        raise EvilError(what)
    if what == "traceback":
        raise ValueError(what)
    if what == "numpy":
        import numpy
        return numpy.array([Evil()], dtype=object)
    return Evil() if what == "return" else what

def dask_setup(server):
    if not hasattr(server, "identity"):
        return
    honest = server.handlers["identity"]
    async def identity(n_workers):
        return {**honest(n_workers), "evil": ToPickle(Evil()), "more": Serialize(Evil())}
    server.handlers["identity"] = identity

dask_task.play_on_worker = play_on_worker
distributed.worker.error_message = with_traceback
"""
#: It connects, has games played, and prints how they ended and its number.
CLIENT = """
import asyncio, os, sys
sys.path.insert(0, ROOT)
from tests.server.places.workers.programs import Reports, job
from arena_server.places.workers import cluster

async def main():
    from arena_server.places.workers.cluster import MOST_QUEUED
    cluster.CONNECT_S = 60.0
    pool, reports = cluster.DaskPool(ADDRESS, []), Reports()
    await pool.open(reports)
    await reports.until(1 + MOST_QUEUED)
    for what in ("return", "raise", "traceback", "numpy", "other"):
        pool.submit(job(what))
        key, outcome, worker = await reports.ends.get()
        print(key, outcome.record, outcome.lost, worker, outcome.problem)
    await pool.close()
    print(os.getpid())

asyncio.run(main())
"""


async def test_a_worker_and_a_scheduler_execute_nothing_in_the_referee(tmp_path: Path) -> None:
    written, preload = tmp_path / "written", tmp_path / "hostile.py"
    written.mkdir()
    preload.write_text(HOSTILE.replace("FOLDER", repr(str(written))))
    cluster = Cluster(tmp_path)
    text = CLIENT.replace("ROOT", repr(str(ROOT))).replace("ADDRESS", repr(cluster.where))
    try:
        cluster.start_scheduler("--preload", str(preload))
        cluster.start_worker("w1", "--preload", str(preload))
        client = await asyncio.create_subprocess_exec(
            sys.executable, "-c", text, stdout=asyncio.subprocess.PIPE
        )
        *ends, number = (await client.communicate())[0].decode().split("\n")[:-1]
    finally:
        cluster.close()
    assert ends == [
        "return-1 None False w1 Dask: a worker has sent a builtins.exec, which is not read here",
        "raise-1 None False w1 EvilError('raise')",
        "traceback-1 None False w1 ValueError('traceback')",
        "numpy-1 None False w1 Dask: a worker has sent data of the serializer dask",
        "other-1 None False w1 Dask: a worker has sent what is no outcome of a game",
    ]
    assert not (written / number).exists()


@pytest.mark.soak
async def test_a_cluster_plays_games(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with running(tmp_path, monkeypatch) as (_, pool, reports):
        for number in range(1, 5):
            pool.submit(job(f"g{number}"))
        ends = [await reports.ends.get() for _ in range(4)]
        assert sorted(key for key, _, _ in ends) == ["g1-1", "g2-1", "g3-1", "g4-1"]
        assert all(outcome.record and decode(outcome.record) for _, outcome, _ in ends)
        assert {worker for _, _, worker in ends} <= {"w1", "w2"}
        pool.submit(job("wrong"))
        _, outcome, _ = await reports.ends.get()
        assert (outcome.problem, outcome.fatal) == ("no such program", True)


@pytest.mark.soak
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
async def test_the_game_of_a_worker_that_ends_is_played_by_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    async with running(tmp_path, monkeypatch) as (cluster, pool, reports):
        gate = tmp_path / "gate"
        pool.submit(job("gate", gate=gate))
        first, _ = await reports.began()
        cluster.signal(first, number)
        second, _ = await reports.began()
        assert {first, second} == {"w1", "w2"}
        gate.touch()
        key, outcome, worker = await reports.ends.get()
        assert (key, outcome.problem, worker) == ("gate-1", "", second)
        await reports.until(1 + MOST_QUEUED)


@pytest.mark.soak
async def test_a_worker_that_is_stopped_and_continued_reports_nothing_late(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(tmp_path, monkeypatch) as (cluster, pool, reports):
        gate = tmp_path / "gate"
        pool.submit(job("gate", gate=gate))
        first, process = await reports.began()
        assert await reports.renewals.get() == "gate-1"
        for stopped in (int(process), cluster.processes[first].pid):
            os.kill(stopped, signal.SIGSTOP)
        pool.withdraw("gate-1")  # as its lease has ended
        await reports.until(1 + MOST_QUEUED)  # the worker that does not answer gets no other game
        pool.submit(job("gate", fence=2, gate=gate))
        second, _ = await reports.began()
        assert second != first
        gate.touch()
        assert (await reports.ends.get())[0] == "gate-2"
        for stopped in (int(process), cluster.processes[first].pid):
            os.kill(stopped, signal.SIGCONT)
        await reports.until(2 + MOST_QUEUED)
        pool.submit(job("g2"))
        pool.submit(job("g3"))
        assert sorted([(await reports.ends.get())[0] for _ in range(2)]) == ["g2-1", "g3-1"]


@pytest.mark.soak
async def test_a_scheduler_that_is_started_again_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(tmp_path, monkeypatch) as (cluster, pool, reports):
        pool.submit(job("wait"))
        await reports.began()
        for name in ("scheduler", "w1", "w2"):
            cluster.signal(name, signal.SIGKILL)
            cluster.processes[name].wait()
        key, outcome, _ = await reports.ends.get()
        assert (key, outcome.record, outcome.lost) == ("wait-1", None, True)
        await reports.until(0)
        cluster.start_scheduler()
        cluster.start_worker("w1")
        await reports.until(1 + MOST_QUEUED)
        pool.submit(job("g2"))
        key, outcome, worker = await reports.ends.get()
        assert (key, outcome.problem, worker) == ("g2-1", "", "w1")


async def test_without_a_scheduler_there_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_module, "CONNECT_S", 0.1)
    where = f"dask://127.0.0.1:{quiet_port()}"
    with pytest.raises(ArenaError, match=f"--on {where}: no Dask scheduler answers there"):
        await DaskPool(where, []).open(Reports())
