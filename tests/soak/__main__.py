"""`python -m tests.soak --minutes 60`: the soak run, with its figures."""

from __future__ import annotations

from typing import Annotated

import typer

from .processes import print_run
from .run import run


def main(
    minutes: Annotated[float, typer.Option(help="How long to play.")] = 60.0,
    bots: Annotated[int, typer.Option(min=4, help="How many processes; a quarter is faulty.")] = 50,
    seed: Annotated[int, typer.Option(help="What draws the kills.")] = 1,
) -> None:
    """Play a contest in which server, bots and PostgreSQL are killed, and print the figures."""
    print_run(lambda folder, say: run(folder, minutes, bots, seed, say=say))


if __name__ == "__main__":
    typer.run(main)
