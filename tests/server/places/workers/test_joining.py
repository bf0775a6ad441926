"""Workers that join a Dask cluster: which of them could play, and what is said of the others."""

from __future__ import annotations

import asyncio
import subprocess
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.server.places.workers.dask_cluster import Cluster
from tests.server.places.workers.programs import Reports, job, write_program

from arena_server.errors import ArenaError
from arena_server.places.workers import cluster as cluster_module
from arena_server.places.workers.cluster import MOST_QUEUED, DaskPool, let_dask_leave
from arena_server.places.workers.joining import asks_for, describe, refusal
from arena_server.terms.config import ContestConfig

TERMS = ContestConfig(name="test", seed=0)
OURS = version("insertion-arena")
DIGEST = asks_for(TERMS)()[1]


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ([OURS, DIGEST, ""], None),
        (
            ["", "", "ModuleNotFoundError: No module named 'arena_server'"],
            "No module named 'arena_server'; install",
        ),
        (["0.0.1", DIGEST, ""], f"expected insertion-arena {OURS} there, got 0.0.1; install it there"),
        (
            [OURS, "", "no game is called chess"],
            "expected the game insertion there, got: no game is called chess",
        ),
        (
            [OURS, "other", ""],
            "expected the rules of insertion that the server has; install the same package",
        ),
        (ValueError("no"), "it does not answer as a worker of this version does"),
        ([OURS, 1, ""], "it does not answer as a worker of this version does"),
    ],
)
def test_who_joins_has_to_play_the_same_game(answer: object, problem: str | None) -> None:
    found = refusal(TERMS, answer)
    assert found == problem or (problem is not None and found is not None and problem in found)
    assert found is None or "\n" not in found


def test_a_game_that_is_not_there_is_said() -> None:
    assert describe("chess", {})[:2] == [OURS, ""]
    assert "chess" in describe("chess", {})[2]


def test_the_rules_of_other_options_differ() -> None:
    assert describe("insertion", {"plies": "4"})[1] != DIGEST


class Scheduler(SimpleNamespace):
    """A client of a cluster whose workers answer so, by their addresses."""

    def __init__(self, answers: dict[str, object]) -> None:
        super().__init__(answers=answers)

    async def run(self, _ask: object, workers: list[str], on_error: str) -> dict[str, object]:
        return {workers[0]: self.answers[workers[0]]}


async def looked(answers: dict[str, object], share: float = 1.0) -> tuple[DaskPool, Reports]:
    """A pool that has found these workers, each of four threads and called after its address."""
    pool, reports = DaskPool("dask://127.0.0.1:1", [], share), Reports()
    untyped: Any = pool
    untyped._events, untyped._client = reports, Scheduler(answers)
    workers = {address: {"name": f"name-{address}", "nthreads": 4} for address in answers}
    pool._look(workers)
    await asyncio.gather(*pool._refused.values())
    pool._look(workers)
    return pool, reports


def capacity(reports: Reports) -> int:
    return [reports.slots.get_nowait() for _ in range(reports.slots.qsize())][-1]


@pytest.mark.asyncio
async def test_a_worker_of_another_version_gets_no_game() -> None:
    pool, reports = await looked({"w1": [OURS, DIGEST, ""], "w2": ["0.0.1", DIGEST, ""]})
    assert capacity(reports) == 4 + MOST_QUEUED
    assert pool._answering() == ["w1"]
    assert reports.lines.get_nowait() == (
        "name-w2",
        f"it gets no game: expected insertion-arena {OURS} there, got 0.0.1; "
        "install it there and start the worker again",
    )
    assert [await pool._is_refused(f"name-{each}") for each in ("w1", "w2", "w3")] == [False, True, False]
    pool._look({"w1": {"name": "name-w1", "nthreads": 4}})  # the other one is gone
    assert pool._answering() == []


@pytest.mark.asyncio
async def test_no_game_waits_for_a_cluster_of_refused_workers() -> None:
    _, reports = await looked({"w1": "no"})
    assert capacity(reports) == 0


@pytest.mark.asyncio
@pytest.mark.parametrize(("share", "games"), [(0.5, 4), (0.3, 2), (0.01, 1)])
async def test_a_contest_has_its_share_of_the_threads(share: float, games: int) -> None:
    _, reports = await looked({each: [OURS, DIGEST, ""] for each in ("w1", "w2")}, share)
    assert capacity(reports) == games


@pytest.mark.asyncio
async def test_what_a_task_of_dask_raises_when_it_is_released_is_no_fault_of_ours() -> None:
    AllExit = type("AllExit", (Exception,), {})  # noqa: N806 - as in distributed.client
    told: list[object] = []
    loop = asyncio.get_running_loop()
    let_dask_leave(loop)  # without a handler there is nothing to keep it from
    loop.set_exception_handler(lambda _, context: told.append(context["exception"]))
    let_dask_leave(loop)
    ours = ValueError()
    for error in (AllExit(), ours):
        loop.call_exception_handler({"message": "", "exception": error})
    loop.set_exception_handler(None)
    assert told == [ours]


# -- with a cluster


needs_dask = pytest.mark.skipif(
    find_spec("distributed") is None, reason="the extra [cluster] is not installed"
)


@needs_dask
@pytest.mark.real
@pytest.mark.soak
@pytest.mark.asyncio
@pytest.mark.filterwarnings("ignore")
async def test_games_by_tls_with_the_certificates_of_the_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    to = ["-keyout", "key.pem", "-out", "cert.pem", "-days", "2", "-subj", "/CN=arena"]
    subprocess.run([*make, *to], cwd=tmp_path, check=True, capture_output=True)
    tls = "distributed.comm.tls."
    config: dict[str, object] = {"distributed.comm.require-encryption": True}
    config[f"{tls}ca-file"] = str(tmp_path / "cert.pem")
    for who in ("scheduler", "worker", "client"):
        config[f"{tls}{who}.cert"], config[f"{tls}{who}.key"] = (
            str(tmp_path / each) for each in ("cert.pem", "key.pem")
        )
    monkeypatch.setattr(cluster_module, "CONNECT_S", 60.0)
    import dask
    import distributed.client  # its own configuration comes before ours

    assert distributed.client
    cluster, reports = Cluster(tmp_path, tls=True), Reports()
    with pytest.raises(ArenaError, match="expected certificates in Dask's configuration") as without:
        await DaskPool(cluster.where, []).open(reports)
    assert "\n" not in str(without.value)
    with dask.config.set(config):
        (tmp_path / "none.pem").write_text("no certificate")
        for file, problem in (("absent.pem", "No such file"), ("none.pem", "PEM")):
            said = rf"expected certificates in Dask's configuration \(distributed.comm.tls\): .*({problem})"
            with (
                dask.config.set({f"{tls}client.cert": str(tmp_path / file)}),
                pytest.raises(ArenaError, match=said),
            ):
                await DaskPool(cluster.where, []).open(reports)
        with pytest.raises(ArenaError, match="encryption required"):
            await DaskPool("dask://127.0.0.1:1", []).open(reports)
        pool = DaskPool(cluster.where, [write_program(tmp_path)])
        try:
            with monkeypatch.context() as environment:
                for key, value in config.items():
                    name = key.replace(".", "__").replace("-", "_").upper()
                    environment.setenv(f"DASK_{name}", str(value))
                cluster.start_scheduler()
                cluster.start_worker("w1")
            await pool.open(reports)
            pool.submit(job("g1"))
            key, outcome, worker = await reports.ends.get()
            assert (key, outcome.problem, worker) == ("g1-1", "", "w1")
        finally:
            await pool.close()
            cluster.close()
