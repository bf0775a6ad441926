"""The benchmarks of the referee: `python -m benchmarks.referee referee|hostile|viewers`."""

from __future__ import annotations

import sys
from functools import partial
from typing import Annotated

import typer
from benchmarks.referee import hostile as under_attack
from benchmarks.referee import run, watched
from benchmarks.referee.attack import bench_attack
from benchmarks.referee.echo import serve

from arena_cli.options import Json, print_json
from arena_server.host.sockets import parse_address

app = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, add_completion=False, pretty_exceptions_enable=False
)


@app.command()
def referee(
    quick: Annotated[
        bool, typer.Option("--quick", help="Shorter runs, at most 100 simultaneous games.")
    ] = False,
    python: Annotated[
        str, typer.Option(help="Interpreter of the environment whose `arena serve` is measured.")
    ] = sys.executable,
    games: Annotated[
        list[int] | None,
        typer.Option("--games", min=1, help="Measure this many games; may be given several times."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Measure `arena serve` next to a bare line echo.

    Instant bots play 1, 10, 100, 500 and 1,000 simultaneous games. Prints CPU per ply and plies per
    second, and their ratios to the echo's in the same run. The server, the echo and the load are
    separate processes.

    Example: arena bench referee --quick
    """
    measured = run.compare(games or None, quick=quick, report=partial(typer.echo, err=True), python=python)
    if as_json:
        print_json(measured)
    else:
        typer.echo(run.text_table(measured))


@app.command()
def viewers(
    quick: Annotated[bool, typer.Option("--quick", help="Shorter runs.")] = False,
    as_json: Json = False,
) -> None:
    """Measure how browsers that watch slow down the bots.

    Twenty bots play with 500 viewers of one game, with 5,000 of the standings and with both,
    each time after as long without any. The viewers are another process, which reads what the
    site sends. Prints turns per second, p50 and p99 of a round trip, and their ratios to those
    without viewers.

    Example: python -m benchmarks.referee viewers --quick
    """
    measured = watched.measure(quick=quick, say=lambda line: typer.echo(line, err=True))
    if as_json:
        print_json(measured)
    else:
        typer.echo(watched.text_table(measured))


@app.command(hidden=True)
def watch(address: str, game: str, of_game: int, of_standings: int) -> None:
    """Open streams and read them until the process is killed."""
    watched.watch(parse_address(address, "ADDRESS"), game, of_game, of_standings)


@app.command()
def hostile(
    quick: Annotated[bool, typer.Option("--quick", help="Shorter runs, 1,000 idle connections.")] = False,
    as_json: Json = False,
) -> None:
    """Measure how attacks slow down honest bots.

    Twenty honest bots play without an attack, then under each attack, then under all together:
    line floods, clients that never read, a thousand slow log-ins (slow loris), connection floods,
    guessed tokens. For comparison all attacks together hit a bare echo on another port, which
    shows what they cost the machine. Prints turns per second, p50 and p99 of a round trip, their
    ratios to the run without an attack, and the memory of 10,000 idle connections.

    Example: arena bench hostile --quick
    """
    measured = under_attack.measure(quick=quick, say=lambda line: typer.echo(line, err=True))
    if as_json:
        print_json(measured)
    else:
        typer.echo(under_attack.text_table(measured))


@app.command()
def attack(kind: str, address: str) -> None:
    """The attacking process of `hostile`."""
    bench_attack(kind, *parse_address(address, "attack"))


@app.command()
def echo() -> None:
    """The bare echo process."""
    serve()


if __name__ == "__main__":
    app()
