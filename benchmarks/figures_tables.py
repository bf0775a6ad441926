"""Fill docs/engines.md with what was measured: every number on the page stands between two markers.

    <!-- begin: league -->
    (written by this file)
    <!-- end: league -->

It must not know: how anything is measured or drawn.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from figures_measure import Findings, Pairing
from figures_plan import Plan
from figures_reading import ceiling, minimal_tree, named, node_curves, standings
from figures_vary import Varied

BLOCK = re.compile(r"(<!-- begin: (\w+) -->\n).*?(<!-- end: \2 -->)", re.DOTALL)
MISSING = "Not measured yet: `make figures`.\n"


def fill(page: str, findings: Findings, plan: Plan) -> str:
    """Return the page with every block written anew. Raises KeyError for a block of an unknown name."""

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
    """Return a table of pairings: points of both, their ratio with its interval, zombies."""
    rows = []
    for task in tasks:
        result = found.result(task)
        (mine, _), (theirs, _), (ratio, interval) = result.mean(), result.swapped().mean(), result.ratio()
        lost = sum(len(faults) for faults in result.faults.values())
        rows.append(
            [name(task), f"{mine:,.0f}", f"{theirs:,.0f}", f"{ratio:.2f}", spread(interval, 2), str(lost)]
        )
    titles = [head, "points a game", "the other's", "ratio", "95 % interval", "faults"]
    return table(titles, rows) + f"\n{games(tasks[0])}\n"


def games(task: Pairing) -> str:
    """Return how many games a row stands for."""
    clock = "without a clock" if task.clock is None else f"{task.clock / 1000:g} s a seat and game"
    return f"Each row: {task.deals} deals, {2 * task.deals} games, {clock}."


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
        f"\nDepth {last['depth']}, all {bench['positions']} positions; the fastest of three runs. "
        f"`{bench['rival']}` makes {last['nodes'] / last['rival_nodes']:.1f} times fewer nodes and "
        f"is done {last['seconds'] / last['rival_seconds']:.1f} times sooner. "
        f"A loop that makes moves and does nothing else: {rates['bare'] / 1e6:.0f} million a second.\n"
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
    text = games(plan.league[0]).replace("Each row", "Each pairing")
    return table(["engine", "points a game", "95 % interval"], rows) + f"\n{text}\n"


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
    return table(titles, rows) + f"\n{games(plan.zombie[0])}\n"


def models(findings: Findings, plan: Plan) -> str:
    """Points by the model of the opponent."""
    return pairings(findings, plan.models, "`master`", _met)


def _met(task: Pairing) -> str:
    return f"model {task.one.rpartition('=')[2]}, against {named(task.other)}"


def constants(findings: Findings, plan: Plan) -> str:
    """Points of master with constants changed."""
    return pairings(findings, plan.constants, "`master`", _varied)


def _varied(task: Pairing) -> str:
    if not isinstance(task, Varied):
        return f"as it is, {_met(task)}"
    value = "own points alone" if isinstance(task.value, tuple) else str(task.value)
    return f"`{task.constant}` = {value}, {_met(task)}"


def conditions(findings: Findings, plan: Plan) -> str:
    """Points of master with other pictures."""
    return pairings(findings, plan.conditions, "master", _under)


def contest(findings: Findings, plan: Plan) -> str:
    """The same at the contest's clock."""
    return pairings(findings, plan.contest, "master", _under)


def _under(task: Pairing) -> str:
    said = {"lookahead": "K = {}", "colours": "{} colours", "plies": "{} plies"}
    options = [said[name].format(value) for name, value in task.options] or ["K = 20, 6 colours"]
    return f"against {named(task.other)}, {', '.join(options)}"


def clocks(findings: Findings, plan: Plan) -> str:
    """Points by clock."""
    text = pairings(findings, plan.clocks, "clock", lambda task: f"{(task.clock or 0) / 1000:g} s")
    return text.partition("\nEach row")[0] + f"\nEach row: {2 * plan.clocks[0].deals} games.\n"


#: Block: the parts that must be measured, and what writes it.
BLOCKS: dict[str, tuple[tuple[str, ...], Callable[[Findings, Plan], str]]] = {
    "machine": (("speed",), machine),
    "nodes": (("nodes",), nodes),
    "limits": (("nodes", "speed"), limits),
    "depths": (("depths",), depths),
    "league": (("league",), league),
    "zombie": (("zombie",), zombie),
    "models": (("models",), models),
    "constants": (("constants",), constants),
    "conditions": (("conditions",), conditions),
    "clocks": (("clocks",), clocks),
    "contest": (("contest",), contest),
}
