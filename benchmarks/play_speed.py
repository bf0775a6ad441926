"""Games of `arena.play` a second of processor time, with players that answer at once.

    python benchmarks/play_speed.py [--rounds 80] [--deals 5]

The best and the median of the rounds: other processes of the machine only slow a round down.
"""

from __future__ import annotations

import time
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from statistics import median
from typing import Any

from arena import Game, play


def first(game: Game[Any], position: Any) -> int:
    """Drop into the first column."""
    return 6


def third(game: Game[Any], position: Any) -> int:
    """Drop into the third column."""
    return 8


def main() -> None:
    """Measure what the command line asks for."""
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=80)
    parser.add_argument("--deals", type=int, default=5)
    given = parser.parse_args()
    rates = []
    for _ in range(given.rounds):
        began = time.process_time()
        games = sum(1 for _ in play(first, third, deals=given.deals))
        rates.append(games / (time.process_time() - began))
    print(f"games a CPU second: best {max(rates):.0f}, median {median(rates):.0f}")


if __name__ == "__main__":
    main()
