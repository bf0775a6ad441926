"""Measure the engines for docs/engines.md task by task; results are kept in a JSON file.

A `Task` is one measurement, a `Plan` the tasks of every picture and table: WHOLE takes about 25 minutes of
one core, QUICK is a slice of each part in half a minute. A task is stored under its key with the versions
of its engines. A version is a digest of the sources that an engine is made of (comments and docstrings do
not count) and of its learnt tables, so that only changed engines are measured again. Games are paired (every
deal is played from both seats) and seeded; nodes and points without a clock are the same in every run.
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
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from pathlib import Path
from time import thread_time
from typing import Any, ClassVar, Protocol

from arena_cli.engine_games import play_deal
from arena_engines.analysis import bench_positions, search_bench
from arena_engines.registry import create, engine_class
from arena_protocol.games import make_game
from arena_server.scores import Scores, bootstrap

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from processor_time import processor_time

#: The first deal of every pairing, so that all meet on the same boards.
SEED = 2006

Made = dict[str, Any]
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
    Without a clock the milliseconds of master are processor time.
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
        engines = create(self.one), create(self.other)
        for engine in engines:
            engine.warm_up()
        with processor_time() if self.clock is None else nullcontext():
            played = list(play_deal(rules, rules.deal(SEED + number), engines, self.clock))
        scores.add(self.engines, played)


@dataclass(frozen=True)
class Pace:
    """The mean processor time of an engine's move, in milliseconds, in one deal without a clock."""

    spec: str
    other: str
    options: tuple[tuple[str, int], ...] = ()
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
    for source, tree in sources:
        if source != COMPILER or timed or name in TIMED:
            total.update(f"{source} {ast.dump(tree)}".encode())
    folders = {Path(inspect.getfile(importlib.import_module(source))).parent for source, _ in sources}
    for learnt in sorted(path for folder in folders for path in folder.glob("*.npy")):
        total.update(learnt.read_bytes())
    return total.hexdigest()[:12]


def _sources(first: str) -> dict[str, ast.Module]:
    """Return the sources of a module and of all modules of OURS that it imports, directly or not."""
    found: dict[str, ast.Module] = {}
    waiting = [first]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = _bare(inspect.getsource(importlib.import_module(name)))
            nodes = ast.walk(found[name])
            imported = [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
            waiting += [each for each in imported if each.startswith(OURS)]
    return found


def _bare(source: str) -> ast.Module:
    """Return a module without docstrings (ast drops comments)."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node):
            node.body = node.body[1:]
    return tree


Options = tuple[tuple[str, int], ...]

#: The three rungs that cut nothing search the same tree.
UNCUT = ("minimax", "entry2006", "fourtier:cut=none")
CHAMPION = "champion:depth=5"
SPOILER = f"{CHAMPION},strategy=spoiling"
ADAPTIVE = f"{CHAMPION},strategy=adaptive"
#: A time for each move, so that a busy machine makes no zombie; 2 s for 100 moves.
MASTER = "master:millis=20"


@dataclass(frozen=True)
class Plan:
    """The tasks, by part. The order within a part is that of the picture."""

    nodes: tuple[Nodes, ...]
    speed: Speed
    depths: tuple[Pairing, ...]
    league: tuple[Pairing, ...]
    zombie: tuple[Pairing, ...]
    models: tuple[Pairing, ...]
    conditions: tuple[Pairing, ...]
    switch: tuple[Pairing, ...]
    wildcards: tuple[Pairing, ...]
    clocks: tuple[Pairing, ...]
    pace: tuple[Pairing | Pace, ...]
    contest: tuple[Pairing, ...]

    def part(self, name: str) -> tuple[Task, ...]:
        """Return the tasks of a part. Raises AttributeError for another name."""
        found = getattr(self, name)
        return found if isinstance(found, tuple) else (found,)


#: In the order of measuring, the cheap ones first.
PARTS = (
    "nodes",
    "speed",
    "depths",
    "league",
    "zombie",
    "models",
    "conditions",
    "switch",
    "wildcards",
    "clocks",
    "pace",
)
#: Twenty minutes more, at the clock of the contest.
CONTEST = "contest"


def league_of(plan: Plan) -> tuple[str, ...]:
    """Return the engines of the league in the order of their first game."""
    return tuple(dict.fromkeys(spec for pairing in plan.league for spec in (pairing.one, pairing.other)))


def round_robin(engines: tuple[str, ...], deals: int, options: Options = ()) -> tuple[Pairing, ...]:
    """Return the pairings of a league."""
    return tuple(Pairing(one, other, deals, None, options) for one, other in combinations(engines, 2))


def under(
    spec: str, conditions: tuple[Options, ...], deals: int, clock: int | None = None
) -> tuple[Pairing, ...]:
    """Return `master` against the champion and against a zombie, under each of these options."""
    return tuple(
        Pairing(spec, rival, deals, clock, options) for rival in (CHAMPION, "dummy") for options in conditions
    )


def modelled(model: str) -> str:
    """Return `master` with a model of the opponent and a time for each move, as MASTER has it."""
    return f"master:model={model},millis=10"


def looking(pictures: int) -> Options:
    """Return the options of a game with so few visible pictures."""
    return () if pictures == 20 else (("lookahead", pictures),)


def switched(deals: int, options: Options = ()) -> tuple[Pairing, ...]:
    """Return minimax under a clock too short for its depth, with and without the switch of the depth.

    Three plies are never too slow; 100 moves take about 0.1 s at 5 plies and 1.5 s at 6.
    """
    return tuple(
        Pairing(
            f"minimax:depth={depth},switch={switch}",
            CHAMPION,
            deals,
            clock,
            (*options, *looking(pictures)),
        )
        for pictures, depth, clock in ((3, 3, 1_000), (5, 5, 100), (20, 6, 1_000))
        for switch in (100, 85)
    )


def guessing(deals: int, options: Options = ()) -> tuple[Pairing, ...]:
    """Return the champion with and without expected values over wildcards."""
    return tuple(
        Pairing(
            f"champion:depth={depth},wildcards={wildcards}",
            CHAMPION,
            deals,
            None,
            (*options, *looking(pictures)),
        )
        for pictures, depth, counts in ((3, 5, (0, 1, 2)), (5, 6, (0, 1)), (20, 6, (0, 1)))
        for wildcards in counts
    )


def paces(
    specs: tuple[str, ...], other: str, deals: int, options: Options = ()
) -> tuple[Pairing | Pace, ...]:
    """Return the points of engines against one, and the time that their moves take."""
    points = (Pairing(spec, other, deals, None, options) for spec in specs)
    return (*points, *(Pace(spec, other, options) for spec in specs))


#: The contest's game, few pictures in sight, few and many colours.
CONDITIONS: tuple[Options, ...] = (
    (),
    (("lookahead", 5),),
    (("lookahead", 3),),
    (("colours", 4),),
    (("colours", 7),),
)

#: The strongest first, so that a pairing of the league is the same as one of another part.
LADDER = (
    MASTER,
    ADAPTIVE,
    SPOILER,
    CHAMPION,
    "threetier",
    "fourtier",
    "entry2006",
    "minimax:depth=4",
    "greedy",
    "random:seed=1",
    "dummy",
)

WHOLE = Plan(
    nodes=(
        Nodes("minimax", 7),
        Nodes("entry2006", 6),
        Nodes("fourtier:cut=none", 6),
        Nodes("fourtier:cut=quarter", 7),
        Nodes("fourtier:cut=half", 8),
        Nodes("threetier", 8),
        Nodes("champion", 9),
        Nodes("master", 10),
    ),
    speed=Speed("champion", "master", 7),
    depths=tuple(Pairing(f"champion:depth={depth}", CHAMPION, 30) for depth in range(1, 9)),
    league=round_robin(LADDER, deals=6),
    zombie=(
        *(Pairing(spec, "dummy", 20) for spec in LADDER[:-1] if spec != ADAPTIVE),
        Pairing("entry2006:zombie=0", "dummy", 20),
        Pairing(f"{CHAMPION},zombie=0", "dummy", 20),
    ),
    models=tuple(
        Pairing(modelled(model), rival, 8)
        for rival in (CHAMPION, SPOILER)
        for model in ("worst", "own", "spoiling", "seen")
    ),
    conditions=under(MASTER, CONDITIONS, deals=6),
    switch=switched(deals=6),
    wildcards=guessing(deals=20),
    clocks=tuple(Pairing("master", CHAMPION, 6, clock) for clock in (100, 1_000, 5_000, 20_000)),
    pace=paces(
        (
            "greedy",
            "minimax:depth=4",
            "entry2006",
            "fourtier",
            "threetier",
            *(f"champion:depth={depth}" for depth in range(1, 9)),
            *(f"master:millis={millis}" for millis in (1, 5, 20, 100)),
        ),
        CHAMPION,
        3,
    ),
    contest=under("master", CONDITIONS, deals=3, clock=20_000),
)

SHORT: Options = (("plies", 12),)
QUICK = Plan(
    nodes=(Nodes("minimax", 2), Nodes("entry2006", 2), Nodes("champion", 3), Nodes("master", 3)),
    speed=Speed("champion", "master", 2),
    depths=tuple(Pairing(f"champion:depth={depth}", "champion:depth=2", 2, None, SHORT) for depth in (1, 2)),
    league=round_robin((MASTER, "champion:depth=2", "greedy", "dummy"), 2, SHORT),
    zombie=tuple(Pairing(spec, "dummy", 2, None, SHORT) for spec in (MASTER, "greedy", "champion:depth=2")),
    models=tuple(Pairing(modelled(model), "greedy", 1, None, SHORT) for model in ("worst", "own", "seen")),
    conditions=under(MASTER, (SHORT, (*SHORT, ("lookahead", 3))), deals=1),
    switch=switched(1, SHORT)[4:],
    wildcards=guessing(1, SHORT)[:2],
    clocks=tuple(Pairing("master", "champion:depth=2", 2, clock, SHORT) for clock in (100, 200)),
    pace=paces(("greedy", "champion:depth=1", "champion:depth=3", MASTER), "champion:depth=2", 1, SHORT),
    contest=(),
)
