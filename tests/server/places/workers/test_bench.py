"""The bench of a worker, and which workers it calls slow."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import pytest

from arena_server.places.workers import bench
from arena_server.places.workers.bench import (
    PART_NS,
    PARTS,
    MachineBench,
    WorkerBench,
    compared,
)
from arena_server.terms.config import ContestConfig

CONFIG = ContestConfig(name="x", seed=1, game="lastcoin", games_per_pair=2)


def clock(monkeypatch: pytest.MonkeyPatch, *parts: int) -> Iterator[int]:
    """A clock on which each part takes these nanoseconds, for its first game."""
    moments = iter([moment for part in parts for moment in (0, part)])
    monkeypatch.setattr("arena_server.places.workers.bench.time.thread_time_ns", lambda: next(moments))
    return moments


def test_the_best_part_of_the_first_games_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    left = clock(monkeypatch, 4 * PART_NS, PART_NS, 2 * PART_NS)
    measured = MachineBench()
    first = measured.plies_per_second(CONFIG)
    assert list(left) == []
    # The next game of the same rules is not measured again.
    assert measured.plies_per_second(CONFIG) == first
    clock(monkeypatch, *[2 * PART_NS] * PARTS)
    assert MachineBench().plies_per_second(CONFIG) == pytest.approx(first / 2, abs=1)


def test_a_part_takes_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    tick = PART_NS // 10
    ticks = count(0, tick)
    monkeypatch.setattr("arena_server.places.workers.bench.time.thread_time_ns", lambda: next(ticks))
    MachineBench().plies_per_second(CONFIG)
    assert next(ticks) == PARTS * (1 + 10) * tick


def test_each_game_is_measured_with_its_options(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "PART_NS", 0)
    measured = MachineBench()
    for game, options in (("insertion", {"plies": 1}), ("insertion", {"plies": 9}), ("tictactoe", {})):
        config = ContestConfig(name="x", seed=1, game=game, options=options, games_per_pair=2)
        assert measured.plies_per_second(config) > 0
    assert len(measured._measured) == 3


def test_a_worker_is_beside_the_others() -> None:
    assert compared({}) == []
    assert compared({"w": 5}) == [WorkerBench("w", 5, 0)]
    assert not WorkerBench("w", 5, 0).slow
    found = compared({"c": 100, "a": 74, "b": 110, "d": 90})
    assert found == [
        WorkerBench("a", 74, 100),
        WorkerBench("b", 110, 90),
        WorkerBench("c", 100, 90),
        WorkerBench("d", 90, 100),
    ]
    assert [each.worker for each in found if each.slow] == ["a"]
    assert [each.worker for each in compared({"a": 75, "b": 100}) if each.slow] == []
