"""The ladder of `arena climb`: games between its rungs, and the ratings that follow from them.

    python -m benchmarks.climb_ladder cli/arena_cli/ladders/insertion.json --deals 200 --near 4

The file names the game, its options and the players, the weakest first; it is written again, in the order
of their ratings, with rating, margin and `proof` of each. Every rung plays the next `--near` ones on
`--deals` deals, each from both seats, and `stats.ratings` fits all games together; the weakest has 0. A rung
that is rated less than `--apart` points above the one below it is left out: the two say the same of a bot.
Engines without a clock get the same ratings on every machine.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

from arena_cli.climb_ladder import RatedLadder, Rung, first_games
from arena_cli.engine_games import play_deal
from arena_engines.registry import create
from arena_protocol.games import make_game
from arena_server.stats.rated_games import RatedGame
from arena_server.stats.ratings import Rating, fit

#: The seed of the first deal; each pair of rungs has deals of its own.
SEED = 1_000_000


def games_of(ladder: RatedLadder, one: int, other: int, deals: int) -> list[RatedGame]:
    """The games of two rungs."""
    rules = make_game(ladder.game, ladder.options)
    players = [ladder.rungs[at].player for at in (one, other)]
    engines = [create(player, ladder.game) for player in players]
    for engine in engines:
        engine.warm_up()
    seed = SEED * (1 + one * len(ladder.rungs) + other)
    return [
        RatedGame(tuple(players[at] for at in seating), game.totals, (one, other, number))
        for number in range(deals)
        for seating, game in play_deal(rules, rules.deal(seed + number), engines, None)
    ]


def measured(ladder: RatedLadder, deals: int, near: int, processes: int) -> Iterator[RatedGame]:
    """All games of the ladder; a line for each pair on stderr."""
    size = len(ladder.rungs)
    pairs = [(one, other) for one in range(size) for other in range(one + 1, min(one + near + 1, size))]
    with ProcessPoolExecutor(processes) as pool:
        tasks = [pool.submit(games_of, ladder, one, other, deals) for one, other in pairs]
        for (one, other), task in zip(pairs, tasks, strict=True):
            games = task.result()
            points = sum(_points(game, ladder.rungs[other].player) for game in games)
            print(
                f"{ladder.rungs[other].player} against {ladder.rungs[one].player}: {points / len(games):.3f}",
                file=sys.stderr,
                flush=True,
            )
            yield from games


def _points(game: RatedGame, player: str) -> float:
    mine = game.totals[game.names.index(player)]
    other = game.totals[1 - game.names.index(player)]
    return 1.0 if mine > other else 0.5 if mine == other else 0.0


def rated(ladder: RatedLadder, games: Iterable[RatedGame], *, proofs: bool, apart: int = 1) -> dict[str, Any]:
    """The ladder with what was measured, as JSON types; its rungs are at least `apart` points apart."""
    found = fit(games)
    if found.unrated:
        sys.exit(f"no rating: {dict(found.unrated)}; put rungs between, or play more deals")
    zero = min(row.rating for row in found.rows)
    rows: list[Rating] = []
    for row in sorted(found.rows, key=lambda row: row.rating):
        if not rows or round(row.rating - zero) - round(rows[-1].rating - zero) >= apart:
            rows.append(row)
    whole = replace(ladder, rungs=tuple(Rung(row.name) for row in rows))
    rungs = [
        {
            "player": row.name,
            "rating": round(row.rating - zero),
            "margin": round(row.margin),
            "games": row.games,
            "proof": first_games(whole, at) if proofs and at + 1 < len(rows) else "",
        }
        for at, row in enumerate(rows)
    ]
    return {"game": ladder.game, "options": dict(ladder.options), "rungs": rungs}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--deals", type=int, default=200)
    parser.add_argument("--near", type=int, default=4)
    parser.add_argument("--apart", type=int, default=15, help="points, 1 or more")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument(
        "--draft", nargs="+", help="players in place of those of the file; no proof is written"
    )
    given = parser.parse_args()
    ladder = RatedLadder.read(given.file, draft=True)
    if given.draft:
        ladder = RatedLadder(ladder.game, ladder.options, tuple(Rung(player) for player in given.draft))
    games = measured(ladder, given.deals, given.near, given.processes)
    plain = rated(ladder, games, proofs=not given.draft, apart=given.apart)
    if given.draft:
        for rung in plain["rungs"]:
            print(rung["player"], rung["rating"], rung["margin"])
        return
    lines = ",\n  ".join(json.dumps(rung) for rung in plain.pop("rungs"))
    head = ", ".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in plain.items())
    given.file.write_text(f'{{{head}, "rungs": [\n  {lines}\n]}}\n', encoding="ascii")


if __name__ == "__main__":
    main()
