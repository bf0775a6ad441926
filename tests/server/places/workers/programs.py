"""What pools of workers are tested with: a process that does as its job says, and what a pool reports."""

from __future__ import annotations

import asyncio
from pathlib import Path

from arena_server.places.workers.base import GameJob, JobOutcome
from arena_server.terms.config import ContestConfig

ROOT = Path(__file__).resolve().parents[4]

#: It does what the name of the game says; `wait` ends with its process, `gate` when a file exists.
PROGRAM = """
import os, signal, sys, time
sys.path.insert(0, ROOT)
from dataclasses import replace
from tests.protocol.records import a_record
from arena_protocol.errors import UserError
from arena_server.places.workers.process import serve

def play(job, run):
    print("an engine may print")
    match job.game_id:
        case "die":
            os.kill(os.getpid(), signal.SIGKILL)
        case "wait" | "gate":
            run.say(str(os.getpid()))
            while job.game_id == "wait" or not os.path.exists(job.python):
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


def write_program(folder: Path) -> str:
    """Write the program to a file of `folder` and return its path."""
    path = folder / "worker.py"
    path.write_text(PROGRAM.replace("ROOT", repr(str(ROOT))))
    return str(path)


def job(what: str, fence: int = 1, gate: Path | None = None) -> GameJob:
    return GameJob(
        key=f"{what}-{fence}",
        game_id=what,
        fence=fence,
        config=ContestConfig(name="test", seed=0),
        bots=(),
        engines=(),
        python="" if gate is None else str(gate),
        renew_s=0.01,
    )


class Reports:
    """What a pool reports."""

    terms = ContestConfig(name="test", seed=0)

    def __init__(self) -> None:
        self.slots: asyncio.Queue[int] = asyncio.Queue()
        self.lines: asyncio.Queue[tuple[str, str]] = asyncio.Queue()
        self.renewals: asyncio.Queue[str] = asyncio.Queue()
        self.ends: asyncio.Queue[tuple[str, JobOutcome, str]] = asyncio.Queue()
        self.benches: list[tuple[str, int]] = []
        self.failures: asyncio.Queue[str] = asyncio.Queue()

    def capacity(self, games: int) -> None:
        self.slots.put_nowait(games)

    def renewed(self, job: GameJob) -> None:
        self.renewals.put_nowait(job.key)

    def measured(self, worker: str, bench: int) -> None:
        self.benches.append((worker, bench))

    def said(self, worker: str, line: str) -> None:
        self.lines.put_nowait((worker, line))

    def ended(self, job: GameJob, outcome: JobOutcome, worker: str, host: str) -> None:
        self.ends.put_nowait((job.key, outcome, worker))

    def failed(self, problem: str) -> None:
        self.failures.put_nowait(problem)

    async def began(self) -> tuple[str, str]:
        """The next worker that begins a job, and the number of the process that plays it."""
        while True:
            worker, line = await self.lines.get()
            if line.isdigit():  # the pool says other things, too, such as that it has no workers yet
                return worker, line

    async def until(self, games: int) -> None:
        """Wait until the workers play this many games at once."""
        while await self.slots.get() != games:
            pass
