"""`arena match`: which engine scores more, in a match or a league played in this process."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from arena_cli.options import (
    GameOptions,
    Json,
    Library,
    duration,
    game_options,
    interruptible,
    print_json,
    start_positions,
)
from arena_engines import match as games
from arena_protocol.games import make_game
from arena_server.errors import ConfigError

Engines = Annotated[
    list[str],
    typer.Argument(
        metavar="A B ...",
        help="The engines: as many as the game has seats; more play a league.",
        show_default=False,
    ),
]


def command(
    engines: Engines,
    deals: Annotated[int, typer.Option(min=1, help="The most deals; each is played from every seat.")] = 20,
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
    library: Library = None,
    json: Json = False,
) -> None:
    """Compare engines by their points, with confidence intervals.

    Every deal is played from every seat. The 95 % interval is a bootstrap over the deals. With
    --sprt a sequential test of the first engine against the others ends the match.

    Example: arena match champion:depth=4 champion:depth=3 --deals 4 --clock 10s
    """
    if len(engines) < 2:
        raise ConfigError(f"match: expected two engines or more, got {len(engines)}")
    settings = game_options(option)
    rules = make_game(game, settings, strangers=False)
    if library is not None:
        settings["board"] = start_positions(library, rules)
    seats = rules.seats
    is_league = len(engines) > seats
    if is_league and (twice := [engine for engine in engines if engines.count(engine) > 1]):
        raise ConfigError(f"match: expected each engine of a league once, got {twice[0]} more than once")
    if sprt and is_league:
        raise ConfigError(f"--sprt: expected {seats} engines, got {len(engines)}")
    setting: dict[str, Any] = {
        "game": game,
        "options": settings,
        "deals": deals,
        "clock": duration(clock, "--clock"),
        "seed": seed,
        "progress": _report,
    }
    with interruptible():
        if is_league:
            answer, text = games.league(engines, **setting), games.league_table
        else:
            answer = games.match(engines, sprt=margin if sprt else None, **setting)
            text = games.text_table
    print_json(answer) if json else typer.echo(text(answer))


def _report(answer: Mapping[str, Any]) -> None:
    """Print one line of progress on stderr, after each deal of a match and each group of a league."""
    points = " : ".join(games.mean_text(points) for points in answer["points"])
    names = " - ".join(answer["engines"])
    typer.echo(f"{names}: {points} points a game after {answer['games']} games", err=True)
