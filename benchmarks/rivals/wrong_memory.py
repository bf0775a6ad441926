"""How soon master notices that another program plays behind a name that it knows.

    python benchmarks/rivals/wrong_memory.py [--runs 4] [--games 8] [--millis 10] [--taught half ...]

In every run a master plays two deals against a teacher, then some games, an even number, against a program
that copies the other's moves, under the same name. The first row is that of `memory=no`, on the same deals.
Milliseconds are processor time; intervals are the middle 95 % of 2,000 bootstrap means over the deals.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from pathlib import Path

from others import Copier
from players import HELD_OUT, TUNED

from arena_cli.engine_games import play_deal
from arena_engines.engine import Engine
from arena_engines.registry import create
from arena_protocol.games.insertion import Insertion
from arena_server.stats.scores import bootstrap

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from processor_time import processor_time

RIVALS = {each.name: each for each in (*TUNED, *HELD_OUT)}
#: The memory of a master that meets the copier: none at first, that of a teacher.
FORGETFUL, UNTAUGHT = "memory=no", "nothing"
TEACHERS = ("half", "treelead", "champion", "dummy")
LESSONS = (100, 101)
FIRST = 300
NAMES = ("engine", "known")


def teacher(name: str, seed: int) -> Engine:
    """Return a rival or an engine of the registry."""
    return RIVALS[name](seed) if name in RIVALS else create(name)


def points(player: Engine, other: Engine, number: int) -> list[float]:
    """Return the points of the player in both games of a deal."""
    other.warm_up()
    rules = Insertion()
    games = play_deal(rules, rules.deal(number), (player, other), None, NAMES)
    return [float(game.totals[seating.index(0)]) for seating, game in games]


def taught(memory: str, run: int, given: Namespace) -> list[float]:
    """Return the points of one master after its lessons, game by game."""
    kept = ",memory=no" if memory == FORGETFUL else ""
    player = create(f"master:millis={given.millis}{kept}")
    player.warm_up()
    if memory not in (FORGETFUL, UNTAUGHT):
        for number in LESSONS:
            points(player, teacher(memory, number), number)
    deals = given.games // 2
    first = FIRST + run * deals
    return [each for number in range(first, first + deals) for each in points(player, Copier(), number)]


def mean(values: list[float]) -> float:
    """Return the mean."""
    return sum(values) / len(values)


def print_table(given: Namespace) -> None:
    """Print a row for every memory: the differences in the first two games and in the later ones."""
    print("| master knows | points a game | games 1 and 2, less memory=no | 95 % | later games | 95 % |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    base: list[list[float]] = []
    for memory in (FORGETFUL, UNTAUGHT, *given.taught):
        runs = [taught(memory, run, given) for run in range(given.runs)]
        base = base or runs
        lead = [
            mean([a - b for a, b in zip(mine[at : at + 2], plain[at : at + 2], strict=True)])
            for mine, plain in zip(runs, base, strict=True)
            for at in range(0, given.games, 2)
        ]
        deals = given.games // 2
        early = [value for number, value in enumerate(lead) if number % deals == 0]
        later = [value for number, value in enumerate(lead) if number % deals]
        cells = [f"{mean([value for run in runs for value in run]):,.0f}"]
        for part in (early, later):
            low, high = bootstrap([part], mean)
            cells += [f"{mean(part):+,.0f}", f"{low:+,.0f} to {high:+,.0f}"]
        print(f"| {memory} | {' | '.join(cells)} |", flush=True)


def main() -> None:
    """Measure what the command line asks for."""
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=4)
    parser.add_argument("--games", type=int, default=8)
    parser.add_argument("--millis", type=int, default=10)
    parser.add_argument("--taught", nargs="+", default=TEACHERS)
    given = parser.parse_args()
    if given.runs < 1 or given.games < 4 or given.games % 2:
        parser.error("expected --runs of 1 or more, and --games even and 4 or more")
    with processor_time():
        print_table(given)


if __name__ == "__main__":
    main()
