"""`arena analyse` and `arena bench`: what the engines think, and what engines and referee cost."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from arena_server.cli.options import Json, ends_at_once, print_json


def analyse(
    game: Annotated[
        str, typer.Argument(metavar="GAME", help="The game, such as insertion.", show_default=False)
    ],
    positions: Annotated[
        Path,
        typer.Option(
            metavar="FILE", help="A line `<board> <visible sequence>` a position.", show_default=False
        ),
    ],
    engine: Annotated[str, typer.Option(help="The engine that analyses.")] = "champion",
    depth: Annotated[int, typer.Option(help="How many plies deep.")] = 5,
    as_json: Json = False,
) -> None:
    """Let an engine analyse positions.

    Gives the best move, its value at that depth, the nodes and the seconds of search.

    Example: arena analyse insertion --engine champion --depth 5 --positions positions.txt --json
    """
    from arena_engines.analysis import analyse_file, analysis_table

    with ends_at_once():
        analysis = analyse_file(engine, depth, positions, game)
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
    """Measure a search.

    Gives nodes a second, nodes at each depth beside a rival's, and the node signature.

    Example: arena bench search --depth 5
    """
    from arena_engines.analysis import bench_table, search_bench

    with ends_at_once():
        measured = search_bench(engine, depth, rival, rival_depth)
    if as_json:
        print_json(measured)
    else:
        typer.echo(bench_table(measured))


def referee(
    quick: Annotated[bool, typer.Option("--quick", help="Shorter runs, up to 100 games at once.")] = False,
    as_json: Json = False,
) -> None:
    """Measure the referee beside a bare line echo.

    Instant bots play 1, 10, 100 and 1,000 games at once. Gives plies a second and their ratio
    to the echo's lines, and p50 and p99 of the referee's own share of a ply: from reading MOVE
    to having sent PLAYED and TURN. Server and load are processes of their own.

    Example: arena bench referee --quick
    """
    from arena_server.cli.bench_referee import measure, text_table

    measured = measure(quick=quick, say=lambda line: typer.echo(line, err=True))
    if as_json:
        print_json(measured)
    else:
        typer.echo(text_table(measured))


def hostile(
    quick: Annotated[bool, typer.Option("--quick", help="Shorter runs, 1,000 idle connections.")] = False,
    as_json: Json = False,
) -> None:
    """Measure what honest bots notice of an attack.

    Twenty honest bots play quietly, then under each attack, then under all at once: flooders,
    readers that never read, a thousand slow loris, floods of connections, guesses at log-ins.
    As a rival, all at once attack a bare echo elsewhere: that is what they cost the machine.
    Gives turns a second, p50 and p99 of a turn-round, their ratio to the quiet figures of the
    same run, and the memory of 10,000 idle connections.

    Example: arena bench hostile --quick
    """
    from arena_server.cli.bench_hostile import measure, text_table

    measured = measure(quick=quick, say=lambda line: typer.echo(line, err=True))
    if as_json:
        print_json(measured)
    else:
        typer.echo(text_table(measured))


def attack(kind: str, address: str) -> None:
    """The attacking process of `arena bench hostile`."""
    from arena_server.cli.bench_attack import bench_attack

    host, _, port = address.rpartition(":")
    bench_attack(kind, host, int(port))


def server(kind: str, games: int, seconds: float) -> None:
    """The measured process of `arena bench referee`."""
    from arena_server.cli.bench_server import bench_server

    bench_server(kind, games, seconds)


def load(kind: str, games: int, address: str) -> None:
    """The loading process of `arena bench referee`."""
    from arena_server.cli.bench_load import bench_load

    host, _, port = address.rpartition(":")
    bench_load(kind, games, host, int(port))
