"""What a move waits for in each database: `python -m benchmarks.postgres [SECONDS]`.

Games append a ply each and wait until it is durable, as the driver does; all that are ready at once
share one batch. Prints plies a second and the time from `append` to durable, p50 and p99. A
PostgreSQL server is started for it, on the same machine and with fsync.
"""

from __future__ import annotations

import sys
import tempfile
import threading
import time
from collections import deque
from pathlib import Path

from tests.server.postgres import cluster

from arena_server.store.database import ContestHeader, Database, Postgres
from arena_server.store.writer import Writer
from arena_server.terms.config import ContestConfig

GAMES = (1, 10, 100)
SECONDS = 5.0


def measure(database: Database, games: int, seconds: float) -> tuple[float, float, float]:
    """Plies a second, and p50 and p99 in milliseconds."""
    changed = threading.Condition()
    durable = 0

    def committed(batches: int, _game_ids: list[str]) -> None:
        nonlocal durable
        with changed:
            durable = max(durable, batches)
            changed.notify()

    header = ContestHeader(ContestConfig(name="bench", seed=1), {}, ["a", "b"], 1, new=True)
    found = threading.Event()
    writer = Writer(database, header, found=lambda _: found.set(), committed=committed, failed=print)
    writer.start()
    found.wait()
    writer.enter(header.config)
    waits: list[float] = []
    #: Number of the batch, when it was appended, how many games are in it.
    waiting: deque[tuple[int, float, int]] = deque()
    ready, batch, end = games, 0, time.perf_counter() + seconds
    while time.perf_counter() < end:
        if ready:
            batch += 1
            waiting.append((batch, time.perf_counter(), ready))
            entries = [
                (game, "ply", 7, "6", 3, 0, 12_345_678, (9000, 9000), 30) for game in range(1, ready + 1)
            ]
            ready = 0
            if writer.append(entries):
                committed(batch, [])
        with changed:
            while durable < waiting[0][0]:
                changed.wait()
            done = durable
        now = time.perf_counter()
        while waiting and waiting[0][0] <= done:
            _, since, count = waiting.popleft()
            waits += [now - since] * count
            ready += count
    writer.close()
    waits.sort()
    return len(waits) / seconds, waits[len(waits) // 2] * 1e3, waits[len(waits) * 99 // 100] * 1e3


def main(seconds: float) -> None:
    print(f"{'database':<24} {'games':>5} {'plies/s':>9} {'p50 ms':>8} {'p99 ms':>8}")
    with tempfile.TemporaryDirectory() as folder, cluster(fsync=True) as server:
        for games in GAMES:
            url = server.database().url
            databases: dict[str, Database] = {
                "SQLite": Path(folder) / f"{games}.db",
                "PostgreSQL, sync": Postgres(url),
                "PostgreSQL, async": Postgres(url, async_journal=True),
            }
            for name, database in databases.items():
                rate, p50, p99 = measure(database, games, seconds)
                print(f"{name:<24} {games:>5} {rate:>9,.0f} {p50:>8.2f} {p99:>8.2f}", flush=True)


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else SECONDS)
