"""How long a server needs to take a contest up again, from opening the database to going on.

Two contests: about 1,000 games among 33 bots, and the worst, 500 of 1,000 games running at
once among 1,000 bots. Prints seconds and, for a busy machine, seconds of CPU. Run it as
`python benchmarks/recovery.py`.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from arena_protocol.games import make_game
from arena_protocol.record import encode
from arena_server.core.config import ContestPlan, Entrant
from arena_server.core.contest import Contest
from arena_server.core.deal import Setting
from arena_server.core.events import Tick
from arena_server.core.match import Match
from arena_server.core.schedule import Schedule
from arena_server.store.contest_store import ContestStore
from arena_server.store.database import ContestHeader

PLIES, MS = 200, 1_000_000
#: Bots, games that are stored, games that are running.
CONTESTS = ((33, 500, 16), (1000, 500, 500))


def played(plan: ContestPlan, schedule: Schedule, number: int, plies: int) -> Match:
    """Game `number` after a number of plies."""
    match = Match(Setting.of(plan, make_game("insertion", {}), schedule.pairing(number)), 0)
    match.ready(1, 0, 0)
    match.ready(2, 0, 0)
    for ply in range(plies):
        seat, now = 1 + ply % 2, (ply + 1) * 5 * MS
        match.handed(seat, ply + 1, now - 4 * MS)
        match.move(seat, "6", b"MOVE 6", now, now)
    return match


def fill(database: Path, plan: ContestPlan, names: list[str], stored: int, running: int) -> ContestHeader:
    """Write what a server leaves behind whose running games are half-way."""
    schedule = Schedule(names, 2, plan.games_per_pair)
    opening = ContestHeader(plan, {}, names, schedule.total)
    with ContestStore(database) as store:
        store.find(opening)
        with store.transaction():
            store.enter(opening, plan)
            for number in range(1, stored + 1):
                record = played(plan, schedule, number, PLIES).record()
                store.add([], [(f"g{number}", record, encode(record))])
            for number in range(stored + 1, stored + 1 + running):
                store.add(played(plan, schedule, number, PLIES // 2).diary.take(), [])
    return opening


def measure(bots: int, stored: int, running: int) -> None:
    """Measure one contest, and print what it took."""
    names = [f"b{number}" for number in range(bots)]
    plan = ContestPlan(name="recovery", seed=2006, games_per_pair=2, probation=0)
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "arena.db"
        opening = fill(database, plan, names, stored, running)
        began, cpu = time.perf_counter(), time.process_time()
        with ContestStore(database) as store:
            found = store.find(opening)
            assert found is not None
            entrants = [Entrant(name) for name in names]
            contest = Contest(plan, entrants, lambda length: "0" * length, 0, found.past)
            contest.handle(Tick(), 0)
            took, used = time.perf_counter() - began, time.process_time() - cpu
    progress = contest.progress()
    print(
        f"{bots} bots: {progress.done} games stored, {progress.running} running, "
        f"{progress.plies} plies in all: {took:.2f} s, CPU {used:.2f} s"
    )


if __name__ == "__main__":
    for contest in CONTESTS:
        measure(*contest)
