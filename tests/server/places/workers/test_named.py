"""A worker that stands out is named to the person who runs the contest, also at its last result."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import pytest

from arena_protocol.games import make_game
from arena_protocol.record_codec import encode
from arena_server.core.deal import Setting
from arena_server.core.formats.base import Pairing
from arena_server.core.match import Match
from arena_server.host.inprocess import play_in_process
from arena_server.places.base import LocalBot
from arena_server.places.local import LocalRun, run_local
from arena_server.places.supervisor import ProgressListener
from arena_server.places.workers.base import (
    GameJob,
    JobOutcome,
    PoolEvents,
    Workers,
)
from arena_server.terms.config import ContestConfig
from arena_server.terms.spec import ContestSpec, entrant_of

pytestmark = [pytest.mark.asyncio, pytest.mark.real]

BOTS = ("ann", "bob")
NS_PER_MS = 1_000_000


class Played:
    """Two workers that play games at once, the second one, w1, as the test says (`base.WorkerPool`)."""

    def __init__(self, slowness: int, gives_to: str, benches: Sequence[tuple[str, int]] = ()) -> None:
        self._benches = benches
        self._slowness = slowness
        self._gives_to = gives_to
        self._rng = Random(1)

    async def open(self, events: PoolEvents) -> None:
        self._events = events
        for worker, bench in self._benches:
            events.measured(worker, bench)
        events.capacity(4)

    def submit(self, job: GameJob) -> None:
        asyncio.get_running_loop().call_soon(self._play, job, self._rng.randrange(2))

    def _play(self, job: GameJob, unlike: int) -> None:
        rules = make_game(job.config.game, job.config.options)
        names = tuple(bot.name for bot in job.bots)
        setting = Setting.of(job.config, rules, Pairing(1, names, 1))
        step = 10 * NS_PER_MS * (self._slowness if unlike else 1)
        clock = count(0, step)
        kind = bool(unlike and self._gives_to)
        players = [self._player(rules, kind and (1 if name == self._gives_to else -1)) for name in names]
        record = play_in_process(setting, players, lambda: next(clock))
        self._events.ended(job, JobOutcome(encode(record)), f"w{unlike}", "here")

    def _player(self, rules: Any, will: int) -> Callable[[Match], str]:
        """The first legal move (0): of equal workers all games of the same seats end equally.

        `will`: 1 wins if it can, -1 plays the last move that does not win.
        """

        def choose(match: Match) -> str:
            moves = list(rules.legal_moves(match.position))
            wins = [move for move in moves if rules.play(match.position, move).points > 1]
            wanted = wins if will > 0 else [move for move in moves if will and move not in wins]
            return str((wanted or moves)[min(0, will)])

        return choose

    def withdraw(self, key: str) -> None:
        raise AssertionError("each game is played at once")

    def exclude(self, worker: str) -> None:
        raise AssertionError("no worker is taken out")

    async def close(self) -> None:
        pass


class Lines(ProgressListener):
    def __init__(self) -> None:
        self.lines: list[str] = []

    def say(self, line: str) -> None:
        self.lines.append(line.partition(" (")[0])


async def named(
    folder: Path,
    games: int,
    slowness: int = 1,
    gives_to: str = "",
    benches: Sequence[tuple[str, int]] = (),
) -> list[str]:
    """What is said in a contest of these workers."""
    config = ContestConfig(
        name="named", seed=1, game="tictactoe", format="matches", games_per_pair=games, spectator_delay_ms=0
    )
    bots = {name: LocalBot(name, ("-",), "t") for name in BOTS}
    workers = Workers(pool=Played(slowness, gives_to, benches), bots=bots, engines={}, lease_ms=30_000)
    entrants = [entrant_of(name, "t") for name in BOTS]
    listener = Lines()
    spec = ContestSpec(config=config, entrants=entrants, new=True)
    assert await run_local(
        LocalRun(spec, folder / "arena.db", [], workers=workers), listener, asyncio.Event()
    )
    return listener.lines


@pytest.mark.soak
async def test_equal_workers_are_not_named(tmp_path: Path) -> None:
    assert await named(tmp_path, 200) == []


@pytest.mark.soak
async def test_a_slow_worker_is_named_once(tmp_path: Path) -> None:
    found = await named(tmp_path, 200, slowness=3)
    assert sorted(found) == [
        "worker w0 stands out: its games take less time",
        "worker w1 stands out: its games take longer",
    ]


async def test_a_worker_that_is_kind_to_a_bot_is_named_with_it(tmp_path: Path) -> None:
    found = await named(tmp_path, 200, gives_to="ann")
    assert "worker w1 stands out: ann gets more points there" in found
    assert not [line for line in found if "games take" in line]


@pytest.mark.soak
async def test_a_worker_that_is_slow_before_its_first_game_is_named_once(tmp_path: Path) -> None:
    benches = [("w0", 100_000), ("w1", 30_000), ("w1", 40_000), ("w1", 35_000), ("w0", 100_000)]
    assert await named(tmp_path, 4, benches=benches) == [
        "worker w1 is slow: 30,000 plies/s before its first game, the others 100,000"
    ]


@pytest.mark.soak
async def test_a_worker_that_was_busy_at_its_first_bench_is_not_slow_for_ever(tmp_path: Path) -> None:
    assert await named(tmp_path, 4, benches=[("w1", 30_000), ("w1", 90_000), ("w0", 100_000)]) == []
