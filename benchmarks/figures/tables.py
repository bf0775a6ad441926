"""Fill docs/engines.md: every number on the page stands between two markers.

    <!-- begin: league -->
    (written by this file)
    <!-- end: league -->

The first half derives curves, standings and cross-tables from the results, for the pictures too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from measure import Findings, Pairing, Result, average
from plan import MASTER, Plan, league_of

from arena_server.stats.scores import bootstrap

#: A full board, the shortest run, and what it pays.
CELLS, RUN, POINTS_A_RUN = 25, 3, 30

SHORTER = {
    MASTER: "master",
    "champion:depth=5": "champion",
    "champion:depth=5,strategy=spoiling": "champion, spoiling",
    "champion:depth=5,strategy=adaptive": "champion, adaptive",
    "champion:depth=5,zombie=0": "champion, never guessing",
    "entry2006:zombie=0": "entry2006, never guessing",
    "minimax:depth=4": "minimax, depth 4",
    "random:seed=1": "random",
    "fourtier:cut=none": "fourtier uncut",
    "fourtier:cut=quarter": "fourtier, quarter of the cuts",
    "fourtier:cut=half": "fourtier, half of the cuts",
}


def named(spec: str) -> str:
    """Return an engine's name as a person reads it."""
    return SHORTER.get(spec, spec)


def node_curves(findings: Findings, plan: Plan) -> dict[str, list[float]]:
    """Return the nodes of a position by depth from 1 on; rungs that search the same tree share a curve."""
    curves: list[tuple[list[str], list[float]]] = []
    for task in plan.nodes:
        made = findings.found(task)
        counts = [nodes / made["positions"] for nodes in made["nodes"][: task.deepest]]
        for names, longer in curves:
            if counts == longer[: len(counts)]:
                names.append(named(task.spec))
                break
        else:
            curves.append(([named(task.spec)], counts))
    return {" / ".join(names): counts for names, counts in curves}


def minimal_tree(findings: Findings, plan: Plan) -> tuple[float, list[float]]:
    """Return the mean number of distinct moves, b, and b**ceil(d/2) + b**floor(d/2) - 1 by depth d.

    These are the leaves that no alpha-beta search with that many moves in every position can do without
    (Knuth and Moore, 1975).
    """
    curves = node_curves(findings, plan)
    branching = next(iter(curves.values()))[0]
    deepest = max(map(len, curves.values()))
    depths = range(1, deepest + 1)
    return branching, [branching ** (depth - depth // 2) + branching ** (depth // 2) - 1 for depth in depths]


@dataclass(frozen=True)
class Standing:
    """An engine's place in the league: mean points a game over all opponents, and the interval."""

    engine: str
    points: float
    interval: list[float]


def standings(findings: Findings, plan: Plan) -> list[Standing]:
    """Return the league, best first. The interval draws deals, which are the same for all pairs."""
    found = []
    for spec in league_of(plan):
        columns = [_points(findings, pairing, spec) for pairing in plan.league if spec in pairing.engines]
        found.append(Standing(spec, _mean(*columns), bootstrap(columns, _mean)))
    return sorted(found, key=lambda each: -each.points)


def _points(findings: Findings, pairing: Pairing, spec: str) -> list[float]:
    result = findings.result(pairing)
    return result.one if spec == pairing.one else result.other


def _mean(*columns: list[float]) -> float:
    return average([average(column) for column in columns])


def crosstable(findings: Findings, plan: Plan) -> tuple[list[str], list[list[float | None]]]:
    """Return the engines, best first, and the mean points of each against each; None on the diagonal."""
    order = [each.engine for each in standings(findings, plan)]
    points: dict[tuple[str, str], float] = {}
    for pairing in plan.league:
        for spec, other in (pairing.engines, pairing.engines[::-1]):
            points[spec, other] = average(_points(findings, pairing, spec))
    return [named(spec) for spec in order], [[points.get((row, column)) for column in order] for row in order]


def ceiling(pairing: Pairing) -> int:
    """Return the points that no game can exceed: every run takes three of the pictures there ever are."""
    plies = dict(pairing.options).get("plies", 200)
    return (plies + CELLS) // RUN * POINTS_A_RUN


BLOCK = re.compile(r"(<!-- begin: (\w+) -->\n).*?(<!-- end: \2 -->)", re.DOTALL)
#: No ratio is printed if the other has fewer points a game.
LEAST = 100
RIVALS = Path(__file__).resolve().parents[1] / "rivals" / "results.md"
MISSING = "Not measured yet: `make figures`.\n"


def fill(page: str, findings: Findings, plan: Plan) -> str:
    """Return the page with every block rewritten. Raises KeyError for a block of an unknown name."""

    def block(match: re.Match[str]) -> str:
        parts, write = BLOCKS[match[2]]
        tasks = [task for part in parts for task in plan.part(part)]
        measured = bool(tasks) and all(findings.has(task) for task in tasks)
        return match[1] + (write(findings, plan) if measured else MISSING) + match[3]

    return BLOCK.sub(block, page)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table of Markdown: the first column is text, the others are numbers."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def spread(low_high: Sequence[float], digits: int = 0) -> str:
    """Return an interval."""
    low, high = low_high
    return f"{low:,.{digits}f} to {high:,.{digits}f}"


def pairings(found: Findings, tasks: Sequence[Pairing], head: str, name: Callable[[Pairing], str]) -> str:
    """Return a table of pairings: deals, points of both, their ratio, intervals, zombies."""
    rows = []
    for task in tasks:
        result = found.result(task)
        mine, interval = result.mean()
        faults = sum(len(faults) for faults in result.faults.values())
        start = [name(task), str(len(result.one)), f"{mine:,.0f}", spread(interval)]
        rows.append([*start, *against(result), str(faults)])
    titles = ["deals", "points a game", "95 % interval", "the other's", "ratio", "95 % interval", "faults"]
    return table([head, *titles], rows) + f"\nA deal is two games{at(tasks)}.\n"


def against(result: Result) -> list[str]:
    """Return the other's points and the ratio with its interval, where there is enough to divide by."""
    theirs, _ = result.swapped().mean()
    ratio, interval = result.ratio()
    if theirs < LEAST:
        return [f"{theirs:,.0f}", "", ""]
    return [f"{theirs:,.0f}", f"{ratio:.2f}", spread(interval, 2)]


def at(tasks: Iterable[Pairing]) -> str:
    """Return the clock of these pairings as the end of a sentence; nothing if they differ."""
    clocks = {task.clock for task in tasks}
    if len(clocks) != 1:
        return ""
    clock = clocks.pop()
    return " without a clock" if clock is None else f" at {clock / 1000:g} s a seat and game"


def machine(findings: Findings, plan: Plan) -> str:
    """What the times and the points under a clock depend on."""
    facts = findings.machine
    return (
        f"Measured on one of {facts['cores']} cores ({facts['processor']}), "
        f"Python {facts['python']}, numba {facts['numba']}.\n"
    )


def nodes(findings: Findings, plan: Plan) -> str:
    """Nodes by depth."""
    curves = node_curves(findings, plan)
    branching, least = minimal_tree(findings, plan)
    depths = range(1, len(least) + 1)
    rows = [[name, *(_count(counts, depth) for depth in depths)] for name, counts in curves.items()]
    rows.append([f"minimal tree, b = {branching:.2f}", *(_count(least, depth) for depth in depths)])
    return table(["moves made, mean of a position", *(str(depth) for depth in depths)], rows)


def _count(counts: Sequence[float], depth: int) -> str:
    return f"{counts[depth - 1]:,.0f}" if depth <= len(counts) else ""


def limits(findings: Findings, plan: Plan) -> str:
    """How far champion and master are from what cannot be beaten."""
    bench = findings.found(plan.speed)
    last, rates = bench["depths"][-1], bench["nodes_per_second"]
    _, least = minimal_tree(findings, plan)
    leaves = least[last["depth"] - 1] * bench["positions"]
    rows = []
    for who, made, seconds, rate in (
        (bench["engine"], last["nodes"], last["seconds"], rates["engine"]),
        (bench["rival"], last["rival_nodes"], last["rival_seconds"], rates["rival"]),
    ):
        share = rate / rates["bare"]
        rows.append(
            [who, f"{made:,}", f"{made / leaves:.2f}", f"{seconds:.3f}", f"{rate / 1e6:.0f}", f"{share:.2f}"]
        )
    titles = ["", "nodes", "of the minimal tree", "seconds", "million nodes a second", "of bare moves"]
    return table(titles, rows) + (
        f"\nDepth {last['depth']}, {bench['positions']} positions, the fastest of three runs. "
        f"`{bench['rival']}` makes {last['nodes'] / last['rival_nodes']:.1f} times fewer nodes and "
        f"finishes {last['seconds'] / last['rival_seconds']:.1f} times faster. "
        f"Bare moves: {rates['bare'] / 1e6:.0f} million a second.\n"
    )


def depths(findings: Findings, plan: Plan) -> str:
    """Points by depth."""
    return pairings(findings, plan.depths, "champion", lambda task: task.one.partition("=")[2])


def league(findings: Findings, plan: Plan) -> str:
    """The standings."""
    rows = [
        [f"`{each.engine}`", f"{each.points:,.0f}", spread(each.interval)]
        for each in standings(findings, plan)
    ]
    text = f"\nEach pairing: {plan.league[0].deals} deals of two games{at(plan.league)}.\n"
    return table(["engine", "points a game", "95 % interval"], rows) + text


def zombie(findings: Findings, plan: Plan) -> str:
    """Points against a zombie."""
    most = ceiling(plan.zombie[0])
    rows = []
    for task in plan.zombie:
        result = findings.result(task)
        mean, interval = result.mean()
        rows.append(
            [
                named(task.one),
                f"{mean:,.0f}",
                spread(interval),
                f"{max(result.one):,.0f}",
                f"{mean / most:.2f}",
            ]
        )
    rows.sort(key=lambda row: -float(row[1].replace(",", "")))
    titles = ["against a zombie", "points a game", "95 % interval", "best deal", f"of {most:,}"]
    text = f"\nEach row: {plan.zombie[0].deals} deals of two games{at(plan.zombie)}; `{MASTER}`.\n"
    return table(titles, rows) + text


def models(findings: Findings, plan: Plan) -> str:
    """Points by the model of the opponent."""
    return pairings(findings, plan.models, "`master:millis=10`", _met)


def _met(task: Pairing) -> str:
    found = re.search(r"model=(\w+)", task.one)
    return f"{found[0] if found else task.one}, against {named(task.other)}"


def conditions(findings: Findings, plan: Plan) -> str:
    """Points of master with other pictures."""
    return pairings(findings, plan.conditions, f"`{MASTER}`", _under)


def switch(findings: Findings, plan: Plan) -> str:
    """Points of minimax under a short clock, with and without the switch."""
    return pairings(findings, plan.switch, "against champion", _parameters)


def wildcards(findings: Findings, plan: Plan) -> str:
    """Points of the champion with and without expected values."""
    return pairings(findings, plan.wildcards, "against champion", _parameters)


def _parameters(task: Pairing) -> str:
    clock = "" if task.clock is None else f", {task.clock / 1000:g} s"
    return f"K = {dict(task.options).get('lookahead', 20)}{clock}, `{task.one}`"


def rivals(findings: Findings, plan: Plan) -> str:
    """The table of benchmarks/rivals/run.py as it was written."""
    return RIVALS.read_text(encoding="utf-8")


def contest(findings: Findings, plan: Plan) -> str:
    """The same at the contest's clock, as much of it as was played."""
    played = [task for task in plan.contest if findings.has(task)]
    return pairings(findings, played, "`master`", _under) if played else MISSING


def _under(task: Pairing) -> str:
    said = {"lookahead": "K = {}", "colours": "{} colours", "plies": "{} plies"}
    options = [said[name].format(value) for name, value in task.options] or ["K = 20, 6 colours"]
    return f"against {named(task.other)}, {', '.join(options)}"


def clocks(findings: Findings, plan: Plan) -> str:
    """Points by clock."""
    return pairings(findings, plan.clocks, "clock", lambda task: f"{(task.clock or 0) / 1000:g} s")


#: Block: the parts that must be measured, and what writes it.
BLOCKS: dict[str, tuple[tuple[str, ...], Callable[[Findings, Plan], str]]] = {
    "machine": (("speed",), machine),
    "nodes": (("nodes",), nodes),
    "limits": (("nodes", "speed"), limits),
    "depths": (("depths",), depths),
    "league": (("league",), league),
    "zombie": (("zombie",), zombie),
    "models": (("models",), models),
    "conditions": (("conditions",), conditions),
    "clocks": (("clocks",), clocks),
    "contest": (("clocks",), contest),
    "rivals": (("clocks",), rivals),
    "switch": (("switch",), switch),
    "wildcards": (("wildcards",), wildcards),
}
