"""`arena engines`: which engines there are, and their compiled code in the cache."""

from __future__ import annotations

from typing import Annotated, Final, TextIO

import typer

from arena_cli.options import Json, repeated

#: Instead of an engine: all that have something to compile.
ALL: Final = "all"


def command(
    game: Annotated[
        str | None, typer.Option(metavar="GAME", help="Only the engines of this game.", show_default=False)
    ] = None,
    compiled: Annotated[
        list[str] | None,
        repeated(
            "ENGINE",
            "Compile this engine, or `all`, into the cache, so that no game waits for it; of GAME or of each",
            "--compile",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """List the engines of every game, the weakest first, with their parameters.

    With --compile a line is printed for each function that is compiled, and one for each engine at the end.

    Example: arena engines --compile master
    """
    from arena_cli.options import print_json
    from arena_engines.registry import describe, engines_of, problems
    from arena_protocol.games import GAMES, make_game

    if game is not None:
        make_game(game, {})
    if compiled:
        _compile(compiled, game)
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


def _compile(specs: list[str], game: str | None) -> None:
    """Compile engines, with a line on stdout for each function and each engine. Raises ArenaError."""
    from arena_cli.bot import compiles
    from arena_engines.jit import COMPILING, cache_folder
    from arena_engines.registry import create
    from arena_protocol.games import GAMES
    from arena_server.errors import ConfigError

    lines = _lines_of_compiler()
    for spec in specs:
        if not (found := _found(spec, (game,) if game is not None else tuple(GAMES))):
            raise ConfigError(f"--compile {spec}: no engine of this name; `arena engines` lists all")
        for each, name in found:
            before = len(lines)
            if not compiles(name, each):
                typer.echo(f"{each} {name}: nothing to compile")
                continue
            create(name, each).warm_up()
            new = sum(line.startswith(COMPILING) for line in lines[before:])
            done = f"{new} function{'s' * (new > 1)} compiled" if new else "nothing left to compile"
            typer.echo(f"{each} {name}: {done}, in {cache_folder()}")


def _found(spec: str, games: tuple[str, ...]) -> list[tuple[str, str]]:
    """The engines that are meant, each behind its game."""
    from arena_cli.bot import check, compiles
    from arena_engines.registry import engines_of, games_of

    if spec == ALL:
        return [(game, name) for game in games for name in engines_of(game) if compiles(name, game)]
    if len(games) > 1:
        games = games_of(spec.partition(":")[0])
    for game in games:
        check(spec, game)
    return [(game, spec) for game in games]


def _lines_of_compiler() -> list[str]:
    """Print a line on stdout per compiled function. Returns the list that gets each of them."""
    import logging
    import sys

    lines: list[str] = []

    class CompilerLines(logging.StreamHandler[TextIO]):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(record.getMessage())
            super().emit(record)

    logger = logging.getLogger("arena_engines")
    logger.addHandler(CompilerLines(sys.stdout))
    logger.setLevel(logging.INFO)
    return lines
