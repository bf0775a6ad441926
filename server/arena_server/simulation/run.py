"""Play one simulated contest after the other, and add up what came of it.

Contest after contest has the next seed, so the one that failed is played again by its own
seed alone. It must not know: terminals, files, how progress is shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256

from arena_server.errors import ArenaError
from arena_server.simulation.agenda import SECOND
from arena_server.simulation.contests import draw
from arena_server.simulation.world import World


class SimulationError(ArenaError):
    """What must hold did not; the text names the seed, the moment and what it was."""

    def __init__(self, seed: int, cause: Exception) -> None:
        what = str(cause) or type(cause).__name__
        if not isinstance(cause, AssertionError):
            what = f"{type(cause).__name__}: {what}"
        super().__init__(f"seed {seed}: {what}; see it again by: arena simulate --seed {seed} --games 1")
        self.seed = seed


@dataclass(slots=True)
class Tally:
    """What a run has seen so far; `digest` is of every byte that was said, in order."""

    contests: int = 0
    games: int = 0
    plies: int = 0
    events: int = 0
    connections: int = 0
    crashes: int = 0
    virtual_s: int = 0
    endings: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    digest: str = ""

    def add(self, world: World) -> None:
        """Add one contest that has been played to its end."""
        records = world.records.values()
        self.contests += 1
        self.games += len(records)
        self.plies += sum(len(record.plies) for record in records)
        self.events += world.shell.events
        self.connections += world.shell.accepted
        self.crashes += world.shell.crashes
        self.virtual_s += world.agenda.now // SECOND
        self.endings.update(record.end for record in records)
        self.faults.update(str(fault.kind) for record in records for fault in record.faults)
        self.digest = sha256(self.digest.encode() + world.audit.digest.digest()).hexdigest()


def simulate(seed: int, games: int, report: Callable[[Tally], None] = lambda tally: None) -> Tally:
    """Simulate contests from `seed` on until so many games have been played.

    `report` hears after each contest. Raises SimulationError; its cause is what went wrong.
    """
    tally = Tally()
    while tally.games < games:
        try:
            tally.add(draw(seed).play())
        except Exception as cause:  # whatever it is, a seed has found it, and that is the news
            raise SimulationError(seed, cause) from cause
        report(tally)
        seed += 1
    return tally
