"""`make simulate`: contest after contest in virtual time, with everything that may go wrong, and their tally.

Each contest has the next seed, so one that fails is played again by its own seed alone.
"""

from __future__ import annotations

import time
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from hashlib import sha256
from typing import Annotated

import typer
from tests.simulation.network import SECOND
from tests.simulation.progress_bar import ProgressBar
from tests.simulation.scenario import draw
from tests.simulation.world import World

from arena_cli.options import Json, print_json
from arena_server.errors import ArenaError


class SimulationError(ArenaError):
    """What must hold did not; the text names the seed, the moment and what it was."""

    def __init__(self, seed: int, cause: Exception) -> None:
        what = str(cause) or type(cause).__name__
        if not isinstance(cause, AssertionError):
            what = f"{type(cause).__name__}: {what}"
        super().__init__(
            f"seed {seed}: {what}; repeat it with: python -m tests.simulation --seed {seed} --games 1"
        )
        self.seed = seed


@dataclass(slots=True)
class Tally:
    """Counts over all contests so far; `digest` is of every byte that was sent, in order.

    The validation games, and those of them in which the bot had a fault, are in no other count of games.
    """

    contests: int = 0
    games: int = 0
    validations: int = 0
    faulty_validations: int = 0
    plies: int = 0
    events: int = 0
    connections: int = 0
    crashes: int = 0
    stops: int = 0
    virtual_s: int = 0
    endings: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    digest: str = ""

    def add(self, world: World) -> None:
        """Add one contest that has been played to its end."""
        records = world.records.values()
        self.contests += 1
        self.games += len(records)
        validations = world.checker.validations.values()
        self.validations += len(validations)
        self.faulty_validations += sum(bool(record.faults) for record in validations)
        self.plies += sum(len(record.plies) for record in records)
        self.events += world.server.events
        self.connections += world.server.accepted
        self.crashes += world.server.crashes
        self.stops += world.server.stops
        self.virtual_s += world.queue.now // SECOND
        self.endings.update(record.end for record in records)
        self.faults.update(str(fault.kind) for record in records for fault in record.faults)
        self.digest = sha256(self.digest.encode() + world.checker.digest.digest()).hexdigest()


def simulate(seed: int, games: int, report: Callable[[Tally], None] = lambda tally: None) -> Tally:
    """Simulate contests from `seed` on until `games` games have been played.

    `report` is called after each contest. Raises SimulationError; its cause is what went wrong.
    """
    tally = Tally()
    while tally.games < games:
        try:
            tally.add(draw(seed).play())
        except Exception as cause:  # any exception is a find: name its seed
            raise SimulationError(seed, cause) from cause
        report(tally)
        seed += 1
    return tally


def command(
    seed: Annotated[int, typer.Option(help="The seed of the first contest; the next has the next.")] = 1,
    games: Annotated[int, typer.Option(min=1, help="How many games at least.")] = 1000,
    as_json: Json = False,
    trace: Annotated[bool, typer.Option("--trace", help="Show where in the program it failed.")] = False,
) -> None:
    """Simulate contests, and check after every event what must hold.

    The server's own core plays against honest and misbehaving bots, over a network
    and on a disk that are simulated, in virtual time. The same seed gives the same bytes. A seed that
    fails is printed with the command that shows it again.

    Example: python -m tests.simulation --seed 1 --games 10000
    """
    began = time.perf_counter()
    try:
        with ProgressBar("games simulated", games) as bar:
            tally = simulate(seed, games, lambda tally: bar.update(tally.games))
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
            f"{tally.events:,} events, {tally.connections:,} connections, {tally.crashes:,} crashes, "
            f"{tally.stops:,} stops: everything held",
            f"validation games: {tally.validations:,}, {tally.faulty_validations:,} with a fault",
            f"endings: {ends}",
            f"faults: {counted}",
            f"{tally.virtual_s:,} s of virtual time in {seconds:.1f} s, {tally.games / seconds:,.0f} games/s",
            f"digest: {tally.digest}",
        )
    )
