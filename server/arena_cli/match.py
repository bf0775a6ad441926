"""`arena match`: which of two engines is better, or a league of more, played in this process.

The games and the statistics are those of `arena_engines.match`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from arena_cli.options import GameOptions, Json, duration, game_options, interruptible, print_json
from arena_engines import match as games
from arena_server.errors import ConfigError


def command(
    engines: Annotated[
        list[str],
        typer.Argument(
            metavar="A B ...", help="The engines; more than two play a league.", show_default=False
        ),
    ],
    deals: Annotated[
        int, typer.Option(min=1, help="The most deals per pair; each is played from both seats.")
    ] = 20,
    clock: Annotated[str, typer.Option(metavar="DURATION", help="The time of a seat for a game.")] = "20s",
    sprt: Annotated[
        bool, typer.Option("--sprt", help="Stop as soon as it is decided whether A is better than B.")
    ] = False,
    margin: Annotated[
        float, typer.Option(min=0.001, max=1.0, help="The lead, as a share of all points, that --sprt tests.")
    ] = 0.02,
    seed: Annotated[int, typer.Option(min=0, help="The seed of the first deal.")] = 2006,
    game: Annotated[str, typer.Option(help="The game to play.")] = "insertion",
    option: GameOptions = None,
    json: Json = False,
) -> None:
    """Measure which engine scores more points, with a confidence interval.

    Games are paired: every deal is played twice with the seats swapped. The 95 % interval is a
    bootstrap over the deals. With --sprt a sequential test ends the match.

    Example: arena match champion:depth=4 champion:depth=3 --deals 4 --clock 10s
    """
    if len(engines) < 2:
        raise ConfigError(f"match: expected two engines or more, got {len(engines)}")
    if len(engines) > 2 and (twice := [engine for engine in engines if engines.count(engine) > 1]):
        raise ConfigError(f"match: expected each engine of a league once, got {twice[0]} more than once")
    if sprt and len(engines) > 2:
        raise ConfigError(f"--sprt: expected two engines, got {len(engines)}")
    setting: dict[str, Any] = {
        "game": game,
        "options": game_options(option),
        "deals": deals,
        "clock": duration(clock, "--clock"),
        "seed": seed,
        "progress": _say,
    }
    with interruptible():
        if len(engines) == 2:
            answer = games.match(*engines, sprt=margin if sprt else None, **setting)
            text = games.text_table
        else:
            answer, text = games.league(engines, **setting), cross_table
    print_json(answer) if json else typer.echo(text(answer))


def _say(answer: Mapping[str, Any]) -> None:
    """Print a line on stderr after each deal, or each pair of a league."""
    one, other = answer["engines"]
    points = " : ".join(_mean(points) for points in answer["points"])
    typer.echo(f"{one} - {other}: {points} points a game after {answer['games']} games", err=True)


def _mean(points: float) -> str:
    """Format points per game; small scores, as in games of at most two points, keep two decimals."""
    return f"{points:.0f}" if points >= 10 else f"{points:.2f}"


def cross_table(answer: Mapping[str, Any]) -> str:
    """Return a league as text: the mean points per game of each row's engine against each column's."""
    names = answer["engines"]
    order = [names.index(row["engine"]) for row in answer["standings"]]
    rows = [
        "".join(
            [f"{'mean points a game':<40}", f"{'all':>8}", *(f"{at:>8}" for at in range(1, len(order) + 1))]
        )
    ]
    for rank, (i, row) in enumerate(zip(order, answer["standings"], strict=True), start=1):
        cells = [
            "-" if points is None else _mean(points) for points in (answer["table"][i][j] for j in order)
        ]
        label = f"{rank} {names[i]}"
        rows.append("".join([f"{label:<40}", f"{row['points']:>8.1f}", *(f"{cell:>8}" for cell in cells)]))
    return "\n".join(rows)
