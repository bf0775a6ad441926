"""The benchmarks of the referee: `python -m benchmarks.referee referee|hostile [--quick] [--json]`."""

from __future__ import annotations

import sys
from typing import Annotated

import typer
from benchmarks.referee import hostile as under_attack
from benchmarks.referee import run
from benchmarks.referee.attack import bench_attack
from benchmarks.referee.echo import serve

from arena_cli.options import Json, print_json

app = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, add_completion=False, pretty_exceptions_enable=False
)


@app.command()
def referee(
    quick: Annotated[bool, typer.Option("--quick", help="Shorter runs, up to 100 games at once.")] = False,
    python: Annotated[
        str, typer.Option(help="Interpreter of the environment whose `arena serve` is measured.")
    ] = sys.executable,
    as_json: Json = False,
) -> None:
    """Measure `arena serve` beside a bare echo of lines.

    Instant bots play 1, 10, 100 and 1,000 games at once. Gives CPU a ply and plies a second, and
    their ratio to the echo's in the same run. Server, echo and load are processes of their own.
    """
    measured = run.compare(quick=quick, report=lambda line: typer.echo(line, err=True), python=python)
    if as_json:
        print_json(measured)
    else:
        typer.echo(run.text_table(measured))


@app.command()
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
    measured = under_attack.measure(quick=quick, say=lambda line: typer.echo(line, err=True))
    if as_json:
        print_json(measured)
    else:
        typer.echo(under_attack.text_table(measured))


@app.command()
def attack(kind: str, address: str) -> None:
    """The attacking process of `arena bench hostile`."""
    host, _, port = address.rpartition(":")
    bench_attack(kind, host, int(port))


@app.command()
def echo() -> None:
    """The rival: a bare echo."""
    serve()


if __name__ == "__main__":
    app()
