"""Who examines the versions that authors send: the engine of this machine, or that of a runner."""

from __future__ import annotations

import asyncio
import sys

from arena_server.host.loop_link import LoopLink
from arena_server.places.base import RUN_MODULE
from arena_server.places.workers.base import Workers
from arena_server.submissions.admission import EngineExaminer, Examiner
from arena_server.terms.submissions import SubmissionSetup


def examiner_of(setup: SubmissionSetup, workers: Workers | None) -> Examiner:
    """What examines the versions of a contest; call it on the loop of the host, that of its workers."""
    check, play = _commands(str(setup.config))
    own = EngineExaminer(setup, [sys.executable, *check], [sys.executable, *play])
    if workers is None or not workers.far:
        return own
    from arena_server.places.workers.cluster import DaskPool
    from arena_server.places.workers.runner_tasks import FarRunners
    from arena_server.submissions.on_runners import RunnerExaminer
    from arena_server.submissions.runner_examination import CONFIG

    assert isinstance(workers.pool, DaskPool), "it is far"
    runners = FarRunners(LoopLink(asyncio.get_running_loop()), workers.pool.tasks)
    return RunnerExaminer(setup, own, runners, _commands(CONFIG), workers.trusted)


def _commands(config: str) -> tuple[list[str], list[str]]:
    """What an interpreter runs to check a version, and to play a game with it."""
    arena, about = [*RUN_MODULE, "arena_cli", "check"], ["--config", config, "--name", "{bot}"]
    return [*arena, "bot", *about, "--", "image:{image}"], [*arena, "game", "image:{image}", *about]
