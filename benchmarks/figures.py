"""Measure the engines, draw what came out, and fill the tables of docs/engines.md: `make figures`.

    python benchmarks/figures.py                  measure what is missing, draw, fill the tables
    python benchmarks/figures.py --quick FOLDER   a slice of everything in half a minute, into FOLDER
    python benchmarks/figures.py --draw           draw and fill only

The first run takes about 25 minutes of one core. What is measured is kept in benchmarks/figures.json step by
step: a run that was stopped goes on where it was, and only changed engines are measured again. Nodes and
points without a clock are the same in every run; the rest is that of the machine, best an idle one.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from pathlib import Path
from time import monotonic

from figures_measure import Findings
from figures_plan import CONTEST, PARTS, QUICK, WHOLE, Plan

HERE = Path(__file__).resolve().parent
DOCS = HERE.parent / "docs"
PAGE = DOCS / "engines.md"


def arguments(words: list[str]) -> Namespace:
    """Read the command line. Exits with one line for a wrong one."""
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument(
        "--quick", metavar="FOLDER", type=Path, help="a slice of everything, into this folder"
    )
    parser.add_argument("--draw", action="store_true", help="measure nothing")
    parser.add_argument(
        "--only", nargs="+", choices=PARTS, metavar="PART", default=PARTS, help=", ".join(PARTS)
    )
    parser.add_argument("--contest", action="store_true", help="half an hour more, at the clock of 20 s")
    return parser.parse_args(words)


def measure(findings: Findings, plan: Plan, parts: list[str]) -> None:
    """Measure these parts, and tell of every step on the standard error."""
    began = monotonic()

    def tell(note: str) -> None:
        print(f"{monotonic() - began:6.0f} s  {note}", file=sys.stderr, flush=True)

    for number, part in enumerate(parts, start=1):
        tell(f"part {number} of {len(parts)}: {part}")
        findings.measure(plan.part(part), tell)
    findings.keep(task for part in (*PARTS, CONTEST) for task in plan.part(part))


def draw(findings: Findings, plan: Plan, page: Path, folder: Path) -> None:
    """Draw all pictures into the folder, and fill the tables of the page."""
    try:
        from figures_draw import draw_all
    except ModuleNotFoundError as error:
        sys.exit(f"the pictures need {error.name}; install it by: pip install 'insertion-arena[figures]'")
    from figures_tables import fill

    for path in draw_all(findings, plan, folder):
        print(path.name)
    page.write_text(fill(PAGE.read_text(encoding="utf-8"), findings, plan), encoding="utf-8")


def main(words: list[str]) -> int:
    """Do what the command line says; return the exit code."""
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
            print("stopped; the same command goes on from here", file=sys.stderr)
            return 130
    draw(findings, plan, wanted.quick / PAGE.name if wanted.quick else PAGE, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
