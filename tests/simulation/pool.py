"""Workers in virtual time that are lost, late or lie, for a contest whose games are lent out.

A worker has a game from Assign until it returns it, gives it back, or its lease ends. What it does is drawn
for each game; a new server has a pool of its own, and what the workers of the last one return is lost.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from random import Random
from typing import Final

from tests.server.core.harness import past_game
from tests.server.core.lease_harness import played
from tests.simulation.crashes import HOUR
from tests.simulation.disk import RECORD
from tests.simulation.edge_cells import NAMES, Cell
from tests.simulation.edges import Watched, check_end, check_second_start
from tests.simulation.network import MS
from tests.simulation.process import SimulatedProcess

from arena_protocol.record import VOID, GameRecord
from arena_protocol.record_codec import decode
from arena_server.core.contest import Contest
from arena_server.core.effects import Assign, Effect, ExcludeWorker
from arena_server.core.events import Capacity, Event, NotPlayed, PlayedBy, Renewed, Returned
from arena_server.core.life import STOPPED
from arena_server.store.journal import unpack

LEASE_MS: Final = 200
#: What a worker does with a game, and how often of 20 times.
WAYS: Final = {"plays": 9, "renews": 2, "late": 2, "lies": 2, "lost": 2, "gives back": 2, "twice": 1}
#: The terms that a contest of workers may have: no bot logs in, so that none is validated.
TERMS: Final = ("plain", "paired", "wins", "probation", "stop", "no wait", "memory")


class Lent(Watched):
    """A cell whose games workers play."""

    def __init__(self, cell: Cell) -> None:
        super().__init__(cell, contest=partial(Contest, lease_ms=LEASE_MS))
        self._chance = Random(f"{cell.seed} workers")
        #: What workers did, and the true record of each game that was lent.
        self.did: Counter[str] = Counter()
        self.true: dict[str, GameRecord] = {}
        # Workers start a bot as often as they have games of it, and no ply is known before the record is.
        self.part.checker.slots = dict.fromkeys(NAMES, 99)
        self._carried_out: Callable[[Effect, int], None] = self.part.checker.carried_out
        self.part.checker.carried_out = self._carry_out  # type: ignore[method-assign]
        self.world.server.begins = self._joins

    def run(self) -> None:
        if self.cell.moment == "before":
            self.world.queue.after(1, self._begin)
        self.world.run(HOUR, {})
        assert self.was_played(), "the script was not played"

    # -- the pool

    def _joins(self, process: SimulatedProcess) -> None:
        """Workers come, leave, and come again."""
        chance = self._chance
        come = chance.randrange(20) * MS
        process.later(come, lambda: self._tell(process, Capacity(chance.randrange(1, 4))))
        if chance.random() < 0.3:
            gone = come + chance.randrange(1, 200) * MS
            process.later(gone, lambda: self._tell(process, Capacity(0)))
            process.later(gone + 300 * MS, lambda: self._tell(process, Capacity(2)))

    def _tell(self, process: SimulatedProcess, event: Event) -> None:
        if process.alive and self.name in process.runs:
            process.feed(self.name, event)

    def _carry_out(self, effect: Effect, now: int) -> None:
        self._carried_out(effect, now)
        process = self.world.server.process
        match effect:
            case Assign():
                # One whose server is about to leave may have lent it just before.
                ended = self.part.contest.ended
                assert ended in (None, STOPPED), f"{effect.game_id} is lent after the end"
                self._play(process, effect)
            case ExcludeWorker(worker):
                process.later(5 * MS, lambda: self._tell(process, self._found(worker)))

    def _play(self, process: SimulatedProcess, lent: Assign) -> None:
        chance = self._chance
        way = chance.choices(list(WAYS), list(WAYS.values()))[0]
        self.did[way] += 1
        game, fence, worker = lent.game_id, lent.fence, f"w{chance.randrange(1, 4)}"
        record = self.true[game] = played(lent.setting)
        back: Event = Returned(game, fence, record, worker, "box")
        took = chance.randrange(1, 40)
        later: list[tuple[int, Event]] = []
        match way:
            case "plays":
                later = [(took, back)]
            case "twice":
                later = [(took, back), (took + 1, back)]
            case "late":
                later = [(LEASE_MS + took, back)]
            case "renews":
                later = [(150, Renewed(game, fence)), (300, Renewed(game, fence)), (450, back)]
            case "gives back":
                later = [(took, NotPlayed(game, fence, worker, "the worker is leaving"))]
            case "lies":
                forged = replace(record, totals=tuple(each + 1 for each in record.totals))
                later = [(took, Returned(game, fence, forged, worker, "box"))]
        for ms, event in later:
            process.later(ms * MS, partial(self._tell, process, event))

    def _found(self, worker: str) -> PlayedBy:
        """What is durable of a worker."""
        disk = self.world.server.disk
        durable = disk.durable(self.name)
        records = [decode(each.data) for each in durable if each.kind == RECORD]
        entries = [entry for each in durable if each.kind != RECORD for entry in unpack(each.data)]
        return PlayedBy(worker, [past_game(each, entries) for each in records if each.worker == worker])


def lent(cell: Cell) -> Lent:
    """Play a cell by workers and check it."""
    watched = Lent(cell)
    watched.run()
    world = watched.world
    assert world.ending is not None
    check_end(world)
    check_second_start(world)
    for game, record in world.records.items():
        if record.end != VOID:
            plain = replace(record, worker="", host="")
            assert plain == replace(watched.true[game], game_id=game), f"{game} is not what was played"
    return watched
