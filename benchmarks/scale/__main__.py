"""Contests of a size that no other test has: `python -m benchmarks.scale --help`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from benchmarks.scale import field, million
from benchmarks.scale import page as first_view

app = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, add_completion=False, pretty_exceptions_enable=False
)


@app.command("million")
def of_a_million(folder: Path) -> None:
    """Fill FOLDER/arena.db with 1,008,000 games, if it is not there, and measure every answer about them."""
    folder.mkdir(exist_ok=True)
    if not (folder / "arena.db").exists():
        million.fill(folder / "arena.db")
    million.measure(folder)


@app.command()
def page(folder: Path) -> None:
    """Fill FOLDER/arena.db with 10,070 games, if it is not there, and measure its pages in Chromium."""
    folder.mkdir(exist_ok=True)
    first_view.measure(folder)


@app.command()
def roundrobin(
    bots: Annotated[int, typer.Option(help="How many bots.")] = 200,
    think: Annotated[float, typer.Option(help="Seconds a move.")] = 0.1,
) -> None:
    """Play a round-robin of two games a pair to its end."""
    field.measure("round-robin", "games_per_pair = 2", bots, think, 3600.0)


@app.command()
def ladder(
    bots: Annotated[int, typer.Option(help="How many bots.")] = 1000,
    minutes: Annotated[float, typer.Option(help="How long.")] = 10.0,
    think: Annotated[float, typer.Option(help="Seconds a move.")] = 0.5,
) -> None:
    """Play a ladder for some minutes."""
    field.measure("ladder", "", bots, think, 60 * minutes)


@app.command()
def swiss(
    bots: Annotated[int, typer.Option(help="How many bots.")] = 2000,
    rounds: Annotated[int, typer.Option(help="How many rounds.")] = 11,
    think: Annotated[float, typer.Option(help="Seconds a move.")] = 0.1,
) -> None:
    """Play a Swiss of two games a pairing to its end."""
    field.measure("swiss", f"games_per_pair = 2\nrounds = {rounds}", bots, think, 3600.0)


if __name__ == "__main__":
    app()
