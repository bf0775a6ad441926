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
    from arena_engines.registry import ENGINES, describe
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
    chosen = [each for each in GAMES if game in (None, each)]
    if json:
        print_json({each: [kind.name for kind in ENGINES if kind.game == each] for each in chosen})
        return
    for each in chosen:
        typer.echo(each)
        for kind in ENGINES:
            if kind.game == each:
                typer.echo(f"  {kind.name:<16} {describe(kind.parameters)}".rstrip())


def _print_compilation() -> None:
    """Print a line on stdout per compiled function."""
    import logging
    import sys

    logger = logging.getLogger("arena_engines")
    logger.addHandler(logging.StreamHandler(sys.stdout))
    logger.setLevel(logging.INFO)
