"""How often equal workers are accused, and after how many games one is that differs: by simulation.

    python -m benchmarks.worker_trust [--contests 1000] [--games 1000]

Four bots whose points are normal with means 0, 1, 2 and 3 and variance 1 play each other at random, on two or
four workers, of which w0 differs. `named`: it stands out among the workers. `excluded`: by games that are
played twice, a share of `--audit` and all of a suspect's (`places/workers/audit.py`).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from itertools import permutations
from random import Random
from statistics import median

from arena_server.places.workers.audit import SUSPECT, Suspicions
from arena_server.places.workers.comparison import Comparison
from arena_server.stats.results import PastGame

BOTS = ("a", "b", "c", "d")
#: The points of a seat by the number of its bot, at one decimal, and what w0 makes of both, and of the time.
Totals = list[int]


@dataclass(frozen=True, slots=True)
class Worker:
    """How w0 differs: the chance of a swap, points that it gives to the first bot, and its time."""

    name: str
    swaps: float = 0.0
    gift: float = 0.0
    slow: float = 1.0


WORKERS = (
    Worker("equal"),
    Worker("swaps the programs of all games", swaps=1.0),
    Worker("swaps the programs of a half", swaps=0.5),
    Worker("gives a bot a standard deviation", gift=1.0),
    Worker("gives a bot a half of it", gift=0.5),
    Worker("takes twice as long", slow=2.0),
)


def totals(rng: Random, names: tuple[str, ...], worker: Worker) -> Totals:
    found = [round(10 * rng.gauss(BOTS.index(name), 1)) for name in names]
    if rng.random() < worker.swaps:
        found = [round(10 * rng.gauss(BOTS.index(name), 1)) for name in reversed(names)]
    return [total + round(10 * worker.gift * (name == "a")) for name, total in zip(names, found, strict=True)]


@dataclass(slots=True)
class Found:
    """After how many games w0 was named and excluded, and whether another worker was; None: never."""

    named: int | None = None
    excluded: int | None = None
    others: bool = False
    twice: int = 0


def contest(seed: int, games: int, workers: int, audit: float, worker: Worker) -> Found:
    rng, found = Random(seed), Found()
    comparison, suspicions = Comparison(len(BOTS)), Suspicions(len(BOTS))
    equal = WORKERS[0]
    pairs = list(permutations(BOTS, 2))
    for number in range(1, games + 1):
        who, names = f"w{rng.randrange(workers)}", rng.choice(pairs)
        kind = worker if who == "w0" else equal
        there = totals(rng, names, kind)
        used = tuple(round(rng.lognormvariate(5, 0.5) * kind.slow) for _ in names)
        suspect = min(comparison.evidence(who), suspicions.chance(who)) <= SUSPECT
        if suspect or rng.random() < audit:
            found.twice += 1
            if suspicions.add(who, names, there, totals(rng, names, equal)) and found.excluded is None:
                found.others = found.others or who != "w0"
                found.excluded = number if who == "w0" else None
        for each in comparison.add(PastGame(number, names, 0, tuple(there), "complete", 20, (), used), who):
            if each.worker == "w0" and found.named is None:
                found.named = number
        if found.excluded:
            break
    return found


def row(found: list[Found], of: Callable[[Found], int | None]) -> str:
    after = [number for each in found if (number := of(each)) is not None]
    return f"{len(after) / len(found):8.1%} {f'{median(after):.0f}' if after else '-':>7}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--contests", type=int, default=1000)
    parser.add_argument("--games", type=int, default=1000)
    parser.add_argument("--audit", type=float, default=0.05)
    options = parser.parse_args()
    print(f"{options.contests} contests of {options.games} games at most; after: the median")
    print(f"{'w0':34} workers    named   after excluded   after  others  twice")
    for worker in WORKERS:
        for workers in (2, 4):
            found = [
                contest(seed, options.games, workers, options.audit, worker)
                for seed in range(options.contests)
            ]
            twice = sum(each.twice for each in found) / len(found)
            others = sum(each.others for each in found) / len(found)
            named, excluded = row(found, lambda each: each.named), row(found, lambda each: each.excluded)
            print(f"{worker.name:34} {workers:7} {named} {excluded} {others:7.1%} {twice:6.0f}", flush=True)


if __name__ == "__main__":
    main()
