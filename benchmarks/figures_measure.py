"""Measure engines task by task, and keep what was found in a JSON file that the next run goes on from.

A task is kept under its key together with the versions of its engines. A version is a digest of the
sources that an engine is made of, so a changed engine is measured again and the others are not; comments
and docstrings do not count. Games are paired (every deal is played from both seats) and seeded; points under
a clock are those of the machine. It must not know: which tasks there are, how they are drawn.
"""

from __future__ import annotations

import importlib
import json
import os
import platform
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from time import thread_time
from typing import Any, ClassVar, Protocol

from figures_change import changed
from figures_versions import version

from arena_engines.analysis import bench_positions, search_bench
from arena_engines.match import Pairs, bootstrap, play_game
from arena_engines.registry import create
from arena_protocol.games import make_game

#: The first deal of every pairing, so that all meet on the same boards.
SEED = 2006
#: Where the clock of an analysis is read.
TIMING = (
    "arena_engines.analysis",
    "arena_engines.insertion.fixed_depth",
    "arena_engines.insertion.master.engine",
)

Made = dict[str, Any]
Tell = Callable[[str], None]


class Task(Protocol):
    """Something to measure."""

    @property
    def key(self) -> str:
        """What is measured, in a line; two tasks of one key share what is found."""

    @property
    def engines(self) -> tuple[str, ...]:
        """The specifications of the engines whose change makes it void."""

    @property
    def timed(self) -> bool:
        """Whether seconds are measured."""

    def go_on(self, made: Made) -> Iterator[tuple[str, Made]]:
        """Go on from what was found before ({}: nothing); yield notes and all that is found."""


@dataclass(frozen=True)
class Nodes:
    """The nodes of an engine on the bench positions, by depth from 1 to `deepest`."""

    spec: str
    deepest: int
    timed: ClassVar[bool] = False

    @property
    def key(self) -> str:
        """What is measured."""
        return f"nodes of {self.spec}"

    @property
    def engines(self) -> tuple[str, ...]:
        """The engine."""
        return (self.spec,)

    def go_on(self, made: Made) -> Iterator[tuple[str, Made]]:
        """Search one ply deeper at a time."""
        engine = create(self.spec)
        positions = bench_positions()
        found = list(made.get("nodes", ()))
        while len(found) < self.deepest:
            depth = len(found) + 1
            found.append(sum(engine.analyse(position, depth).nodes for position in positions))
            yield f"depth {depth}: {found[-1]:,}", {"nodes": list(found), "positions": len(positions)}


@dataclass(frozen=True)
class Speed:
    """`arena bench search` of an engine beside a rival's: nodes, seconds, and the speed of bare moves.

    The seconds are those of the processor, since others may use the machine too.
    """

    spec: str
    rival: str
    depth: int
    timed: ClassVar[bool] = True

    @property
    def key(self) -> str:
        """What is measured."""
        return f"processor seconds of {self.spec} and {self.rival} to depth {self.depth}"

    @property
    def engines(self) -> tuple[str, ...]:
        """Both."""
        return (self.spec, self.rival)

    def go_on(self, made: Made) -> Iterator[tuple[str, Made]]:
        """Measure, unless it was done."""
        if not made:
            with ExitStack() as clocks:
                for module in TIMING:
                    clocks.enter_context(changed(module, "perf_counter", thread_time))
                bench = search_bench(self.spec, self.depth, self.rival, self.depth)
            yield f"{bench['nodes_per_second']['bare']:,} bare moves a second", bench


@dataclass(frozen=True)
class Pairing:
    """`deals` deals between two engines, each played twice with the seats swapped.

    `clock`: the bank of a seat for a game in milliseconds, None: no clock. `options`: those of the game.
    """

    one: str
    other: str
    deals: int
    clock: int | None = None
    options: tuple[tuple[str, int], ...] = ()
    timed: ClassVar[bool] = False

    @property
    def key(self) -> str:
        """What is measured, whatever the number of deals."""
        clock = "no clock" if self.clock is None else f"{self.clock} ms"
        return ", ".join([f"{self.one} - {self.other}", clock, *(f"{k}={v}" for k, v in self.options)])

    @property
    def engines(self) -> tuple[str, ...]:
        """Both."""
        return (self.one, self.other)

    def go_on(self, made: Made) -> Iterator[tuple[str, Made]]:
        """Play one deal more at a time; fresh engines for each, so that none depends on the one before."""
        pairs = Pairs(**made)
        while len(pairs.one) < self.deals:
            self.play(len(pairs.one), pairs)
            note = f"deal {len(pairs.one)} of {self.deals}: {pairs.one[-1]:.0f} : {pairs.other[-1]:.0f}"
            yield note, {"one": pairs.one, "other": pairs.other, "faults": pairs.faults, "used": pairs.used}

    def play(self, number: int, pairs: Pairs) -> None:
        """Play both games of a deal and add them."""
        rules = make_game("insertion", dict(self.options))
        deal = rules.deal(SEED + number)
        players = create(self.one), create(self.other)
        for player in players:
            player.warm_up()
        first = play_game(rules, deal, players, self.clock)
        pairs.add((self.one, self.other), first, play_game(rules, deal, players[::-1], self.clock))


@dataclass(frozen=True)
class Result:
    """The points of a pairing, a number a deal, and how often each engine became a zombie."""

    one: list[float]
    other: list[float]
    faults: Mapping[str, Sequence[str]]

    def mean(self) -> tuple[float, list[float]]:
        """Return the first engine's mean points a game and its interval (95 %, bootstrap over the deals)."""
        return average(self.one), bootstrap([self.one], average)

    def swapped(self) -> Result:
        """Return the same with the other engine first."""
        return Result(self.other, self.one, self.faults)

    def ratio(self) -> tuple[float, list[float]]:
        """Return the first engine's points for a point of the other's, and the interval."""
        return share(self.one, self.other), bootstrap([self.one, self.other], share)


def average(values: Sequence[float]) -> float:
    """Return the mean; 0 of nothing."""
    return sum(values) / max(len(values), 1)


def share(one: Sequence[float], other: Sequence[float]) -> float:
    """Return the ratio of two sums."""
    return sum(one) / max(sum(other), 1.0)


class Findings:
    """What the file holds; `found` gives the last measurement of a task, even by an older engine."""

    def __init__(self, path: Path) -> None:
        self._path = path
        data = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        self.machine: dict[str, str | int | None] = data.get("machine", {})
        self._tasks: dict[str, Made] = data.get("tasks", {})

    def has(self, task: Task) -> bool:
        """Whether anything was found of the task."""
        return task.key in self._tasks

    def found(self, task: Task) -> Made:
        """Return what was found. Raises KeyError if nothing was."""
        made: Made = self._tasks[task.key]["made"]
        return made

    def result(self, task: Pairing) -> Result:
        """Return the first deals of a pairing, as many as the task asks for. Raises KeyError as `found`."""
        made = self.found(task)
        return Result(made["one"][: task.deals], made["other"][: task.deals], made["faults"])

    def measure(self, tasks: Sequence[Task], tell: Tell) -> None:
        """Measure what is missing or void, and write the file after every step.

        The tasks take turns, so that a busy minute of the machine hurts all alike.
        """
        self.machine = machine()
        going = {task: self._steps(task) for task in tasks}
        while going:
            for task, steps in list(going.items()):
                note = next(steps, None)
                if note is None:
                    del going[task]
                else:
                    tell(f"{task.key}: {note}")

    def _steps(self, task: Task) -> Iterator[str]:
        """Go on with a task, keep what each step finds and yield its note."""
        versions = {spec: version(spec, task.timed) for spec in task.engines}
        kept = self._tasks.get(task.key, {})
        made = kept["made"] if kept.get("versions") == versions else {}
        for note, more in task.go_on(made):
            self._tasks[task.key] = {"versions": versions, "made": more}
            self._write()
            yield note

    def keep(self, tasks: Iterable[Task]) -> None:
        """Drop everything but these tasks, in their order."""
        keys = dict.fromkeys(task.key for task in tasks)
        self._tasks = {key: self._tasks[key] for key in keys if key in self._tasks}
        self._write()

    def _write(self) -> None:
        lines = [f"{json.dumps(key)}: {json.dumps(kept)}" for key, kept in self._tasks.items()]
        text = f'{{"machine": {json.dumps(self.machine)},\n"tasks": {{\n' + ",\n".join(lines) + "\n}}\n"
        beside = self._path.with_suffix(".new")
        beside.write_text(text, encoding="utf-8")
        beside.replace(self._path)  # whole or not at all: a run may be stopped at any moment


def machine() -> dict[str, str | int | None]:
    """Return what seconds and points under a clock depend on."""
    numba = importlib.import_module("numba")
    processor = importlib.import_module("llvmlite.binding").get_host_cpu_name()
    return {
        "processor": processor,
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "numba": numba.__version__,
    }
