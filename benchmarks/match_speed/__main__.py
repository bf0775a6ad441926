"""Processor time of a ply of `arena match` beside fastchess and a bare relay; programs answer at once.

    python -m benchmarks.match_speed [--rounds 5] [--games 40] [--concurrency 1] [--pin] [--beside COMMAND]

All play games of 200 plies, `--concurrency` at a time (the relay one), with C programs (`bot.c`, `uci.c`; cc
compiles them). A row is the processor time of the whole tree of processes a ply: of a long match less that of
one of two games at each place, so that starting counts nothing. Rivals run in turn, and the ratios are those
of one round. fastchess is that of the variable FASTCHESS, or of the path; without it the relay alone is the
rival.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

HERE = Path(__file__).parent
PLIES = 200
#: Kings and a pawn: the game of `uci.c` is over after 200 plies, and not before.
START = "k7/8/8/8/8/8/4P3/K7 w - - 0 1\n"
#: Returns the command of a match of this number of games.
Command = Callable[[int], list[str]]


def cpu_of(command: list[str], folder: Path) -> float:
    """The processor seconds of a command and of all that it has waited for."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def match_of(arena: str, bot: str, concurrency: int) -> Command:
    """A match of `arena` between two bots."""
    return lambda games: [
        *(arena, "match", f"{bot} 1", f"{bot} 2", "--deals", str(games // 2)),
        *("--option", f"plies={PLIES}", "--concurrency", str(concurrency)),
    ]


def rivals(folder: Path, beside: str | None, concurrency: int) -> dict[str, Command]:
    """What can be measured here, with programs compiled in `folder`."""
    for name in ("bot", "uci"):
        subprocess.run(["cc", "-O2", "-o", folder / name, HERE / f"{name}.c"], check=True)
    (folder / "start.epd").write_text(START, encoding="ascii")
    bot, uci = f"{folder}/bot", f"{folder}/uci"
    found: dict[str, Command] = {
        "arena": match_of(str(Path(sys.executable).parent / "arena"), bot, concurrency),
        "relay": lambda games: [sys.executable, str(HERE / "relay.py"), bot, str(games * PLIES)],
    }
    if beside is not None:
        found["beside"] = match_of(beside, bot, concurrency)
    if (program := os.environ.get("FASTCHESS") or shutil.which("fastchess")) is not None:
        found["fastchess"] = lambda games: [
            *(program, "-engine", f"cmd={uci}", "name=a", "-engine", f"cmd={uci}", "name=b"),
            *("-each", "tc=600", "-rounds", str(games // 2), "-games", "2", "-repeat"),
            *("-concurrency", str(concurrency), "-force-concurrency"),
            *("-maxmoves", str(PLIES // 2), "-openings", f"file={folder}/start.epd", "format=epd"),
        ]
    return found


def table(rows: Mapping[str, Sequence[float]]) -> list[str]:
    """A line for each rival, from its microseconds a ply in each round, those of `arena` among them."""
    lines = []
    for rival, spent in rows.items():
        ratios = [ours / each for ours, each in zip(rows["arena"], spent, strict=True)]
        line = f"{rival:10} {median(spent):6.1f} us a ply ({min(spent):.1f} to {max(spent):.1f})"
        if rival != "arena":
            line += f"; arena takes {median(ratios):.2f} times that ({min(ratios):.2f} to {max(ratios):.2f})"
        lines.append(line)
    return lines


def main() -> None:
    """Measure what the command line asks for."""
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--games", type=int, default=40, help="even, more than two at each place")
    parser.add_argument("--concurrency", type=int, default=1, help="games at once")
    parser.add_argument("--pin", action="store_true", help="bind all processes to one core")
    parser.add_argument("--beside", metavar="COMMAND", help="the `arena` of another environment")
    given = parser.parse_args()
    short = 2 * given.concurrency
    if given.pin:
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    rows: dict[str, list[float]] = {}
    with TemporaryDirectory() as name:
        for _ in range(given.rounds):
            for rival, command in rivals(Path(name), given.beside, given.concurrency).items():
                spent = cpu_of(command(given.games), Path(name)) - cpu_of(command(short), Path(name))
                rows.setdefault(rival, []).append(spent / (given.games - short) / PLIES * 1e6)
    print("\n".join(table(rows)))


if __name__ == "__main__":
    main()
