"""Points of master and of the champion against players outside master's models.

    python benchmarks/rivals/run.py [--deals 16] [--first 4000] [--millis 10] [--rivals half ...]
                                    [--engines SPEC ...]

Every deal is played from both seats, the same deals for every engine, so the last columns compare the engines
deal by deal. Intervals are the middle 95 % of 2,000 bootstrap means over the deals. The milliseconds of
master are processor time.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from pathlib import Path

from others import OTHERS
from players import HELD_OUT, TUNED, Rival
from samplers import SAMPLERS

from arena_cli.engine_games import play_deal
from arena_engines.engine import EngineError
from arena_engines.registry import create
from arena_protocol.games.insertion import Insertion
from arena_server.stats.scores import bootstrap

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from processor_time import processor_time

ALL = {each.name: each for each in (*TUNED, *HELD_OUT, *SAMPLERS, *OTHERS)}
ENGINES = ("master:model=worst", "champion", "master:model=single", "master:model=seen")
TITLES = (
    "rival",
    "engine",
    "points a game",
    "95 % interval",
    "the rival's",
    "less the first engine",
    "95 % interval",
)


def mean(values: list[float]) -> float:
    """Return the mean."""
    return sum(values) / len(values)


def points(spec: str, rival: type[Rival], deals: range) -> tuple[list[float], list[float]]:
    """Return, per deal, the mean points of an engine and of the rival over both games.

    One engine plays all games and knows the rival by its name.
    """
    rules = Insertion()
    mine, theirs = [], []
    player = create(spec)
    for number in deals:
        players = player, rival(number)
        for each in players:
            each.warm_up()
        games = list(play_deal(rules, rules.deal(number), players, None, ("engine", rival.__name__)))
        totals = [sum(game.totals[seating.index(who)] for seating, game in games) / 2 for who in (0, 1)]
        mine.append(totals[0])
        theirs.append(totals[1])
    return mine, theirs


def main() -> None:
    """Measure what the command line asks for."""
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("--deals", type=int, default=16)
    parser.add_argument("--first", type=int, default=4000, help="the seed of the first deal")
    parser.add_argument("--millis", type=int, default=10)
    parser.add_argument("--rivals", nargs="+", choices=ALL, default=list(ALL))
    parser.add_argument("--engines", nargs="+", default=ENGINES)
    given = parser.parse_args()
    if given.deals < 1:
        parser.error(f"expected --deals of 1 or more; got {given.deals}")
    given.engines = [timed(spec, given.millis) for spec in given.engines]
    try:
        for spec in given.engines:
            create(spec)
    except EngineError as error:
        parser.error(str(error))
    with processor_time():
        print_table(given)


def timed(spec: str, millis: int) -> str:
    """Return `spec` with the time of a move, if the engine has one and `spec` does not say it."""
    if not spec.startswith("master") or "millis=" in spec:
        return spec
    return f"{spec}{',' if ':' in spec else ':'}millis={millis}"


def print_table(given: Namespace) -> None:
    """Print a row for every rival and engine."""
    print(f"| {' | '.join(TITLES)} |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: |")
    for name in given.rivals:
        first: list[float] = []
        for spec in given.engines:
            mine, theirs = points(spec, ALL[name], range(given.first, given.first + given.deals))
            first = first or mine
            lead = [one - other for one, other in zip(mine, first, strict=True)]
            low, high = bootstrap([mine], mean)
            worse, better = bootstrap([lead], mean)
            kind = "tuned" if ALL[name] in TUNED else "held out"
            print(
                f"| {name} ({kind}) | `{spec}` | {mean(mine):,.0f} | {low:,.0f} to {high:,.0f} | "
                f"{mean(theirs):,.0f} | {mean(lead):+,.0f} | {worse:+,.0f} to {better:+,.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
