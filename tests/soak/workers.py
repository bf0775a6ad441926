"""A contest on a Dask cluster in which server, workers and scheduler are killed.

    run(minutes) -> `dask scheduler`, three `dask worker`, `arena serve --on` -> kills at random moments
                 -> the contest goes on to its end -> check -> Campaign

Every game counts once, every record and the chain verify, no bot has a fault, and the table is that of a
contest that nothing has happened to: the bots are deterministic. The seed draws the moments.
"""

from __future__ import annotations

import signal
import subprocess
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Annotated

import typer

from arena_protocol.record import VOID
from arena_server.errors import StoreError
from arena_server.store.reader import Results

from ..server.places.workers.dask_cluster import Cluster
from .processes import ARENA, Say, Server, counts, print_run, run_alone, verified, verify_chain

PATIENCE_S = 300.0
WORKERS = ("w1", "w2", "w3")
#: What is killed, by weight.
VICTIMS = {"worker": 6, "server": 3, "scheduler": 1}
#: Seconds between two kills, at most.
PAUSE_S = 8.0
BOTS = ("greedy", "dummy", "greedy")


@dataclass
class Campaign:
    """What a run came to; `by` counts the games of each worker."""

    seconds: float = 0.0
    kills: Counter[str] = field(default_factory=Counter)
    games: int = 0
    void: int = 0
    by: Counter[str] = field(default_factory=Counter)

    @property
    def told(self) -> Counter[str]:
        """The games that were compared with those of a contest without kills."""
        return Counter(games=self.games)

    def add(self, other: Campaign) -> None:
        self.seconds += other.seconds
        self.kills += other.kills
        self.games += other.games
        self.void += other.void
        self.by += other.by

    def __str__(self) -> str:
        return (
            f"{self.seconds / 60:.1f} minutes, kills: {counts(self.kills)}\n"
            f"{self.games:,} games with a result, each once; {self.void} void; played by {counts(self.by)}"
        )


class WorkerField:
    """The processes of one run."""

    def __init__(self, folder: Path, seed: int, games: int) -> None:
        self.report = Campaign()
        self.database = folder / "arena.db"
        self._folder = folder
        self._chance = Random(seed)
        self._cluster = Cluster(folder)
        words = ["serve", "c.toml", "--port", "0", "--no-web", "--until-finished", "--lease", "10s"]
        words += ["--on", self._cluster.where, "--log-level", "error"]
        self._server = Server(folder, *words, listens=False)
        bots = "".join(f'[[bot]]\nname = "b{place}"\nengine = "{name}"\n' for place, name in enumerate(BOTS))
        (folder / "c.toml").write_text(
            f'[contest]\nname = "c"\nseed = 7\ngames_per_pair = {games}\nprobation = 0\n'
            f'[game]\nplies = 40\nclock = "60s"\n{bots}'
        )

    def start(self) -> None:
        self._cluster.start_scheduler()
        for name in WORKERS:
            self._cluster.start_worker(name)
        self._server.start()

    def kill_one(self) -> None:
        """Kill something, and start it again."""
        (what,) = self._chance.choices(list(VICTIMS), list(VICTIMS.values()))
        if what == "server":
            if self._server.status() is None:  # it leaves by itself at the end of the contest
                self._server.end(self._chance.choice((signal.SIGKILL, signal.SIGTERM)))
            if self.is_over():
                return
            self._server.start()
        else:
            name = self._chance.choice(WORKERS) if what == "worker" else "scheduler"
            self._cluster.signal(name, signal.SIGKILL)
            self._cluster.processes[name].wait(PATIENCE_S)
            self._cluster.start_worker(name) if what == "worker" else self._cluster.start_scheduler()
        self.report.kills[what] += 1
        self._tend()

    def _tend(self) -> None:
        """Start again the workers that have ended by themselves: they had lost their scheduler."""
        for name in WORKERS:
            if self._cluster.processes[name].poll() is not None:
                self._cluster.start_worker(name)

    def is_over(self) -> bool:
        with suppress(StoreError), Results(self.database) as results:
            return results.contest().status == "finished"
        return False

    def play(self, seconds: float, say: Say) -> None:
        """Kill for so long, then let the contest come to its end."""
        begun = time.monotonic()
        self.start()
        while time.monotonic() < begun + seconds and not self.is_over():
            time.sleep(self._chance.uniform(0.5, PAUSE_S))
            self.kill_one()
        say(f"{self.report.kills.total()} kills in {(time.monotonic() - begun) / 60:.1f} minutes")
        until = time.monotonic() + PATIENCE_S + seconds
        while not self.is_over():
            assert self._server.status() in (None, 0), self._server.said()
            assert time.monotonic() < until, "the contest does not end"
            self._tend()  # also after the last kill
            time.sleep(0.5)
        self.report.seconds = time.monotonic() - begun

    def close(self) -> None:
        self._server.close()
        self._cluster.close()

    def check(self) -> None:
        """Every game counts once, its record verifies, and the table is as without kills."""
        with Results(self.database) as results:
            (contest,) = results.contests()
            rows = [(row.name, row.points, row.games) for row in results.sums.standings(contest)]
            records = verified(results, contest).values()
        for record in records:
            assert not any(fault.seat for fault in record.faults), record.game_id
            self.report.by[record.worker] += 1
        self.report.void = sum(record.end == VOID for record in records)
        self.report.games = len(records) - self.report.void
        verify_chain(self._folder)
        quiet = ["tournament", "c.toml", "--database", "sqlite:///quiet.db"]
        log = self._folder / "quiet.log"
        with log.open("wb") as file:
            subprocess.run([*ARENA, *quiet], cwd=self._folder, check=True, stdout=file, stderr=file)
        with Results(self._folder / "quiet.db") as results:
            same = results.sums.standings(results.contest())
        assert rows == [(row.name, row.points, row.games) for row in same]


def run(folder: Path, minutes: float, seed: int, games: int | None = None, say: Say = print) -> Campaign:
    """Play with kills for so long, check, and return the figures; `games` a pair."""
    played = WorkerField(folder, seed, games or max(2, round(40 * minutes)) * 2)
    run_alone(played, minutes, say)
    return played.report


def main(
    minutes: Annotated[float, typer.Option(help="How long something is killed.")] = 10.0,
    seed: Annotated[int, typer.Option(help="What draws the moments.")] = 1,
) -> None:
    """Play a contest on workers in which server, workers and scheduler are killed, and print the figures."""
    print_run(lambda folder, say: run(folder, minutes, seed, say=say))


if __name__ == "__main__":
    typer.run(main)
