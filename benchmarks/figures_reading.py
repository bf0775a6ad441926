"""What the measurements come to: curves, cross-tables, ratios; for the pictures and the tables alike.

It must not know: matplotlib, Markdown, how anything is measured.
"""

from __future__ import annotations

from dataclasses import dataclass

from figures_measure import Findings, Pairing, average
from figures_plan import MASTER, Plan, league_of

from arena_engines.match import bootstrap

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
