"""Everything is killed at once: `python -m tests.soak.everything --minutes 60 --seed 1`.

A host of contests with the people who use it (hosts.py), versions that authors send (submissions.py), and a
contest on Dask workers (workers.py), each with kills of its own, beside each other. What anyone was sent is
stored at the end, and no process and no container is left.
"""

from __future__ import annotations

import os
import subprocess
import threading
import time
from pathlib import Path
from queue import SimpleQueue
from shutil import rmtree
from tempfile import mkdtemp
from typing import Annotated, Any

import typer

from ..server.places.containers import PROBLEM
from .hosts import HostField
from .processes import Part, Say
from .submissions import Field
from .workers import Campaign, WorkerField

#: Each can be played alone.
PARTS = ("hosts", "submissions", "workers")

#: Of a pair, in one contest on workers: it plays for some minutes.
GAMES = 100


def left_in(folder: Path) -> list[str]:
    """The processes whose folder or command names `folder`."""
    left = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            at = os.readlink(process / "cwd")
        except OSError:  # it has ended meanwhile
            continue
        if int(process.name) != os.getpid() and str(folder) in f"{at} {words}":
            left.append(f"{process.name} {words:.100}")
    return left


def containers() -> set[str]:
    """All containers of the engine, if there is one."""
    if PROBLEM is not None:
        return set()
    words = ["docker", "ps", "--all", "--quiet", "--no-trunc"]
    return set(subprocess.run(words, capture_output=True, text=True, check=True).stdout.split())


class WorkerRounds:
    """One contest on workers after the other, each compared with that of a run without kills."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.report = Campaign()
        self._folder = folder
        self._seed = seed
        self._running: WorkerField | None = None

    def play(self, seconds: float, say: Say) -> None:
        begun, number = time.monotonic(), 0
        while (left := begun + seconds - time.monotonic()) > 0:
            folder = self._folder / str(number)
            folder.mkdir()
            self._running = WorkerField(folder, self._seed + number, GAMES)
            self._running.play(left, say)
            self._running.close()
            self._running.check()
            self.report.add(self._running.report)
            number += 1

    def check(self) -> None:
        """Each contest has been compared after it."""

    def close(self) -> None:
        if self._running is not None:
            self._running.close()


def parts_in(folder: Path, seed: int, *, scripted: bool) -> dict[str, Part]:
    for name in PARTS:
        (folder / name).mkdir()
    return {
        "hosts": HostField(folder / "hosts", seed),
        "submissions": Field(
            folder / "submissions", seed, real=PROBLEM is None and not scripted, runners=False
        ),
        "workers": WorkerRounds(folder / "workers", seed),
    }


def run(
    folder: Path,
    minutes: float,
    seed: int,
    say: Say = print,
    *,
    scripted: bool = False,
    only: str = "",
) -> list[Any]:
    """Play and kill for so long, check, and return the figures of each part.

    The first failure of a part ends the others, and is raised with a note that says which part it was.
    """
    counted = containers if only in ("", "submissions") and not scripted else set[str]
    before = counted()
    ended: SimpleQueue[BaseException | None] = SimpleQueue()
    parts = parts_in(folder, seed, scripted=scripted)
    chosen = {name: part for name, part in parts.items() if only in ("", name)}

    def play(name: str, part: Part) -> None:
        try:
            part.play(minutes * 60, lambda line: say(f"{name}: {line}"))
            say(f"{name}: the kills are over, what was sent is compared with what is stored")
            part.check()
        except BaseException as error:
            error.add_note(f"part {name}, minutes {minutes:g}, seed {seed}, logs in {folder / name}")
            ended.put(error)
        else:
            ended.put(None)

    try:
        for name, part in chosen.items():
            threading.Thread(target=play, args=(name, part), daemon=True).start()
        for _ in chosen:
            if (failure := ended.get()) is not None:
                raise failure
    finally:
        for part in chosen.values():
            part.close()
    until = time.monotonic() + 60
    # The sweeper of a killed server looks for the last time after 43 seconds.
    while ((left := left_in(folder)) or (more := counted() - before)) and time.monotonic() < until:
        time.sleep(0.5)
    assert not left, f"processes are left: {left}"
    assert not more, f"containers are left: {more}"
    return [part.report for part in chosen.values()]


def main(
    minutes: Annotated[float, typer.Option(help="How long something is killed.")] = 60.0,
    seed: Annotated[int, typer.Option(help="What draws the kills.")] = 1,
    scripted: Annotated[bool, typer.Option("--scripted", help="Without Docker, also where it is.")] = False,
    only: Annotated[str, typer.Option(help=f"One of {', '.join(PARTS)} alone.")] = "",
) -> None:
    """Kill hosts, sites, bots, admissions, workers and cron jobs beside each other, and print the figures."""
    begun = time.monotonic()

    def say(line: str) -> None:
        typer.echo(f"{(time.monotonic() - begun) / 60:5.1f} min  {line}", err=True)

    place = Path(mkdtemp(prefix="arena-soak-"))
    say(f"seed {seed}; logs and databases are in {place}, and stay there after a failure")
    reports = run(place, minutes, seed, say, scripted=scripted, only=only)
    kills, told = (sum(getattr(report, what).total() for report in reports) for what in ("kills", "told"))
    typer.echo(f"seed {seed}: {kills} kills; {told:,} answers and results compared with the database, 0 lost")
    for report in reports:
        typer.echo(f"\n{report}")
    rmtree(place)


if __name__ == "__main__":
    app = typer.Typer(pretty_exceptions_enable=False, add_completion=False)
    app.command()(main)
    app()
