"""What bots store on workers: kept with the durable result of their game, and nothing of a lie."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

import pytest

from arena_server.core.effects import Assign
from arena_server.core.events import Capacity, HandIn, NotPlayed, Returned
from arena_server.core.log_events import ResultRefused

from .contest_harness import ContestHarness
from .lease_harness import NAMES, Workers, played, resumed

QUOTA = 64


def give(run: Workers, assign: Assign, stored: Mapping[str, bytes], worker: str = "w1") -> None:
    record = played(assign.setting)
    run.event(Returned(assign.game_id, assign.fence, record, worker, "box", stored))


class Play:
    """Games on workers, and the model of what their bots have stored."""

    def __init__(self, seed: int) -> None:
        self.rng = Random(seed)
        self.run = Workers(*NAMES, storage_bytes=QUOTA, games_per_pair=6)
        self.kept: dict[str, bytes] = {}
        #: The lease of each game that a worker has.
        self.out: dict[str, Assign] = {}
        self.lies = self.lost = self.restarts = 0
        self.run.event(Capacity(3))

    def take(self) -> Assign | None:
        """A game that a worker has, by its newest lease; with what is kept of its bots, as it was then."""
        for assign in self.run.assigned:
            names = assign.setting.names
            assert set(assign.stored) == set(names), "of the bots of the game alone"
            self.out[assign.game_id] = assign
        self.run.assigned.clear()
        running = [each for each in self.out if self.run.contest._games.find(each) is not None]
        return self.out.pop(self.rng.choice(running)) if running else None

    def step(self) -> None:
        if (assign := self.take()) is None:
            return
        names = assign.setting.names
        stored = {name: self.rng.randbytes(QUOTA) for name in names if self.rng.randrange(3)}
        match self.rng.randrange(8):
            case 0:
                self.lies += 1
                other = next(name for name in NAMES if name not in names)
                wrong = {other: b"mine"} if self.rng.randrange(2) else {names[0]: bytes(QUOTA + 1)}
                give(self.run, assign, stored | wrong)
                assert self.run.of(ResultRefused)
            case 1:
                self.run.event(NotPlayed(assign.game_id, assign.fence, "w1", "gone"))
            case 2:  # killed between acceptance and the disk has it
                self.lost += 1
                self.run.stores = False
                give(self.run, assign, stored)
                del self.run.records[assign.game_id]
                self.restart()
            case 3:  # killed when the disk has it, and the core has not
                self.run.stores = False
                give(self.run, assign, stored)
                self.kept |= stored
                self.restart()
            case 4:
                self.out[assign.game_id] = assign
                self.restart()
            case _:
                give(self.run, assign, stored)
                self.kept |= stored
        assert self.run.contest.stored.by_name == self.kept

    def restart(self) -> None:
        self.restarts += 1
        self.out.clear()
        self.run = resumed(self.run, storage_bytes=QUOTA, games_per_pair=6)
        self.run.event(Capacity(3))


@pytest.mark.parametrize("first", range(0, 20, 10))
def test_what_is_kept_is_what_the_last_durable_result_said(first: int) -> None:
    runs = [Play(seed) for seed in range(first, first + 10)]
    for run in runs:
        for _ in range(30):
            run.step()
    assert all(run.kept for run in runs)
    assert min(sum(run.lies for run in runs), sum(run.lost for run in runs)) > 5
    assert sum(run.restarts for run in runs) > 20


def test_the_next_game_begins_with_what_is_kept() -> None:
    run = Workers("ann", "bob", storage_bytes=QUOTA)
    run.event(Capacity(1))
    assert run.assigned[0].stored == {"ann": b"", "bob": b""}
    give(run, run.assigned[0], {"bob": b"learnt"})
    assert run.assigned[1].stored == {"ann": b"", "bob": b"learnt"}


@pytest.mark.parametrize(
    ("stored", "problem"),
    [
        ({"bob": b"x"}, "it stores bytes of 'bob', which has not played"),
        ({"zoe": b""}, "it stores bytes of 'zoe', which has not played"),
        ({"ann": bytes(65)}, "it stores 65 bytes of ann, and 64 are the most"),
    ],
)
def test_a_worker_that_lies_is_refused(stored: Mapping[str, bytes], problem: str) -> None:
    run = Workers(*NAMES, storage_bytes=QUOTA)
    run.event(Capacity(1))
    assert run.assigned[0].setting.names == ("cid", "ann")
    give(run, run.assigned[0], {"cid": b"bytes", **stored})
    assert [refused.reason for refused in run.of(ResultRefused)] == [problem]
    assert run.contest.stored.by_name == {}


def test_where_nothing_is_stored_no_byte_of_a_worker_is_taken() -> None:
    run = Workers("ann", "bob")
    run.event(Capacity(1))
    assert run.assigned[0].stored == {}
    give(run, run.assigned[0], {"ann": b"x"})
    assert [refused.reason for refused in run.of(ResultRefused)] == [
        "it stores 1 bytes of ann, and 0 are the most"
    ]


def test_what_is_handed_in_is_what_a_bot_gets() -> None:
    harness = ContestHarness("ann", "bob", storage_bytes=QUOTA)
    harness.event(HandIn({"ann": b"hi"}))
    harness.log_in("ann", " storage=1")
    assert any(line.endswith(f" storage={QUOTA} stored=6869") for line in harness.received("ann"))
