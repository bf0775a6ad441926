"""`arena bench referee`: the referee and a bare echo, measured one after the other in one run.

Server and load are separate processes, so that with two cores neither waits for the other.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

from benchmarks.referee.server import Figures

from arena_server.errors import ArenaError

GAMES = (1, 10, 100, 1000)
SECONDS = 8.0
QUICK_GAMES = (1, 10, 100)
QUICK_SECONDS = 2.0
#: The time besides the measurement: all bots log in; the schedule of 2,000 bots is made.
START_S = 240.0

BENCH = (sys.executable, "-m", "benchmarks.referee")


def measure(*, quick: bool, say: Callable[[str], None]) -> dict[str, Any]:
    """Measure all sizes and return what `--json` prints; `say` gets a line of progress."""
    seconds = QUICK_SECONDS if quick else SECONDS
    rows = []
    for games in QUICK_GAMES if quick else GAMES:
        say(f"{games} games at once ...")
        rows.append(_row(games, _run("echo", games, seconds), _run("referee", games, seconds)))
    return {"cores": os.cpu_count(), "seconds": seconds, "rows": rows}


def _row(games: int, echo: Figures, referee: Figures) -> dict[str, Any]:
    return {
        "games": games,
        "plies_per_second": round(referee.rate),
        "echo_lines_per_second": round(echo.rate),
        "ratio": round(referee.rate / echo.rate, 3),
        "referee_cpu_us": round(referee.cpu_us, 1),
        "echo_cpu_us": round(echo.cpu_us, 1),
        "cpu_ratio": round(referee.cpu_us / echo.cpu_us, 2),
        "share_p50_us": referee.p50_us and round(referee.p50_us, 1),
        "share_p99_us": referee.p99_us and round(referee.p99_us, 1),
    }


def _run(kind: str, games: int, seconds: float) -> Figures:
    """Run one server and one load until both end."""
    server = subprocess.Popen(
        [*BENCH, "server", kind, str(games), str(seconds)], stdout=subprocess.PIPE, text=True
    )
    load = None
    try:
        assert server.stdout is not None
        address = server.stdout.readline().strip().removeprefix("listening on ")
        load = subprocess.Popen([*BENCH, "load", kind, str(games), address])
        said, _ = server.communicate(timeout=START_S + seconds)
        if server.returncode:
            raise ArenaError(f"the measured server ended with status {server.returncode}; see above")
        return Figures(**json.loads(said))
    except subprocess.TimeoutExpired:
        raise ArenaError(f"{kind}, {games} games: no figures within {START_S + seconds:.0f} s") from None
    finally:
        for process in (server, load):
            if process is not None:
                process.kill()
                process.wait()
                if process.stdout is not None:
                    process.stdout.close()


def text_table(measured: dict[str, Any]) -> str:
    """Return the measurement as a table."""
    lines = [
        f"{measured['cores']} cores, {measured['seconds']:.0f} s per row; "
        "instant bots on trio in one process, the server in another",
        f"{'games':>6}  {'plies/s':>8}  {'echo/s':>8}  {'ratio':>6}  {'CPU us / ply':>12}  "
        f"{'echo us':>8}  {'ratio':>6}  {'share p50 us':>12}  {'p99 us':>8}",
    ]
    lines += [
        f"{row['games']:>6}  {row['plies_per_second']:>8,}  {row['echo_lines_per_second']:>8,}  "
        f"{row['ratio']:>6.3f}  {row['referee_cpu_us']:>12.1f}  {row['echo_cpu_us']:>8.1f}  "
        f"{row['cpu_ratio']:>6.2f}  {row['share_p50_us']:>12.1f}  {row['share_p99_us']:>8.1f}"
        for row in measured["rows"]
    ]
    return "\n".join(lines)
