"""`arena simulate`: whole contests in virtual time, with everything that may go wrong."""

from __future__ import annotations

import time
import traceback
from dataclasses import fields
from typing import TYPE_CHECKING, Annotated

import typer

from arena_server.cli.options import Json, print_json

if TYPE_CHECKING:
    from arena_server.simulation.run import Tally


def command(
    seed: Annotated[int, typer.Option(help="The seed of the first contest; the next has the next.")] = 1,
    games: Annotated[int, typer.Option(min=1, help="How many games at least.")] = 1000,
    as_json: Json = False,
    trace: Annotated[bool, typer.Option("--trace", help="Show where in the program it failed.")] = False,
) -> None:
    """Simulate contests, and check after every event what must hold.

    The referee's own core plays against a zoo of honest and misbehaving bots, over a network
    and on a disk that are simulated, in virtual time. The same seed gives the same bytes. A seed that
    fails is printed with the command that shows it again.

    Example: arena simulate --seed 1 --games 10000
    """
    from arena_server.cli.counting import Counting
    from arena_server.simulation.run import SimulationError, simulate

    began = time.perf_counter()
    try:
        with Counting("games simulated", games) as counting:
            tally = simulate(seed, games, lambda tally: counting.reach(tally.games))
    except SimulationError as error:
        if trace:
            typer.echo("".join(traceback.format_exception(error.__cause__)), err=True)
        raise
    seconds = time.perf_counter() - began
    if as_json:
        counts = {field.name: getattr(tally, field.name) for field in fields(tally)}
        print_json({"seed": seed, **counts, "seconds": round(seconds, 3)})
    else:
        typer.echo(text(tally, seconds))


def text(tally: Tally, seconds: float) -> str:
    """What a run came to, for people."""
    counted = ", ".join(f"{kind} {number:,}" for kind, number in tally.faults.most_common()) or "none"
    ends = ", ".join(f"{end} {number:,}" for end, number in tally.endings.most_common())
    return "\n".join(
        (
            f"{tally.games:,} games in {tally.contests:,} contests, {tally.plies:,} plies, "
            f"{tally.events:,} events, {tally.connections:,} connections, {tally.crashes:,} crashes: "
            "everything held",
            f"endings: {ends}",
            f"faults: {counted}",
            f"{tally.virtual_s:,} s of virtual time in {seconds:.1f} s, {tally.games / seconds:,.0f} games/s",
            f"digest: {tally.digest}",
        )
    )
