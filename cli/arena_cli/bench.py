"""`arena analyse` and `arena bench`: analyse positions, and measure engines and referee."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer

from arena_cli.options import GameOptions, Json, game_options, interruptible, print_json
from arena_server.errors import MISUSED, ArenaError


class NoCheckoutError(ArenaError):
    """The benchmark is part of a checkout, and the package is installed without one."""

    exit_code = MISUSED


def analyse(
    game: Annotated[
        str, typer.Argument(metavar="GAME", help="The game, such as insertion.", show_default=False)
    ],
    positions: Annotated[
        Path,
        typer.Option(
            metavar="FILE",
            help="A line `<board> <visible sequence>` a position; without hidden pictures `<board>`.",
            show_default=False,
        ),
    ],
    engine: Annotated[
        str | None,
        typer.Option(help="The engine that analyses; champion, openlines, weighted or xo if absent."),
    ] = None,
    depth: Annotated[int, typer.Option(help="How many plies deep.")] = 5,
    option: GameOptions = None,
    library: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Add the analyses to this library.", show_default=False),
    ] = None,
    as_json: Json = False,
) -> None:
    """Let an engine analyse positions.

    Prints the best move, its value at that depth, the nodes and the processor time of the search. With
    --library the file gets the positions with their moves; an engine plays them with its parameter
    library=FILE.

    Example: arena analyse insertion --engine champion --depth 5 --positions positions.txt --json
    """
    from arena_engines.analysis import analyse_file, analysis_table
    from arena_engines.registry import usual_analyst

    with interruptible():
        spec = engine or usual_analyst(game)
        if library is not None:
            spec += f"{',' if ':' in spec else ':'}library={library},extend=yes"
        analysis = analyse_file(spec, depth, positions, game, game_options(option))
    if as_json:
        print_json(analysis)
    else:
        typer.echo(analysis_table(analysis))


def group() -> typer.Typer:
    """Return the commands of `arena bench`."""
    about = "Measure search, referee, and the referee under attack.\n\nExample: arena bench search --depth 5"
    app = typer.Typer(help=about, no_args_is_help=True, rich_markup_mode=None)
    app.command("search")(search)
    app.command("referee")(referee)
    app.command("hostile")(hostile)
    return app


def search(
    engine: Annotated[str, typer.Option(help="The engine to measure.")] = "champion",
    depth: Annotated[int, typer.Option(help="The greatest depth.")] = 6,
    rival: Annotated[str, typer.Option(help="The engine to compare with.")] = "minimax",
    rival_depth: Annotated[int, typer.Option(help="The rival's greatest depth.")] = 5,
    as_json: Json = False,
) -> None:
    """Measure the search of an engine.

    Prints nodes per second of processor time, nodes at each depth next to a rival's, and the node signature.

    Example: arena bench search --depth 5
    """
    from arena_engines.analysis import bench_table, search_bench

    with interruptible():
        measured = search_bench(engine, depth, rival, rival_depth)
    if as_json:
        print_json(measured)
    else:
        typer.echo(bench_table(measured))


def referee(
    quick: Annotated[
        bool, typer.Option("--quick", help="Shorter runs, at most 100 simultaneous games.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Measure the referee next to a bare line echo; needs a checkout of the project.

    Example: arena bench referee --quick
    """
    _benchmark("referee", quick, as_json)


def hostile(
    quick: Annotated[bool, typer.Option("--quick", help="Shorter runs, 1,000 idle connections.")] = False,
    as_json: Json = False,
) -> None:
    """Measure honest bots under attack; needs a checkout of the project.

    Example: arena bench hostile --quick
    """
    _benchmark("hostile", quick, as_json)


def _benchmark(name: str, quick: bool, as_json: bool) -> None:
    """Run a benchmark in a process of its own. Raises NoCheckoutError: benchmarks are not installed."""
    checkout = Path(__file__).resolve().parents[2]
    if not (checkout / "benchmarks" / "referee" / "__main__.py").exists():
        raise NoCheckoutError(
            f"`arena bench {name}` needs a checkout of insertion-arena; this is an installed package:"
            f" run it from a clone after `make install`"
        )
    flags = ["--quick"] * quick + ["--json"] * as_json
    command = [sys.executable, "-m", "benchmarks.referee", name, *flags]
    raise typer.Exit(subprocess.run(command, cwd=checkout, check=False).returncode)  # noqa: S603
