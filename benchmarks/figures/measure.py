"""Measure the engines for docs/engines.md task by task; results are kept in a JSON file.

A `Task` is one measurement; plan.py has those of every picture and table. A task is stored under its key
with the versions of its engines. A version is a digest of the sources that an engine is made of (comments
and docstrings do not count) and of its learnt tables, so that only changed engines are measured again.
Games are paired (every deal is played from both seats) and seeded; nodes and points without a clock are the
same in every run.
"""

from __future__ import annotations

import ast
import hashlib
import importlib
import inspect
import json
import os
import platform
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from time import thread_time, thread_time_ns
from typing import Any, ClassVar, Protocol

from arena_cli.engine_games import play_deal
from arena_engines.analysis import bench_positions, search_bench
from arena_engines.registry import create, engine_class
from arena_protocol.games import make_game
from arena_server.stats.scores import Scores, bootstrap

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from processor_time import processor_time

#: The first deal of every pairing, so that all meet on the same boards.
SEED = 2006

Made = dict[str, Any]
Options = tuple[tuple[str, int], ...]
Report = Callable[[str], None]


class Task(Protocol):
    """One measurement; `go_on` continues from earlier results ({} for none) and yields notes and results."""

    @property
    def key(self) -> str:
        """What is measured; tasks of one key share results."""

    @property
    def engines(self) -> tuple[str, ...]:
        """The engines whose change voids the results."""

    @property
    def timed(self) -> bool:
        """Whether seconds are measured."""

    def go_on(self, made: Made) -> Iterator[tuple[str, Made]]:
        """Yield a note and all results after each step."""


@dataclass(frozen=True)
class Nodes:
    """The nodes of an engine on the bench positions, by depth from 1 to `deepest`."""

    spec: str
    deepest: int
    timed: ClassVar[bool] = False

    @property
    def key(self) -> str:
        return f"nodes of {self.spec}"

    @property
    def engines(self) -> tuple[str, ...]:
        return (self.spec,)

    def go_on(self, made: Made) -> Iterator[tuple[str, Made]]:
        engine = create(self.spec)
        positions = bench_positions()
        found = list(made.get("nodes", ()))
        while len(found) < self.deepest:
            depth = len(found) + 1
            found.append(sum(engine.analyse(position, depth).nodes for position in positions))
            yield f"depth {depth}: {found[-1]:,}", {"nodes": list(found), "positions": len(positions)}


@dataclass(frozen=True)
class Speed:
    """`arena bench search` of an engine and a rival: nodes, seconds, and the speed of bare moves."""

    spec: str
    rival: str
    depth: int
    timed: ClassVar[bool] = True

    @property
    def key(self) -> str:
        return f"seconds of {self.spec} and {self.rival} to depth {self.depth}"

    @property
    def engines(self) -> tuple[str, ...]:
        return (self.spec, self.rival)

    def go_on(self, made: Made) -> Iterator[tuple[str, Made]]:
        if not made:
            bench = search_bench(self.spec, self.depth, self.rival, self.depth)
            yield f"{bench['nodes_per_second']['bare']:,} bare moves a second", bench


@dataclass(frozen=True)
class Pairing:
    """`deals` deals between two engines, each played twice with the seats swapped.

    `clock`: the bank of a seat for a game in milliseconds, None: no clock. `options`: those of the game.
    All milliseconds are processor time.
    """

    one: str
    other: str
    deals: int
    clock: int | None = None
    options: Options = ()
    timed: ClassVar[bool] = False

    @property
    def key(self) -> str:
        """What is measured, whatever the number of deals."""
        clock = "no clock" if self.clock is None else f"{self.clock} ms"
        return ", ".join([f"{self.one} - {self.other}", clock, *(f"{k}={v}" for k, v in self.options)])

    @property
    def engines(self) -> tuple[str, ...]:
        return (self.one, self.other)

    def go_on(self, made: Made) -> Iterator[tuple[str, Made]]:
        """Play one deal more at a time, each with new engines, so that none depends on the one before."""
        scores = Scores.empty(2)
        if made:
            scores = Scores([made["one"], made["other"]], made["faults"], made["used"], None)
        one, other = scores.points
        while len(one) < self.deals:
            self.play(len(one), scores)
            note = f"deal {len(one)} of {self.deals}: {one[-1]:.0f} : {other[-1]:.0f}"
            yield note, {"one": one, "other": other, "faults": scores.faults, "used": scores.used}

    def play(self, number: int, scores: Scores) -> None:
        """Play both games of a deal and add them."""
        rules = make_game("insertion", dict(self.options))
        with processor_time():
            engines = create(self.one), create(self.other)
            for engine in engines:
                engine.warm_up()
            deal = rules.deal(SEED + number)
            played = list(play_deal(rules, deal, engines, self.clock, now=thread_time_ns))
        scores.add(self.engines, played)


@dataclass(frozen=True)
class Pace:
    """The mean processor time of an engine's move, in milliseconds, in one deal without a clock."""

    spec: str
    other: str
    options: Options = ()
    timed: ClassVar[bool] = True

    @property
    def key(self) -> str:
        return ", ".join([f"pace of {self.spec} - {self.other}", *(f"{k}={v}" for k, v in self.options)])

    @property
    def engines(self) -> tuple[str, ...]:
        return (self.spec,)

    def go_on(self, made: Made) -> Iterator[tuple[str, Made]]:
        if made:
            return
        rules = make_game("insertion", dict(self.options))
        engines = create(self.spec), create(self.other)
        spent: list[float] = []
        choose = engines[0].choose

        def timed(position: Any) -> int | str:
            began = thread_time()
            move = choose(position)
            spent.append(thread_time() - began)
            return move

        for engine in engines:
            engine.warm_up()
        engines[0].choose = timed  # type: ignore[method-assign]
        with processor_time():
            list(play_deal(rules, rules.deal(SEED), engines, None))
        millis = 1000 * sum(spent) / len(spent)
        yield f"{millis:.3f} ms a move", {"millis": round(millis, 4)}


@dataclass(frozen=True)
class Result:
    """The points of a pairing, one number per deal, and the faults of each engine."""

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
    """The results in a file; `found` returns the last results of a task, even those of an older engine."""

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

    def measure(self, tasks: Sequence[Task], report: Report) -> None:
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
                    report(f"{task.key}: {note}")

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
        """Drop all tasks but these, and sort them in this order."""
        keys = dict.fromkeys(task.key for task in tasks)
        self._tasks = {key: self._tasks[key] for key in keys if key in self._tasks}
        self._write()

    def _write(self) -> None:
        lines = [f"{json.dumps(key)}: {json.dumps(kept)}" for key, kept in self._tasks.items()]
        text = f'{{"machine": {json.dumps(self.machine)},\n"tasks": {{\n' + ",\n".join(lines) + "\n}}\n"
        beside = self._path.with_suffix(".new")
        beside.write_text(text, encoding="utf-8")
        beside.replace(self._path)  # atomic: a run may be stopped at any moment


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


#: The packages whose sources count,
OURS = ("arena_engines.", "arena_protocol.games.")
#: except this one where speed does not count: it changes no move of an engine of a fixed depth.
COMPILER = "arena_engines.jit"
#: Engines that search as long as they have time.
TIMED = ("master",)


@cache
def version(spec: str, timed: bool = False) -> str:
    """Return 12 hex digits of the sources and learnt tables of an engine.

    `timed`: its speed counts, so jit.py does too.
    """
    name = spec.partition(":")[0]
    module = inspect.getmodule(engine_class(name))
    assert module is not None, "a class has a module"
    total = hashlib.sha256()
    sources = sorted(_sources(module.__name__).items())
    for source, read in sources:
        if source != COMPILER or timed or name in TIMED:
            total.update(f"{source} {read.code}".encode())
    folders = {Path(inspect.getfile(importlib.import_module(source))).parent for source, _ in sources}
    for learnt in sorted(path for folder in folders for path in folder.glob("*.npy")):
        total.update(learnt.read_bytes())
    return total.hexdigest()[:12]


@dataclass(frozen=True)
class Source:
    """The code of a module without docstrings and comments, and the modules from which it imports."""

    code: str
    imported: tuple[str, ...]


def _sources(first: str) -> dict[str, Source]:
    """Return the sources of a module and of all modules of OURS that it imports, directly or not."""
    found: dict[str, Source] = {}
    waiting = [first]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = _read(inspect.getsource(importlib.import_module(name)))
            waiting += [each for each in found[name].imported if each.startswith(OURS)]
    return found


@cache  # an engine has most of its modules in common with others
def _read(text: str) -> Source:
    tree = ast.parse(text)
    imported = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node):
            node.body = node.body[1:]  # ast drops comments
        if isinstance(node, ast.ImportFrom):
            imported.append(node.module or "")
    return Source(ast.dump(tree), tuple(imported))
