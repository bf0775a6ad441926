"""Games per second of a match played here and by workers, in one run on one machine: a ratio each.

    python -m benchmarks.workers [--games 40] [--dask]        programs, each a process
    python -m benchmarks.workers --memory 100000              what results of workers keep in memory,
                                                              beside a list of their records

The programs move at once, so nearly all of a game is overhead: the start of two interpreters,
log-in, record. A longer game has the same.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from arena_protocol.games import make_game
from arena_protocol.record_codec import encode
from arena_server.core.deal import Setting
from arena_server.core.formats.base import Pairing
from arena_server.host.inprocess import play_in_process
from arena_server.places.base import LocalBot
from arena_server.places.local import LocalRun, run_local
from arena_server.places.supervisor import ProgressListener
from arena_server.places.workers.base import (
    GameJob,
    JobOutcome,
    PoolEvents,
    Workers,
)
from arena_server.terms.config import ContestConfig
from arena_server.terms.spec import ContestSpec, entrant_of

BOT = "from arena_client import run\nrun(lambda view: '6')\n"
ARENA = (sys.executable, "-m", "arena_cli")


def match(players: Sequence[str], games: int, *options: str) -> float:
    """Games per second of a match, with the start of all processes."""
    began = time.monotonic()
    command = [
        *ARENA,
        "match",
        *players,
        "--deals",
        str(games // 2),
        "--option",
        "plies=10",
        "--json",
        *options,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["games"] == games, done.stderr
    return games / (time.monotonic() - began)


@contextmanager
def cluster(workers: int) -> Iterator[str]:
    """A scheduler on loopback with workers of one thread each."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{sock.getsockname()[1]}"
    dask = [sys.executable, "-m", "dask"]
    port = address.rpartition(":")[2]
    commands = [[*dask, "scheduler", "--host", "127.0.0.1", "--port", port, "--no-dashboard"]]
    commands += [
        [*dask, "worker", f"tcp://{address}", "--nthreads", "1", "--no-nanny", "--no-dashboard"]
    ] * workers
    started = []
    try:
        for command in commands:
            started.append(subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        time.sleep(5)
        yield f"dask://{address}"
    finally:
        for process in started:
            process.kill()
            process.wait()


def speeds(games: int, *, dask: bool) -> None:
    with TemporaryDirectory() as folder, ExitStack() as stack:
        bot = Path(folder) / "bot.py"
        bot.write_text(BOT)
        programs = (f"python {bot}", f"python {bot}")
        places = {f"--concurrency {count}": ("--concurrency", str(count)) for count in (1, 2)}
        places |= {f"--on local:{count}": ("--on", f"local:{count}") for count in (1, 2)}
        if dask:
            for count in (1, 2):
                address = stack.enter_context(cluster(count))
                places[f"--on dask, {count} workers"] = ("--on", address)
        for title, players in (("programs", programs), ("engines", ("greedy", "dummy"))):
            base = None
            for place, options in places.items():
                speed = match(players, games, *options)
                base = base or speed
                print(
                    f"{title:9} {place:22} {speed:7.2f} games/s  {speed / base:5.2f} of --concurrency 1"
                    f"  {1000 / speed:7.0f} ms a game"
                )


class Instant:
    """Workers that return each game at once: records of tic-tac-toe that were played before."""

    def __init__(self) -> None:
        self._rng = Random(1)
        #: The bytes of the last record.
        self.size = 0

    async def open(self, events: PoolEvents) -> None:
        self._events = events
        events.capacity(4)

    def submit(self, job: GameJob) -> None:
        asyncio.get_running_loop().call_soon(self._play, job)

    def _play(self, job: GameJob) -> None:
        rules = make_game(job.config.game, job.config.options)
        setting = Setting.of(job.config, rules, Pairing(1, tuple(bot.name for bot in job.bots), 1))
        moves = rules.legal_moves
        record = play_in_process(
            setting, [lambda match: self._rng.choice(list(moves(match.position)))] * rules.seats
        )
        data = encode(record)
        self.size = len(data)
        self._events.ended(job, JobOutcome(data), "instant", "here")

    def withdraw(self, key: str) -> None:
        pass

    def exclude(self, worker: str) -> None:
        pass

    async def close(self) -> None:
        pass


class Watch(ProgressListener):
    """Prints the most memory that the process has had, ten times in the run."""

    def __init__(self, games: int) -> None:
        self._games = games
        self._done = 0
        self._began = time.monotonic()

    def result(self, _result: dict[str, object]) -> None:
        self._done += 1
        if self._done % (self._games // 10) == 0:
            peak = _peak_mb()
            speed = self._done / (time.monotonic() - self._began)
            print(f"{self._done:8} results  {peak:6.1f} MB at most  {speed:6.0f} games/s", flush=True)


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def memory(games: int) -> None:
    names = ("ann", "bob")
    config = ContestConfig(
        name="memory", seed=1, game="tictactoe", format="matches", games_per_pair=games, spectator_delay_ms=0
    )
    pool = Instant()
    workers = Workers(
        pool=pool,
        bots={name: LocalBot(name, ("-",), "t") for name in names},
        engines={},
        lease_ms=30_000,
    )
    spec = ContestSpec(config=config, entrants=[entrant_of(name, "t") for name in names], new=True)
    with TemporaryDirectory() as folder:
        run = LocalRun(replace(spec), Path(folder) / "arena.db", [], workers=workers)
        before = _peak_mb()
        asyncio.run(run_local(run, Watch(games), asyncio.Event()))
        grown = _peak_mb() - before
    # A list of the records as they came, the least that keeps them all.
    listed = games * (sys.getsizeof(bytes(pool.size)) + 8) / 2**20
    print(f"{grown:.1f} MB, {grown / listed:.2f} of a list of the records ({listed:.1f} MB)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--games", type=int, default=40)
    parser.add_argument("--dask", action="store_true")
    parser.add_argument("--memory", type=int, default=0, metavar="RESULTS")
    options = parser.parse_args()
    if options.memory:
        memory(options.memory)
    else:
        speeds(options.games, dask=options.dask)


if __name__ == "__main__":
    main()
