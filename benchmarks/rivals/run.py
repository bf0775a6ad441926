"""Points of master and of the champion against players outside master's models.

    python benchmarks/rivals/run.py [--deals 20] [--millis 10] [--rivals half noisy ...] [--engines SPEC ...]

Every deal is played from both seats, the same deals for every engine, so the last column compares engines
deal by deal. Intervals are the middle 95 % of 2,000 bootstrap means over the deals.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser

from players import HELD_OUT, TUNED, Rival

from arena_engines.match import bootstrap, play_deal
from arena_engines.registry import create
from arena_protocol.games.insertion import Insertion

ALL = {each.name: each for each in (*TUNED, *HELD_OUT)}
SEED = 4000


def mean(values: list[float]) -> float:
    """Return the mean."""
    return sum(values) / len(values)


def points(spec: str, rival: type[Rival], deals: int) -> tuple[list[float], list[float]]:
    """Return, per deal, the mean points of an engine and of the rival over both games."""
    rules = Insertion()
    mine, theirs = [], []
    for number in range(SEED, SEED + deals):
        players = create(spec), rival(number)
        for player in players:
            player.warm_up()
        games = play_deal(rules, rules.deal(number), players, None)
        totals = [sum(game.totals[seating.index(who)] for seating, game in games) / 2 for who in (0, 1)]
        mine.append(totals[0])
        theirs.append(totals[1])
    return mine, theirs


def main() -> None:
    """Print a row for every rival and engine."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--deals", type=int, default=20)
    parser.add_argument("--millis", type=int, default=10)
    parser.add_argument("--rivals", nargs="+", choices=ALL, default=list(ALL))
    parser.add_argument(
        "--engines", nargs="+", default=["master:model=worst", "champion", "master:model=seen"]
    )
    given = parser.parse_args()
    print(
        "| rival | engine | points a game | 95 % interval | the rival's | less the first engine's | 95 % interval |"
    )
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: |")
    for name in given.rivals:
        base: list[float] = []
        for spec in given.engines:
            timed = f"{spec}{',' if ':' in spec else ':'}millis={given.millis}" if "master" in spec else spec
            mine, theirs = points(timed, ALL[name], given.deals)
            base = base or mine
            lead = [one - other for one, other in zip(mine, base, strict=True)]
            low, high = bootstrap([mine], mean)
            worse, better = bootstrap([lead], mean)
            kind = "tuned" if ALL[name] in TUNED else "held out"
            print(
                f"| {name} ({kind}) | `{timed}` | {mean(mine):,.0f} | {low:,.0f} to {high:,.0f} | "
                f"{mean(theirs):,.0f} | {mean(lead):+,.0f} | {worse:+,.0f} to {better:+,.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    sys.exit(main())
