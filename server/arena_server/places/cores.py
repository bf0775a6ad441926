"""The cores of this machine, and who uses which."""

from __future__ import annotations

import os
import platform
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from itertools import groupby
from pathlib import Path

from arena_server.terms.config import Entrant

#: Linux alone lets a process choose its cores.
CAN_PIN = hasattr(os, "sched_setaffinity")


def own_cores() -> tuple[int, ...]:
    """The cores that this thread may use; empty where the system does not say."""
    return tuple(sorted(os.sched_getaffinity(0))) if CAN_PIN else ()


def shares(cores: Sequence[int], parts: int) -> list[tuple[int, ...]]:
    """Divide cores into equal parts, some of them may be left; each is empty if there are too few."""
    size = len(cores) // parts
    return [tuple(cores[part * size : (part + 1) * size]) for part in range(parts)]


def use_cores(cores: Sequence[int]) -> None:
    """Let this thread, and what it starts from now on, use these cores alone, if there are any."""
    if cores and CAN_PIN:
        os.sched_setaffinity(0, cores)


@contextmanager
def on_cores(cores: Sequence[int]) -> Iterator[None]:
    """What is started inside uses these cores alone, if there are any; this thread uses its own again."""
    before = own_cores() if cores else ()
    use_cores(cores)
    try:
        yield
    finally:
        use_cores(before)


def crowding_of(
    cpus: Mapping[str, float], entrants: Iterable[Entrant], seats: int, processes: Collection[str] = ()
) -> str:
    """How bots that may use `cpus` processors exceed this machine at once; empty: they do not.

    Who plays no game stands still (`idle.py`), and of those that do not ponder one in each game runs. Of a
    process it is not known whether it ponders: it is taken for one that does not.
    """
    entrants = list(entrants)
    games = sum(each.concurrency for each in entrants) // seats
    playing, in_turn = list[float](), list[float]()
    for each in entrants:
        some = playing if each.ponders and each.name not in processes else in_turn
        some += [cpus.get(each.name, 0.0)] * each.concurrency
    most = sum(sorted(playing)[-games * seats :]) + sum(sorted(in_turn)[-games:]) if games else 0.0
    cores = len(own_cores()) or os.cpu_count() or 1
    if most <= cores:
        return ""
    how = "`cpus`, one for a process" if processes else "`cpus`"
    return (
        f"the bots of {games} game{'s' * (games > 1)} at once may use {most:g} processors ({how}), and this"
        f" machine has {cores}: bots slow each other; give"
        ' smaller `cpus`, fewer games at once (`concurrency`, `--on local:N`) or `ponder = "off"`'
    )


def describe_cores(cores: Sequence[int]) -> str:
    """Return cores as Linux writes a list of them: 0-3,8."""
    # In a run of cores that follow each other the difference to their places is the same.
    runs = ([core for _, core in run] for _, run in groupby(enumerate(cores), lambda pair: pair[1] - pair[0]))
    return ",".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else f"{run[0]}" for run in runs)


@cache
def cpu_model() -> str:
    """What the system calls its processor; empty if it does not."""
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
            key, _, value = line.partition(":")
            if key.strip() == "model name":
                return value.strip()
    return platform.processor() or platform.machine()
