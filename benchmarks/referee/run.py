"""`arena bench referee`: CPU per ply and plies per second of `arena serve`, next to a bare echo."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.referee.load import Figures, Load, measure

from arena_server.errors import ArenaError
from arena_server.host.sockets import parse_address

GAMES = (1, 10, 100, 500, 1000)
SECONDS = 8.0
QUICK_GAMES = (1, 10, 100)
QUICK_SECONDS = 2.0
WARM_UP_S = 2.0

CONTEST = """[contest]
name = "bench"
game = "insertion"
format = "round-robin"
games_per_pair = {games_per_pair}
seed = 2006
probation = 0
ready = "600s"
[game]
plies = 200
clock = "1h"
[server]
max_connections = {bots}
"""
#: A contest must not end within a run.
MOST_GAMES = 100_000


def compare(
    sizes: Sequence[int] | None = None,
    *,
    quick: bool,
    report: Callable[[str], None],
    python: str = sys.executable,
) -> dict[str, Any]:
    """Measure contests of these sizes, else the usual ones, and return what `--json` prints.

    `python` is the interpreter of an environment with `arena`: another one measures another version.
    """
    seconds = QUICK_SECONDS if quick else SECONDS
    rows = []
    for games in sizes or (QUICK_GAMES if quick else GAMES):
        report(f"{games} games at once ...")
        with echo_server() as server:
            echo = load(server, 2 * games, seconds, echo=True)
        with referee(2 * games, python) as server:
            rows.append(_row(games, echo, load(server, 2 * games, seconds, echo=False)))
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
    }


Server = tuple[int, tuple[str, int]]


def load(server: Server, bots: int, seconds: float, *, echo: bool) -> Figures:
    """Measure a server process under the load of `bots` connections."""
    pid, address = server
    bots_of = Load(address, bots, echo=echo)
    try:
        return measure(pid, bots_of, seconds, WARM_UP_S + bots / 200)
    finally:
        bots_of.close()


@contextmanager
def referee(bots: int, python: str) -> Iterator[Server]:
    """Run `arena serve` with a database in a temporary folder; yield its process number and address."""
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "bench.toml"
        pairs = bots * (bots - 1) // 2
        games_per_pair = 2 * max(1, MOST_GAMES // pairs // 2)
        text = CONTEST.format(games_per_pair=games_per_pair, bots=2 * bots + 64)
        text += "".join(f'[[bot]]\nname = "b{number}"\n' for number in range(bots))
        config.write_text(text)
        code = "import sys; from importlib.metadata import entry_points as e; sys.argv[0] = 'arena'; " + (
            "sys.exit(next(p for p in e(group='console_scripts') if p.name == 'arena').load()())"
        )
        command = [python, "-c", code, "serve", str(config), "--port", "0", "--log-level", "error"]
        with _process([*command, "--database", f"sqlite:///{folder}/bench.db"], folder) as server:
            yield server


@contextmanager
def echo_server() -> Iterator[Server]:
    """Run the bare echo; yield its process number and address."""
    command = [sys.executable, "-m", "benchmarks.referee", "echo"]
    with _process(command, str(Path(__file__).resolve().parents[2])) as server:
        yield server


@contextmanager
def _process(command: list[str], folder: str) -> Iterator[Server]:
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=folder)
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line:
            raise ArenaError("the measured server did not start; see above")
        yield process.pid, parse_address(line.strip().removeprefix("listening on "), "the measured server")
    finally:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


def text_table(measured: dict[str, Any]) -> str:
    """Return the measurement as a table."""
    lines = [
        f"{measured['cores']} cores, {measured['seconds']:.0f} s per row; instant bots on one epoll loop",
        f"{'games':>6}  {'plies/s':>8}  {'echo/s':>8}  {'ratio':>6}  {'CPU us / ply':>12}  "
        f"{'echo us':>8}  {'ratio':>6}",
    ]
    lines += [
        f"{row['games']:>6}  {row['plies_per_second']:>8,}  {row['echo_lines_per_second']:>8,}  "
        f"{row['ratio']:>6.3f}  {row['referee_cpu_us']:>12.1f}  {row['echo_cpu_us']:>8.1f}  "
        f"{row['cpu_ratio']:>6.2f}"
        for row in measured["rows"]
    ]
    return "\n".join(lines)
