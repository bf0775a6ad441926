"""Processor time that a game costs beside its bots' waiting: here, by workers, and of a bare Dask task.

    python -m benchmarks.worker_cpu [--dask] [--lengths 0.02 1 10] [--workers 1 2 4] [--seconds 8]

All processes count: server, scheduler, workers, bots. Of two runs, one with 2 and one with more games, the
difference is taken, so that starts do not count. The bots sleep for the length of the game, so all is
overhead but the plies themselves, which `--concurrency` has too.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import resource
import subprocess
import sys
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.workers import ARENA, cluster

PLIES = 10
BOT = """
import time
from arena_client import run
def move(view):
    time.sleep({})
    return "6"
run(move)
"""
BARE = """
import sys, time
from distributed import Client, as_completed
client, games, length = Client(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
for done in as_completed([client.submit(time.sleep, length, pure=False) for _ in range(games)]):
    done.result()
"""
_PR_SET_CHILD_SUBREAPER = 36
_TICKS = os.sysconf("SC_CLK_TCK")


def used() -> float:
    """Seconds of all children of this process: those that have ended, and those that run."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:  # what was left to this process by its parent
            pass
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return ended.ru_utime + ended.ru_stime + sum(map(_running, _descendants()))


def _stat(process: int) -> list[str]:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return []


def _running(process: int) -> float:
    return sum(map(int, _stat(process)[11:15])) / _TICKS


def _descendants() -> list[int]:
    parents = {int(each): _stat(int(each)) for each in os.listdir("/proc") if each.isdigit()}
    found = {os.getpid()}
    while more := {each for each, stat in parents.items() if stat and int(stat[1]) in found} - found:
        found |= more
    return [*(found - {os.getpid()})]


def of_games(command: list[str], games: int) -> float:
    """Milliseconds a game of a command in which PAIRS stands for the number of pairs of games."""
    costs = []
    for pairs in (1, 1, games // 2):  # the first run starts what stays in the workers of a cluster
        before = used()
        subprocess.run(
            [each.replace("PAIRS", str(pairs)) for each in command], check=True, capture_output=True
        )
        costs.append(used() - before)
    return 1000 * (costs[2] - costs[1]) / (games - 2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--dask", action="store_true")
    parser.add_argument("--lengths", type=float, nargs="+", default=[0.02, 1, 10])
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument(
        "--seconds", type=float, default=8, help="of games in a run, at least 4 games a worker"
    )
    options = parser.parse_args()
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1)  # who is left by its parent is counted here
    with TemporaryDirectory() as folder:
        bot = Path(folder) / "bot.py"
        for count in options.workers:
            for length in options.lengths:
                bot.write_text(BOT.format(length / PLIES))
                games = max(4 * count, min(200, int(options.seconds * count / length))) // 2 * 2
                measure(str(bot), count, length, games, dask=options.dask)


def measure(bot: str, count: int, length: float, games: int, *, dask: bool) -> None:
    players = [f"python {bot}", f"python {bot}"]
    match = [*ARENA, "match", *players, "--deals", "PAIRS", "--option", f"plies={PLIES}", "--clock", "60s"]
    with ExitStack() as stack:
        places = {
            "--concurrency": [*match, "--concurrency", str(count)],
            "--on local": [*match, "--on", f"local:{count}"],
        }
        if dask:
            where = stack.enter_context(cluster(count))
            places["--on dask"] = [*match, "--on", where, "--audit", "0"]
        cost = {place: of_games(command, games) for place, command in places.items()}
        if dask:
            address = where.replace("dask", "tcp")
            before = used()
            subprocess.run([sys.executable, "-c", BARE, address, "2", str(length)], check=True)
            started = used() - before
            before = used()
            subprocess.run([sys.executable, "-c", BARE, address, str(games), str(length)], check=True)
            cost["bare Dask task"] = 1000 * (used() - before - started) / (games - 2)
    for place, each in cost.items():
        print(f"{count} x {length:5.2f} s, {games:4} games  {place:15} {each:7.1f} ms a game", flush=True)


if __name__ == "__main__":
    began = time.monotonic()
    main()
    print(f"{time.monotonic() - began:.0f} s")
