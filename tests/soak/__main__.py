"""`python -m tests.soak --minutes 60`: the soak run, with its figures."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from .run import run


def main(
    minutes: Annotated[float, typer.Option(help="How long to play.")] = 60.0,
    bots: Annotated[int, typer.Option(min=4, help="How many processes; a quarter is faulty.")] = 50,
    seed: Annotated[int, typer.Option(help="What draws the kills.")] = 1,
) -> None:
    """Play a contest in which server, bots and PostgreSQL are killed, and print the figures."""
    with TemporaryDirectory(prefix="arena-soak-") as folder:
        typer.echo(run(Path(folder), minutes, bots, seed, say=lambda line: typer.echo(line, err=True)))


if __name__ == "__main__":
    typer.run(main)
