"""`arena engines`: which engines there are, and their compiled code in the cache."""

from __future__ import annotations

from typing import Annotated

import typer

from arena_cli.options import Json, repeated


def command(
    game: Annotated[
        str | None, typer.Option(metavar="GAME", help="Only the engines of this game.", show_default=False)
    ] = None,
    compiled: Annotated[
        list[str] | None,
        repeated(
            "ENGINE", "Compile this engine of GAME into the cache, so that no game waits for it", "--compile"
        ),
    ] = None,
    json: Json = False,
) -> None:
    """List the engines of every game, the weakest first, with their parameters.

    With --compile a line is printed for each function that is compiled.

    Example: arena engines --game insertion
    """
    from arena_cli.bot import warm_up
    from arena_cli.options import print_json
    from arena_engines.registry import describe, engines_of, problems
    from arena_protocol.games import GAMES, make_game
    from arena_server.errors import ConfigError

    if game is not None:
        make_game(game, {})
    if compiled:
        if game is None:
            raise ConfigError("--compile: say of which game by --game GAME")
        _print_compilation()
        warm_up(compiled, game)
        return
    chosen = {each: engines_of(each) for each in GAMES if game in (None, each)}
    for line in (*GAMES.problems, *problems()):
        typer.echo(f"arena: {line}", err=True)
    if json:
        print_json({each: list(known) for each, known in chosen.items()})
        return
    for each, known in chosen.items():
        typer.echo(each)
        for name, kind in known.items():
            typer.echo(f"  {name:<16} {describe(kind.parameters)}".rstrip())


def _print_compilation() -> None:
    """Print a line on stdout per compiled function."""
    import logging
    import sys

    logger = logging.getLogger("arena_engines")
    logger.addHandler(logging.StreamHandler(sys.stdout))
    logger.setLevel(logging.INFO)
