"""Measure the engines, draw docs/figures/*.svg and fill the tables of docs/engines.md: `make figures`.

    python benchmarks/figures/plot.py                  measure what is missing, draw, fill the tables
    python benchmarks/figures/plot.py --quick FOLDER   a slice of everything in half a minute, into FOLDER
    python benchmarks/figures/plot.py --draw           draw and fill only

The first run takes about 25 minutes of one core. A run that was stopped continues where it was, and only
changed engines are measured again. The same numbers give the same bytes of SVG. Colours are those of Okabe
and Ito, which most colour-blind readers can distinguish; lines differ in their markers too.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable, Sequence
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from measure import Findings, Pace, Pairing
from plan import CONTEST, PARTS, QUICK, WHOLE, Plan
from tables import ceiling, crosstable, fill, minimal_tree, named, node_curves

from arena_protocol.errors import needs_extra

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HERE = Path(__file__).resolve().parent
DOCS = HERE.parents[1] / "docs"
PAGE = DOCS / "engines.md"

COLOURS = ("#000000", "#E69F00", "#56B4E9", "#009E73", "#F0E442", "#0072B2", "#D55E00", "#CC79A7")
BLACK, ORANGE, SKY, GREEN, YELLOW, BLUE, RED, PINK = COLOURS
MARKERS = "os^Dv*PX"
STYLE: dict[Any, Any] = {
    "svg.hashsalt": "insertion-arena",
    "font.size": 10,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 11,
}
#: Otherwise the file would hold the time and the program that wrote it.
NO_METADATA = {"Date": None, "Creator": None}


def draw_all(findings: Findings, plan: Plan, folder: Path) -> list[Path]:
    """Draw every picture whose tasks are all measured; return the files."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    files = []
    with mpl.rc_context(STYLE):
        for name, (size, draw) in PICTURES.items():
            if not all(findings.has(task) for task in plan.part(name)):
                continue
            figure = Figure(figsize=size, layout="constrained")
            draw(figure.subplots(), findings, plan)
            files.append(folder / f"{name}.svg")
            figure.savefig(files[-1], metadata=NO_METADATA)
    return files


def draw_nodes(axes: Axes, findings: Findings, plan: Plan) -> None:
    """Nodes of a position by depth, a line a rung, and the least that alpha-beta needs."""
    curves = node_curves(findings, plan)
    for (name, counts), colour, marker in zip(
        curves.items(), (BLUE, *COLOURS[1:4], *COLOURS[6:]), MARKERS, strict=False
    ):
        axes.plot(range(1, len(counts) + 1), counts, marker=marker, color=colour, label=name)
    branching, least = minimal_tree(findings, plan)
    label = f"minimal alpha-beta tree, leaves, b = {branching:.2f}"
    axes.plot(range(1, len(least) + 1), least, color=BLACK, linestyle="--", label=label)
    axes.set(yscale="log", xlabel="depth (plies)", ylabel="moves made (mean of a position)")
    axes.set_xticks(range(1, len(least) + 1))
    axes.set_title("Nodes by depth: from the whole tree down to about the minimal one")
    axes.legend(fontsize=8.5)


def draw_depths(axes: Axes, findings: Findings, plan: Plan) -> None:
    """Points of the champion by depth."""
    _two_lines(axes, findings, plan.depths, list(range(1, len(plan.depths) + 1)))
    axes.set(xlabel="depth of the champion (plies)", ylabel="points a game (mean, 95 % interval)")
    axes.set_title(f"Points by depth of search, against {plan.depths[0].other}")


def draw_pace(axes: Axes, findings: Findings, plan: Plan) -> None:
    """Points against one opponent by the time of a move: a line an engine, a point a parameter."""
    pairings = [task for task in plan.pace if isinstance(task, Pairing)]
    paces = {task.spec: findings.found(task)["millis"] for task in plan.pace if isinstance(task, Pace)}
    engines = dict.fromkeys(pairing.one.partition(":")[0] for pairing in pairings)
    for name, colour, marker in zip(engines, (*COLOURS[:4], *COLOURS[5:]), MARKERS, strict=False):
        ours = [pairing for pairing in pairings if pairing.one.partition(":")[0] == name]
        means, intervals = zip(*(findings.result(pairing).mean() for pairing in ours), strict=True)
        low = [mean - interval[0] for mean, interval in zip(means, intervals, strict=True)]
        high = [interval[1] - mean for mean, interval in zip(means, intervals, strict=True)]
        millis = [paces[pairing.one] for pairing in ours]
        axes.errorbar(millis, means, (low, high), color=colour, marker=marker, capsize=3, label=name)
    axes.set(
        xscale="log", xlabel="processor time of a move (ms)", ylabel="points a game (mean, 95 % interval)"
    )
    axes.set_title(f"Points by time of a move, against {pairings[0].other}")
    axes.legend(fontsize=8.5)


def _two_lines(axes: Axes, findings: Findings, pairings: Sequence[Pairing], across: list[float]) -> None:
    """Draw the points of both sides, with intervals."""
    results = [findings.result(pairing) for pairing in pairings]
    sides = ((results, BLUE, "o", "-"), ([result.swapped() for result in results], RED, "s", "--"))
    for (each, colour, marker, line), name in zip(
        sides, (pairings[-1].one.partition(":")[0], "its opponent"), strict=True
    ):
        means, intervals = zip(*(result.mean() for result in each), strict=True)
        low = [mean - interval[0] for mean, interval in zip(means, intervals, strict=True)]
        high = [interval[1] - mean for mean, interval in zip(means, intervals, strict=True)]
        axes.errorbar(
            across, means, (low, high), color=colour, marker=marker, linestyle=line, capsize=3, label=name
        )
    axes.legend()


def draw_league(axes: Axes, findings: Findings, plan: Plan) -> None:
    """The cross-table as a heat map, the best engine on top."""
    names, table = crosstable(findings, plan)
    size = len(names)
    most = max(points for row in table for points in row if points is not None)
    cells = [[float("nan") if points is None else points for points in row] for row in table]
    mesh = axes.pcolormesh(cells, cmap="cividis", vmin=0, vmax=most, edgecolors="white", linewidth=1)
    for y, row in enumerate(table):
        for x, points in enumerate(row):
            if points is not None:
                ink = "black" if points > 0.5 * most else "white"
                axes.text(
                    x + 0.5, y + 0.5, f"{points:.0f}", ha="center", va="center", color=ink, fontsize=8.5
                )
    axes.set_xticks([at + 0.5 for at in range(size)], names, rotation=40, ha="right", rotation_mode="anchor")
    axes.set_yticks([at + 0.5 for at in range(size)], names)
    axes.set(xlabel="against", aspect="equal")
    axes.invert_yaxis()
    axes.grid(visible=False)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.figure.colorbar(mesh, ax=axes, label="points a game of the engine on the left", shrink=0.8)
    axes.set_title("The league: what each row scores against each column, the best on top")


def draw_zombie(axes: Axes, findings: Findings, plan: Plan) -> None:
    """Points against a zombie, a bar an engine."""
    rows = [(named(pairing.one), *findings.result(pairing).mean()) for pairing in plan.zombie]
    rows.sort(key=lambda row: row[1])
    names = [name for name, _, _ in rows]
    means = [mean for _, mean, _ in rows]
    low = [mean - interval[0] for _, mean, interval in rows]
    high = [interval[1] - mean for _, mean, interval in rows]
    axes.barh(names, means, xerr=(low, high), color=SKY, ecolor=BLACK, capsize=3)
    for at, mean in enumerate(means):
        axes.text(15, at, f"{mean:.0f}", va="center", fontsize=9)
    most = ceiling(plan.zombie[0])
    for points, line, label in ((1_400, ":", "the seed's 1,400"), (most, "--", f"the ceiling, {most:,}")):
        axes.axvline(points, color=RED, linestyle=line, label=label)
    axes.grid(visible=False, axis="y")
    axes.set(xlabel="points a game (mean, 95 % interval)", xlim=(0, 1.05 * max(most, 1_400)))
    axes.set_title("Points against a zombie from the first ply")
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.06), ncols=2, frameon=False)


Draw = Callable[["Axes", Findings, Plan], None]
#: Picture: inches, and what draws it; the name is that of the part of the plan.
PICTURES: dict[str, tuple[tuple[float, float], Draw]] = {
    "nodes": ((8, 5), draw_nodes),
    "depths": ((7, 4.2), draw_depths),
    "league": ((9, 7.2), draw_league),
    "pace": ((7, 4.2), draw_pace),
    "zombie": ((8, 4.6), draw_zombie),
}


def arguments(words: list[str]) -> Namespace:
    """Read the command line. Exits with one line if it is wrong."""
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument(
        "--quick", metavar="FOLDER", type=Path, help="a slice of everything, into this folder"
    )
    parser.add_argument("--draw", action="store_true", help="measure nothing")
    parser.add_argument(
        "--only", nargs="+", choices=PARTS, metavar="PART", default=PARTS, help=", ".join(PARTS)
    )
    parser.add_argument("--contest", action="store_true", help="20 minutes more, at the clock of 20 s")
    return parser.parse_args(words)


def measure(findings: Findings, plan: Plan, parts: list[str]) -> None:
    """Measure these parts; every step is a line on stderr."""
    began = monotonic()

    def report(note: str) -> None:
        print(f"{monotonic() - began:6.0f} s  {note}", file=sys.stderr, flush=True)

    for number, part in enumerate(parts, start=1):
        report(f"part {number} of {len(parts)}: {part}")
        findings.measure(plan.part(part), report)
    findings.keep(task for part in (*PARTS, CONTEST) for task in plan.part(part))


def draw(findings: Findings, plan: Plan, page: Path, folder: Path) -> None:
    """Draw all pictures into the folder, and fill the tables of the page."""
    try:
        files = draw_all(findings, plan, folder)
    except ModuleNotFoundError as error:
        sys.exit(needs_extra(f"a picture ({error.name})", "figures"))
    for path in files:
        print(path.name)
    page.write_text(fill(PAGE.read_text(encoding="utf-8"), findings, plan), encoding="utf-8")


def main(words: list[str]) -> int:
    """Return the exit status."""
    wanted = arguments(words)
    plan: Plan = QUICK if wanted.quick else WHOLE
    folder: Path = wanted.quick or DOCS / "figures"
    folder.mkdir(parents=True, exist_ok=True)
    findings = Findings((wanted.quick or HERE) / "figures.json")
    parts = [*wanted.only, *([CONTEST] if wanted.contest else [])]
    if not wanted.draw:
        try:
            measure(findings, plan, parts)
        except KeyboardInterrupt:
            print("stopped; the same command continues from here", file=sys.stderr)
            return 130
    draw(findings, plan, wanted.quick / PAGE.name if wanted.quick else PAGE, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
