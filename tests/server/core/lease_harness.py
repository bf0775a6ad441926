"""Contests whose games are played by workers, and what workers return."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from random import Random
from typing import Any

from arena_protocol.record import GameRecord
from arena_server.core.deal import Setting
from arena_server.core.effects import Assign, Effect, ExcludeWorker, Journal, Store, Withdraw
from arena_server.core.events import PlayedBy, Returned, Tick
from arena_server.core.journal import Entry, Live, Past
from arena_server.host.inprocess import play_in_process
from arena_server.terms.config import Entrant

from .contest_harness import ContestHarness
from .harness import MS, past_game

LEASE_MS = 1_000
NAMES = ("ann", "bob", "cid")


def played(setting: Setting, seed: int = 0) -> GameRecord:
    """The record of a worker: random plies, and a seat that falls now and then."""
    rng = Random(f"{setting.game_id} {seed}")
    clock = iter(range(0, 10**18, 3 * MS))
    legal = setting.game.legal_moves

    def choose(match: Any) -> str:
        return "no move" if rng.random() < 0.1 else rng.choice(list(legal(match.position)))

    record = play_in_process(setting, [choose] * setting.game.seats, lambda: next(clock))
    return replace(record, game_id="g1")


class Workers(ContestHarness):
    """A contest whose games are assigned, and its journal."""

    def __init__(
        self, *names: str | Entrant, past: Past | None = None, now: int = 0, **config: object
    ) -> None:
        super().__init__(*names, past=past, now=now, lease_ms=LEASE_MS, **config)  # type: ignore[arg-type]
        self.journal: list[Entry] = list(self.past.entries)
        self.assigned: list[Assign] = []
        self.excluded: list[str] = []
        self.event(Tick())

    def _carry_out(self, effect: Effect) -> None:
        match effect:
            case Assign():
                self.assigned.append(effect)
            case Withdraw():
                pass
            case ExcludeWorker(worker):
                self.excluded.append(worker)
            case _:
                super()._carry_out(effect)

    def write(self, effect: Journal | Store) -> None:
        if isinstance(effect, Journal):
            self.journal += effect.entries

    def give(self, assign: Assign, record: GameRecord | None = None, worker: str = "w1") -> None:
        """The worker of `assign` returns its game."""
        record = played(assign.setting) if record is None else record
        self.event(Returned(assign.game_id, assign.fence, record, worker, "box"))

    def find_games(self, worker: str, records: Mapping[str, GameRecord] | None = None) -> None:
        """The shell reports what is durable of a worker that was excluded."""
        stored = self.records if records is None else records
        mine = [record for record in stored.values() if record.worker == worker]
        self.event(PlayedBy(worker, [past_game(record, self.journal) for record in mine]))

    def of(self, kind: type[Any]) -> list[Any]:
        return [effect for effect in self.effects if type(effect) is kind]


def resumed(run: Workers, **config: object) -> Workers:
    """The contest on the next server."""
    live = Live()
    live.add(run.journal)
    results = tuple(past_game(record, run.journal) for record in run.records.values())
    past = Past((*run.past.results, *results), tuple(live))
    return Workers(*(entrant.name for entrant in run.entrants), past=past, now=run.now, **config)
