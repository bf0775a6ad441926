"""Draws that run off the loop: in a thread, or in a process that keeps no lock of the server's."""

from __future__ import annotations

import asyncio
import os
import sys
from asyncio.subprocess import Process
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from arena_server.core.facts import Drawn
from arena_server.core.formats import swiss_pairing
from arena_server.core.formats.base import Draw
from arena_server.core.formats.swiss import SwissDraw
from arena_server.core.formats.swiss_pairing import SMALL, Candidate
from arena_server.errors import ArenaError
from arena_server.host import draw_runner as drawing
from arena_server.host.draw_runner import run_draw
from arena_server.host.host import HostObserver
from arena_server.places import local
from arena_server.places.base import LocalBot
from arena_server.places.local import LocalRun, run_local
from arena_server.places.supervisor import ProgressListener
from arena_server.store.reader import Results
from arena_server.terms.config import ContestConfig, Entrant
from arena_server.terms.spec import ContestSpec

pytestmark = [pytest.mark.asyncio, pytest.mark.real]

PATIENCE_S = 150.0
BOT = "from arena_client import run\nrun(lambda view: view.legal_moves[0])\n"


def swiss_draw(players: int) -> SwissDraw:
    return SwissDraw(1, 1, 2, tuple(Candidate(f"b{place}", place // 9) for place in range(players)), True, 7)


@pytest.fixture
def children(monkeypatch: pytest.MonkeyPatch) -> list[Process]:
    """The processes that draw."""
    started: list[Process] = []
    start: Callable[..., Any] = asyncio.create_subprocess_exec

    async def keep(*command: str, **pipes: Any) -> Process:
        child: Process = await start(*command, **pipes)
        if command[-1] == drawing.__name__:
            started.append(child)
        return child

    monkeypatch.setattr(asyncio, "create_subprocess_exec", keep)
    return started


@pytest.mark.soak
async def test_a_large_round_is_drawn_in_a_process_and_is_the_same(children: list[Process]) -> None:
    draw, small = swiss_draw(SMALL + 2), swiss_draw(SMALL)
    assert (draw.slow, small.slow) == (True, False)
    assert await run_draw(draw) == draw.run()
    assert await run_draw(small) == small.run()
    assert [child.returncode for child in children] == [0]


@dataclass(frozen=True, slots=True)
class Failing(Draw):
    @property
    def slow(self) -> bool:
        return True

    def run(self) -> Drawn:
        raise ValueError("no round")


async def test_a_draw_that_fails_in_its_process_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.getcwd())  # where the class of the draw is
    with pytest.raises(ArenaError, match=r"^a round could not be drawn: ValueError: no round$"):
        await run_draw(Failing())


@pytest.mark.soak
async def test_a_draw_that_is_given_up_ends_its_process(children: list[Process]) -> None:
    task = asyncio.create_task(run_draw(swiss_draw(1500)))
    while not children:
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await asyncio.wait_for(children[0].wait(), PATIENCE_S) < 0


async def test_the_rounds_of_a_contest_are_drawn_in_processes(
    tmp_path: Path, children: list[Process], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local, "ProcessTuning", HostObserver)
    monkeypatch.setattr(swiss_pairing, "SMALL", 2)
    config = ContestConfig(
        name="open", seed=1, game="tictactoe", format="swiss", games_per_pair=2, spectator_delay_ms=0
    )
    names = ("ann", "bob", "cid")
    entrants = [Entrant(name, sha256(b"token").hexdigest()) for name in names]
    bots = [LocalBot(name, [sys.executable, "-c", BOT], "token") for name in names]
    spec = ContestSpec(config=config, entrants=entrants, new=True)
    async with asyncio.timeout(PATIENCE_S):
        run = LocalRun(spec, tmp_path / "a.db", bots, None)
        assert await run_local(run, ProgressListener(), asyncio.Event())
    assert [child.returncode for child in children] == [0, 0]
    with Results(tmp_path / "a.db") as results:
        history = results.sums.history(contest := results.contest("open"))
        assert history is not None
        history.check(over=True)
        assert contest.status == "finished"
        assert len(history.form.rounds()) == 2
